/**
 * Level of what is stored: rises with each change that older code can't read. Each lease keeps the highest level to which it was
 * granted, so that no agent works on records that it can't read. Why: docs/decisions/0030-levels-and-emptied-stores.md
 */

interface Level {
  /** Version of the package that has it first. */
  since: string;
  /** Format of records and journal entries. */
  format: number;
  /** Versions of the machines. */
  machines: Readonly<Record<string, string>>;
}

const first = {
  registry: '1',
  plugins: '1',
  plugin: '1',
  task: '2',
  node: '2',
  alloc: '2',
  volume: '2',
  'volume-snapshot': '2',
  'group-snapshot': '2',
  mount: '2',
};

const second = { ...first, task: '3', volume: '3', 'volume-snapshot': '3', 'group-snapshot': '3', mount: '3' };

/** The levels, from 1 on. A new one goes to the end; one that was released stays as it is. */
export const levels: readonly Level[] = [
  { since: '0.2.0', format: 1, machines: first },
  { since: '0.3.0', format: 1, machines: second },
  {
    since: '0.4.0',
    format: 1,
    machines: { ...second, volume: '4', 'volume-snapshot': '4', 'group-snapshot': '4', mount: '4' },
  },
];

/** Level that this version reads and writes. */
export const storeLevel = levels.length;

/** Last version of the package that read what was written before the first level. */
const lastReader = '0.3.0';

/** Says what to do with a record from before the first level; undefined: that version of the machine is none of these. */
export function adviceForOlder(machine: string, version: string): string | undefined {
  const oldest = levels[0]?.machines[machine];
  if (oldest === undefined || !(Number(version) < Number(oldest))) return undefined;
  return (
    `${lastReader} was the last to read it: open a backup from before the upgrade with ${lastReader}, send the actor a request ` +
    'there, such as a retry, so that it is written anew, and upgrade again; or begin with an empty store'
  );
}

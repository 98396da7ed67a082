/** Lists the machines that docs/machines/ shows, each with its source below machines/. */
import type { AnyStateMachine } from 'xstate';
import { catalog } from '../../machines/catalog.js';

export interface Shown {
  machine: AnyStateMachine;
  source: string;
  /** Machine that keeps this machine as a value in its context. */
  partOf?: AnyStateMachine;
}

const sources: Record<string, string> = {
  registry: 'registry/registry',
  plugins: 'plugin/plugins',
  plugin: 'plugin/plugin',
  task: 'task/task',
  volume: 'volume/volume',
  lifecycle: 'volume/lifecycle',
  publication: 'volume/publication',
  expansion: 'volume/change',
  modification: 'volume/change',
  'volume-snapshot': 'snapshot/snapshot',
  snapshot: 'snapshot/phases',
  'group-snapshot': 'snapshot/snapshot',
  node: 'node/node',
  mount: 'mount/mount',
  staging: 'mount/staging',
  target: 'mount/target',
  alloc: 'alloc/alloc',
};

/** Each once: two machines can have parts that follow one chart. */
export const shown: Shown[] = [...catalog.values()]
  .flatMap(({ machine, charts }): Shown[] => [
    shownOf(machine),
    ...charts.map((chart) => ({ ...shownOf(chart), partOf: machine })),
  ])
  .filter(({ machine }, at, all) => all.findIndex((one) => one.machine === machine) === at);

function shownOf(machine: AnyStateMachine): Shown {
  const source = sources[machine.id];
  if (!source) throw new Error(`scripts/diagrams/machines.ts names no source of machine ${machine.id}`);
  return { machine, source };
}

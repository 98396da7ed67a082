/** Kills the runtime around each call and commit of an alloc: its record shows no more than there is, and the next run ends it. */
import { expect } from 'chai';
import { singleMountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { allocStateOf } from '../../src/allocs/alloc-view.js';
import type { Store } from '../../src/engine/store.js';
import { faultyStore, type Moment } from '../support/faulty-store.js';
import { AllocLab, address, allocId, type Port } from './alloc-lab.js';

/** A single mount is an alloc of one volume, at an address of its own. */
const kinds = {
  'an alloc': { at: address, names: ['data', 'log'] },
  'a single mount': { at: singleMountAddress('n1', allocId, 'default', 'data'), names: ['data'] },
};

class Killed extends AllocLab {
  readonly names: string[];

  constructor({ at, names }: { at: string; names: string[] }) {
    super(at);
    this.names = names;
  }
}

interface Way {
  /** Calls that it makes for each volume. */
  ports: Port[];
  /** Number of its commits; absent: those of another way. */
  commits?: number;
  prior?(lab: Killed): Promise<void>;
  work(lab: Killed): Promise<void>;
  end: 'prepared' | 'gone';
}

const prepare = (lab: Killed): Promise<void> => lab.prepare(lab.names);
const recover = (lab: Killed): Promise<void> => lab.ask({ type: 'alloc.recover', isNewBoot: false });

const ways: Record<string, Way> = {
  'is prepared': { ports: ['claim', 'publish', 'bring'], commits: 3, work: prepare, end: 'prepared' },
  'is recovered': {
    ...{ ports: ['reachable', 'holds', 'standing'], commits: 2, end: 'prepared' },
    prior: prepare,
    work: recover,
  },
  'is recovered after an unmount': {
    ...{ ports: ['publish', 'bring'], end: 'prepared' },
    prior: async (lab) => {
      await prepare(lab);
      lab.mounted.clear();
    },
    work: recover,
  },
  'is released': {
    ...{ ports: ['release', 'take', 'unstaged'], commits: 2, end: 'gone' },
    prior: prepare,
    work: (lab) => lab.ask({ type: 'alloc.release' }),
  },
};

const stateOf = (lab: Killed): string => {
  const view = lab.view();
  return view ? allocStateOf(view.state) : 'gone';
};

const isClaimed = (lab: Killed, name: string): boolean => lab.slots.get(name)?.allocId === allocId;

/** Volumes whose step says more than is there. */
const overstated = (lab: Killed): string[] =>
  Object.entries(lab.view()?.context.parts ?? {}).flatMap(([name, part]) => {
    const isMounted = lab.mounted.has(name);
    const faults: boolean[] = [
      isIn(part, 'preparing.publishing') && !isClaimed(lab, name),
      isIn(part, 'preparing.mounting') && !isClaimed(lab, name),
      isIn(part, 'mounted') && !(isClaimed(lab, name) && isMounted),
      isIn(part, 'releasing.releasing-claim') && isMounted,
      isIn(part, 'releasing.reporting') && isMounted,
      isIn(part, 'released') && (isClaimed(lab, name) || isMounted),
    ];
    return faults.includes(true) ? [`${name} ${part.at}`] : [];
  });

/** Starts the next runtime. */
async function restart(lab: Killed): Promise<void> {
  lab.faults.clear();
  await lab.start();
  expect(overstated(lab)).to.deep.equal([]);
  if (lab.view()) await recover(lab);
  await lab.lab.clock.advance(60_000);
}

function ends(lab: Killed, end: Way['end']): void {
  const isHad = end === 'prepared';
  expect(stateOf(lab)).to.equal(end);
  const { names } = lab;
  expect([names.filter((name) => isClaimed(lab, name)), [...lab.mounted].sort()]).to.deep.equal(
    isHad ? [names, names] : [[], []],
  );
  expect(overstated(lab)).to.deep.equal([]);
}

/** Hangs at one commit, and says how often a commit was asked for. */
function stuckAt(number: number, moment: Moment): { through: (store: Store) => Store; count: () => number } {
  let commits = 0;
  const through = (store: Store): Store =>
    faultyStore(store, {
      at: 'commit',
      how: async (_, proceed) => {
        commits += 1;
        if (commits !== number) return proceed();
        if (moment === 'after') await proceed();
        return new Promise(() => {});
      },
    });
  return { through, count: () => commits };
}

for (const [kind, of] of Object.entries(kinds))
  describe(`${kind} whose runtime is killed`, () => {
    for (const [what, { ports, commits, prior, work, end }] of Object.entries(ways)) {
      for (const port of ports)
        it(`H1 H2 H3, 35.5 35.6 killed around '${port}' while it ${what}: the next run ends it`, async () => {
          for (const fault of ['hangs', 'loses its answer'] as const)
            for (const name of of.names) {
              const lab = new Killed(of);
              await lab.start();
              await prior?.(lab);
              lab.faults.set(`${port} ${name}`, fault);
              await work(lab);
              await lab.lab.clock.advance(2_000);
              expect(stateOf(lab), `${port} ${name}`).not.to.equal(end);
              expect(overstated(lab)).to.deep.equal([]);
              await restart(lab);
              ends(lab, end);
            }
        });

      if (commits !== undefined)
        it(`H1 H2 H3, 35.5 35.6 killed around each commit while it ${what}: the next run ends it`, async () => {
          for (let number = 1; number <= commits + 1; number += 1)
            for (const moment of ['before', 'after'] as const) {
              const lab = new Killed(of);
              await lab.start();
              await prior?.(lab);
              const { through, count } = stuckAt(number, moment);
              await lab.start(through);
              void work(lab);
              await lab.lab.clock.advance(2_000);
              expect(count(), `commit ${number}`).to.equal(Math.min(number, commits));
              await restart(lab);
              // The request was not committed, and its caller asks again.
              const isLost = number === 1 && moment === 'before';
              if (isLost) await work(lab);
              await lab.lab.clock.advance(60_000);
              ends(lab, end);
            }
        });
    }
  });

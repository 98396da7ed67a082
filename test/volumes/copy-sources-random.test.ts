/**
 * Runs clones, restores and snapshots of one volume through random answers, late work, restarts and deletions. No call removes or
 * resizes what is being copied, and in the end all can be deleted.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Call, Step } from './fake-plugin.js';
import { type Answer, randomAnswer, stepOf } from './random-answers.js';
import { spec, VolumeHouse } from './volume-house.js';

const things = ['first', 'clone', 'restore', 'snapshot', 'group'] as const;
type Thing = (typeof things)[number];

const answer = randomAnswer({
  unknown: ['DEADLINE_EXCEEDED', 'UNAVAILABLE', 'INTERNAL', 'CANCELLED'],
  refusals: ['ABORTED', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT', 'PERMISSION_DENIED'],
  weights: { done: 3, unknown: 3, refused: 1, late: 3, never: 2 },
});

type Act =
  | { do: 'make'; of: Thing }
  | { do: 'retry'; of: Thing }
  | { do: 'delete'; of: Thing; force: boolean }
  | { do: 'expand' }
  | { do: 'restart' }
  | { do: 'wait'; ms: number };

const of = fc.constantFrom(...things);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('make' as const), of }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('delete' as const), of, force: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retry' as const), of }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expand' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 60_000 }) }) },
);

const ignored = (): void => {};
const first = { namespace: 'default', id: 'first' };

class Run {
  readonly #house: VolumeHouse;
  readonly #answers: Answer[];
  #bytes = 10;

  constructor(house: VolumeHouse, answers: Answer[]) {
    this.#house = house;
    this.#answers = [...answers];
  }

  async play(acts: Act[]): Promise<void> {
    const { plugin, clock } = this.#house;
    plugin.overlaps = 'allowed'; // Calls of a closed runtime go on.
    plugin.script = (call) => this.#stepOf(call);
    for (const one of acts) {
      await this.#act(one);
      await this.#house.rest();
    }
    this.#answers.length = 0;
    await clock.advance(300_000);
    for (let round = 0; round < 4; round += 1)
      for (const thing of [...things].reverse())
        for (const doing of ['delete', 'retry'] as const) {
          await this.#act({ do: doing, of: thing, force: false });
          await clock.advance(60_000);
        }
    const { volumes, runtime } = this.#house;
    const pages = await Promise.all([volumes.list(), runtime.snapshots.list(), runtime.groupSnapshots.list()]);
    const left = pages.flatMap((page): { leftovers?: readonly unknown[] }[] => page.items);
    expect(left.filter(({ leftovers = [] }) => leftovers.length === 0)).to.deep.equal([]);
  }

  async #act(asked: Act): Promise<void> {
    const { clock, volumes } = this.#house;
    switch (asked.do) {
      case 'wait':
        return clock.advance(asked.ms);
      case 'restart':
        return this.#restart();
      case 'expand':
        this.#bytes += 10;
        volumes.expand(first, { requiredBytes: this.#bytes }).catch(ignored);
        return;
      case 'make':
        this.#make(asked.of).catch(ignored);
        return;
      case 'delete':
        this.#records(asked.of).delete({ id: asked.of }, { force: asked.force }).catch(ignored);
        return;
      case 'retry':
        this.#records(asked.of).retry({ id: asked.of }).catch(ignored);
    }
  }

  async #restart(): Promise<void> {
    const restarted = this.#house.restart();
    await this.#house.clock.advance(30_000);
    await restarted;
  }

  #records(thing: Thing) {
    const { volumes, runtime } = this.#house;
    if (thing === 'snapshot') return runtime.snapshots;
    return thing === 'group' ? runtime.groupSnapshots : volumes;
  }

  #make(thing: Thing): Promise<unknown> {
    const { volumes, runtime } = this.#house;
    switch (thing) {
      case 'first':
        return volumes.create(spec('first', { capacity: { requiredBytes: 10 } }));
      case 'clone':
        return volumes.create(spec('clone', { source: { volume: first } }));
      case 'restore':
        return volumes.create(spec('restore', { source: { volumeSnapshot: 'snapshot' } }));
      case 'snapshot':
        return runtime.snapshots.create({ id: 'snapshot', volume: first });
      case 'group':
        return runtime.groupSnapshots.create({ id: 'group', volumes: [first] });
    }
  }

  #stepOf({ rpc }: Call): Step | undefined {
    if (!/^Create|^Delete|Expand/.test(rpc)) return undefined;
    return stepOf(this.#answers.shift() ?? { work: true }, this.#house.clock);
  }
}

const runs = Number(process.env.RUNS ?? 30);

describe('copies of one volume at random', () => {
  it('V9 V13, 34.3 nothing removes or resizes what is being copied; in the end all is deleted', async () => {
    const plan = fc.record({
      unreadyFor: fc.integer({ min: 0, max: 3 }),
      answers: fc.array(answer, { maxLength: 15 }),
      acts: fc.array(act, { minLength: 3, maxLength: 15 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ unreadyFor, answers, acts }) => {
        const house = new VolumeHouse();
        house.plugin.pluginCapabilities = [...house.plugin.pluginCapabilities, 'GROUP_CONTROLLER_SERVICE'];
        house.plugin.unreadyFor = unreadyFor;
        try {
          await house.furnish();
          await house.volumes.create(spec('first', { capacity: { requiredBytes: 10 } }));
          await new Run(house, answers).play([{ do: 'make', of: 'snapshot' }, ...acts]);
          expect(house.plugin.wrongs).to.deep.equal([]);
        } finally {
          await house.dispose();
        }
      }),
      { numRuns: runs, seed: Number(process.env.SEED ?? 1) },
    );
  });
});

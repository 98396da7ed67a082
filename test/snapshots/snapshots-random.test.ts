/**
 * Runs snapshots through random answers, late work, restarts and cancelled requests. In the end the plugin has only recorded
 * snapshots, and each ready snapshot comes from a call that succeeded.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { Call, Step } from '../volumes/fake-plugin.js';
import { type Answer, randomAnswer, stepOf } from '../volumes/random-answers.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { id: 'monday' };

/** Codes of a call whose work is not done. */
const refusals: GrpcCode[] = [
  'ABORTED',
  'FAILED_PRECONDITION',
  'INVALID_ARGUMENT',
  'OUT_OF_RANGE',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'UNIMPLEMENTED',
];

const answer = randomAnswer({
  unknown: ['DEADLINE_EXCEEDED', 'UNAVAILABLE', 'INTERNAL', 'UNKNOWN', 'CANCELLED', 'DATA_LOSS', 'RESOURCE_EXHAUSTED'],
  refusals,
  weights: { done: 2, unknown: 3, refused: 3, late: 2, never: 1 },
});

type Act = { do: 'create' | 'retry' | 'restart' } | { do: 'delete'; force: boolean } | { do: 'wait'; ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('create' as const, 'retry' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), force: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 60_000 }) }) },
);

const sorts = {
  snapshot: { makes: 'CreateSnapshot', removes: 'DeleteSnapshot' },
  group: { makes: 'CreateVolumeGroupSnapshot', removes: 'DeleteVolumeGroupSnapshot' },
} as const;

class Run {
  readonly #house: VolumeHouse;
  readonly #sort: keyof typeof sorts;
  readonly #answers: Answer[];
  /** Ids of snapshots whose call answered with success. */
  readonly #proven = new Set<string>();

  constructor(house: VolumeHouse, sort: keyof typeof sorts, answers: Answer[]) {
    this.#house = house;
    this.#sort = sort;
    this.#answers = [...answers];
  }

  get #snapshots() {
    const { runtime } = this.#house;
    const asked = { snapshot: { ...key, volume: { id: 'data' } }, group: { ...key, volumes: [{ id: 'data' }] } };
    return this.#sort === 'group'
      ? { of: runtime.groupSnapshots, create: () => runtime.groupSnapshots.create(asked.group) }
      : { of: runtime.snapshots, create: () => runtime.snapshots.create(asked.snapshot) };
  }

  async play(acts: Act[]): Promise<void> {
    const { plugin, clock } = this.#house;
    plugin.overlaps = 'allowed'; // Calls of a closed runtime go on.
    plugin.script = (call) => this.#stepOf(call);
    for (const each of acts) {
      await this.#act(each);
      await this.#house.rest();
      await this.#checkReady();
    }
    this.#answers.length = 0;
    await clock.advance(300_000);
    for (let round = 0; round < 3 && (await this.#isThere()); round += 1) {
      for (const doing of ['delete', 'retry'] as const) {
        await this.#act({ do: doing, force: false });
        await clock.advance(300_000);
      }
    }
    const left = await this.#snapshots.of.get(key);
    expect(left?.state ?? 'deleted', 'its end').to.equal('deleted');
    const isOnRecord = (left?.leftovers ?? []).length > 0;
    if (!isOnRecord) expect([...plugin.snapshots.keys()], 'left at the plugin').to.deep.equal([]);
  }

  async #isThere(): Promise<boolean> {
    const state = (await this.#snapshots.of.get(key))?.state ?? 'deleted';
    return state !== 'deleted';
  }

  async #act(asked: Act): Promise<void> {
    const { of, create } = this.#snapshots;
    const refused = (): void => {};
    if (asked.do === 'wait') await this.#house.clock.advance(asked.ms);
    else if (asked.do === 'restart') await this.#house.restart();
    else if (asked.do === 'create') create().catch(refused);
    else if (asked.do === 'delete') of.delete(key, { force: asked.force }).catch(refused);
    else of.retry(key).catch(refused);
  }

  #stepOf({ rpc }: Call): Step | undefined {
    const { makes, removes } = sorts[this.#sort];
    if (rpc !== makes && rpc !== removes) return undefined;
    return stepOf(this.#answers.shift() ?? { work: true }, this.#house.clock);
  }

  /** Checks that a ready snapshot exists at the plugin, and comes from a call that succeeded. */
  async #checkReady(): Promise<void> {
    const view = await this.#snapshots.of.get(key);
    if (view?.state !== 'ready') return;
    const { csiId = '' } = view;
    expect([...this.#house.plugin.snapshots.keys()], 'ready, so it is there').to.include(csiId);
    if (this.#proven.has(csiId)) return;
    const name = this.#house.plugin.snapshots.get(csiId)?.name;
    const { makes } = sorts[this.#sort];
    const made = this.#house.plugin.calls.filter(
      ({ rpc, request }) => rpc === makes && (request as { name?: string }).name === name,
    );
    const harmless: (string | undefined)[] = ['OK', ...refusals];
    expect(made.filter((call) => !harmless.includes(call.answer)).map((call) => call.answer)).to.deep.equal([]);
    this.#proven.add(csiId);
  }
}

const runs = Number(process.env.RUNS ?? 15);

describe('snapshots at random', () => {
  for (const sort of ['snapshot', 'group'] as const) {
    it(`V10 V11 V13 ${sort} with random answers and requests: no remains, no in-doubt snapshot is trusted`, async () => {
      const plan = fc.record({
        answers: fc.array(answer, { maxLength: 12 }),
        acts: fc.array(act, { minLength: 1, maxLength: 12 }),
      });
      await fc.assert(
        fc.asyncProperty(plan, async ({ answers, acts }) => {
          const house = new VolumeHouse();
          house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
          try {
            await house.furnish();
            await house.volumes.create(spec('data'));
            await new Run(house, sort, answers).play([{ do: 'create' }, ...acts]);
            expect(house.plugin.wrongs).to.deep.equal([]);
          } finally {
            await house.dispose();
          }
        }),
        { numRuns: runs, seed: Number(process.env.SEED ?? 1) },
      );
    });
  }
});

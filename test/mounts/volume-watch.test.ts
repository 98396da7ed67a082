/** The watch of a node's volumes on simulated time: who is asked about when, and what becomes of the answers. */
import { expect } from 'chai';
import type { AllocContext } from '../../machines/alloc/types.js';
import { allocAddress, mountAddress } from '../../machines/kit/addresses.js';
import type { NodeExpansion } from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { CommitNotice } from '../../src/engine/actor/actor-ports.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { type ErrorCode, StagecraftError } from '../../src/errors.js';
import type { VolumeOnNode } from '../../src/mounts/claim-client.js';
import { Expansions, LostClaims, VolumeWatch, type VolumeWatchOptions } from '../../src/mounts/volume-watch.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';

const minuteMs = 60_000;
const urgentMs = 5_000;
const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };
const entry = { seq: 2, at: 0, random: 0, kind: 'event', version: '1', source: { kind: 'engine' } } as const;
const keyOf = (id: string): VolumeKey => ({ namespace: 'default', id });
const mountOf = (id: string): string => mountAddress('n', 'default', id);

/** An alloc of the volumes `data` and `log`, with these claims. */
function alloc(allocId: string, state: string, generations: Record<string, number>): [string, ActorView] {
  const volume = (name: string): AllocContext['volumes'][number] => ({
    ...{ name, volume: keyOf(name), mode: 'write', readOnly: false, taskPath: `/${name}` },
    ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
  });
  const context: AllocContext = {
    ...{ node: 'n', allocId, volumes: ['data', 'log'].map(volume), untilMs: null, bootId: 'b', failure: null },
    parts: Object.fromEntries(
      Object.entries(generations).map(([name, generation]) => [name, { at: 'mounted', generation }]),
    ),
  };
  return [allocAddress('n', allocId), { state, context, seq: 1 }];
}

const mount = (id: string, expansion?: NodeExpansion): [string, ActorView] => [
  mountOf(id),
  { state: 'published', context: { key: keyOf(id), ...(expansion && { expansion }) }, seq: 1 },
];

function scene(...present: [string, ActorView][]) {
  const clock = simulatedClock();
  const asked: string[] = [];
  const told: [address: string, event: Record<string, unknown>][] = [];
  const warnings: string[] = [];
  let actors = present;
  let isStoreAway = false;
  let look: VolumeWatchOptions['claims']['look'] = async () => ({ ...known, claims: held });
  let held = [
    { allocId: 'a', generation: 1 },
    { allocId: 'a', generation: 2 },
  ];
  const claims: VolumeWatchOptions['claims'] = {
    look: (key, ...more) => {
      asked.push(key.id);
      return look(key, ...more);
    },
    holds: async (key, { allocId, generation }) => {
      asked.push(`${allocId} ${key.id} ${generation}`);
      return generation === 1;
    },
  };
  const observers = new Set<(notice: CommitNotice) => void>();
  const engine = actorSystem({
    observe: (observer) => {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    peek: (at) => actors.find(([address]) => address === at)?.[1],
    *views(prefix) {
      yield* actors.filter(([address]) => address.startsWith(prefix));
    },
    ask: async (address, event) => {
      if (isStoreAway) throw new StagecraftError('STORE_UNAVAILABLE', 'it is away');
      told.push([address, { ...event }]);
    },
  });
  const logger = { warn: (_: object, message: string) => void warnings.push(message) };
  const watch = new VolumeWatch({
    ...{ nodeId: 'n', clock, claims, concerns: [new LostClaims(engine), new Expansions(engine)] },
    troubles: new TroubleLog({ clock, logger }),
  });
  return {
    ...{ clock, asked, told, warnings, watch },
    answer(by: typeof look): void {
      look = by;
    },
    are(...now: [string, ActorView][]): void {
      actors = now;
      for (const [address, view] of now)
        for (const tell of observers) tell({ address, ...view, machine: 'alloc', entry });
    },
    holds(...now: typeof held): void {
      held = now;
    },
    storeIsAway(is: boolean): void {
      isStoreAway = is;
    },
  };
}

const refused = (code: ErrorCode) => async (): Promise<never> => {
  throw new StagecraftError(code, 'no');
};
const silent = (): Promise<never> => new Promise(() => {});
const grown = (requiredBytes: number) => async (): Promise<VolumeOnNode> => ({
  ...known,
  ...{ claims: [], expansion: { requiredBytes } },
});

describe('the watch of volumes', () => {
  it('N3 each minute one question is asked about each volume that is claimed or mounted here, until it is stopped', async () => {
    const { clock, asked, told, watch } = scene(
      ...[alloc('a', 'prepared', { data: 1, log: 2 }), alloc('a', 'recovering', { log: 1 })],
      ...[alloc('d', 'releasing', { data: 5 }), alloc('e', 'failed', { data: 6 }), mount('data'), mount('other')],
    );
    watch.start();
    await clock.advance(minuteMs - 1);
    expect(asked.sort()).to.deep.equal(['data', 'log', 'other']);
    await clock.advance(1);
    expect(asked).to.have.length(6);
    watch.stop();
    await clock.advance(5 * minuteMs);
    expect([asked.length, told, clock.pending]).to.deep.equal([6, [], 0]);
  });

  it('N3 an alloc whose claim is gone is told which, and why', async () => {
    const { told, watch, holds } = scene(alloc('a', 'prepared', { data: 1, log: 2 }));
    holds({ allocId: 'a', generation: 1 }, { allocId: 'b', generation: 2 });
    await watch.lookAtAll();
    const [[address, event] = []] = told;
    expect([told.length, address]).to.deep.equal([1, allocAddress('n', 'a')]);
    expect(event).to.deep.include({ type: 'alloc.lost', name: 'log', generation: 2 });
    expect(event).to.have.nested.property('failure.code', 'CLAIM_LOST');
  });

  it('N3 the volume is gone: its claim is lost', async () => {
    const { told, watch, answer } = scene(alloc('a', 'prepared', { data: 1 }));
    answer(refused('VOLUME_NOT_FOUND'));
    await watch.lookAtAll();
    expect(told.map(([, { type }]) => type)).to.deep.equal(['alloc.lost']);
  });

  it('N3 an alloc gets a claim while its volume is asked about: the answer is not about that one', async () => {
    const { clock, told, watch, answer, are } = scene(alloc('a', 'preparing', {}), mount('data'));
    answer(async () => {
      await new Promise<void>((resolve) => clock.after(1_000, resolve));
      return { ...known, claims: [] };
    });
    const looked = watch.lookAtAll();
    are(alloc('a', 'preparing', { data: 1 }), mount('data'));
    await clock.advance(1_000);
    await looked;
    expect(told).to.deep.equal([]);
  });

  it('34.7 the controller side is of 0.3.0 and gives no claims: it is asked for each of them', async () => {
    const { asked, told, watch, answer } = scene(alloc('a', 'prepared', { data: 1, log: 2 }));
    answer(async () => known);
    await watch.lookAtAll();
    expect(asked.sort()).to.deep.equal(['a data 1', 'a log 2', 'data', 'log']);
    expect(told.map(([, { name }]) => name)).to.deep.equal(['log']);
  });

  it('N3 no answer at all: after ten seconds the round is over, and nobody else is asked about', async () => {
    const many = Array.from({ length: 100 }, (_, at) => mount(`v${at}`));
    const { clock, asked, watch, answer } = scene(...many);
    answer(silent);
    const looked = watch.lookAtAll();
    await clock.advance(10_000);
    await looked;
    expect(asked).to.have.length(16);
  });

  it('N3 unreachable or silent: nothing happens, that is logged, and it is asked again later', async () => {
    const { clock, asked, told, warnings, watch, answer, holds } = scene(alloc('a', 'prepared', { data: 1 }));
    answer(refused('NOT_LEADER'));
    watch.start();
    await clock.advance(minuteMs - 1);
    let given: AbortSignal | undefined;
    answer((_key, _request, { signal }) => {
      given = signal;
      return silent();
    });
    await clock.advance(minuteMs);
    expect([asked.length, told.length, given?.aborted]).to.deep.equal([2, 0, true]);
    const asksAgain =
      "what the controller side knows of the volumes here can't be found out now: no; it is asked again";
    expect([warnings.length, warnings[0]]).to.deep.equal([2, asksAgain]);
    holds();
    answer(async () => ({ ...known, claims: [] }));
    await clock.advance(2 * minuteMs);
    expect(told.map(([, { type }]) => type)).to.include('alloc.lost');
    expect(warnings.at(-1)).to.match(/^the controller side: in order again after/);
    watch.stop();
  });

  it('34.15 one volume can not be read: the others are asked about all the same', async () => {
    const many = Array.from({ length: 40 }, (_, at) => mount(`v${at}`));
    const { asked, told, watch, answer } = scene(...many);
    answer(({ id }) => (id === 'v0' ? refused('ACTOR_QUARANTINED')() : grown(2)()));
    await watch.lookAtAll();
    expect([asked.length, told.length]).to.deep.equal([40, 39]);
  });

  it('N3 of many few are asked about at once; who comes while that goes on shares the one after it', async () => {
    const { asked, watch, answer } = scene(...Array.from({ length: 50 }, (_, at) => mount(`v${at}`)));
    let atOnce = 0;
    let most = 0;
    answer(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return known;
    });
    await Promise.all([watch.lookAtAll(), watch.lookAtAll(), watch.lookAtAll()]);
    expect([asked.length, most]).to.deep.equal([100, 16]);
  });

  describe('after a notice', () => {
    it('V9 the owner of the volumes can not be asked: asked again within seconds, until it answers', async () => {
      const { clock, told, asked, answer, watch } = scene(mount('data'));
      watch.start();
      await clock.advance(1);
      answer(refused('NOT_LEADER'));
      void watch.noticed(keyOf('data'));
      await clock.advance(4 * urgentMs);
      expect([asked.length, told]).to.deep.equal([6, []]);
      answer(grown(2));
      await clock.advance(4 * urgentMs);
      expect(told).to.deep.equal([[mountOf('data'), { type: 'mount.expand', capacity: { requiredBytes: 2 } }]]);
      expect(asked.length).to.equal(7);
      watch.stop();
    });

    it('N3 fenced while an alloc takes its claim: lost once the record of the alloc has it', async () => {
      const { told, watch, are, holds } = scene(alloc('a', 'preparing', { log: 2 }));
      holds({ allocId: 'a', generation: 2 });
      const noticed = watch.noticed(keyOf('data'));
      await new Promise(setImmediate);
      are(alloc('a', 'preparing', { log: 2 }));
      await new Promise(setImmediate);
      expect(told).to.deep.equal([]);
      are(alloc('a', 'prepared', { data: 1, log: 2 }));
      await noticed;
      expect(told.map(([, { name }]) => name)).to.deep.equal(['data']);
    });

    it('N3 an alloc takes its claim while the runtime is closed: not waited for', async () => {
      const { asked, watch } = scene(alloc('a', 'preparing', {}));
      const noticed = watch.noticed(keyOf('data'));
      await new Promise(setImmediate);
      watch.stop();
      await noticed;
      expect(asked).to.deep.equal([]);
    });

    it('N3 fenced, and the record of an alloc gets the claim during the question: asked again, and lost', async () => {
      const { clock, told, watch, answer, are } = scene(alloc('a', 'preparing', { log: 2 }), mount('data'));
      answer(async () => {
        await new Promise<void>((resolve) => clock.after(1_000, resolve));
        return { ...known, claims: [{ allocId: 'a', generation: 2 }] };
      });
      const noticed = watch.noticed(keyOf('data'));
      await clock.advance(500);
      are(alloc('a', 'prepared', { data: 1, log: 2 }), mount('data'));
      await clock.advance(2_000);
      await noticed;
      expect(told.map(([, { name }]) => name)).to.deep.equal(['data']);
    });

    it('V9 a second notice during the question of the first, whose own question fails: asked again soon', async () => {
      const { clock, told, watch, answer } = scene(mount('data'));
      watch.start();
      await clock.advance(1);
      answer(async () => {
        await new Promise<void>((resolve) => clock.after(3_000, resolve));
        return { ...known, claims: [] };
      });
      void watch.noticed(keyOf('data'));
      await clock.advance(1_000);
      answer(refused('NOT_LEADER'));
      void watch.noticed(keyOf('data'));
      await clock.advance(3_000);
      answer(grown(2));
      await clock.advance(2 * urgentMs);
      expect(told).to.have.length(1);
      watch.stop();
    });

    it('V9 the store takes no report: asked again within seconds', async () => {
      const { clock, told, watch, answer, storeIsAway } = scene(mount('data'));
      watch.start();
      await clock.advance(1);
      answer(grown(2));
      storeIsAway(true);
      void watch.noticed(keyOf('data'));
      await clock.advance(1_000);
      storeIsAway(false);
      await clock.advance(2 * urgentMs);
      expect(told).to.have.length(1);
      watch.stop();
    });

    it('V9 nothing of the volume is here: not asked', async () => {
      const { clock, told, asked, watch } = scene();
      watch.start();
      await watch.noticed(keyOf('data'));
      await clock.advance(2 * minuteMs);
      expect([asked, told]).to.deep.equal([[], []]);
      watch.stop();
    });
  });

  it('V11, 34.25 refused for good: not asked for again at that size, but at a larger one', async () => {
    const failure = { code: 'CSI_ERROR', message: 'not while it is in use', final: true } as const;
    const { told, answer, watch } = scene(mount('data', { capacity: { requiredBytes: 2 }, failure }));
    answer(grown(2));
    await watch.lookAtAll();
    expect(told).to.deep.equal([]);
    answer(grown(3));
    await watch.lookAtAll();
    expect(told).to.deep.equal([[mountOf('data'), { type: 'mount.expand', capacity: { requiredBytes: 3 } }]]);
  });

  it('V9 unmounted while it is asked about: it is not expanded', async () => {
    const { told, answer, watch, are } = scene(mount('data'));
    answer(async () => {
      are();
      return grown(2)();
    });
    await watch.lookAtAll();
    expect(told).to.deep.equal([]);
  });
});

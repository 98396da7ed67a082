/** The watch of claims on simulated time: who is asked about when, and what becomes of the answers. */
import { expect } from 'chai';
import type { AllocContext } from '../../machines/alloc/types.js';
import { allocAddress } from '../../machines/kit/addresses.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import { ClaimWatch, type ClaimWatchOptions } from '../../src/mounts/claim-watch.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';

const minuteMs = 60_000;

function alloc(allocId: string, state: string, generations: Record<string, number>): [string, ActorView] {
  const volume = (name: string): AllocContext['volumes'][number] => ({
    ...{ name, volume: { namespace: 'default', id: name }, mode: 'write', readOnly: false, taskPath: `/${name}` },
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

function scene(allocs: [string, ActorView][]) {
  const clock = simulatedClock();
  const asked: string[] = [];
  const told: [address: string, event: unknown][] = [];
  let holds: ClaimWatchOptions['claims']['holds'] = async () => true;
  const watch = new ClaimWatch({
    ...{ nodeId: 'n', clock, logger: silentLogger },
    engine: actorSystem({
      *views(prefix) {
        if (prefix === 'alloc/') yield* allocs;
      },
      ask: async (address, event) => void told.push([address, event]),
    }),
    claims: {
      holds: (key, request, wait) => {
        asked.push(`${request.allocId} ${key.id} ${request.generation}`);
        return holds(key, request, wait);
      },
    },
  });
  const answer = (by: typeof holds): void => {
    holds = by;
  };
  return { clock, asked, told, watch, answer };
}

describe('the watch of claims', () => {
  it('N3 every minute all claims of what is prepared, or is to be, are asked about, until it is stopped', async () => {
    const { clock, asked, told, watch } = scene([
      alloc('a', 'prepared', { data: 1, log: 2 }),
      alloc('b', 'preparing', { data: 3 }),
      alloc('c', 'recovering', { log: 4 }),
      alloc('d', 'releasing', { data: 5 }),
      alloc('e', 'failed', { data: 6 }),
    ]);
    watch.start();
    await clock.advance(minuteMs - 1);
    expect(asked).to.deep.equal([]);
    await clock.advance(1);
    expect(asked.sort()).to.deep.equal(['a data 1', 'a log 2', 'b data 3', 'c log 4']);
    await clock.advance(minuteMs);
    expect(asked).to.have.length(8);
    watch.stop();
    await clock.advance(5 * minuteMs);
    expect([asked.length, told, clock.pending]).to.deep.equal([8, [], 0]);
  });

  it('N3 an alloc whose claim is gone is told which, and why', async () => {
    const { told, watch, answer } = scene([alloc('a', 'prepared', { data: 1, log: 2 })]);
    answer(async (key) => key.id === 'data');
    await watch.look();
    const [[address, event] = []] = told;
    expect([told.length, address]).to.deep.equal([1, allocAddress('n', 'a')]);
    expect(event).to.deep.include({ type: 'alloc.lost', name: 'log', generation: 2 });
    expect(event).to.have.nested.property('failure.code', 'CLAIM_LOST');
  });

  it('N3 who has the volumes never answers: after ten seconds no other alloc is asked about this time', async () => {
    const many = Array.from({ length: 100 }, (_, at) => alloc(`a${at}`, 'prepared', { data: at }));
    const { clock, asked, watch, answer } = scene(many);
    answer(() => new Promise(() => {}));
    const looked = watch.look();
    await clock.advance(10_000);
    await looked;
    expect(asked).to.have.length(16);
  });

  it('N3 the owner of the volumes is unreachable or silent: nothing happens, and it is asked again later', async () => {
    const { clock, asked, told, watch, answer } = scene([alloc('a', 'prepared', { data: 1 })]);
    watch.start();
    answer(async () => {
      throw new StagecraftError('NOT_LEADER', 'another one leads');
    });
    await clock.advance(minuteMs);
    let given: AbortSignal | undefined;
    answer((_key, _request, { signal }) => {
      given = signal;
      return new Promise<never>(() => {});
    });
    await clock.advance(2 * minuteMs);
    expect([asked.length, told.length, given?.aborted]).to.deep.equal([2, 0, true]);
    answer(async () => false);
    await clock.advance(minuteMs);
    expect(told).to.have.length(1);
    watch.stop();
  });

  it('N3 of many few are asked about at once; who comes while that goes on shares the one after it', async () => {
    const many = Array.from({ length: 50 }, (_, at) => alloc(`a${at}`, 'prepared', { data: at }));
    const { asked, watch, answer } = scene(many);
    let atOnce = 0;
    let most = 0;
    answer(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return true;
    });
    await Promise.all([watch.look(), watch.look(), watch.look()]);
    expect([asked.length, most]).to.deep.equal([100, 16]);
    watch.stop();
  });
});

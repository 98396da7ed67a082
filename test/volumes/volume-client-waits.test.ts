/** Tests waits for a volume that was passivated after its answer. */
import { expect } from 'chai';
import type { ActorView } from '../../src/engine/actor-system.js';
import { storeUnavailable } from '../../src/engine/storage/store-patience.js';
import { StagecraftError } from '../../src/errors.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import type { FormerHolders } from '../../src/volumes/node-records.js';
import { VolumeClient } from '../../src/volumes/volume-client.js';
import { contextOf } from '../machines/volume/situations.js';
import { refusalOf } from '../refusal.js';
import { actorSystem } from '../support/actor-system.js';

const key = { namespace: 'default', id: 'data' };

describe('waiting for a volume', () => {
  it('V1 passivated volume: read from the store, not taken for deleted', async () => {
    const stored: ActorView = { state: 'created', context: { uid: 'u' }, seq: 3 };
    let inMemory: ActorView | undefined;
    const engine = actorSystem({
      read: async () => {
        inMemory = stored;
        return stored;
      },
      peek: () => inMemory,
      has: () => inMemory !== undefined,
    });
    const waits = new VolumeClient({ engine, clock: simulatedClock() });
    expect(await waits.until({ key, goal: 'created', reached: ({ context }) => context.uid })).to.equal('u');
  });

  it('V1 store unavailable while a passivated volume is read: the request stands, not called refused', async () => {
    const engine = actorSystem({
      read: () => Promise.reject(storeUnavailable('volume/default/data', 'refused', new Error('gone'))),
      peek: () => undefined,
      has: () => false,
    });
    const waits = new VolumeClient({ engine, clock: simulatedClock() });
    const refusal = await refusalOf(waits.until({ key, goal: 'created', reached: () => undefined }));
    expect(refusal).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
    expect(refusal.message).to.include('the request stands').and.not.to.include('nothing has changed');
  });

  it('V1 wait given up while a passivated volume is read: the request stands, not called refused', async () => {
    const engine = actorSystem({
      read: () => Promise.reject(new StagecraftError('ABORTED', 'nothing has changed', { outcome: 'refused' })),
      peek: () => undefined,
      has: () => false,
    });
    const waits = new VolumeClient({ engine, clock: simulatedClock() });
    const refusal = await refusalOf(waits.until({ key, goal: 'created', reached: () => undefined }));
    expect(refusal).to.include({ code: 'ABORTED', outcome: 'unknown' });
    expect(refusal.message).to.include('the request stands').and.not.to.include('nothing has changed');
  });

  it('V1 another runtime leads: rejected, and no timer or listener remains', async () => {
    const engine = actorSystem({
      read: async () => undefined,
      peek: () => {
        throw new StagecraftError('NOT_LEADER', 'another leads');
      },
      has: () => false,
    });
    const clock = simulatedClock();
    const waits = new VolumeClient({ engine, clock });
    const signal = AbortSignal.abort();
    const waiting = waits.until({ key, goal: 'created', reached: () => undefined, timeoutMs: 1_000, signal });
    expect(await refusalOf(waiting)).to.include({ code: 'ABORTED' });
    await clock.advance(2_000);
  });

  it('34.32 refused, as somebody has it: the limit of the caller ends the search for names, too', async () => {
    const engine = actorSystem({
      ask: () => Promise.reject(new StagecraftError('VOLUME_IN_USE', 'web has it')),
      peek: () => ({ state: 'created', context: contextOf({}), seq: 3 }),
    });
    const limits: (AbortSignal | undefined)[] = [];
    const former: Pick<FormerHolders, 'of'> = {
      of: async (_, limit) => {
        limits.push(limit);
        return [{ nodeId: 'n', why: 'so has n' }];
      },
    };
    const client = new VolumeClient({ engine, clock: simulatedClock(), former });
    const { signal } = new AbortController();
    const refusal = await refusalOf(client.ask(key, { type: 'volume.delete', force: false }, signal));
    expect([refusal.message, limits]).to.deep.equal(['web has it; so has n', [signal]]);
  });
});

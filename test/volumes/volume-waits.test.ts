/** Who waits for a volume that has left memory since it answered. */
import { expect } from 'chai';
import type { ActorDoor } from '../../src/engine/actor-door.js';
import type { ActorView } from '../../src/engine/engine.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { VolumeWaits } from '../../src/volumes/volume-waits.js';

describe('waiting for a volume', () => {
  it('V1 one that is at rest, and not in memory, is read first: it is not taken for deleted', async () => {
    const stored: ActorView = { state: 'created', context: { uid: 'u' }, seq: 3 };
    let inMemory: ActorView | undefined;
    const engine: ActorDoor = {
      ask: async () => undefined,
      read: async () => {
        inMemory = stored;
        return stored;
      },
      page: async () => ({ rows: [] }),
      peek: () => inMemory,
      has: () => inMemory !== undefined,
      observe: () => () => {},
      follow: () => {
        throw new Error('nobody follows');
      },
    };
    const waits = new VolumeWaits(engine, simulatedClock());
    const key = { namespace: 'default', id: 'data' };
    expect(await waits.until({ key, goal: 'created', reached: ({ uid }) => uid })).to.equal('u');
  });
});

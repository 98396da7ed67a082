/** The node's part of expansions on simulated time: how long whoever has the volumes is asked whether it is due. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { silentLogger } from '../../src/engine/logger.js';
import { type ErrorCode, StagecraftError } from '../../src/errors.js';
import { Expansions, type ExpansionsOptions } from '../../src/mounts/expansions.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';

const key: VolumeKey = { namespace: 'default', id: 'data' };
const address = mountAddress('n', key.namespace, key.id);
const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };

function scene() {
  const clock = simulatedClock();
  let asked = 0;
  let look: ExpansionsOptions['claims']['look'] = async () => known;
  const told: unknown[] = [];
  let grown: (key: VolumeKey) => void = () => {};
  const expansions = new Expansions({
    ...{ nodeId: 'n', clock, logger: silentLogger },
    engine: actorSystem({
      peek: (at) => (at === address ? { state: 'published', context: {}, seq: 1 } : undefined),
      ask: async (at, event) => void told.push([at, event]),
    }),
    claims: {
      look: (...request) => {
        asked += 1;
        return look(...request);
      },
    },
    onExpanded(callback) {
      grown = callback;
      return () => {};
    },
  });
  expansions.start();
  return {
    ...{ clock, told, expansions },
    asked: () => asked,
    grow: () => grown(key),
    answer(by: typeof look): void {
      look = by;
    },
  };
}

const refused = (code: ErrorCode) => async (): Promise<never> => {
  throw new StagecraftError(code, 'no');
};

describe('expansions on a node', () => {
  it('V9 who has the volumes can not be asked: asked again until it is known', async () => {
    const { clock, told, asked, grow, answer, expansions } = scene();
    answer(refused('NOT_LEADER'));
    grow();
    await clock.advance(25_000);
    expect([asked(), told]).to.deep.equal([3, []]);
    answer(async () => ({ ...known, expansion: { requiredBytes: 2 } }));
    await clock.advance(60_000);
    expect(told).to.deep.equal([[address, { type: 'mount.expand', capacity: { requiredBytes: 2 } }]]);
    expect([asked(), clock.pending]).to.deep.equal([4, 0]);
    expansions.stop();
  });

  it('V9 the volume is gone: it is not asked for again', async () => {
    const { clock, told, asked, grow, answer, expansions } = scene();
    answer(refused('VOLUME_NOT_FOUND'));
    grow();
    await clock.advance(60_000);
    expect([asked(), told, clock.pending]).to.deep.equal([1, [], 0]);
    expansions.stop();
  });
});

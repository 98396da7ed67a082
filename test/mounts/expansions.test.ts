/** The node's part of expansions on simulated time: how long whoever has the volumes is asked whether it is due. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { NodeExpansion } from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorView } from '../../src/engine/actor-system.js';
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
  let mounted: [string, ActorView][] = [[address, { state: 'published', context: { key }, seq: 1 }]];
  const expansions = new Expansions({
    ...{ nodeId: 'n', clock, logger: silentLogger },
    engine: actorSystem({
      peek: (at) => mounted.find(([one]) => one === at)?.[1],
      *views() {
        yield* mounted;
      },
      ask: async (at, event) => void told.push([at, event]),
    }),
    claims: {
      look: (...request) => {
        asked += 1;
        return look(...request);
      },
    },
  });
  return {
    ...{ clock, told, expansions },
    asked: () => asked,
    unmount(): void {
      mounted = [];
    },
    expansionIs(expansion: NodeExpansion): void {
      mounted = [[address, { state: 'published', context: { key, expansion }, seq: 2 }]];
    },
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
    const { clock, told, asked, answer, expansions } = scene();
    answer(refused('NOT_LEADER'));
    void expansions.look(key);
    await clock.advance(25_000);
    expect([asked(), told]).to.deep.equal([3, []]);
    answer(async () => ({ ...known, expansion: { requiredBytes: 2 } }));
    await clock.advance(60_000);
    expect(told).to.deep.equal([[address, { type: 'mount.expand', capacity: { requiredBytes: 2 } }]]);
    expect([asked(), clock.pending]).to.deep.equal([4, 0]);
    expansions.stop();
  });

  it('V9 the volume is gone: it is not asked for again', async () => {
    const { clock, told, asked, answer, expansions } = scene();
    answer(refused('VOLUME_NOT_FOUND'));
    void expansions.look(key);
    await clock.advance(60_000);
    expect([asked(), told, clock.pending]).to.deep.equal([1, [], 0]);
    expansions.stop();
  });

  it('V11, 34.25 refused for good: not asked for again at that size, but at a larger one', async () => {
    const { clock, told, answer, expansionIs, expansions } = scene();
    const failure = { code: 'CSI_ERROR', message: 'not while it is in use', final: true } as const;
    expansionIs({ capacity: { requiredBytes: 2 }, failure });
    answer(async () => ({ ...known, expansion: { requiredBytes: 2 } }));
    expansions.start();
    await clock.advance(700_000);
    expect(told).to.deep.equal([]);
    answer(async () => ({ ...known, expansion: { requiredBytes: 3 } }));
    await clock.advance(300_000);
    expect(told).to.deep.equal([[address, { type: 'mount.expand', capacity: { requiredBytes: 3 } }]]);
    expansions.stop();
  });

  it('V9 the notice of an expansion is lost: each mounted volume is looked at every five minutes', async () => {
    const { clock, told, asked, answer, unmount, expansions } = scene();
    expansions.start();
    await clock.advance(200_000);
    answer(async () => ({ ...known, expansion: { requiredBytes: 2 } }));
    expect([asked(), told]).to.deep.equal([1, []]);
    await clock.advance(100_000);
    expect([asked(), told]).to.deep.equal([2, [[address, { type: 'mount.expand', capacity: { requiredBytes: 2 } }]]]);
    unmount();
    await clock.advance(600_000);
    expect(asked()).to.equal(2);
    expansions.stop();
    await clock.advance(0);
    expect(clock.pending).to.equal(0);
  });
});

/** Tests that the fence of a node waits for admitted requests that are not committed yet. */
import { expect } from 'chai';
import type { ActorSystem } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { StagecraftError } from '../../src/errors.js';
import { NodeAdmission } from '../../src/nodes/node-admission.js';
import { NodeFence } from '../../src/nodes/node-kind.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';
import { actorSystem } from '../support/actor-system.js';
import { gate } from '../volumes/scripts.js';

const unknown = new StagecraftError('STORE_UNAVAILABLE', 'no answer', { outcome: 'unknown' });
const lost = { publications: { a: { state: 'published' } }, claims: [], waiting: [] };

describe('admission of volumes to a node', () => {
  const clock = simulatedClock();
  let asked: { address: string; type: string }[];
  let stored: Map<string, object>;
  let answer: () => Promise<unknown>;
  let admission: NodeAdmission;
  let engine: ActorSystem;
  beforeEach(() => {
    asked = [];
    stored = new Map();
    answer = async () => undefined;
    engine = actorSystem({
      ask: async (address, { type }) => {
        asked.push({ address, type });
        return answer();
      },
      page: async () => ({
        rows: [...stored].map(([address, context]) => [address, { state: 'published', context, seq: 1 }]),
      }),
    });
    admission = new NodeAdmission({ engine, clock, random: seededRandom(1), target: () => ({ csiNodeId: 'csi-a' }) });
  });

  const within = (id: string, work: () => Promise<void>): Promise<void> =>
    admission.within({ address: `volume/default/${id}`, nodeId: 'a', plugin: 'disk', takesRoom: true }, work);

  it('N3 volume admitted before a fence and committed after it: fenced, too', async () => {
    const committed = gate();
    const work = within('late', async () => {
      await committed.passed;
      stored.set('volume/default/late', lost);
    });
    await clock.advance(0);
    const fence = new NodeFence({
      engine,
      clock,
      logger: silentLogger,
      troubles: new TroubleLog({ clock, logger: silentLogger }),
      admission,
    });
    const fenced = fence.release({ nodeId: 'a', reason: 'burnt', signal: new AbortController().signal });
    await clock.advance(0);
    committed.open();
    await Promise.all([work, fenced]);
    expect(asked).to.deep.equal([{ address: 'volume/default/late', type: 'volume.fence' }]);
  });

  it('N3 store gives no answer: the fence waits until the volume answers', async () => {
    const answered = gate();
    answer = async () => {
      await answered.passed;
    };
    const failed = await refusalOf(
      within('one', async () => {
        throw unknown;
      }),
    );
    expect(failed).to.equal(unknown);
    let isSettled = false;
    const settled = admission.settled('a').then(() => {
      isSettled = true;
    });
    await clock.advance(10_000);
    expect(isSettled).to.equal(false);
    answered.open();
    await settled;
  });

  it('N3 the answer of the volume fails, too: asked again', async () => {
    let failures = 0;
    answer = async () => {
      failures += 1;
      if (failures < 3) throw unknown;
    };
    await refusalOf(
      within('one', async () => {
        throw unknown;
      }),
    );
    const settled = admission.settled('a');
    await clock.advance(10_000);
    await settled;
    expect(asked.map(({ type }) => type)).to.deep.equal(['settle', 'settle', 'settle']);
  });
});

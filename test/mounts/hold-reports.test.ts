/** Questions and reports of this node about holds, on simulated time: no answer, lost answers, holds that are gone. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import type { CommitNotice } from '../../src/engine/actor/actor-ports.js';
import type { Engine } from '../../src/engine/engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import { Holds, type HoldsOptions } from '../../src/mounts/holds.js';
import { MountClient } from '../../src/mounts/mount-client.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';
import { many } from './mount-house.js';

const key = { namespace: 'default', id: 'data' };
const address = mountAddress('n', 'default', 'data');
type Claims = HoldsOptions['claims'];

/** Mounts, all with the same context, whose reports are taken as it says. */
function scene(given: Partial<MountContext>, claims: Partial<Claims>, count = 1) {
  const clock = simulatedClock();
  const context = { ...{ node: 'n', key, users: [], unconfirmed: [] }, ...given };
  const asked: unknown[] = [];
  const ask: Engine['ask'] = async (_, event) => {
    asked.push(event);
    if (event.type === 'mount.hold-released') context.unreported = [];
  };
  const observers: ((notice: CommitNotice) => void)[] = [];
  const view = { state: 'published', context, seq: 1 };
  const engine = actorSystem({
    ask,
    peek: () => view,
    *views(prefix) {
      if (prefix !== 'mount/') return;
      for (let at = 0; at < count; at += 1) yield [address, view];
    },
    observe: (observer) => {
      observers.push(observer);
      return () => {};
    },
  });
  const silent = (): never => {
    throw new StagecraftError('NOT_LEADER', 'somebody else leads');
  };
  const holds = new Holds({
    ...{ nodeId: 'n', engine, clock, logger: silentLogger },
    client: Object.create(MountClient.prototype),
    claims: { look: async () => silent(), holdReleased: async () => silent(), ...claims },
  });
  return { clock, asked, holds, context };
}

const hold: Hold = { allocId: 'a', generation: 5 };
const user: Target = {
  ...{ allocId: 'a', readOnly: false, isClaimed: false, hold: 5, capability: many },
  ...{ at: 'published', number: 1, sinceMs: 0 },
};
const known = { uid: 'u1', plugin: 'disk', capabilities: [many], secrets: {} };

describe('the reports of holds', () => {
  it('M2 nobody hears that an alloc let go: reported again and again, until somebody does', async () => {
    const heard: Hold[] = [];
    let leads = false;
    const { clock, asked, holds } = scene(
      { unreported: [hold] },
      {
        holdReleased: async (_, { nodeId: __, ...released }) => {
          if (!leads) throw new StagecraftError('NOT_LEADER', 'somebody else leads');
          heard.push(released);
        },
      },
    );
    holds.start();
    await clock.advance(120_000);
    expect([heard, asked]).to.deep.equal([[], []]);
    leads = true;
    await clock.advance(60_000);
    expect([heard, asked]).to.deep.equal([[hold], [{ type: 'mount.hold-released', ...hold }]]);
    holds.stop();
  });

  it('M2 it is heard, and the answer is lost: reported once more, in the same words', async () => {
    const heard: Hold[] = [];
    const { clock, asked, holds } = scene(
      { unreported: [hold] },
      {
        holdReleased: async (_, { nodeId: __, ...released }) => {
          heard.push(released);
          if (heard.length === 1) await new Promise(() => {});
        },
      },
    );
    holds.start();
    await clock.advance(30_000);
    expect([heard, asked.length]).to.deep.equal([[hold, hold], 1]);
    holds.stop();
  });

  for (const [situation, holdsThere, isLeft] of [
    ['kept still', [hold], false],
    ['a newer one is kept', [{ ...hold, generation: 6 }], false],
    ['gone', [], true],
    ['only an older one is kept', [{ ...hold, generation: 4 }], true],
    ['only that of another alloc is kept', [{ ...hold, allocId: 'b' }], true],
  ] as const) {
    it(`N3 its hold is ${situation}: ${isLeft ? 'unmounted' : 'left as it is'}`, async () => {
      const { asked, holds } = scene({ users: [user] }, { look: async () => ({ ...known, holds: [...holdsThere] }) });
      await holds.look();
      expect(asked).to.deep.equal(isLeft ? [{ type: 'mount.leave', allocId: 'a', hold: 5 }] : []);
    });
  }

  it('N3 its volume is gone: unmounted; nobody answers, or a claim stands for it: left as it is', async () => {
    const gone = async (): Promise<never> => {
      throw new StagecraftError('VOLUME_NOT_FOUND', 'there is none');
    };
    const one = scene({ users: [user] }, { look: gone });
    await one.holds.look();
    const other = scene({ users: [user] }, {});
    await other.holds.look();
    const claimed = scene({ users: [{ ...user, isClaimed: true }] }, { look: gone });
    await claimed.holds.look();
    expect([one.asked.length, other.asked.length, claimed.asked.length]).to.deep.equal([1, 0, 0]);
  });

  it('N3 its hold is kept, and that was not known since a start: what waits for that is mounted', async () => {
    const waiting = { ...user, at: 'pending-publish' } as const;
    const { asked, holds } = scene(
      { users: [waiting], unconfirmed: ['a'] },
      { look: async () => ({ ...known, holds: [hold] }) },
    );
    await holds.look();
    expect(asked).to.deep.equal([{ type: 'mount.confirm', allocId: 'a' }]);
  });

  it('N3 nobody answers for any of 1,000 mounts: the look ends after one time limit', async () => {
    const { clock, asked, holds } = scene({ users: [user] }, { look: () => new Promise(() => {}) }, 1000);
    let isOver = false;
    void holds.look().then(() => {
      isOver = true;
    });
    await clock.advance(11_000);
    expect([isOver, asked]).to.deep.equal([true, []]);
  });

  it('N3 1,000 holds end at the same time: each mount is asked about twice at most', async () => {
    let looks = 0;
    const look = async (): Promise<typeof known & { holds: Hold[] }> => {
      looks += 1;
      return { ...known, holds: [hold] };
    };
    const { holds } = scene({ users: [user] }, { look }, 10);
    await Promise.all(Array.from({ length: 1000 }, () => holds.look()));
    expect(looks).to.be.at.most(20);
  });
});

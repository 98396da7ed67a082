/** Holds of 0.3.0 become claims, on simulated time: no answer, lost answers, allocs that let go, mounts that are lost. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import { noMount } from '../../machines/mount/changes.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import { EarlierHolds, type EarlierHoldsOptions } from '../../src/allocs/earlier-holds.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import type { CommittedMount } from '../../src/mounts/mount-client.js';
import { simulatedClock } from '../../src/testing/index.js';
import { many } from '../mounts/mount-house.js';
import { refusalOf } from '../refusal.js';
import { actorSystem } from '../support/actor-system.js';

const key = { namespace: 'default', id: 'data' };
const address = mountAddress('n', 'default', 'data');
const hold: Hold = { allocId: 'a', generation: 5 };
const user: Target = {
  ...{ allocId: 'a', readOnly: false, capability: { ...many, fsType: 'xfs', mountFlags: ['noatime'] } },
  ...{ at: 'published', number: 1, sinceMs: 0 },
};
const made = { ...many, fsType: 'xfs' };
const known = { uid: 'u1', plugin: 'disk', capabilities: [made], secrets: {} };
const info = { volume: key, hostPath: '/a', readOnly: false, isDevice: false };

type Options = EarlierHoldsOptions;

interface Scene {
  users?: Target[];
  look?: Options['claims']['look'];
  holdReleased?: Options['claims']['holdReleased'];
  mount?: Options['singles']['mount'];
  isLeaving?: boolean;
  /** Called at each commit of the mount. */
  commit?: () => void;
}

/** A mount with a hold, and all that is asked of others, in words. */
function scene({ users = [user], look, holdReleased, mount, isLeaving = false, commit }: Scene) {
  const clock = simulatedClock();
  const said: string[] = [];
  const context: MountContext = { ...noMount({ node: 'n', ...key }), users, holds: [hold] };
  const engine = actorSystem({
    peek: () => undefined,
    *views(prefix) {
      if (prefix === 'mount/') yield [address, { state: 'published', context, seq: 1 }];
    },
    observe: () => () => {},
  });
  const holds = new EarlierHolds({
    ...{ engine, clock, logger: silentLogger },
    client: {
      ...{ node: 'n', addressOf: () => address, contextAt: () => context, has: () => true },
      ask: async (_, { type }) => {
        said.push(type);
        commit?.();
        if (type === 'mount.hold-released') context.holds = undefined;
      },
      until: async <T>({ reached }: { reached(now: CommittedMount): T | undefined }): Promise<T> => {
        const found = reached({ state: 'deciding', context, seq: 1 });
        if (found === undefined) throw new StagecraftError('ABORTED', 'it is not so yet');
        return found;
      },
    },
    mounting: {
      take: async () => {
        said.push('take');
        context.users = [];
      },
    },
    singles: {
      isLeaving: () => isLeaving,
      mount: async (asked, following) => {
        said.push(`mount ${JSON.stringify(asked.usage)}`);
        return (await mount?.(asked, following)) ?? info;
      },
    },
    claims: {
      look: look ?? (async () => ({ ...known, holds: [hold] })),
      holdReleased: async (...released) => {
        said.push(`release ${released[1].generation}`);
        await holdReleased?.(...released);
      },
    },
  });
  return { clock, said, holds, context };
}

const usage = { ...many, mountFlags: ['noatime'] };
const mounted = `mount ${JSON.stringify(usage)}`;

describe('holds of earlier versions', () => {
  it('35.6 kept: claimed as it was asked for, and only then released', async () => {
    const { said, clock, holds } = scene({});
    holds.start();
    await clock.advance(1);
    expect(said).to.deep.equal([mounted, 'release 5', 'mount.hold-released']);
    holds.stop();
  });

  it('35.6 whoever has the volumes keeps a newer one, of a mount that was killed: that one is released', async () => {
    const { said, clock, holds } = scene({ look: async () => ({ ...known, holds: [{ ...hold, generation: 7 }] }) });
    holds.start();
    await clock.advance(1);
    expect(said).to.deep.equal([mounted, 'release 7', 'mount.hold-released']);
    holds.stop();
  });

  it('N3 35.6 its hold is lost, or its volume gone: unmounted by its alloc, and nothing is left to release', async () => {
    for (const code of ['CLAIM_LOST', 'VOLUME_NOT_FOUND'] as const) {
      const look = async () => {
        if (code === 'CLAIM_LOST') return { ...known, holds: [] };
        throw new StagecraftError(code, 'there is none');
      };
      const mount = async (): Promise<never> => {
        context.users = [];
        throw new StagecraftError(code, 'nothing keeps it');
      };
      const { said, clock, holds, context } = scene({ look, mount });
      holds.start();
      await clock.advance(2_000);
      expect([said[0]?.split(' ')[0], ...said.slice(1)], code).to.deep.equal(['mount', 'take', 'mount.hold-released']);
      holds.stop();
    }
  });

  it('35.6 killed after its hold was released, before its mount knows: it is claimed, and stays mounted', async () => {
    const { said, clock, holds } = scene({ look: async () => ({ ...known, holds: [] }) });
    holds.start();
    await clock.advance(1);
    expect(said).to.deep.equal([mounted, 'mount.hold-released']);
    holds.stop();
  });

  it('35.6 its release answers, and its mount can not commit that for now: it stays mounted, and is asked again', async () => {
    let isHeld = true;
    let commits = 0;
    const look = async () => ({ ...known, holds: isHeld ? [hold] : [] });
    const holdReleased = async (): Promise<void> => {
      isHeld = false;
    };
    const commit = (): void => {
      commits += 1;
      if (commits < 3) throw new StagecraftError('STORE_UNAVAILABLE', 'it is full');
    };
    const { said, clock, holds } = scene({ look, holdReleased, commit });
    holds.start();
    await clock.advance(10_000);
    const again = [mounted, 'mount.hold-released'];
    expect(said).to.deep.equal([mounted, 'release 5', 'mount.hold-released', ...again, ...again]);
    holds.stop();
  });

  it('35.6 the program mounts it again while nobody leads: told so, and nothing else is asked for', async () => {
    const look = async (): Promise<never> => {
      throw new StagecraftError('NOT_LEADER', 'somebody else leads');
    };
    const { said, holds } = scene({ look });
    const { code } = await refusalOf(holds.claim({ key, allocId: 'a' }, { signal: new AbortController().signal }));
    expect([code, said]).to.deep.equal(['NOT_LEADER', []]);
    holds.stop();
  });

  it('35.6 lost, which is only reported: left under its hold until somebody asks for it', async () => {
    const { said, clock, holds } = scene({ users: [{ ...user, at: 'lost' }] });
    holds.start();
    await clock.advance(300_000);
    expect(said).to.deep.equal([]);
    await holds.claim({ key, allocId: 'a' }, { signal: new AbortController().signal });
    expect(said).to.deep.equal([mounted]);
    holds.stop();
  });

  it('35.6 its alloc is being released: unmounted, and not mounted again', async () => {
    const { said, clock, holds } = scene({ isLeaving: true });
    holds.start();
    await clock.advance(1);
    expect(said).to.deep.equal(['take', 'release 5', 'mount.hold-released']);
    holds.stop();
  });

  it('35.6 nobody leads: it stays mounted, and is asked again until somebody does', async () => {
    let leads = false;
    const look = async () => {
      if (!leads) throw new StagecraftError('NOT_LEADER', 'somebody else leads');
      return { ...known, holds: [hold] };
    };
    const { said, clock, holds } = scene({ look });
    holds.start();
    await clock.advance(300_000);
    expect(said).to.deep.equal([]);
    leads = true;
    await clock.advance(60_000);
    expect(said).to.deep.equal([mounted, 'release 5', 'mount.hold-released']);
    holds.stop();
  });

  it('35.6 it is released, and the answer is lost: asked for again, the same', async () => {
    let answers = 0;
    const holdReleased = async (): Promise<void> => {
      answers += 1;
      if (answers === 1) throw new StagecraftError('TIMEOUT', 'no answer');
    };
    const { said, clock, holds } = scene({ holdReleased });
    holds.start();
    await clock.advance(10_000);
    expect(said).to.deep.equal([mounted, 'release 5', mounted, 'release 5', 'mount.hold-released']);
    holds.stop();
  });

  it('35.6 it was leaving, or being undone: unmounted, and released once nothing is here', async () => {
    for (const at of ['pending-unpublish', 'undoing', 'waiting-for-unstage'] as const) {
      const { said, clock, holds } = scene({ users: [{ ...user, at }] });
      holds.start();
      await clock.advance(1);
      expect(said, at).to.deep.equal(['take', 'release 5', 'mount.hold-released']);
      holds.stop();
    }
  });
});

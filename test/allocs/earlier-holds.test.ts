/** Holds of 0.3.0 become claims, on simulated time: no answer, lost answers, holds that are gone, claims that can't be had. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import { noMount } from '../../machines/mount/changes.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import { EarlierHolds, type EarlierHoldsOptions } from '../../src/allocs/earlier-holds.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import { simulatedClock } from '../../src/testing/index.js';
import { many } from '../mounts/mount-house.js';
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
}

/** A mount with a hold, and all that is asked of others, in words. */
function scene({ users = [user], look, holdReleased, mount }: Scene) {
  const clock = simulatedClock();
  const said: string[] = [];
  const context: MountContext = { ...noMount({ node: 'n', ...key }), users, holds: [hold] };
  let isSingle = false;
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
        if (type === 'mount.hold-released') context.holds = undefined;
      },
      until: async <T>(_: unknown, { reached }: { reached(now: MountContext): T | undefined }): Promise<T> => {
        const found = reached(context);
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
      has: () => isSingle,
      unmount: async () => false,
      mount: async (asked, following) => {
        said.push(`mount ${JSON.stringify(asked.usage)}`);
        const mounted = (await mount?.(asked, following)) ?? info;
        isSingle = true;
        return mounted;
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
  return { clock, said, holds };
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

  for (const [situation, holdsThere] of [
    ['gone', []],
    ['an older one', [{ ...hold, generation: 4 }]],
    ['that of another alloc', [{ ...hold, allocId: 'b' }]],
  ] as const)
    it(`N3 35.6 its hold is ${situation}: unmounted, and not claimed`, async () => {
      const { said, clock, holds } = scene({ look: async () => ({ ...known, holds: [...holdsThere] }) });
      holds.start();
      await clock.advance(1);
      expect([said[0], said.at(-1)]).to.deep.equal(['take', 'mount.hold-released']);
      expect(said).not.to.include(mounted);
      holds.stop();
    });

  it('N3 35.6 its volume is gone: unmounted', async () => {
    const look = async (): Promise<never> => {
      throw new StagecraftError('VOLUME_NOT_FOUND', 'there is none');
    };
    const { said, clock, holds } = scene({ look });
    holds.start();
    await clock.advance(1);
    expect(said).to.deep.equal(['take', 'mount.hold-released']);
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

  it('N3 35.6 its claim can not be had for now, and its hold is lost meanwhile: unmounted within minutes', async () => {
    let isKept = true;
    const look = async () => ({ ...known, holds: isKept ? [hold] : [] });
    const mount: Options['singles']['mount'] = (_, { signal }) =>
      new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { said, clock, holds } = scene({ look, mount });
    holds.start();
    await clock.advance(200_000);
    expect(new Set(said)).to.deep.equal(new Set([mounted]));
    isKept = false;
    await clock.advance(130_000);
    expect(said.slice(-2)).to.deep.equal(['take', 'mount.hold-released']);
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

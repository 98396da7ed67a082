/** Migrates records of the mount machine from each older version to the next. Recorded histories prove it: test/mounts/migrations.test.ts */

import type { StagingData } from '../../machines/mount/staging-setup.js';
import { callStates } from '../../machines/mount/states.js';
import type { TargetData, TargetUse } from '../../machines/mount/target-setup.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import type { Migration } from '../engine/effects/effects.js';

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

/** How an alloc asked for the volume: an alloc without a claim had a hold, unless whoever has the volumes gave none. */
interface OldUse extends TargetUse {
  isClaimed: boolean;
  hold?: number;
}

type OldTarget = Omit<TargetData, 'next'> & OldUse & { at: string; next?: OldUse };

/** Record of version 3: the path of a part's state ends with how far its call is. */
type OldContext = Pick<MountContext, 'work' | 'awaiting'> & {
  staging: StagingData & { at: string };
  users: OldTarget[];
  unreported?: Hold[];
};

const firstCalls: Record<string, string> = {
  'pending-unpublish.first-publish': 'leaving-first-call',
  'replacing.first-publish': 'replacing-first-call',
};

/** Leaves out how far the call is: the mount knows. */
const inPhase = <TPart extends { at: string }>(part: TPart): TPart => ({
  ...part,
  at: firstCalls[part.at] ?? part.at.replace(/\..*/, ''),
});

const used = <TUse extends OldUse>({ isClaimed: _, hold: __, ...use }: TUse): Omit<TUse, 'isClaimed' | 'hold'> => use;

const targetOf = ({ next, ...user }: OldTarget): TargetData & { at: string } =>
  inPhase({ ...used(user), ...(next && { next: used(next) }) });

/** Holds of those without a claim, one for each alloc: the newest. A hold that was never given has generation 0. */
function holdsOf({ users, unreported = [] }: OldContext): Hold[] {
  const holds = new Map<string, number>();
  const note = (allocId: string, generation: number): void =>
    void holds.set(allocId, Math.max(generation, holds.get(allocId) ?? 0));
  for (const { allocId, generation } of unreported) note(allocId, generation);
  for (const { allocId, hold, isClaimed, at } of users)
    if (hold !== undefined) note(allocId, hold);
    else if (!isClaimed && at !== 'failed') note(allocId, 0);
  return [...holds].map(([allocId, generation]) => ({ allocId, generation }));
}

/** Version 4: parts are phases, the mount has one call, and each target a claim. A failed mount without one is over. */
const oneCall: Migration = {
  name: 'a mount has one call',
  from: '3',
  to: '4',
  migrate: ({ value, context, ...snapshot }) => {
    const { unreported: _, ...old } = context as OldContext;
    const { staging, users, work, awaiting } = old;
    const holds = holdsOf(context as OldContext);
    const called = work?.isCalling ? (awaiting ? 'waiting-for-plugin' : callStates[work.kind]) : 'backing-off';
    return {
      ...snapshot,
      value: work ? called : value,
      context: {
        ...old,
        staging: inPhase(staging),
        users: users.filter(({ at, isClaimed }) => isClaimed || at !== 'failed').map(targetOf),
        ...(holds.length > 0 && { holds }),
      },
    };
  },
};

export const mountMigrations: Migration[] = [steps, oneCall];

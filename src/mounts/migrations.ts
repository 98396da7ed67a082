/**
 * From each older version of the mount machine to the next. Recorded histories prove them: test/mounts/migrations.test.ts.
 * The types of version 1 say what its records may hold; nothing else reads them.
 */
import type { Tries } from '../../machines/kit/csi-types.js';
import type { Staging } from '../../machines/mount/staging.js';
import type { StagingData } from '../../machines/mount/staging-setup.js';
import type { Target } from '../../machines/mount/target.js';
import type { TargetData, TargetUse } from '../../machines/mount/target-setup.js';
import type { MountWork } from '../../machines/mount/types.js';
import { asWaiting, type OldAwaiting, waitOf } from '../calls/older-waits.js';
import type { Migration } from '../engine/effects/effects.js';

/** Staging in version 1: a state, and flags. */
interface OldStaging extends Omit<StagingData, 'unstageTries'> {
  state: 'none' | 'doubtful' | 'staged' | 'without';
  isLost?: true;
  isDead?: true;
  undoing?: Tries;
}

/** User in version 1: a state, and flags. */
interface OldUser extends Omit<TargetData, 'mayStillArrive' | 'next'> {
  state: 'wanted' | 'published' | 'lost' | 'leaving' | 'detached' | 'failed';
  inDoubt?: boolean;
  isKnown?: true;
  isUnconfirmed?: true;
  again?: TargetUse;
}

interface OldContext {
  staging: OldStaging;
  users: OldUser[];
  work: MountWork | null;
  awaiting: OldAwaiting | null;
}

/** State of the mount's call about its staging path, or about the target of an alloc. Undefined: it is at another, or at none. */
type Turn = { kind: Exclude<MountWork['kind'], 'expand'>; is: 'calling' | 'waiting-for-plugin' } | undefined;

function turnOf({ work, awaiting }: OldContext, allocId?: string): Turn {
  if (!work?.isCalling || work.kind === 'expand' || work.allocId !== allocId) return undefined;
  return { kind: work.kind, is: awaiting ? 'waiting-for-plugin' : 'calling' };
}

/** Returns the needs of the users while no call about the staging path is in flight. */
function wishOf({ users, staging: { state, isDead, isLost } }: OldContext): 'stage' | 'unstage' | undefined {
  const mayHaveTarget = (user: OldUser): boolean =>
    ['published', 'leaving', 'lost'].includes(user.state) || user.inDoubt === true || user.isKnown === true;
  if (isDead) return users.some(mayHaveTarget) ? undefined : 'unstage';
  const isNeededBy = (user: OldUser): boolean =>
    !user.isUnconfirmed && (user.state === 'wanted' || (user.state === 'published' && !isLost));
  if (users.some(isNeededBy)) return 'stage';
  const isOwed = state === 'staged' || state === 'doubtful';
  return isOwed && users.every((user) => user.state === 'detached' || user.state === 'failed') ? 'unstage' : undefined;
}

const pauseOf = (tries: Tries | undefined): 'backing-off' | 'due' =>
  tries && tries.notBeforeMs > 0 ? 'backing-off' : 'due';

/** The state of version 2, as a path. */
function placeOf(context: OldContext): Staging['at'] {
  const { state, isDead, isLost, tries, undoing } = context.staging;
  const turn = turnOf(context);
  if (state === 'without') return 'not-needed';
  if (turn?.kind === 'unstage') {
    if (state === 'staged') return `pending-unstage.${turn.is}`;
    return isDead ? `clearing-dead.${turn.is}` : `unstage-in-doubt.${turn.is}`;
  }
  const wish = turn ? 'stage' : wishOf(context);
  const work = turn?.is ?? pauseOf(tries);
  if (state === 'none') return wish === 'stage' ? `pending-stage.${work}` : 'not-staged';
  if (state === 'staged') return wish === 'unstage' ? `pending-unstage.${pauseOf(undoing)}` : 'staged';
  if (isDead) {
    if (wish === 'unstage') return `clearing-dead.${pauseOf(undoing)}`;
    return `${isLost ? 'found-dead' : 'dead'}.${turn ? 'stage-under-way' : 'waiting-for-targets'}`;
  }
  if (wish === 'unstage') return `unstage-in-doubt.${pauseOf(undoing)}`;
  if (isLost) return wish === 'stage' ? `missing.${work}` : 'missing.waiting-for-request';
  return wish === 'stage' ? `in-doubt.${work}` : 'in-doubt.waiting-for-users';
}

function stagingOf(context: OldContext): Staging {
  const { state: _, isLost: __, isDead: ___, undoing, ...kept } = context.staging;
  return { ...kept, ...(undoing && { unstageTries: undoing }), at: placeOf(context) };
}

/** The state of the target of a user in version 2, as a path. */
function targetPlaceOf(user: OldUser, turn: Turn): Target['at'] {
  const { state, inDoubt, isKnown, again, failure, tries } = user;
  const work = turn?.is ?? pauseOf(tries);
  switch (state) {
    case 'wanted':
      if (inDoubt) return `publish-in-doubt.${work}`;
      return isKnown ? `remounting.${work}` : `pending-publish.${work}`;
    case 'leaving':
      if (turn?.kind === 'publish' && turn.is === 'calling')
        return `${again ? 'replacing' : 'pending-unpublish'}.${inDoubt || isKnown ? 'publish-under-way' : 'first-publish'}`;
      if (again) return `replacing.${work}`;
      return failure ? `undoing.${work}` : `pending-unpublish.${work}`;
    case 'detached':
      return 'waiting-for-unstage';
    default:
      return state;
  }
}

function targetOf(context: OldContext, user: OldUser): Target {
  const { state, inDoubt, isKnown: _, isUnconfirmed: __, again, ...kept } = user;
  return {
    ...kept,
    ...(again && { next: again }),
    ...(inDoubt && state === 'leaving' && { mayStillArrive: true as const }),
    at: targetPlaceOf(user, turnOf(context, user.allocId)),
  };
}

/** Version 2 keeps the staging path and each target as parts with named states, in place of states with flags. */
const stagingAndTargetsAsParts: Migration = {
  name: 'staging and targets are parts',
  from: '1',
  to: '2',
  migrate: ({ value, context, ...snapshot }) => {
    const old = context as OldContext;
    const awaiting = waitOf(old.awaiting);
    return {
      ...snapshot,
      value: awaiting ? asWaiting(value) : value,
      context: {
        ...context,
        awaiting,
        staging: stagingOf(old),
        users: old.users.map((user) => targetOf(old, user)),
        unconfirmed: old.users.filter(({ isUnconfirmed }) => isUnconfirmed).map(({ allocId }) => allocId),
      },
    };
  },
};

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

export const mountMigrations: Migration[] = [stagingAndTargetsAsParts, steps];

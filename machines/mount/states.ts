/**
 * Meaning of the states of a mount and its parts, for all who look from outside: they ask here, never the value of the machine.
 * Pure.
 */
import type { StateValue } from 'xstate';
import { callStepOf, presentStepOf } from '../kit/call.js';
import type { Tries } from '../kit/csi-types.js';
import type { PartView } from '../kit/parts.js';
import { pathOf, stateName } from '../kit/state-path.js';
import { seenAt } from '../kit/state-words.js';
import { stagingChart, stagingMachine } from './staging.js';
import { isWanted, targetChart, targetMachine } from './target.js';
import type { MountContext, MountState, MountWorkKind, Staging, Target } from './types.js';
import { stagingWish } from './work.js';

/** State of a mount by the kind of its call. */
export const callStates = {
  stage: 'staging',
  publish: 'publishing',
  unpublish: 'unpublishing',
  unstage: 'unstaging',
  expand: 'expanding',
} as const satisfies Record<MountWorkKind, MountState>;

/** State of the mount for users. A mount that rests or waits is in the state of the call that comes next. */
export const mountStateOf = (value: StateValue, { work }: Pick<MountContext, 'work'>): MountState =>
  work ? callStates[work.kind] : stateName(value);

/** Path of that state, and how far its call is: `publishing.backing-off`. */
export const mountPathOf = (value: StateValue, context: Pick<MountContext, 'work' | 'awaiting'>): string =>
  context.work ? `${mountStateOf(value, context)}.${presentStepOf(context)}` : pathOf(value);

/** Staging, and the target of each alloc that uses the volume here; with an id, of that alloc alone. */
export const mountParts = (context: MountContext, allocId?: string): PartView[] => [
  stagingView(context),
  ...context.users
    .filter((user) => (allocId ?? user.allocId) === user.allocId)
    .map((user) => targetView(context, user)),
];

/** Call about this part that is under way, or waits. */
const callOf = ({ work }: MountContext, allocId?: string): MountWorkKind | undefined =>
  work?.isCalling && work.allocId === allocId ? work.kind : undefined;

const triesOf = (staging: Staging): Tries | undefined =>
  stagingChart.metaOf(staging).call === 'unstage' ? staging.unstageTries : staging.tries;

/** Phase of the staging, and how far the call is that it wants now: `in-doubt.backing-off`. */
function stagingStep(context: MountContext): string {
  const { staging } = context;
  const { at } = staging;
  const { call: wanted } = stagingChart.metaOf(staging);
  const present = callOf(context);
  if (!wanted) return at;
  const isOwn = present === wanted;
  const isWanted = isOwn || stagingWish(context) === `${wanted}.wanted`;
  return isWanted ? `${at}.${callStepOf(context, isOwn, triesOf(staging))}` : at;
}

function stagingView(context: MountContext): PartView {
  const { staging, awaiting } = context;
  const at = stagingStep(context);
  const attempts = triesOf(staging);
  const why = at.endsWith('.waiting-for-plugin') ? awaiting?.reason : attempts?.failure.message;
  return {
    ...{ id: stagingMachine.id, ...seenAt(stagingMachine, at) },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && attempts && { nextAttemptAtMs: attempts.notBeforeMs }),
  };
}

/** Id of the part that is the target of this alloc. */
const targetId = (allocId: string): string => `target/${allocId}`;

/** Phase of a target, and how far the call is that it wants. */
function targetStep(context: MountContext, user: Target): string {
  const { allocId, at, tries } = user;
  const { call: wanted } = targetChart.metaOf(user);
  if (!wanted) return at;
  const present = callOf(context, allocId);
  return `${at}.${callStepOf(context, present === wanted, tries)}`;
}

function targetView(context: MountContext, user: Target): PartView {
  const { allocId, tries } = user;
  const at = targetStep(context, user);
  const why = reasonOf(context, user);
  return {
    ...{ id: targetId(allocId), ...seenAt(targetMachine, at) },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

function reasonOf(context: MountContext, user: Target): string | undefined {
  const { awaiting, unconfirmed } = context;
  const { allocId, failure, tries } = user;
  if (isWanted(user) && unconfirmed.includes(allocId)) return unconfirmedText(user);
  if (awaiting && callOf(context, allocId)) return awaiting.reason;
  return failure?.message ?? tries?.failure.message;
}

/** Reason why nothing is mounted for an alloc whose claim may have been taken while the agent was away. */
export const unconfirmedText = ({ allocId }: Pick<Target, 'allocId'>): string =>
  `it is mounted once it is known that alloc ${allocId} still has its claim: the status of that alloc says what that waits for`;

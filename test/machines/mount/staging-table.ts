/** Table of the staging chart: where each event leads in each state. What it does to the data is the same in all of them. */
import type { Tries } from '../../../machines/kit/csi-types.js';
import type { Staging } from '../../../machines/mount/staging.js';
import type { StagingData, StagingEvent } from '../../../machines/mount/staging-setup.js';

const failure = { code: 'CSI_ERROR', message: 'lost', final: false } as const;
/** Of an attempt before the event. */
export const earlier: Tries = { count: 1, notBeforeMs: 50, sinceMs: 0, failure };
/** With the attempt that the event reports. */
export const again: Tries = { count: 2, notBeforeMs: 300, sinceMs: 100, failure };
const found = { device: '8:1', root: '/' };
const foundNow = { device: '8:2', root: '/' };
const appeared = { ...found, bootId: 'b' };
const appearedNow = { ...foundNow, bootId: 'b' };

/** All that a record may have. */
export const record: StagingData = { number: 1, found, appeared, tries: earlier, unstageTries: earlier };

interface Named {
  event: StagingEvent;
  /** What becomes of the data, where the event is taken; `undefined`: gone. */
  changes?: Partial<StagingData>;
}

const none = { found: undefined, appeared: undefined, tries: undefined, unstageTries: undefined };
const now = (tries: Tries): Tries => ({ ...tries, notBeforeMs: 0 });
const noPause = { tries: now(earlier), unstageTries: now(earlier) };

/** Events by name. Where a guard decides, an event has more than one name. */
export const events = {
  'stage wanted': { event: { type: 'stage.wanted' } },
  'unstage wanted': { event: { type: 'unstage.wanted' } },
  'targets may remain': { event: { type: 'targets.may-remain' } },
  'users gone': { event: { type: 'users.gone' }, changes: none },
  retry: { event: { type: 'retry' }, changes: { tries: undefined, unstageTries: undefined } },
  hasten: { event: { type: 'hasten' }, changes: { unstageTries: now(earlier) } },
  'runtime started': { event: { type: 'runtime.started' }, changes: noPause },
  'seen missing': { event: { type: 'seen-missing', isMended: true } },
  'seen missing, reported': { event: { type: 'seen-missing', isMended: false } },
  'seen dead': { event: { type: 'seen-dead', isMended: true } },
  'seen dead, reported': { event: { type: 'seen-dead', isMended: false } },
  'dead one gone': { event: { type: 'seen-dead-gone' } },
  'publish found it unstaged': { event: { type: 'publish.found-unstaged' } },
  'mount appeared': { event: { type: 'mount-appeared', mount: appearedNow }, changes: { appeared: appearedNow } },
  'turn given': { event: { type: 'turn.given' } },
  'turn lost': { event: { type: 'turn.lost' } },
  'call waits': { event: { type: 'call.waits' } },
  'stage done': {
    event: { type: 'stage.done', number: 7, found: foundNow },
    changes: { ...none, number: 7, found: foundNow },
  },
  'stage not needed': { event: { type: 'stage.not-needed', number: 7 }, changes: { ...none, number: 7 } },
  'stage unknown': { event: { type: 'stage.unknown', tries: again }, changes: { found: undefined, tries: again } },
  'stage refused': { event: { type: 'stage.refused', tries: again }, changes: { found: undefined, tries: again } },
  'stage not sent': { event: { type: 'stage.not-sent', tries: again }, changes: { tries: again } },
  'stage interrupted': { event: { type: 'stage.interrupted' }, changes: { found: undefined } },
  'unstage done': {
    event: { type: 'unstage.done', number: 7 },
    changes: { number: 7, found: undefined, appeared: undefined, unstageTries: undefined },
  },
  'unstage unknown': { event: { type: 'unstage.unknown', tries: again }, changes: { unstageTries: again } },
  'unstage not sent': { event: { type: 'unstage.not-sent', tries: again }, changes: { unstageTries: again } },
  'unstage interrupted': { event: { type: 'unstage.interrupted' } },
} satisfies Record<string, Named>;

export type EventName = keyof typeof events;
export type At = Staging['at'];
/** Where each event leads. */
export type Row = Partial<Record<EventName, At>>;

/** Taken everywhere, and leading nowhere where a state has no row of its own for it. */
export const everywhere: readonly EventName[] = [
  ...(['stage wanted', 'unstage wanted'] as const),
  ...(['targets may remain', 'retry', 'hasten', 'runtime started'] as const),
  ...(['seen missing', 'seen missing, reported', 'seen dead', 'seen dead, reported', 'dead one gone'] as const),
  ...(['publish found it unstaged', 'mount appeared'] as const),
];

const dead: Row = { 'seen dead': 'dead.waiting-for-targets', 'seen dead, reported': 'found-dead.waiting-for-targets' };
const deadUnderCall: Row = { 'seen dead': 'dead.stage-under-way', 'seen dead, reported': 'found-dead.stage-under-way' };
const foundDead: Row = {
  'seen dead': 'found-dead.waiting-for-targets',
  'seen dead, reported': 'found-dead.waiting-for-targets',
};
const foundDeadUnderCall: Row = {
  'seen dead': 'found-dead.stage-under-way',
  'seen dead, reported': 'found-dead.stage-under-way',
};
const unstaging: Row = {
  'unstage wanted': 'unstage-in-doubt.due',
};
const clearing: Row = {
  'unstage wanted': 'clearing-dead.due',
};
const idle: Row = {
  'unstage wanted': 'not-staged',
  'targets may remain': 'not-staged',
  'users gone': 'not-staged',
};
const settled: Row = { 'stage done': 'staged', 'stage not needed': 'not-needed' };

const staged: Row = {
  ...settled,
  'stage unknown': 'in-doubt.backing-off',
  'stage interrupted': 'in-doubt.due',
  'stage refused': 'pending-stage.backing-off',
  'stage not sent': 'pending-stage.backing-off',
  'turn lost': 'pending-stage.due',
  'call waits': 'pending-stage.waiting-for-plugin',
};
const restaged: Row = {
  ...settled,
  'stage unknown': 'in-doubt.backing-off',
  'stage interrupted': 'in-doubt.due',
  'stage refused': 'in-doubt.backing-off',
  'stage not sent': 'in-doubt.backing-off',
  'turn lost': 'in-doubt.due',
  'call waits': 'in-doubt.waiting-for-plugin',
};
const stagedAfterLoss: Row = {
  ...settled,
  'stage unknown': 'missing.backing-off',
  'stage interrupted': 'missing.due',
  'stage refused': 'missing.backing-off',
  'stage not sent': 'missing.backing-off',
  'turn lost': 'missing.due',
  'call waits': 'missing.waiting-for-plugin',
};
const deadCall = (rest: At, call: At): Row => ({
  'stage done': rest,
  'stage not needed': 'not-needed',
  'stage unknown': rest,
  'stage interrupted': rest,
  'stage refused': rest,
  'stage not sent': rest,
  'turn lost': rest,
  'call waits': call,
});
const unstaged = (state: 'clearing-dead' | 'pending-unstage' | 'unstage-in-doubt'): Row => {
  const after = state === 'pending-unstage' ? 'unstage-in-doubt' : state;
  return {
    'unstage done': 'not-staged',
    'unstage unknown': `${after}.backing-off`,
    'unstage interrupted': `${after}.due`,
    'unstage not sent': `${state}.backing-off`,
    'turn lost': `${state}.due`,
    'call waits': `${state}.waiting-for-plugin`,
  };
};
const wantedAgain: Row = {
  'stage wanted': 'in-doubt.due',
  'targets may remain': 'in-doubt.waiting-for-users',
};
const kept: Row = { 'stage wanted': 'staged', 'targets may remain': 'staged' };
const cleared: Row = { 'targets may remain': 'dead.waiting-for-targets' };

type Inner = 'due' | 'calling' | 'waiting-for-plugin' | 'backing-off';
/** What is learned of the path changes nothing of the work that is done at it. */
const learned = (inner: Inner): Row => ({
  'seen missing': `unstage-in-doubt.${inner}`,
  'seen missing, reported': `unstage-in-doubt.${inner}`,
});
const learnedDead = (inner: Inner): Row => ({
  'seen dead': `clearing-dead.${inner}`,
  'seen dead, reported': `clearing-dead.${inner}`,
});
const learnedGone = (inner: Inner): Row => ({ 'dead one gone': `unstage-in-doubt.${inner}` });

const pausedStage = (due: At): Row => ({ retry: due, 'runtime started': due });
const pausedUnstage = (due: At): Row => ({ retry: due, hasten: due, 'runtime started': due });

/** Without the outcomes of a call that was made: it waits. */
const unsent = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([event]) => !/(done|not needed|unknown|interrupted)$/.test(event)));

export const table: Partial<Record<At, Row>> = {
  'not-staged': {
    ...dead,
    'stage wanted': 'pending-stage.due',
    'users gone': 'not-staged',
  },
  'pending-stage.due': { ...dead, ...idle, 'turn given': 'pending-stage.calling' },
  'pending-stage.calling': { ...deadUnderCall, ...staged },
  'pending-stage.waiting-for-plugin': { ...deadUnderCall, ...unsent(staged), 'users gone': 'not-staged' },
  'pending-stage.backing-off': {
    ...{ ...dead, ...idle, ...pausedStage('pending-stage.due') },
    'turn given': 'pending-stage.calling',
  },
  staged: {
    ...dead,
    'unstage wanted': 'pending-unstage.due',
    'seen missing': 'in-doubt.waiting-for-users',
    'seen missing, reported': 'missing.waiting-for-request',
    'publish found it unstaged': 'in-doubt.waiting-for-users',
  },
  'not-needed': { 'publish found it unstaged': 'in-doubt.waiting-for-users', 'users gone': 'not-staged' },
  'in-doubt.waiting-for-users': {
    ...{ ...dead, ...unstaging },
    'stage wanted': 'in-doubt.due',
  },
  'in-doubt.due': {
    ...{ ...dead, ...unstaging },
    'targets may remain': 'in-doubt.waiting-for-users',
    'turn given': 'in-doubt.calling',
  },
  'in-doubt.calling': { ...deadUnderCall, ...restaged },
  'in-doubt.waiting-for-plugin': { ...deadUnderCall, ...unsent(restaged) },
  'in-doubt.backing-off': {
    ...{ ...dead, ...unstaging, ...pausedStage('in-doubt.due') },
    'targets may remain': 'in-doubt.waiting-for-users',
    'turn given': 'in-doubt.calling',
  },
  'missing.waiting-for-request': {
    ...{ ...foundDead, ...unstaging },
    'stage wanted': 'missing.due',
  },
  'missing.due': {
    ...{ ...foundDead, ...unstaging },
    'targets may remain': 'missing.waiting-for-request',
    'turn given': 'missing.calling',
  },
  'missing.calling': { ...foundDeadUnderCall, ...stagedAfterLoss },
  'missing.waiting-for-plugin': { ...foundDeadUnderCall, ...unsent(stagedAfterLoss) },
  'missing.backing-off': {
    ...{ ...foundDead, ...unstaging, ...pausedStage('missing.due') },
    'targets may remain': 'missing.waiting-for-request',
    'turn given': 'missing.calling',
  },
  'found-dead.waiting-for-targets': { ...clearing, 'dead one gone': 'missing.waiting-for-request' },
  'found-dead.stage-under-way': {
    ...deadCall('found-dead.waiting-for-targets', 'found-dead.stage-under-way'),
    'dead one gone': 'missing.calling',
  },
  'dead.waiting-for-targets': { ...clearing, 'dead one gone': 'in-doubt.waiting-for-users' },
  'dead.stage-under-way': {
    ...deadCall('dead.waiting-for-targets', 'dead.stage-under-way'),
    'dead one gone': 'in-doubt.calling',
  },
  'clearing-dead.due': { ...cleared, ...learnedGone('due'), 'turn given': 'clearing-dead.calling' },
  'clearing-dead.calling': { ...unstaged('clearing-dead'), ...learnedGone('calling') },
  'clearing-dead.waiting-for-plugin': { ...unsent(unstaged('clearing-dead')), ...learnedGone('waiting-for-plugin') },
  'clearing-dead.backing-off': {
    ...{ ...cleared, ...learnedGone('backing-off'), ...pausedUnstage('clearing-dead.due') },
    'turn given': 'clearing-dead.calling',
  },
  'pending-unstage.due': {
    ...{ ...kept, ...learned('due'), ...learnedDead('due') },
    'turn given': 'pending-unstage.calling',
  },
  'pending-unstage.calling': { ...unstaged('pending-unstage'), ...learned('calling'), ...learnedDead('calling') },
  'pending-unstage.waiting-for-plugin': {
    ...{ ...unsent(unstaged('pending-unstage')), ...learned('waiting-for-plugin') },
    ...learnedDead('waiting-for-plugin'),
  },
  'pending-unstage.backing-off': {
    ...{ ...kept, ...learned('backing-off'), ...learnedDead('backing-off') },
    ...{ ...pausedUnstage('pending-unstage.due'), 'turn given': 'pending-unstage.calling' },
  },
  'unstage-in-doubt.due': { ...wantedAgain, ...learnedDead('due'), 'turn given': 'unstage-in-doubt.calling' },
  'unstage-in-doubt.calling': { ...unstaged('unstage-in-doubt'), ...learnedDead('calling') },
  'unstage-in-doubt.waiting-for-plugin': {
    ...unsent(unstaged('unstage-in-doubt')),
    ...learnedDead('waiting-for-plugin'),
  },
  'unstage-in-doubt.backing-off': {
    ...{ ...wantedAgain, ...learnedDead('backing-off'), ...pausedUnstage('unstage-in-doubt.due') },
    'turn given': 'unstage-in-doubt.calling',
  },
};

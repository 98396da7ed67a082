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
  'call not made': { event: { type: 'call.not-made' } },
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
type Row = Partial<Record<EventName, At>>;

/** Taken everywhere, and leading nowhere where a state has no row of its own for it. */
export const everywhere: readonly EventName[] = [
  ...(['stage wanted', 'unstage wanted'] as const),
  ...(['targets may remain', 'retry', 'hasten', 'runtime started'] as const),
  ...(['seen missing', 'seen missing, reported', 'seen dead', 'seen dead, reported', 'dead one gone'] as const),
  ...(['publish found it unstaged', 'mount appeared', 'call not made'] as const),
];

const dead: Row = { 'seen dead': 'dead', 'seen dead, reported': 'found-dead' };
const foundDead: Row = { 'seen dead': 'found-dead', 'seen dead, reported': 'found-dead' };
const clearing: Row = { 'seen dead': 'clearing-dead', 'seen dead, reported': 'clearing-dead' };

/** Outcomes of a stage. */
const staged = (inDoubt: At, stays: At): Row => ({
  ...{ 'stage done': 'staged', 'stage not needed': 'not-needed' },
  ...{ 'stage unknown': inDoubt, 'stage interrupted': inDoubt, 'stage refused': stays, 'stage not sent': stays },
});
/** Outcomes of a stage that was begun before the file system was seen dead. */
const stagedDead = (at: At): Row => ({ ...staged(at, at), 'stage done': at });
/** Outcomes of an unstage. */
const unstaged = (inDoubt: At, stays: At): Row => ({
  ...{ 'unstage done': 'not-staged', 'unstage not sent': stays },
  ...{ 'unstage unknown': inDoubt, 'unstage interrupted': inDoubt },
});

export const table: Record<At, Row> = {
  'not-staged': { ...dead, 'stage wanted': 'pending-stage', 'users gone': 'not-staged' },
  'pending-stage': {
    ...{ ...dead, ...staged('in-doubt', 'pending-stage') },
    ...{ 'unstage wanted': 'not-staged', 'targets may remain': 'not-staged', 'users gone': 'not-staged' },
  },
  staged: {
    ...{ ...dead, 'unstage wanted': 'pending-unstage', 'publish found it unstaged': 'in-doubt' },
    ...{ 'seen missing': 'in-doubt', 'seen missing, reported': 'missing' },
  },
  'not-needed': { 'publish found it unstaged': 'in-doubt', 'users gone': 'not-staged' },
  'in-doubt': { ...dead, ...staged('in-doubt', 'in-doubt'), 'unstage wanted': 'unstage-in-doubt' },
  missing: { ...foundDead, ...staged('missing', 'missing'), 'unstage wanted': 'unstage-in-doubt' },
  'found-dead': { ...stagedDead('found-dead'), 'unstage wanted': 'clearing-dead', 'dead one gone': 'missing' },
  dead: { ...stagedDead('dead'), 'unstage wanted': 'clearing-dead', 'dead one gone': 'in-doubt' },
  'clearing-dead': {
    ...unstaged('clearing-dead', 'clearing-dead'),
    ...{ 'targets may remain': 'dead', 'dead one gone': 'unstage-in-doubt' },
  },
  'pending-unstage': {
    ...{ ...clearing, ...unstaged('unstage-in-doubt', 'pending-unstage') },
    ...{ 'stage wanted': 'staged', 'targets may remain': 'staged' },
    ...{ 'seen missing': 'unstage-in-doubt', 'seen missing, reported': 'unstage-in-doubt' },
  },
  'unstage-in-doubt': {
    ...{ ...clearing, ...unstaged('unstage-in-doubt', 'unstage-in-doubt') },
    ...{ 'stage wanted': 'in-doubt', 'targets may remain': 'in-doubt' },
  },
};

/** One step of the volume machine as data: what is committed before it, the event, and what the step asks for and commits. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { CallFailure } from '../../../machines/kit/csi-types.js';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { nobody } from '../../../machines/volume/changes.js';
import type { Publication } from '../../../machines/volume/publication.js';
import type { Claim, VolumeContext, VolumeRequest, VolumeWork } from '../../../machines/volume/types.js';
import { volumeMachine } from '../../../machines/volume/volume.js';
import { failureOf, hasPublished } from '../../../machines/volume/work.js';
import { HostedMachine } from '../../../src/engine/machine/hosted-machine.js';
import { lost, wish } from './publication-table.js';

/** When every event here comes. */
export const nowMs = 1_000;
/** When the first repeat of a call that failed now is due, and the second. */
export const soonMs = nowMs + 50;
export const laterMs = nowMs + 100;

export interface Situation {
  name: string;
  /** Of the context; all else is as in a volume that is created, and on no node. */
  record: Partial<VolumeContext>;
  event: VolumeRequest | Outcome | Interrupted | Admitted | { type: 'due' };
  /** Calls that the step begins. */
  calls: string[];
  /** The publications after it, all of them. */
  publications: Record<string, Publication>;
  /** What else of the context is other than before. */
  changes?: Partial<VolumeContext>;
  /** Code of the answer, where the request is refused. */
  refused?: string;
}

/** The end of the effect that makes the call of the volume, or waits for it. */
interface Outcome {
  type: 'outcome';
  of: string;
  output: object;
}

/** The runtime ended while the call of the volume was under way. */
interface Interrupted {
  type: 'interrupted';
  of: Outcome['of'];
}

/** The call of the volume waited, and may be made now. */
interface Admitted {
  type: 'admitted';
}

type Data = Omit<Partial<Publication>, 'at'>;

/** A publication on node a. */
export const on = (at: Publication['at'], data: Data = {}): Publication => ({ ...wish, number: 1, at, ...data });

/** The same on node b, published after it. */
export const onB = (at: Publication['at'], data: Data = {}): Publication =>
  on(at, { csiNodeId: 'csi-b', number: 2, ...data });

/** A call was sent that has attached the volume, or may have. */
export const byCall = { attachedBy: 'call' } as const;

export const claimOn = (nodeId: string, state: Claim['state'], more: Partial<Claim> = {}): Claim => ({
  ...{ allocId: 'web', nodeId, csiNodeId: `csi-${nodeId}`, mode: 'write', generation: 8, state },
  ...{ accessMode: wish.capability.accessMode, attachmentMode: wish.capability.attachmentMode },
  ...more,
});

/** A call of this kind is under way for the node. @param dueAtMs 0 for a first attempt */
export const calling = (kind: VolumeWork['kind'], nodeId?: string, dueAtMs = 0): VolumeWork => ({
  ...{ kind, dueAtMs, isCalling: true },
  ...(nodeId !== undefined && { nodeId }),
});
/** The next call is of this kind, and its time is yet to come. */
export const backingOff = (kind: VolumeWork['kind'], dueAtMs: number, nodeId?: string): VolumeWork => ({
  ...calling(kind, nodeId, dueAtMs),
  isCalling: false,
});

/** The present call waits. */
export const awaiting = { reason: 'no plugin', for: 'plugin' } as const;

export const failedOnce = (notBeforeMs: number, failure: CallFailure = lost) => ({
  tries: { count: 1, notBeforeMs, sinceMs: nowMs, failure },
});
/** Of an attempt before this step. */
export const failedBefore = (count: number, notBeforeMs = nowMs) => ({
  tries: { count, notBeforeMs, sinceMs: 0, failure: lost },
});

export const published = {
  type: 'outcome',
  of: 'controllerPublish',
  output: { status: 'done', answer: { publishContext: {} } },
} as const;
export const unpublished = {
  type: 'outcome',
  of: 'controllerUnpublish',
  output: { status: 'done', answer: null },
} as const;
/** A failed attempt. */
export const ended = (of: string, failure: CallFailure, more: { status?: 'not-sent' } = {}): Outcome => ({
  type: 'outcome',
  of,
  output: { status: 'failed', failure, ...more },
});

/** What the plugin's list says, compared with what is believed in the record. */
export const listed = (
  believed: string[],
  attached: string[],
  strays: { nodeId: string; csiNodeId: string }[] = [],
): VolumeRequest => ({
  type: 'volume.observed',
  believed: ['u1', ...believed],
  sighting: { isMissing: false, attached, strays },
});

const machine = HostedMachine.of(volumeMachine);

/** A volume that is created, and on no node, but for what the record says. */
export const contextOf = (record: Partial<VolumeContext>): VolumeContext => ({
  ...nobody({ namespace: 'default', id: 'data', seq: 8 }),
  ...{ uid: 'u1', name: 'sc-u1', csi: { id: 'vol-1', context: {}, accessibleTopology: [] }, origin: 'call' },
  spec: {
    ...{ plugin: 'disk', capacity: {}, capabilities: [wish.capability], parameters: {}, mutableParameters: {} },
    ...{ secrets: {}, topology: { requisite: [], preferred: [] } },
  },
  lifecycle: { at: 'created' },
  publicationNumber: 2,
  ...record,
});

/** State of the machine of a volume that exists: how far its call is, else how it rests. */
function stateOf(context: VolumeContext): string {
  const { work, awaiting } = context;
  if (!work) return failureOf(context) ? 'failed' : hasPublished(context) ? 'published' : 'created';
  if (!work.isCalling) return 'backing-off';
  if (awaiting) return 'waiting-for-plugin';
  return work.kind === 'remove' ? 'removing-unproven' : `pending-${work.kind}`;
}

function eventOf(event: Situation['event']): AnyEventObject {
  const stamp = { at: nowMs, random: 0.5 };
  if (event.type === 'outcome') return { type: `xstate.done.actor.${event.of}`, output: event.output, ...stamp };
  if (event.type === 'interrupted')
    return { type: `xstate.error.actor.${event.of}`, error: { code: 'INTERRUPTED', message: 'interrupted' }, ...stamp };
  if (event.type === 'admitted')
    return { type: 'xstate.done.actor.admission', output: { status: 'admitted' }, ...stamp };
  if (event.type === 'due') return { type: 'xstate.after.untilDue.volume.backing-off', ...stamp };
  return { ...event, ...stamp };
}

const codeIn = (answer: AnswerParams | undefined): string | undefined =>
  answer && 'error' in answer ? answer.error.code : undefined;

const callText = ({ src, input }: { src: string; input: unknown }): string => {
  const { csiNodeId, src: of }: { csiNodeId?: string; src?: string } = input instanceof Object ? input : {};
  if (of !== undefined) return `${src} ${of}`;
  return csiNodeId === undefined ? src : `${src} ${csiNodeId}`;
};

/** Steps the volume of the record. */
export function stepped(before: VolumeContext, event: AnyEventObject): ReturnType<typeof machine.step> {
  const step = machine.step(machine.restore({ value: stateOf(before), context: before }), event);
  const { value, context } = step.snapshot;
  if (context.lifecycle.at !== 'absent') expect(value, 'state').to.equal(stateOf(context));
  return step;
}

export function play({ record, event, calls, publications, changes, refused }: Situation): void {
  const before = contextOf(record);
  const step = stepped(before, eventOf(event));
  expect(codeIn(step.answer), 'answer').to.equal(refused);
  const after = machine.persist(step.snapshot).context;
  expect(JSON.parse(JSON.stringify(after))).to.deep.equal(
    JSON.parse(JSON.stringify({ ...before, publications, ...changes })),
  );
  expect(step.started.map(callText), 'calls').to.deep.equal(calls);
}

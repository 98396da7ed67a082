/** Steps of the snapshot machine, as its host takes them: a record and an event, and all that comes of it. */
import type { AnyEventObject, AnyStateNode } from 'xstate';
import { snapshotPhases, volumeSnapshotMachine } from '../../../machines/index.js';
import type { AdmissionCall } from '../../../machines/kit/csi-types.js';
import { wantedCall } from '../../../machines/snapshot/calls.js';
import { noSnapshot } from '../../../machines/snapshot/changes.js';
import type { SnapshotContext } from '../../../machines/snapshot/phases.js';
import type {
  MadeSnapshot,
  SnapshotCallKind,
  SnapshotData,
  SnapshotSpec,
  SnapshotWork,
} from '../../../machines/snapshot/types.js';
import { HostedMachine, type MachineStep } from '../../../src/engine/machine/hosted-machine.js';

const machine = HostedMachine.of(volumeSnapshotMachine);

export const spec: SnapshotSpec = {
  plugin: 'disk',
  sources: [{ volume: { namespace: 'default', id: 'data' }, csiId: 'vol-1' }],
  parameters: {},
  secrets: {},
};
export const made = (csiId: string, isReady = true): MadeSnapshot => ({
  csiId,
  isReady,
  members: [{ csiId, sourceCsiId: 'vol-1' }],
});
export const none = noSnapshot({ kind: 'volume-snapshot', namespace: 'default', id: 'monday' });
export const asked: SnapshotData = { ...none, spec, uid: 'u1', name: 'sc-u1' };
export const stamp = { at: 1_000_000, random: 0.5 };

type Phase = SnapshotContext['at'];

/** State of the machine while such a call is under way. */
const callStates: Record<SnapshotCallKind, string> = {
  create: 'pending-create',
  look: 'waiting-until-ready',
  remove: 'removing-untrusted',
  delete: 'pending-delete',
};

/** State of the machine of a snapshot in this phase. */
function stateOf({ at, work, awaiting }: SnapshotContext): string {
  if (!work) return at.startsWith('failed') ? 'failed' : at;
  if (!work.isCalling) return 'backing-off';
  return awaiting ? 'waiting-for-plugin' : callStates[work.kind];
}

/** Work of a phase: its call is under way or waits, unless there are failed attempts. */
function workOf(at: Phase, { tries }: SnapshotData): SnapshotWork | null {
  const kind = wantedCall({ at });
  if (!kind) return null;
  return { kind, dueAtMs: tries?.notBeforeMs ?? 0, isCalling: (tries?.notBeforeMs ?? 0) <= stamp.at };
}

export type Given = Omit<Partial<SnapshotData>, 'work'> & { work?: SnapshotWork | undefined };

/** Record of a snapshot in this phase. @param data default for `work`: the call that the phase wants */
export function recordOf(at: Phase, { work, ...data }: Given = {}): SnapshotContext {
  const whole = { ...asked, ...data };
  return { ...whole, work: work ?? workOf(at, whole), at };
}

/** Record and state after a step, with the calls that are under way and new. */
interface Taken extends Pick<MachineStep, 'emitted' | 'answer'> {
  state: unknown;
  context: SnapshotContext;
  calls: string[];
}

export function step(context: SnapshotContext, event: AnyEventObject): Taken {
  const { snapshot, started, emitted, answer } = machine.step(machine.restore({ value: stateOf(context), context }), {
    ...stamp,
    ...event,
  });
  const active = machine.activeInvokes(snapshot);
  const begun = new Map(started.filter(({ id }) => active.includes(id)).map((call) => [call.id, call]));
  const calls = [...begun.values()].map(({ src, input }) => {
    if (src === 'awaitAdmission') {
      const { src: of, wait } = input as AdmissionCall;
      return `${src} ${of}, for the ${wait.for}`;
    }
    const { name, csiId, isForced } = input as { name?: string; csiId?: string; isForced: boolean };
    return [src, csiId ?? name, ...(isForced ? ['forced'] : [])].join(' ');
  });
  return { state: snapshot.value, context: snapshot.context, calls, emitted, answer };
}

const leavesOf = (node: AnyStateNode): AnyStateNode[] =>
  node.type === 'atomic' ? [node] : Object.values(node.states).flatMap(leavesOf);

/** All phases. */
export const phases = leavesOf(snapshotPhases.root).map(({ path }) => path.join('.') as Phase);

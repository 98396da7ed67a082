/** Steps of the snapshot machine, as its host takes them: a state and its data, an event, and all that comes of it. */
import type { AnyEventObject, AnyStateNode, StateValue } from 'xstate';
import { pathToStateValue } from 'xstate';
import { volumeSnapshotMachine } from '../../../machines/index.js';
import type { AdmissionCall } from '../../../machines/kit/csi-types.js';
import { noSnapshot } from '../../../machines/snapshot/changes.js';
import { snapshotPathOf } from '../../../machines/snapshot/states.js';
import type { MadeSnapshot, SnapshotContext, SnapshotSpec } from '../../../machines/snapshot/types.js';
import { HostedMachine, type Step } from '../../../src/engine/machine/hosted-machine.js';

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
export const asked: SnapshotContext = { ...none, spec, uid: 'u1', name: 'sc-u1' };
export const stamp = { at: 1_000_000, random: 0.5 };

const stateAt = (path: string): StateValue => pathToStateValue(path.split('.'));

/** What a host does with a step: calls are those whose state it ends in. */
export interface Taken extends Pick<Step, 'emitted' | 'answer'> {
  path: string;
  context: SnapshotContext;
  calls: string[];
}

export function step(path: string, context: SnapshotContext, event: AnyEventObject): Taken {
  const { snapshot, started, emitted, answer } = machine.step(machine.restore({ value: stateAt(path), context }), {
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
  return { path: snapshotPathOf(snapshot.value, snapshot.context), context: snapshot.context, calls, emitted, answer };
}

const leavesOf = (node: AnyStateNode): AnyStateNode[] =>
  node.type === 'atomic' ? [node] : Object.values(node.states).flatMap(leavesOf);

/** The path of each state that has none within. */
export const leaves = leavesOf(volumeSnapshotMachine.root).map(({ path }) => path.join('.'));

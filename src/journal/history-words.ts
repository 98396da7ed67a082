/** Words of a history: the calls behind effects, and a sentence for each input of an actor. */
import type { JournalEntry } from '../engine/actor/actor-record.js';

const rpcs: Record<string, string> = {
  createVolume: 'CreateVolume',
  deleteVolume: 'DeleteVolume',
  controllerPublish: 'ControllerPublishVolume',
  controllerUnpublish: 'ControllerUnpublishVolume',
  controllerExpand: 'ControllerExpandVolume',
  controllerModify: 'ControllerModifyVolume',
  createSnapshot: 'CreateSnapshot',
  deleteSnapshot: 'DeleteSnapshot',
  // Repeated, to ask whether the snapshot is ready.
  lookAtSnapshot: 'CreateSnapshot',
  nodeStage: 'NodeStageVolume',
  nodePublish: 'NodePublishVolume',
  nodeUnpublish: 'NodeUnpublishVolume',
  nodeUnstage: 'NodeUnstageVolume',
  nodeExpand: 'NodeExpandVolume',
};

/**
 * Name of the CSI call that an effect makes; undefined: it makes none.
 * @param actor address of its actor, or the name of the machine
 */
export const rpcOf = (src: string, actor: string): string | undefined =>
  actor.startsWith('group-snapshot') ? rpcs[src]?.replace('Snapshot', 'VolumeGroupSnapshot') : rpcs[src];

type Fields = Record<string, unknown>;

const within = (value: unknown, key: string): unknown =>
  value instanceof Object ? Reflect.get(value, key) : undefined;

/** Sentences by the type of the event. Others get their type in words. */
const sentences: Record<string, (event: Fields) => string> = {
  'volume.create': ({ spec }) => `asked to create it on plugin ${within(spec, 'plugin')}`,
  'volume.publish': ({ nodeId }) => `asked to publish it to node ${nodeId}`,
  'volume.add-slot': ({ nodeId }) => `node ${nodeId} asks whether it is there`,
  'volume.unpublish': ({ nodeId }) => `asked to unpublish it from node ${nodeId}`,
  'volume.delete': ({ force }) => (force ? 'asked to delete it by force' : 'asked to delete it'),
  'volume.claim': ({ claim }) => `claimed by alloc ${within(claim, 'allocId')}`,
  'volume.claim-and-publish': ({ claim }) => `claimed by alloc ${within(claim, 'allocId')}, to be published there`,
  'volume.unclaim': ({ allocId }) => `alloc ${allocId} gives up its place in the queue`,
  'volume.withdraw': ({ nodeId, reason }) => `claims of node ${nodeId} that wait are given up: ${reason}`,
  'volume.release': ({ allocId }) => `alloc ${allocId} has stopped`,
  'volume.unstaged': ({ nodeId }) => `node ${nodeId} reports that it is unstaged`,
  'volume.hold-released': ({ nodeId, allocId }) => `node ${nodeId} has unmounted it for alloc ${allocId}`,
  'volume.fence': ({ nodeId, reason }) => `node ${nodeId} is fenced: ${reason}`,
  'volume.expand': ({ capacity }) => `asked to grow to ${sizeOf(capacity)}`,
  'volume.node-expanded': ({ nodeId }) => `node ${nodeId} has expanded it`,
  'volume.modify': () => 'asked to change parameters',
  'volume.observed': () => 'compared with the list of the plugin',
  'volume.retry': () => 'asked to try again now',
  'volume.set-availability': ({ availability }) => `availability set to ${availability}`,
  'volume.acknowledge': () => 'leftovers acknowledged',
  'snapshot.create': ({ spec }) => `asked to take it on plugin ${within(spec, 'plugin')}`,
  'snapshot.delete': ({ force }) => (force ? 'asked to delete it by force' : 'asked to delete it'),
  'snapshot.retry': () => 'asked to try again now',
  'snapshot.acknowledge': () => 'leftovers acknowledged',
  'wait.changed': ({ reason }) => `waits: ${reason}`,
  'mount.use': ({ allocId }) => `asked to mount it for alloc ${allocId}`,
  'mount.leave': ({ allocId }) => `alloc ${allocId} needs it no longer`,
  'mount.expand': ({ capacity }) => `asked to grow to ${sizeOf(capacity)}`,
  'mount.observed': () => 'compared with the mount table',
  'mount.confirm': ({ allocId }) => `the claim of alloc ${allocId} is still its own`,
  'mount.hold-released': ({ allocId }) => `no hold is kept for alloc ${allocId} any more`,
  'mount.condition': ({ condition }) => `condition: ${within(condition, 'message') ?? 'none reported'}`,
  'mount.retry': () => 'asked to try again now',
  'mount.hasten': () => 'asked to undo at once what is to be undone',
  'mount.given-up': () => 'its volume was given up here, and the agent of another place had mounted it',
  'call.appeared': () => 'the call failed, but a mount has appeared',
  'fingerprint.changed': ({ fingerprint }) => `checked: ${within(fingerprint, 'description')}`,
  'plugin.restart': () => 'registered anew',
  'plugin.lost': ({ description }) => `connection lost: ${description}`,
  'plugin.shutdown': () => 'deregistered',
  'plugins.register': ({ info }) => `instance ${within(info, 'allocId')} registered`,
  'plugins.deregister': ({ allocId }) => `instance ${allocId} deregistered`,
  'node.report': ({ plugins }) => `reports ${counted(plugins, 'plugin')}`,
  'node.down': () => 'said to be down',
  'node.fence': ({ reason }) => `asked to fence it: ${reason}`,
  'node.remove': () => 'asked to forget it',
  'node.reserve-slot': ({ plugin }) => `a volume of plugin ${plugin} asks for a slot`,
  'node.add-slot': ({ plugin }) => `a volume of plugin ${plugin} is here, and gets a slot`,
  'node.release-slots': ({ plugin, slots }) => `${counted(slots, 'slot')} of plugin ${plugin} given back`,
  'node.slots-counted': ({ plugin }) => `the slots of plugin ${plugin} are counted`,
  'task.start': () => 'asked to start',
  'task.stop': () => 'asked to stop',
  'task.restart': () => 'asked to restart',
  'task.remove': () => 'asked to forget it',
  'alloc.prepare': ({ volumes }) => `asked to prepare ${counted(volumes, 'volume')}`,
  'alloc.release': () => 'asked to release',
  'alloc.forget': () => 'its failure was told, and is forgotten',
  'alloc.abort': ({ failure }) => `not wanted any more: ${within(failure, 'message')}`,
  'alloc.recover': ({ isNewBoot }) => (isNewBoot ? 'the host was started anew' : 'the agent was started anew'),
  'alloc.lost': ({ name }) => `its claim of volume ${name} is lost`,
  'alloc.progress': ({ steps }) => stepsOf(steps),
  'registry.start': () => 'asked to start all actors',
  'registry.placed': () => 'its agent noted its place, and which mounts are those of another place',
  'registry.former-mount-over': ({ address }) => `the volume of ${address} was given up here, or is no more`,
  'registry.stop': ({ release }) => (release ? 'asked to release all and stop' : 'asked to stop'),
  'health.changed': ({ health }) => `health: ${within(health, 'description')}`,
};

const counted = (list: unknown, what: string): string => {
  const count = Array.isArray(list) ? list.length : 0;
  return `${count} ${what}${count === 1 ? '' : 's'}`;
};

const sizeOf = (capacity: unknown): string => `${within(capacity, 'requiredBytes') ?? 'any number of'} bytes`;

/** Steps of an alloc's volumes: `data: volume published`. */
const stepsOf = (steps: unknown): string =>
  (Array.isArray(steps) ? steps : [])
    .map((step) => `${within(step, 'name')}: ${String(within(step, 'type')).replaceAll(/[.-]/g, ' ')}`)
    .join(', ');

/** Whether there is a sentence for events of this type. */
export const hasSentence = (type: string): boolean => Object.hasOwn(sentences, type);

const engineChanges: Partial<Record<JournalEntry['kind'], string>> = {
  migrated: 'brought to the present version',
  recovered: 'continued by a restarted agent',
  'rolled-back': 'written again: the store had lost it',
  released: 'taken back into service',
  forgotten: 'its journal was dropped',
};

/** Says in words what came. */
export function sentenceOf({ kind, event, source, input }: JournalEntry): string {
  const change = engineChanges[kind];
  if (change) return change;
  const stale = kind === 'stale' ? ', too late' : '';
  if (!event) return input ? `begun${stale}` : `${kind}`;
  const { type } = event;
  if (source.kind === 'timer') return `pause is over${stale}`;
  const ended = /^xstate\.(done|error)\.actor\.(.*)$/.exec(type);
  if (ended) return `${ended[2]} ${ended[1] === 'done' ? 'ended' : 'failed'}${stale}`;
  const text = hasSentence(type) ? sentences[type]?.(event) : undefined;
  return `${text ?? type.replaceAll(/[.-]/g, ' ')}${stale}`;
}

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
  lookAtSnapshot: 'ListSnapshots',
  nodeStage: 'NodeStageVolume',
  nodePublish: 'NodePublishVolume',
  nodeUnpublish: 'NodeUnpublishVolume',
  nodeUnstage: 'NodeUnstageVolume',
  nodeExpand: 'NodeExpandVolume',
};

/** Name of the CSI call that an effect makes; undefined: it makes none. */
export const rpcOf = (src: string): string | undefined => rpcs[src];

type Fields = Record<string, unknown>;

const within = (value: unknown, key: string): unknown =>
  value instanceof Object ? Reflect.get(value, key) : undefined;

/** Sentences by the type of the event. Others get their type in words. */
const sentences: Record<string, (event: Fields) => string> = {
  'volume.create': ({ spec }) => `asked to create it on plugin ${within(spec, 'plugin')}`,
  'volume.publish': ({ nodeId }) => `asked to publish it to node ${nodeId}`,
  'volume.unpublish': ({ nodeId }) => `asked to unpublish it from node ${nodeId}`,
  'volume.delete': ({ force }) => (force ? 'asked to delete it by force' : 'asked to delete it'),
  'volume.claim': ({ claim }) => `claimed by alloc ${within(claim, 'allocId')}`,
  'volume.claim-and-publish': ({ claim }) => `claimed by alloc ${within(claim, 'allocId')}, to be published there`,
  'volume.release': ({ allocId }) => `alloc ${allocId} has stopped`,
  'volume.unstaged': ({ nodeId }) => `node ${nodeId} reports that it is unstaged`,
  'volume.fence': ({ nodeId, reason }) => `node ${nodeId} is fenced: ${reason}`,
  'volume.observed': () => 'compared with the list of the plugin',
  'volume.retry': () => 'asked to try again now',
  'volume.set-availability': ({ availability }) => `availability set to ${availability}`,
  'wait.changed': ({ reason }) => `waits: ${reason}`,
  'mount.use': ({ allocId }) => `asked to mount it for alloc ${allocId}`,
  'mount.leave': ({ allocId }) => `alloc ${allocId} needs it no longer`,
  'mount.observed': () => 'compared with the mount table',
  'mount.retry': () => 'asked to try again now',
  'fingerprint.changed': ({ fingerprint }) => `checked: ${within(fingerprint, 'description')}`,
  'plugin.lost': ({ description }) => `connection lost: ${description}`,
  'plugin.shutdown': () => 'deregistered',
  'plugins.register': ({ info }) => `instance ${within(info, 'allocId')} registered`,
  'plugins.deregister': ({ allocId }) => `instance ${allocId} deregistered`,
  'node.report': ({ plugins }) => `reports ${Array.isArray(plugins) ? plugins.length : 0} plugins`,
  'node.down': () => 'said to be down',
  'node.fence': ({ reason }) => `asked to fence it: ${reason}`,
  'task.start': () => 'asked to start',
  'task.stop': () => 'asked to stop',
  'task.restart': () => 'asked to restart',
  'alloc.prepare': ({ volumes }) => `asked to prepare ${Array.isArray(volumes) ? volumes.length : 0} volumes`,
  'alloc.release': () => 'asked to release',
  'health.changed': ({ health }) => `health: ${within(health, 'description')}`,
};

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
  const text = Object.hasOwn(sentences, type) ? sentences[type]?.(event) : undefined;
  return `${text ?? type.replaceAll(/[.-]/g, ' ')}${stale}`;
}

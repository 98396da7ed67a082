/** Which requests any agent takes: those that change volumes, snapshots and nodes, and the claims of nodes. */
import { isClusterOwned } from '../../machines/kit/addresses.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { forwarded, type Limits, type OwnerPort } from '../cluster/forwarded.js';
import type { MessageCounts } from '../cluster/message-counts.js';
import { sealedWire } from '../cluster/sealed-wire.js';
import type { Store, Wire } from '../engine/store.js';
import type { ClaimClient, ClaimWait } from '../mounts/claim-client.js';
import type { DeleteOptions } from '../requests/await-options.js';
import type { VolumeKeyInput } from '../requests/fields.js';
import type { SnapshotManager } from '../snapshots/snapshot-manager.js';
import type { ActorControl } from './actor-records.js';
import type { ClusterSettings } from './options.js';
import type { Nodes, Runtime, SnapshotMethods, Volumes } from './runtime-api.js';

type Side = Pick<Runtime, 'volumes' | 'snapshots' | 'groupSnapshots' | 'nodes'>;

/** The controller side as callers on this agent have it. */
export function onAnyAgent(side: Side, owner: OwnerPort | undefined): Side {
  const { volumes, snapshots, groupSnapshots, nodes } = side;
  if (!owner) return { volumes, snapshots, groupSnapshots, nodes };
  return {
    volumes: volumesOn(volumes, owner),
    snapshots: snapshotsOn(snapshots, 'snapshots', owner),
    groupSnapshots: snapshotsOn(groupSnapshots, 'groupSnapshots', owner),
    nodes: nodesOn(nodes, owner),
  };
}

function volumesOn(local: Volumes, owner: OwnerPort): Volumes {
  const { asked, read } = forwarded(local, 'volumes', owner);
  const get = read('get', local.get);
  return {
    get,
    create: asked('create', local.create, ([spec, options = {}], limits) => [spec, limits(options, 'askedOn')]),
    delete: deletingOnce(
      get,
      asked('delete', local.delete, ([key, options = {}], limits) => [key, limits(options)]),
    ),
    publish: asked('publish', local.publish, ([key, node, options = {}], limits) => [key, node, limits(options)]),
    unpublish: asked('unpublish', local.unpublish, ([key, node, options = {}], limits) => [key, node, limits(options)]),
    expand: asked('expand', local.expand, ([key, capacity, options = {}], limits) => [key, capacity, limits(options)]),
    modify: asked('modify', local.modify, ([key, changes, options = {}], limits) => [key, changes, limits(options)]),
    claim: asked('claim', local.claim, ([key, options], limits) => [key, limits(options)]),
    capacity: asked('capacity', local.capacity, ([plugin, of, options = {}], limits) => [plugin, of, limits(options)]),
    release: asked('release', local.release, ([key, allocId, only]) => [key, allocId, only]),
    setAvailability: asked('setAvailability', local.setAvailability, ([key, availability]) => [key, availability]),
    retry: asked('retry', local.retry, ([key, options]) => [key, options]),
    acknowledge: asked('acknowledge', local.acknowledge, ([key]) => [key]),
    reconcile: asked('reconcile', local.reconcile, ([plugin]) => [plugin]),
    orphans: asked('orphans', local.orphans, ([plugin]) => [plugin]),
    get orphansFound() {
      return local.orphansFound;
    },
    list: (filter) => local.list(filter),
    updates: (options) => local.updates(options),
  };
}

type SnapshotsOf<TSpec, TView> = Pick<SnapshotManager<TSpec, TView>, SnapshotMethods>;

function snapshotsOn<TSpec, TView extends Deletable>(
  local: SnapshotsOf<TSpec, TView>,
  name: string,
  owner: OwnerPort,
): SnapshotsOf<TSpec, TView> {
  const { asked, read } = forwarded(local, name, owner);
  const get = read('get', local.get);
  return {
    get,
    create: asked('create', local.create, ([spec, options = {}], limits) => [spec, limits(options)]),
    delete: deletingOnce(
      get,
      asked('delete', local.delete, ([key, options = {}], limits) => [key, limits(options)]),
    ),
    retry: asked('retry', local.retry, ([key, options]) => [key, options]),
    acknowledge: asked('acknowledge', local.acknowledge, ([key]) => [key]),
    list: (filter) => local.list(filter),
    updates: (options) => local.updates(options),
  };
}

function nodesOn(local: Nodes, owner: OwnerPort): Nodes {
  const { asked, read } = forwarded(local, 'nodes', owner);
  return {
    report: asked('report', local.report, ([report]) => [report]),
    down: asked('down', local.down, ([id]) => [id]),
    fence: asked('fence', local.fence, ([id, reason]) => [id, reason]),
    remove: asked('remove', local.remove, ([id]) => [id]),
    reportUnstaged: asked('reportUnstaged', local.reportUnstaged, ([id, key, report]) => [id, key, report]),
    status: read('status', local.status),
    list: () => local.list(),
    updates: (options) => local.updates(options),
  };
}

interface Deletable {
  uid: string;
  state: string;
}

type Delete = (key: VolumeKeyInput, options?: DeleteOptions) => Promise<void>;

/** Names what is there now in each deletion: asked again of the next owner, it must not delete what has its id by then. */
const deletingOnce =
  (get: (key: VolumeKeyInput) => Promise<Deletable | undefined>, remove: Delete): Delete =>
  async (key, options = {}) => {
    if (Object(options) !== options || options.uid !== undefined) return remove(key, options);
    // The deletion tells what is wrong with the key, or the store.
    const found = await get(key).catch(() => undefined);
    return remove(key, found && found.state !== 'deleted' ? { ...options, uid: found.uid } : options);
  };

/** Actors of volumes, snapshots and nodes are changed by hand at the agent that works on them. */
export function actorsOnAnyAgent(local: ActorControl, owner: OwnerPort | undefined): ActorControl {
  if (!owner) return local;
  const { asked, read } = forwarded(local, 'actors', owner);
  const far: Pick<ActorControl, 'inspect' | 'send' | 'release'> = {
    inspect: read('inspect', local.inspect),
    send: asked('send', local.send, ([address, event, sender]) => [address, event, sender]),
    release: asked('release', local.release, ([address]) => [address]),
  };
  const at = (address: string): typeof far => (isClusterOwned(String(address)) ? far : local);
  return {
    ...local,
    inspect: (address) => at(address).inspect(address),
    send: (address, ...sent) => at(address).send(address, ...sent),
    release: (address) => at(address).release(address),
  };
}

/** Claims at the agent that works on volumes. `claimAndPublish` is for claims in one process: elsewhere it is two requests. */
export function claimsOnAnyAgent(local: Required<ClaimClient>, owner: OwnerPort | undefined): ClaimClient {
  if (!owner) return local;
  const { asked } = forwarded(local, 'claims', owner);
  return {
    look: asked('look', local.look, passingWait),
    claim: asked('claim', local.claim, passingWait),
    claimAndPublish: (key, request, wait) => local.claimAndPublish(key, request, wait),
    holds: asked('holds', local.holds, passingWait),
    publish: asked('publish', local.publish, passingWait),
    release: asked('release', local.release, passingWait),
    unstaged: asked('unstaged', local.unstaged, passingWait),
    holdReleased: asked('holdReleased', local.holdReleased, passingWait),
    expanded: asked('expanded', local.expanded, passingWait),
  };
}

type ClaimArguments<T> = [key: VolumeKey, request: T, wait: ClaimWait];

const passingWait = <T>([key, request, wait]: ClaimArguments<T>, limits: Limits): ClaimArguments<T> => [
  key,
  request,
  limits(wait, 'onWait'),
];

/** Returns how a runtime reaches others on its store, with signatures if it has a key. */
export function wireOf({ wire }: Store, { key }: ClusterSettings = {}, messages: MessageCounts): Wire | undefined {
  return wire && key !== undefined ? sealedWire(wire, key, (outcome) => messages.add(outcome)) : wire;
}

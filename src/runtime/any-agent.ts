/** Which requests any agent takes: those that change volumes, snapshots and nodes, and the claims of nodes. */
import { isClusterOwned } from '../../machines/kit/addresses.js';
import type { Cluster } from '../cluster/cluster.js';
import { type Forwarded, type ForwardedMethods, forwarded } from '../cluster/forwarded.js';
import type { MessageCounts } from '../cluster/message-counts.js';
import { sealedWire } from '../cluster/sealed-wire.js';
import type { Store, Wire } from '../engine/store.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import type { DeleteOptions } from '../requests/await-options.js';
import type { VolumeKeyInput } from '../requests/fields.js';
import type { ActorControl } from './actor-records.js';
import type { ControllerSide } from './controller-side.js';
import type { ClusterSettings } from './options.js';

const volumes: Forwarded = {
  create: 1,
  publish: 2,
  unpublish: 2,
  expand: 2,
  modify: 2,
  delete: 1,
  claim: 1,
  capacity: 2,
  release: undefined,
  setAvailability: undefined,
  retry: undefined,
  acknowledge: undefined,
  reconcile: undefined,
  orphans: undefined,
};
const ofSnapshots: ForwardedMethods = {
  methods: { create: 1, delete: 1, retry: undefined, acknowledge: undefined },
  reads: ['get'],
};
const nodes: Forwarded = {
  report: undefined,
  down: undefined,
  fence: undefined,
  remove: undefined,
  reportUnstaged: undefined,
};
const claims: Forwarded = {
  look: 2,
  claim: 2,
  holds: 2,
  publish: 2,
  release: 2,
  unstaged: 2,
  holdReleased: 2,
  expanded: 2,
};

type Side = Pick<ControllerSide, 'volumes' | 'snapshots' | 'groupSnapshots' | 'nodes'>;

/** The controller side as callers on this agent have it. */
export const onAnyAgent = (side: Side, cluster: Cluster | undefined): Side => ({
  volumes: deletingOnce(forwarded(side.volumes, 'volumes', { methods: volumes, reads: ['get'] }, cluster), cluster),
  snapshots: deletingOnce(forwarded(side.snapshots, 'snapshots', ofSnapshots, cluster), cluster),
  groupSnapshots: deletingOnce(forwarded(side.groupSnapshots, 'groupSnapshots', ofSnapshots, cluster), cluster),
  nodes: forwarded(side.nodes, 'nodes', { methods: nodes, reads: ['status'] }, cluster),
});

interface Deleting {
  get(key: VolumeKeyInput): Promise<{ uid: string; state: string } | undefined>;
  delete(key: VolumeKeyInput, options?: DeleteOptions): Promise<void>;
}

/** Names what is there now in each deletion: asked again of the next owner, it must not delete what has its id by then. */
function deletingOnce<T extends Deleting>(target: T, cluster: Cluster | undefined): T {
  if (!cluster) return target;
  const seen = async (key: VolumeKeyInput): Promise<string | undefined> => {
    // The deletion tells what is wrong with the key, or the store.
    const found = await target.get(key).catch(() => undefined);
    return found && found.state !== 'deleted' ? found.uid : undefined;
  };
  const remove: Deleting['delete'] = async (key, options = {}) => {
    if (Object(options) !== options || options.uid !== undefined) return target.delete(key, options);
    const uid = await seen(key);
    return target.delete(key, uid === undefined ? options : { ...options, uid });
  };
  return new Proxy(target, { get: (_, name) => (name === 'delete' ? remove : Reflect.get(target, name)) });
}

/** Actors of volumes, snapshots and nodes are changed by hand at the agent that works on them. */
export function actorsOnAnyAgent(local: ActorControl, cluster: Cluster | undefined): ActorControl {
  const methods = { send: undefined, release: undefined };
  const far = forwarded(local, 'actors', { methods, reads: ['inspect'] }, cluster);
  const at = (address: string): ActorControl => (isClusterOwned(String(address)) ? far : local);
  return {
    ...local,
    inspect: (address) => at(address).inspect(address),
    send: (address, ...sent) => at(address).send(address, ...sent),
    release: (address) => at(address).release(address),
  };
}

/** Claims at the agent that works on volumes. `claimAndPublish` is for claims in one process: elsewhere it is two requests. */
export const claimsOnAnyAgent = (local: ClaimClient, cluster: Cluster | undefined): ClaimClient =>
  forwarded(local, 'claims', { methods: claims, reads: [] }, cluster);

/** Returns how a runtime reaches others on its store, with signatures if it has a key. */
export function wireOf({ wire }: Store, { key }: ClusterSettings = {}, messages: MessageCounts): Wire | undefined {
  return wire && key !== undefined ? sealedWire(wire, key, (outcome) => messages.add(outcome)) : wire;
}

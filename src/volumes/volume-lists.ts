/** Lists of volumes that plugins give (ListVolumes): read whole, and compared with the records of volumes. */
import { isSameData } from '../../machines/kit/same-data.js';
import { seenIn } from '../../machines/volume/listing.js';
import { publicStateOf } from '../../machines/volume/publication.js';
import type { Stray, VolumeContext, VolumeObservation } from '../../machines/volume/types.js';
import type { PublicationState } from '../../machines/volume/wishes.js';
import { EndlessList, pagesOf } from '../calls/page-walk.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import type { PluginAnswer, PluginObservation, PluginTarget } from '../calls/plugin-port.js';
import type { Clock } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';
import type { ControllerPort, ListedPage, ListedVolume } from './controller-port.js';

export interface ListPorts {
  controller: ControllerPort;
  access: PluginAccess;
  /** Error while this runtime does not lead; undefined while it leads. */
  refusal(): StagecraftError | undefined;
  clock: Clock;
}

/** Reads the pages of a list. */
interface WholeList extends Pick<ListedPage, 'leftOut'> {
  listed: Map<string, ListedVolume>;
}

/** List of an instance. */
interface PluginList extends WholeList {
  withNodes: boolean;
  observation: PluginObservation;
  /** Node of the instance; undefined: this node. */
  node: string | undefined;
}

/** Attempts at one listing: the plugin may forget its page token on the way. */
const listings = 3;
/** Longest wait for a plugin that takes no calls. After it, the next interval tries again. */
const waitMs = 10_000;
/** Capabilities of a plugin whose list shows the nodes of its volumes. */
const listsNodes = ['LIST_VOLUMES_PUBLISHED_NODES', 'PUBLISH_UNPUBLISH_VOLUME'];
/** Volumes of one page, where the list comes as a message of another agent. */
const mostFarEntries = 1_000;

/**
 * Reads the whole list of an instance.
 * @throws StagecraftError NOT_LEADER; PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR
 */
export async function listAt(ports: ListPorts, target: PluginTarget, signal: AbortSignal): Promise<PluginList> {
  const { plugin } = target;
  const { access, refusal } = ports;
  const admitted = await access.enter(target, { signal, waitMs, waits: () => {} });
  let answer: PluginAnswer | undefined;
  try {
    // Entering may have taken long.
    const notOurs = refusal();
    if (notOurs) throw notOurs;
    const { capabilities } = admitted.observation;
    if (!capabilities.has('LIST_VOLUMES'))
      throw new StagecraftError(
        'PLUGIN_LACKS',
        `plugin '${plugin}' does not offer LIST_VOLUMES: its volumes can't be compared`,
      );
    const client = await admitted.client();
    // Published nodes mean nothing without ControllerPublishVolume. CSI requires both capabilities together.
    const withNodes = listsNodes.every((one) => capabilities.has(one));
    for (let attempt = 1; ; attempt += 1) {
      try {
        const list = await allListed(ports, client, { isFar: admitted.node !== undefined, signal });
        answer = { grpcCode: 'OK' };
        return { ...list, withNodes, observation: admitted.seen(), node: admitted.node };
      } catch (error) {
        const isStale = error instanceof StagecraftError && error.answerClass === 'start-over';
        if (!isStale || attempt === listings) throw error;
      }
    }
  } catch (error) {
    if (error instanceof StagecraftError) answer = { grpcCode: error.grpcCode };
    throw error;
  } finally {
    admitted.leave(answer);
  }
}

/** Reads all pages. @throws StagecraftError also of the class `driver-bug`: the list has no end */
async function allListed(
  { controller, clock }: Pick<ListPorts, 'controller' | 'clock'>,
  client: unknown,
  { isFar, signal }: { isFar: boolean; signal: AbortSignal },
): Promise<WholeList> {
  const list: WholeList = { listed: new Map() };
  const pages = pagesOf({
    read: (startingToken) =>
      controller.listVolumes(client, { startingToken, ...(isFar && { maxEntries: mostFarEntries }) }, { signal }),
    countOf: ({ volumes, leftOut }) => volumes.length + (leftOut?.count ?? 0),
    monotonicMs: () => clock.monotonicMs(),
  });
  try {
    for await (const { volumes, leftOut } of pages) {
      for (const volume of volumes) list.listed.set(volume.csiId, volume);
      if (leftOut)
        list.leftOut = { why: leftOut.why, ...list.leftOut, count: leftOut.count + (list.leftOut?.count ?? 0) };
    }
    return list;
  } catch (error) {
    if (!(error instanceof EndlessList)) throw error;
    const details = { rpc: 'ListVolumes', grpcCode: 'OK', answerClass: 'driver-bug', final: false } as const;
    throw new StagecraftError('CSI_ERROR', `ListVolumes: ${error.message}`, details);
  }
}

/** Makes the observation of one volume. @param withNodes whether the plugin lists the nodes of its volumes */
export function observationOf(
  { publications }: VolumeContext,
  seen: ListedVolume | undefined,
  { nodes, withNodes }: { nodes: Map<string, string>; withNodes: boolean },
): VolumeObservation {
  if (!seen) return { isMissing: true };
  const observation: VolumeObservation = { isMissing: false, ...(seen.condition && { condition: seen.condition }) };
  // A list without nodes does not mean that the volume is on no node.
  const attached = withNodes ? seen.publishedNodeIds : undefined;
  if (!attached) return observation;
  const known = Object.values(publications).map(({ csiNodeId }) => csiNodeId);
  const strays = attached
    .filter((csiNodeId) => csiNodeId !== '' && !known.includes(csiNodeId))
    .map((csiNodeId): Stray => {
      const nodeId = nodes.get(csiNodeId);
      return nodeId === undefined ? { nodeId: csiNodeId, csiNodeId, isUnknown: true } : { nodeId, csiNodeId };
    });
  return { ...observation, attached, strays };
}

/** States in which a missing attachment counts. While a volume is being published, its absence means nothing. */
const settled: ReadonlySet<PublicationState> = new Set(['published', 'pending-node-unpublish', 'pending-unpublish']);

/** Whether an observation differs from the record of the volume. */
export function differs(context: VolumeContext, observation: VolumeObservation): boolean {
  const { attached, strays = [] } = observation;
  const seen = seenIn(context, observation);
  if (!isSameData(seen, context.sighting ?? { isMissing: false })) return true;
  if (!attached) return false;
  const lost = Object.values(context.publications).some(
    (one) => settled.has(publicStateOf(one)) && !attached.includes(one.csiNodeId),
  );
  const { heldOn = [], attachedElsewhere = [] } = seen;
  return lost || strays.length > heldOn.length + attachedElsewhere.length;
}

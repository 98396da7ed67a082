/**
 * ControllerPublishVolume and ControllerUnpublishVolume: nodes that may use a volume. Nothing is attached: it is
 * recorded only.
 */
import type { ControllerPublishVolumeRequest, VolumeCapability } from '../../csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import type { AttachOptions, ControllerContext } from './controller-context.js';
import { checkSizes, invalid, notFound, requireId } from './requests.js';
import type { DriverState, NodePublication, VolumeRecord } from './state.js';
import {
  accessModeOf,
  checkUsable,
  isMultiNode,
  isReaderOnly,
  requireCapability,
  sameCapabilities,
} from './volume-capabilities.js';
import { requireVolume } from './volumes.js';

export function publicationHandlers(
  { state }: ControllerContext,
  { peerNodes, maxVolumesPerNode }: AttachOptions,
): CsiHandlers {
  const nodes = new Set([state.nodeId, ...peerNodes]);
  const slots = new Slots(state, maxVolumesPerNode);
  return {
    ControllerPublishVolume: async (request) => {
      checkSizes(request);
      const { volumeId, nodeId, publication } = wishOf(request);
      await state.pending.only([`volume/${volumeId}`], async () => {
        const volume = requireVolume(state, volumeId);
        if (!state.isShared && !nodes.has(nodeId)) throw notFound('node', nodeId);
        const existing = volume.publications[nodeId];
        if (existing) return checkSame(existing, publication, nodeId);
        checkOthers(volume, nodeId, publication);
        checkUsable(volume, publication.capability);
        await slots.take(nodeId, volumeId, () =>
          state.volumes.put({ ...volume, publications: { ...volume.publications, [nodeId]: publication } }),
        );
      });
      return {};
    },

    // All publications are in our records: what is not there is not published.
    ControllerUnpublishVolume: async (request) => {
      checkSizes(request);
      const volumeId = requireId('volumeId', request.volumeId);
      const { nodeId } = request;
      await state.pending.only([`volume/${volumeId}`], async () => {
        const volume = state.volumes.get(volumeId);
        if (!volume) return;
        const kept = Object.entries(volume.publications).filter(([node]) => nodeId !== '' && node !== nodeId);
        if (kept.length === Object.keys(volume.publications).length) return;
        await state.volumes.put({ ...volume, publications: Object.fromEntries(kept) });
      });
      return {};
    },
  };
}

interface Wish {
  volumeId: string;
  nodeId: string;
  publication: NodePublication;
}

function wishOf({ volumeId, nodeId, volumeCapability, readonly }: ControllerPublishVolumeRequest): Wish {
  requireId('volumeId', volumeId);
  if (nodeId === '') throw invalid('node_id is missing');
  return { volumeId, nodeId, publication: { capability: requireCapability(volumeCapability), readonly } };
}

/** @throws {CsiStatus} ALREADY_EXISTS */
function checkSame(existing: NodePublication, wanted: NodePublication, nodeId: string): void {
  const isSame = existing.readonly === wanted.readonly && sameCapabilities([existing.capability], [wanted.capability]);
  if (isSame) return;
  const message = `it is published to ${nodeId} already, with another capability or readonly: unpublish it first`;
  throw new CsiStatus('ALREADY_EXISTS', message);
}

/** @throws {CsiStatus} FAILED_PRECONDITION naming the node whose publication is in the way */
function checkOthers(volume: VolumeRecord, nodeId: string, wanted: NodePublication): void {
  for (const [node, other] of Object.entries(volume.publications)) {
    if (node === nodeId || canGoTogether(wanted, other)) continue;
    const how = `${accessModeOf(other.capability)}${other.readonly ? ', readonly' : ''}`;
    const message = `the volume is published to node ${node} (${how}), and ${accessModeOf(wanted.capability)} can't go with that: unpublish it there first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
}

function canGoTogether(one: NodePublication, other: NodePublication): boolean {
  if (!isMultiNode(one.capability) || !isMultiNode(other.capability)) return false;
  const areBothWriting = writes(one) && writes(other);
  return !areBothWriting || !(isSingleWriter(one.capability) || isSingleWriter(other.capability));
}

const writes = ({ capability, readonly }: NodePublication): boolean => !readonly && !isReaderOnly(capability);
const isSingleWriter = (capability: VolumeCapability): boolean =>
  accessModeOf(capability) === 'MULTI_NODE_SINGLE_WRITER';

/** Counts the volumes of each node, also those that are being published to it. */
class Slots {
  readonly #state: DriverState;
  readonly #limit: number;
  readonly #underWay = new Map<string, Set<string>>();

  constructor(state: DriverState, limit: number) {
    this.#state = state;
    this.#limit = limit;
  }

  /** @throws {CsiStatus} RESOURCE_EXHAUSTED: the node has its limit */
  async take(nodeId: string, volumeId: string, work: () => Promise<void>): Promise<void> {
    const underWay = this.#underWay.get(nodeId) ?? new Set();
    this.#underWay.set(nodeId, underWay);
    const published = this.#state.volumes.all().filter(({ publications }) => Object.hasOwn(publications, nodeId));
    const taken = new Set([...published.map(({ id }) => id), ...underWay]);
    if (this.#limit > 0 && taken.size >= this.#limit) {
      const message = `node ${nodeId} has ${taken.size} of at most ${this.#limit} volumes: unpublish one first`;
      throw new CsiStatus('RESOURCE_EXHAUSTED', message);
    }
    underWay.add(volumeId);
    await work().finally(() => underWay.delete(volumeId));
  }
}

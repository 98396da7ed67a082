/**
 * Claims of this node if the controller side is in the same process: the methods of `runtime.volumes` behind the
 * port. The port: mounts/claim-client.ts
 */

import { isOfModes, wishOf } from '../../machines/volume/modes.js';
import { isKeptOn } from '../../machines/volume/releases.js';
import { holds, volumeName } from '../../machines/volume/requests.js';
import { nodeExpansionOf } from '../../machines/volume/size.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { Hold, PublishWish } from '../../machines/volume/wishes.js';
import { refuseAborted } from '../abort.js';
import { asData } from '../engine/machine/data.js';
import { messageOf, StagecraftError } from '../errors.js';
import { type ClaimClient, type KnownVolume, type PublishedVolume, unlessGone } from '../mounts/claim-client.js';
import { addressOf } from '../volumes/volume-checks.js';
import type { VolumeManager } from '../volumes/volume-manager.js';

type Volumes = Pick<
  VolumeManager,
  'look' | 'claim' | 'publishTo' | 'release' | 'leftStaged' | 'unstaged' | 'holdReleased' | 'nodeExpanded'
>;

export function localClaims(volumes: Volumes): Required<ClaimClient> {
  return {
    async look(key, { nodeId }, { signal }) {
      refuse(signal);
      const context = await volumes.look(key);
      const claims = context.claims.flatMap(({ allocId, nodeId: node, generation, state }) =>
        node === nodeId && state === 'taken' ? { allocId, generation } : [],
      );
      return { ...knownOf(context, nodeId), claims, isKept: isKeptOn(context, nodeId) };
    },
    async claim(key, request, { signal }) {
      refuse(signal);
      const { allocId, nodeId, mode, accessMode, attachmentMode } = request;
      const asked = { allocId, nodeId, mode, accessMode, attachmentMode };
      const { generation } = await volumes.claim(key, { ...asked, signal });
      return { generation };
    },
    async claimAndPublish(key, request, { signal, onWait, claimed }) {
      refuse(signal);
      const context = await volumes.look(key);
      const { allocId, nodeId, mode, accessMode, attachmentMode, readOnly } = request;
      const use = useOf(context, nodeId, { capability: { accessMode, attachmentMode }, readOnly });
      const claiming = { claim: { allocId, nodeId, mode, accessMode, attachmentMode }, claimed };
      return publishedOf(await volumes.publishTo(key, nodeId, { ...use, signal, onWait, claiming }), { nodeId });
    },
    async holds(key, request, { signal }) {
      refuse(signal);
      const context = await unlessGone(volumes.look(key));
      return context !== undefined && holds(context, request);
    },
    async publish(key, { nodeId, accessMode, attachmentMode, readOnly, claim, hold }, { signal, onWait }) {
      refuse(signal);
      const use = useOf(await volumes.look(key), nodeId, { capability: { accessMode, attachmentMode }, readOnly });
      const own = { ...(claim && { claim }), ...(hold !== undefined && { hold }) };
      const published = await volumes.publishTo(key, nodeId, { ...use, signal, onWait, ...own });
      return publishedOf(published, { nodeId, hold });
    },
    async release(key, { allocId, ...only }, { signal }) {
      refuse(signal);
      await unlessGone(volumes.release(key, allocId, only));
      const context = await unlessGone(volumes.look(key));
      const own = context?.claims.find(
        (one) =>
          one.allocId === allocId &&
          one.nodeId === only.nodeId &&
          (only.generation === undefined || one.generation === only.generation),
      );
      // Reads the generation of a claim that a forced deletion took, so that the node still reports.
      const generation = own?.generation ?? (await volumes.leftStaged(key, { allocId, nodeId: only.nodeId }));
      return generation === undefined ? {} : { generation };
    },
    async unstaged(key, claim, { signal, onWait }) {
      refuse(signal);
      await unlessGone(volumes.unstaged(key, claim, { signal, onWait }));
    },
    async holdReleased(key, released, { signal }) {
      refuse(signal);
      await unlessGone(volumes.holdReleased(key, released));
    },
    async expanded(key, expanded, { signal }) {
      refuse(signal);
      await unlessGone(volumes.nodeExpanded(key, expanded));
    },
  };
}

const refuse = (signal: AbortSignal): void =>
  refuseAborted(signal, (cause) => {
    const message = `given up before it was asked for: ${messageOf(cause)}; nothing has changed`;
    return new StagecraftError('ABORTED', message, { cause });
  });

type Use = Pick<PublishWish, 'capability' | 'readOnly'>;

/** Use to publish with: the present one on the node, if that will do. */
function useOf({ publications }: VolumeContext, nodeId: string, { capability, readOnly }: Use): Use {
  const present = publications[nodeId];
  const wish = present && wishOf(present);
  if (wish && isOfModes(wish.capability, capability) && (readOnly || !wish.readOnly))
    return { capability: wish.capability, readOnly: wish.readOnly };
  return { capability, readOnly };
}

/** A copy that the caller may change. */
function knownOf(context: VolumeContext, nodeId: string): KnownVolume {
  const { uid, spec, key, driver } = context;
  if (!spec) throw new Error(`no spec is on record for ${volumeName(key)}`);
  const { plugin, capabilities, secrets } = spec;
  const expansion = nodeExpansionOf(context, nodeId);
  const holds = holdsOn(context, nodeId);
  return asData({
    ...{ uid, plugin, capabilities, secrets },
    ...(driver && { driver }),
    ...(expansion && { expansion }),
    ...(holds.length > 0 && { holds }),
  });
}

/** Holds on the node, also those of the publication that comes next. */
function holdsOn({ publications }: VolumeContext, nodeId: string): Hold[] {
  const { holds = [], next } = publications[nodeId] ?? {};
  return [...holds, ...(next?.holds ?? [])];
}

/**
 * @throws StagecraftError ABORTED: it was unpublished, and published again for others: nothing keeps it there for
 *   this alloc
 */
function publishedOf(
  context: VolumeContext,
  { nodeId, hold }: { nodeId: string; hold?: string | undefined },
): PublishedVolume {
  const { csi, publications, key } = context;
  if (!csi) throw new Error(`${volumeName(key)} was published, but never made`);
  const { publishContext = {}, holds = [] } = publications[nodeId] ?? {};
  const own = holds.find(({ allocId }) => allocId === hold);
  if (hold !== undefined && !own) {
    const message = `${volumeName(key)} was unpublished from node ${nodeId} before it was mounted for alloc ${hold}: mount it again`;
    throw new StagecraftError('ABORTED', message, { address: addressOf(key) });
  }
  return {
    ...knownOf(context, nodeId),
    ...asData({ csiId: csi.id, volumeContext: csi.context, publishContext, ...(own && { hold: own.generation }) }),
  };
}

/** Publishes volumes to nodes and unpublishes them. Docstrings for callers: volume-manager.ts */
import { z } from 'zod';
import type { Capability } from '../../machines/kit/csi-types.js';
import { isSameClaim } from '../../machines/volume/claims.js';
import { holdersOf, isKeptByHolds, wishOf } from '../../machines/volume/modes.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { ClaimRequest, PublishRequest, VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { nodeIdSchema } from '../host/names.js';
import {
  type AwaitOptions,
  awaitSchema,
  checkedOptions,
  type WaitOptions,
  type WaitReporting,
  waitShape,
} from '../requests/await-options.js';
import { checked, type VolumeKeyInput } from '../requests/fields.js';
import { refuseWithoutSecrets, type SecretsProvider } from '../secrets/secrets.js';
import { addressOf, failedError, offeredCapability } from './volume-checks.js';
import type { VolumeClient, VolumeView } from './volume-client.js';
import type { NodeRoom, VolumePlacement } from './volume-placement.js';
import { stuckOf } from './volume-view.js';

export interface PublishOptions extends WaitOptions {
  /**
   * A capability of the volume's spec; default: that of its publication on the node, else of its claim there, else the
   * first.
   */
  capability?: Capability;
  readOnly?: boolean;
}

/** Publish for a claim, which must still exist; or for an alloc without a claim, with a hold. */
export type ClaimedPublish = PublishOptions &
  Pick<PublishRequest, 'claim' | 'hold'> &
  WaitReporting & { claiming?: Claiming };

/** Claim that is taken together with the publish, in one commit. */
interface Claiming {
  claim: Omit<ClaimRequest, 'csiNodeId'>;
  claimed(generation: number): void;
}

export interface PublishingPorts {
  secrets: SecretsProvider;
  /** Whether this agent itself would send ControllerPublishVolume to the plugin. */
  publishesHere(plugin: string): boolean;
}

/** Publish request after its first checks. The capability is checked against the record later. */
interface Publishing extends Pick<WaitReporting, 'onWait'> {
  nodeId: string;
  capability: unknown;
  readOnly: boolean;
  wait: boolean;
  claim: PublishRequest['claim'] | undefined;
  hold: string | undefined;
  claiming: Claiming | undefined;
}

interface ClaimingLimits {
  to: NodeRoom;
  limit: AbortSignal | undefined;
}

export class VolumePublishing {
  readonly #client: VolumeClient;
  readonly #places: VolumePlacement;
  readonly #ports: PublishingPorts;

  constructor(client: VolumeClient, places: VolumePlacement, ports: PublishingPorts) {
    this.#client = client;
    this.#places = places;
    this.#ports = ports;
  }

  async publish(
    key: VolumeKeyInput,
    nodeId: string,
    { claim, hold, claiming, onWait, ...options }: ClaimedPublish,
  ): Promise<VolumeContext> {
    const known = this.#client.accept(key);
    checkNodeId(nodeId);
    const { capability, readOnly, wait, ...waiting } = checkedOptions(publishSchema, options);
    const asked = { nodeId, capability, readOnly, wait, claim, hold, claiming, onWait };
    return this.#client.inTime(waiting, (limit) => this.#publish(known, asked, limit));
  }

  async #publish(
    known: VolumeKey,
    { nodeId, capability, readOnly, wait, claim, hold, claiming, onWait }: Publishing,
    limit: AbortSignal | undefined,
  ): Promise<VolumeContext> {
    const context = await this.#client.made(known, { signal: limit, onWait });
    const { secrets, publishesHere } = this.#ports;
    const { clock } = this.#client;
    // With a claim or a hold, the node has checked the secrets before.
    if (!wait && !claim && !claiming && hold === undefined && publishesHere(context.spec?.plugin ?? ''))
      await refuseWithoutSecrets(secrets, context.spec?.secrets ?? {}, { clock, signal: limit });
    const wish = {
      readOnly,
      ...(capability !== undefined && { capability: offeredCapability(known, context, capability) }),
      ...(claim && { claim }),
      ...(hold !== undefined && { hold }),
    };
    await this.#places.within(context, { nodeId, takesRoom: true, limit }, (to) =>
      claiming
        ? this.#claim(context, claiming, { to, readOnly, capability, limit })
        : this.#client.ask(known, { type: 'volume.publish', nodeId, ...to, ...wish }, limit),
    );
    const reached = ({ context: now }: VolumeView): VolumeContext | undefined => {
      const { uid, publications } = now;
      const publication = uid === context.uid ? publications[nodeId] : undefined;
      if (!publication) {
        const message = `${volumeName(known)} was unpublished from node ${nodeId} meanwhile: publish it again`;
        throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
      }
      if (publication.failure) throw failedError(known, publication.failure);
      const stuck = stuckOf(now, nodeId);
      if (stuck !== undefined) {
        const message = `${volumeName(known)}: ${stuck}; the request stands until that is unpublished, or tried again`;
        throw new StagecraftError('VOLUME_IN_USE', message, { address: addressOf(known) });
      }
      const isThere =
        publication.at === 'published' ||
        (hold !== undefined && isKeptByHolds(publication) && holdersOf(publication).includes(hold));
      return isThere ? now : undefined;
    };
    const goal = `published on node ${nodeId}`;
    return this.#client.until({ key: known, goal, reached, onWait, signal: limit });
  }

  /** Runs to the end even after the caller's limit: a caller must know every claim that it has. */
  async #claim(
    context: VolumeContext,
    { claim, claimed }: Claiming,
    {
      to: { csiNodeId, ...slot },
      readOnly,
      capability,
      limit,
    }: Pick<Publishing, 'readOnly' | 'capability'> & ClaimingLimits,
  ): Promise<void> {
    const { key } = context;
    limit?.throwIfAborted();
    const wish = { capability: offeredCapability(key, context, capability), readOnly, ...slot };
    await this.#client.ask(key, { type: 'volume.claim-and-publish', claim: { ...claim, csiNodeId }, ...wish });
    const now = await this.#client.view(key);
    const own = now?.context.claims.find((one) => isSameClaim(one, claim) && one.state === 'taken');
    if (own) claimed(own.generation);
  }

  async unpublish(key: VolumeKeyInput, nodeId: string, options: AwaitOptions): Promise<void> {
    const known = this.#client.accept(key);
    checkNodeId(nodeId);
    const waiting = checkedOptions(awaitSchema, options);
    await this.#client.inTime(waiting, (limit) => this.#unpublish(known, nodeId, limit));
  }

  async #unpublish(known: VolumeKey, nodeId: string, limit: AbortSignal | undefined): Promise<void> {
    const { context } = await this.#client.present(known, limit);
    await this.#client.ask(known, { type: 'volume.unpublish', nodeId }, limit);
    // Also covers a publication that came after the first read.
    const asked = await this.#client.view(known, limit);
    const leaving = asked?.context.uid === context.uid ? asked.context.publications[nodeId] : undefined;
    if (!leaving) return;
    const { number } = leaving;
    const reached = ({ context: { uid, publications } }: VolumeView): true | undefined => {
      const publication = publications[nodeId];
      if (uid !== context.uid || publication?.number !== number) return true;
      if (publication.at === 'failed.unpublish' && publication.failure) throw failedError(known, publication.failure);
      if (publication.next || !wishOf(publication)) return undefined;
      const message = `${volumeName(known)} was published again on node ${nodeId} before it was gone from there`;
      throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
    };
    const goal = `unpublished from node ${nodeId}`;
    await this.#client.until({ key: known, goal, reached, gone: true, signal: limit });
  }
}

const publishSchema = z.strictObject({
  ...waitShape,
  readOnly: z.boolean().default(false),
  /** Checked later, against the capabilities of the volume. */
  capability: z.unknown().optional(),
});

const checkNodeId = (nodeId: unknown): string => checked(nodeIdSchema, nodeId, 'the node id');

/** Brings volumes to nodes and takes them away again, for who asks for just that. The surface: volume-manager.ts */
import { z } from 'zod';
import type { Capability } from '../../machines/kit/csi-types.js';
import { isSameClaim } from '../../machines/volume/claims.js';
import { holdersOf, isKeptByHolds, wishOf } from '../../machines/volume/modes.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { ClaimRequest, PublishRequest, VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { nodeIdSchema } from '../host/names.js';
import {
  type AwaitOptions,
  awaitSchema,
  checkedOptions,
  type Telling,
  type WaitOptions,
  waitShape,
} from '../requests/await-options.js';
import { checked, keyOf, type VolumeKeyInput } from '../requests/fields.js';
import { refuseWithoutSecrets, type SecretsProvider } from '../secrets/secrets.js';
import { addressOf, capabilityOf, failed } from './volume-checks.js';
import type { Goal, VolumeClient } from './volume-client.js';
import type { NodeRoom, VolumePlacement } from './volume-placement.js';
import { stuckOf } from './volume-view.js';

export interface PublishOptions extends WaitOptions {
  /** One that the volume was made with; default: as it is published on the node, else as it is claimed there, else its first. */
  capability?: Capability;
  readOnly?: boolean;
}

/** For a claim: not without it. For an alloc without one: with a hold. */
export type ClaimedPublish = PublishOptions &
  Pick<PublishRequest, 'claim' | 'hold'> &
  Telling & { claiming?: Claiming };

/** A claim that is taken with the same request. */
export interface Claiming {
  claim: Omit<ClaimRequest, 'csiNodeId'>;
  /** Called once it is taken. */
  claimed(generation: number): void;
}

export interface PublishingPorts {
  secrets: SecretsProvider;
  /** Whether a plugin is known to offer ControllerPublishVolume. */
  needsPublish(plugin: string): boolean;
}

/** Request for a publication, as far as checked. */
interface Publishing extends Pick<Telling, 'tell'> {
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

  /** @returns the volume as it was committed when it had come there */
  async publish(
    key: VolumeKeyInput,
    nodeId: string,
    { claim, hold, claiming, tell, ...options }: ClaimedPublish,
  ): Promise<VolumeContext> {
    this.#client.refuseIfClosed();
    const known = keyOf(key);
    checkNodeId(nodeId);
    const { capability, readOnly, wait, ...waiting } = checkedOptions(publishSchema, options);
    const asked = { nodeId, capability, readOnly, wait, claim, hold, claiming, tell };
    return this.#client.inTime(waiting, (limit) => this.#publish(known, asked, limit));
  }

  async #publish(
    known: VolumeKey,
    { nodeId, capability, readOnly, wait, claim, hold, claiming, tell }: Publishing,
    limit: AbortSignal | undefined,
  ): Promise<VolumeContext> {
    const context = await this.#client.made(known, { signal: limit, tell });
    const { secrets, needsPublish } = this.#ports;
    const { clock } = this.#client;
    // The node has looked at them before it has claimed the volume, or put a hold on it.
    if (!wait && !claim && !claiming && hold === undefined && needsPublish(context.spec?.plugin ?? ''))
      await refuseWithoutSecrets(secrets, context.spec?.secrets ?? {}, { clock, signal: limit });
    const wish = {
      readOnly,
      ...(capability !== undefined && { capability: capabilityOf(known, context, capability) }),
      ...(claim && { claim }),
      ...(hold !== undefined && { hold }),
    };
    await this.#places.within(context, { nodeId, takesRoom: true, limit }, (to) =>
      claiming
        ? this.#claim(context, claiming, { to, readOnly, capability, limit })
        : this.#client.ask(known, { type: 'volume.publish', nodeId, ...to, ...wish }, limit),
    );
    const reached: Goal<VolumeContext>['reached'] = (now) => {
      const { uid, publications } = now;
      const publication = uid === context.uid ? publications[nodeId] : undefined;
      if (!publication) {
        const message = `${nameOf(known)} was unpublished from node ${nodeId} meanwhile: publish it again`;
        throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
      }
      if (publication.failure) throw failed(known, publication.failure);
      const stuck = stuckOf(now, nodeId);
      if (stuck !== undefined) {
        const message = `${nameOf(known)}: ${stuck}; the request stands until that is unpublished, or tried again`;
        throw new StagecraftError('VOLUME_IN_USE', message, { address: addressOf(known) });
      }
      const isThere =
        publication.at === 'published' ||
        (hold !== undefined && isKeptByHolds(publication) && holdersOf(publication).includes(hold));
      return isThere ? now : undefined;
    };
    const goal = `published on node ${nodeId}`;
    return this.#client.until({ key: known, goal, reached, tell, signal: limit });
  }

  /** Asked to the end, also where nobody waits any more: nobody has a claim without knowing. */
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
    const wish = { capability: capabilityOf(key, context, capability), readOnly, ...slot };
    await this.#client.ask(key, { type: 'volume.claim-and-publish', claim: { ...claim, csiNodeId }, ...wish });
    const now = await this.#client.view(key);
    const own = now?.context.claims.find((one) => isSameClaim(one, claim) && one.state === 'taken');
    if (own) claimed(own.generation);
  }

  async unpublish(key: VolumeKeyInput, nodeId: string, options: AwaitOptions): Promise<void> {
    this.#client.refuseIfClosed();
    const known = keyOf(key);
    checkNodeId(nodeId);
    const waiting = checkedOptions(awaitSchema, options);
    await this.#client.inTime(waiting, (limit) => this.#unpublish(known, nodeId, limit));
  }

  async #unpublish(known: VolumeKey, nodeId: string, limit: AbortSignal | undefined): Promise<void> {
    const { context } = await this.#client.present(known, limit);
    await this.#client.ask(known, { type: 'volume.unpublish', nodeId }, limit);
    // One that came there between that look and this request is meant, too.
    const asked = await this.#client.view(known, limit);
    const leaving = asked?.context.uid === context.uid ? asked.context.publications[nodeId] : undefined;
    if (!leaving) return;
    const { number } = leaving;
    const reached: Goal<true>['reached'] = ({ uid, publications }) => {
      const publication = publications[nodeId];
      if (uid !== context.uid || publication?.number !== number) return true;
      if (publication.at === 'failed.unpublish' && publication.failure) throw failed(known, publication.failure);
      if (publication.next || !wishOf(publication)) return undefined;
      const message = `${nameOf(known)} was published again on node ${nodeId} before it was gone from there`;
      throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
    };
    const goal = `unpublished from node ${nodeId}`;
    await this.#client.until({ key: known, goal, reached, gone: true, signal: limit });
  }
}

const publishSchema = z.strictObject({
  ...waitShape,
  readOnly: z.boolean().default(false),
  /** Checked where it is known what there is. */
  capability: z.unknown().optional(),
});

const checkNodeId = (nodeId: unknown): string => checked(nodeIdSchema, nodeId, 'the node id');

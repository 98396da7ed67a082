/** Claims volumes for allocs, and ends claims. Docstrings for callers: volume-manager.ts */
import { z } from 'zod';
import type { Capability } from '../../machines/kit/csi-types.js';
import { isSameClaim } from '../../machines/volume/claims.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { Claim, VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { asData } from '../engine/machine/data.js';
import { StagecraftError } from '../errors.js';
import { nameSchema, nodeIdSchema } from '../host/names.js';
import { type AwaitOptions, awaitShape, type WaitReporting } from '../requests/await-options.js';
import {
  accessModeSchema,
  attachmentModeSchema,
  checked,
  type VolumeKeyInput,
  volumeKeyOf,
} from '../requests/fields.js';
import { addressOf, failedError } from './volume-checks.js';
import type { VolumeClient, VolumeView } from './volume-client.js';
import type { VolumePlacement } from './volume-placement.js';

export interface ClaimOptions {
  allocId: string;
  nodeId: string;
  mode: 'read' | 'write';
  accessMode: Capability['accessMode'];
  attachmentMode: Capability['attachmentMode'];
  /** Whether to queue if the claim is not possible at once. */
  wait?: boolean;
  /** Withdraws a queued claim. */
  signal?: AbortSignal;
}

/** Claim whose node has unmounted the volume. */
export interface LetGo {
  nodeId: string;
  allocId: string;
  generation: number;
}

export class VolumeClaiming {
  readonly #client: VolumeClient;
  readonly #places: VolumePlacement;

  constructor(client: VolumeClient, places: VolumePlacement) {
    this.#client = client;
    this.#places = places;
  }

  async claim(key: VolumeKeyInput, options: ClaimOptions): Promise<Claim> {
    const known = this.#client.accept(key);
    const { wait, signal, ...claim } = checked(claimSchema, options, 'the claim');
    const { allocId, nodeId } = claim;
    const withdrawn = (why = ''): StagecraftError =>
      new StagecraftError('ABORTED', `the claim of alloc ${allocId} on ${volumeName(known)} was withdrawn${why}`, {
        address: addressOf(known),
      });
    const present = await this.#client.present(known, signal);
    if (signal?.aborted) throw withdrawn();
    // A claim that the alloc has stays valid, whatever the state of its node.
    const held = present.context.claims.find((one) => isSameClaim(one, claim));
    if (held?.state === 'taken' && (await this.#stillHas(known, held))) return asData(held);
    const context = await this.#client.made(known, { signal });
    await this.#places.within(context, { nodeId, takesRoom: false, limit: signal }, async ({ csiNodeId }) => {
      if (signal?.aborted) throw withdrawn();
      await this.#client.ask(known, { type: 'volume.claim', claim: { ...claim, csiNodeId }, wait });
    });
    const ownIn = ({ uid, claims }: VolumeContext): Claim | undefined =>
      uid === context.uid ? claims.find((one) => isSameClaim(one, claim) && one.state === 'taken') : undefined;
    try {
      const reached = ({ context: present }: VolumeView): Claim | undefined => {
        const own = ownIn(present);
        if (own) return asData(own);
        if (present.uid === context.uid && present.waiting.some((one) => isSameClaim(one, claim))) return undefined;
        throw withdrawn(this.#places.whyWithdrawn(present, nodeId));
      };
      return await this.#client.until({ key: known, goal: `claimed by alloc ${allocId}`, reached, signal });
    } catch (error) {
      if (!signal?.aborted || this.#client.isClosed) throw error;
      // Frees the place in the queue.
      await this.#client.askExisting(known, { type: 'volume.unclaim', allocId });
      const view = await this.#client.view(known);
      const own = view && ownIn(view.context);
      if (!own) throw withdrawn();
      return asData(own);
    }
  }

  /**
   * Reports that the node has unmounted the volume for this claim. Resolves once the claim is gone; for the last claim on the
   * node, once the volume is unpublished from there, too.
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE: the claim is not released yet; final failure of the unpublish;
   *   TIMEOUT, ABORTED
   */
  async unstaged(
    key: VolumeKeyInput,
    { nodeId, allocId, generation }: LetGo,
    waiting: AwaitOptions & WaitReporting,
  ): Promise<void> {
    const known = volumeKeyOf(key);
    await this.#client.askExisting(known, { type: 'volume.unstaged', nodeId, claimGeneration: generation, allocId });
    const reached = ({ context: { claims, publications } }: VolumeView): true | undefined => {
      const own = claims.find((one) => one.allocId === allocId && one.generation === generation);
      if (!own) return true;
      const publication = publications[own.nodeId];
      if (own.state === 'node-detached' && publication?.at === 'failed.unpublish' && publication.failure)
        throw failedError(known, publication.failure);
      return undefined;
    };
    const goal = `let go of by alloc ${allocId}`;
    await this.#client.until({ key: known, goal, reached, gone: true, ...waiting });
  }

  /** Asks the actor whether the claim still holds: its release may not be committed yet. */
  async #stillHas(key: VolumeKey, { generation: _, state: __, fenced: ___, ...claim }: Claim): Promise<boolean> {
    try {
      await this.#client.ask(key, { type: 'volume.claim', claim, wait: false, isRepeat: true });
      return true;
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'CLAIM_CONFLICT') return false;
      throw error;
    }
  }
}

export const claimSchema = z.strictObject({
  allocId: nameSchema,
  nodeId: nodeIdSchema,
  mode: z.enum(['read', 'write']),
  accessMode: accessModeSchema,
  attachmentMode: attachmentModeSchema,
  wait: z.boolean().default(false).describe('Answer once the claim can be granted.'),
  signal: awaitShape.signal,
});

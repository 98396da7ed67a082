/** Expands volumes and changes their mutable parameters; shapes of these requests. Docstrings for callers: volume-manager.ts */

import { z } from 'zod';
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { isAmong } from '../../machines/kit/same-data.js';
import { volumeName } from '../../machines/volume/requests.js';
import { isBelow, isCovered } from '../../machines/volume/size.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { type AwaitOptions, awaitSchema, checkedOptions } from '../requests/await-options.js';
import {
  bytesSchema,
  checked,
  definedRange,
  limitFault,
  parametersSchema,
  type VolumeKeyInput,
} from '../requests/fields.js';
import { addressOf, failedError } from './volume-checks.js';
import type { VolumeClient, VolumeView } from './volume-client.js';
import { bytesIn } from './volume-view.js';

export class VolumeChanging {
  readonly #client: VolumeClient;

  constructor(client: VolumeClient) {
    this.#client = client;
  }

  async expand(key: VolumeKeyInput, capacity: ExpandRequest, options: AwaitOptions): Promise<Expanded> {
    const known = this.#client.accept(key);
    const asked = definedRange(checked(expandSchema, capacity, 'the capacity'));
    const waiting = checkedOptions(awaitSchema, options);
    return this.#client.inTime(waiting, (limit) => this.#expand(known, asked, limit));
  }

  async #expand(known: VolumeKey, asked: CapacityRange, limit: AbortSignal | undefined): Promise<Expanded> {
    const { context } = await this.#client.present(known, limit);
    await this.#client.ask(known, { type: 'volume.expand', capacity: asked }, limit);
    const reached = ({ context: now }: VolumeView): Expanded | undefined => {
      this.#client.refuseIfGone(known, { asked: context, now, goal: 'expanded' });
      if (isExpanded(now, asked)) return expandedOf(now);
      const { wish, next, failure } = now.expansion ?? {};
      if (failure) throw failedError(known, failure);
      const isDue = [wish, next?.wish].some((one) => one && !isBelow(one.requiredBytes, asked.requiredBytes));
      if (isDue) return undefined;
      const message = `${volumeName(known)}: a later request asked for another size before this one was reached; repeat the request if it still holds`;
      throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
    };
    return this.#client.until({ key: known, goal: 'expanded', reached, signal: limit });
  }

  async modify(key: VolumeKeyInput, mutableParameters: Record<string, string>, options: AwaitOptions): Promise<void> {
    const known = this.#client.accept(key);
    const asked = checked(parametersSchema, mutableParameters, 'the parameters');
    const waiting = checkedOptions(awaitSchema, options);
    await this.#client.inTime(waiting, (limit) => this.#modify(known, asked, limit));
  }

  async #modify(known: VolumeKey, asked: Record<string, string>, limit: AbortSignal | undefined): Promise<void> {
    const { context } = await this.#client.present(known, limit);
    await this.#client.ask(known, { type: 'volume.modify', mutableParameters: asked }, limit);
    const reached = ({ context: now }: VolumeView): true | undefined => {
      this.#client.refuseIfGone(known, { asked: context, now, goal: 'modified' });
      if (!now.modification) return true;
      const { wish, next, failure, refused } = now.modification;
      // Parameters that were asked for again are still due.
      const isDue = isAmong(asked, { ...wish, ...next?.wish });
      if (!isDue && isAmong(asked, now.modifiedTo ?? {})) return true;
      if (failure) throw failedError(known, failure);
      if (refused && !isDue && isAmong(asked, refused.wish)) throw failedError(known, refused.failure);
      return undefined;
    };
    await this.#client.until({ key: known, goal: 'modified', reached, signal: limit });
  }
}

export const expandSchema = z
  .strictObject({ requiredBytes: bytesSchema, limitBytes: bytesSchema.optional() })
  .refine(
    ({ requiredBytes, limitBytes }) => limitBytes === undefined || BigInt(requiredBytes) <= BigInt(limitBytes),
    limitFault,
  );

/** Sizes in bytes; above 2⁵³−1 as bigint. */
export type ExpandRequest = z.input<typeof expandSchema>;

export interface Expanded {
  /** Size in bytes; above 2⁵³−1 a bigint. Absent if the plugin does not report it. */
  capacityBytes?: number | bigint;
  /** Whether the node has yet to expand the volume (NodeExpandVolume). */
  nodeExpansionRequired: boolean;
}

/** Whether the controller has expanded the volume to this size or more. */
const isExpanded = (context: VolumeContext, capacity: CapacityRange): boolean =>
  isCovered(context, capacity) || BigInt(context.expandedTo?.requiredBytes ?? 0) >= BigInt(capacity.requiredBytes ?? 0);

const expandedOf = ({ csi, nodeExpansion }: VolumeContext): Expanded => ({
  nodeExpansionRequired: nodeExpansion,
  ...(csi?.capacityBytes !== undefined && { capacityBytes: bytesIn(csi.capacityBytes) }),
});

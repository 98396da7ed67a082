/** Asks a plugin for its free capacity (GetCapacity). Stores nothing. */
import { z } from 'zod';
import type { PluginAccess } from '../calls/plugin-access.js';
import { StagecraftError } from '../errors.js';
import { nameSchema } from '../host/names.js';
import { type AwaitOptions, awaitSchema, checkedOptions } from '../requests/await-options.js';
import { capabilitySchema, checked, definedCapability, parametersSchema, segmentsSchema } from '../requests/fields.js';
import type { ControllerPort } from './controller-port.js';
import { type KnownPlugins, refuseUnknown } from './volume-checks.js';
import { bytesIn } from './volume-view.js';

export const capacityRequestSchema = z.strictObject({
  capability: capabilitySchema.optional(),
  parameters: parametersSchema.optional(),
  segments: segmentsSchema.optional(),
});

/** Volumes to ask about: their capability and parameters, and the topology segments where they would be. */
export type CapacityRequest = z.input<typeof capacityRequestSchema>;

/** Sizes in bytes; above 2⁵³−1 a bigint. A size that the plugin does not report is absent. */
export interface Capacity {
  availableBytes: number | bigint;
  maximumVolumeBytes?: number | bigint;
  minimumVolumeBytes?: number | bigint;
}

interface CapacityReaderOptions extends KnownPlugins {
  access: PluginAccess;
  controller: ControllerPort;
  /** Default time to wait for a plugin that takes no calls. */
  timeoutMs: number;
}

export const capacityReader =
  ({ access, controller, timeoutMs: defaultMs, ...known }: CapacityReaderOptions) =>
  async (plugin: string, request: CapacityRequest, options: AwaitOptions): Promise<Capacity> => {
    const { capability, parameters, segments } = checked(capacityRequestSchema, request, 'the request');
    const { timeoutMs, signal } = checkedOptions(awaitSchema, options);
    await refuseUnknown(checked(nameSchema, plugin, 'the plugin'), known);
    const bounds = { signal: signal ?? new AbortController().signal };
    const admitted = await access.enter({ plugin }, { ...bounds, waitMs: timeoutMs ?? defaultMs, waits: () => {} });
    try {
      if (!admitted.observation.capabilities.has('GET_CAPACITY')) {
        const message = `plugin '${plugin}' does not offer GET_CAPACITY: its free capacity is not known`;
        throw new StagecraftError('PLUGIN_LACKS', message, { final: true });
      }
      const asked = {
        ...(capability && { capability: definedCapability(capability) }),
        ...(parameters && { parameters }),
        ...(segments && { segments }),
      };
      const { availableBytes, maximumVolumeBytes, minimumVolumeBytes } = await controller.getCapacity(
        await admitted.client(),
        asked,
        bounds,
      );
      admitted.leave({ grpcCode: 'OK' });
      return {
        availableBytes: bytesIn(availableBytes),
        ...(maximumVolumeBytes !== undefined && { maximumVolumeBytes: bytesIn(maximumVolumeBytes) }),
        ...(minimumVolumeBytes !== undefined && { minimumVolumeBytes: bytesIn(minimumVolumeBytes) }),
      };
    } catch (error) {
      if (error instanceof StagecraftError) admitted.leave(error);
      throw error;
    } finally {
      admitted.leave();
    }
  };

/** Requests for mounts and for the volumes of an alloc: checked whole, every fault at once, before anything is done. */
import { posix } from 'node:path';
import { z } from 'zod';
import type { AllocVolume } from '../../machines/alloc/types.js';
import type { AccessMode, AttachmentMode, Capability } from '../../machines/kit/csi-types.js';
import { isReadOnly } from '../../machines/volume/claims.js';
import { defaultCapability, isOfModes, notMadeFor } from '../../machines/volume/modes.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { nameSchema } from '../host/names.js';
import {
  accessModeSchema,
  attachmentModeSchema,
  capabilityShape,
  checked,
  definedCapability,
  fitting,
  isMap,
  keySchema,
  type PartsOf,
  type VolumeKeyInput,
} from '../requests/fields.js';
import type { KnownVolume } from './claim-client.js';

/** How a volume is mounted; what is left out is as the volume was made. */
export interface MountUsage {
  accessMode: AccessMode;
  attachmentMode: AttachmentMode;
  fsType?: string | undefined;
  mountFlags?: string[] | undefined;
  /** Default: as the access mode says. */
  readOnly?: boolean | undefined;
}

export interface MountRequest {
  volume: VolumeKeyInput;
  allocId: string;
  usage: MountUsage;
}

/** Volume of an alloc. Modes that are left out are those of the first matching capability of the volume. */
export interface AllocVolumeRequest extends Omit<MountUsage, 'accessMode' | 'attachmentMode'> {
  accessMode?: AccessMode | undefined;
  attachmentMode?: AttachmentMode | undefined;
  /** Name of the volume within the alloc. */
  name: string;
  volume: VolumeKeyInput;
  /** Mode of the claim. */
  mode: 'read' | 'write';
  /** Path where the workload has it: absolute. */
  taskPath: string;
}

/** Volume of an alloc, checked as far as can be while modes are left out. */
export type AskedVolume = z.output<typeof askedVolumeSchema>;

/** A checked mount request. */
export interface KnownMount {
  key: VolumeKey;
  allocId: string;
  usage: Capability;
  readOnly: boolean;
}

const usageShape = { ...capabilityShape, readOnly: z.boolean().optional() };

type UsageParts = PartsOf<typeof usageShape> & { mode?: 'read' | 'write' };

/** Takes any shape: that fault is reported elsewhere. */
const isForReaders = (accessMode: unknown): boolean => {
  const { data } = accessModeSchema.safeParse(accessMode);
  return data !== undefined && isReadOnly(data);
};

/** Checks what belongs together in a usage. */
const consistent = <T extends z.ZodType<UsageParts>>(schema: T): T =>
  fitting(schema)
    .refine(({ accessMode, readOnly }) => readOnly !== false || !isForReaders(accessMode), {
      path: ['readOnly'],
      error: ({ input }) => `${modeIn(input)} is for reading only: leave it out, or ask for another mode`,
      when: isMap,
    })
    .refine(({ accessMode, mode, readOnly }) => readOnly !== false || mode !== 'read' || isForReaders(accessMode), {
      path: ['readOnly'],
      message: 'a volume that is claimed for reading is mounted read-only: claim it for writing',
      when: isMap,
    });

const modeIn = (usage: unknown): unknown => (usage as UsageParts).accessMode;

const mountSchema = z.strictObject({
  volume: keySchema,
  allocId: nameSchema,
  usage: consistent(z.strictObject(usageShape)),
});

const maxPathBytes = 4_096;

const pathSchema = z
  .string()
  .refine((path) => path.startsWith('/'), 'must be absolute')
  .refine((path) => Buffer.byteLength(path) < maxPathBytes, `must have less than ${maxPathBytes} bytes`)
  .refine((path) => !/[\p{Cc}\p{Cs}]/u.test(path), 'must have no control characters or broken surrogate pairs')
  .refine((path) => !path.split('/').includes('..'), 'must have no .. in it');

const volumeShape = {
  name: nameSchema,
  volume: keySchema,
  mode: z.enum(['read', 'write']),
  taskPath: pathSchema,
  ...usageShape,
};

const volumeSchema = consistent(z.strictObject(volumeShape));

const askedVolumeSchema = consistent(
  z.strictObject({
    ...volumeShape,
    accessMode: accessModeSchema.optional(),
    attachmentMode: attachmentModeSchema.optional(),
  }),
);

const listOf = <T extends typeof volumeSchema | typeof askedVolumeSchema>(schema: T) =>
  z
    .array(schema)
    .min(1, 'must name at least one')
    .superRefine((volumes, context) => {
      const seen = new Map<string, number>();
      for (const [at, { name, volume, taskPath }] of volumes.entries()) {
        const things = {
          name: `the name '${name}'`,
          volume: volumeName(volume),
          taskPath: `the task path ${posix.normalize(`${taskPath}/`)}`,
        };
        for (const [field, thing] of Object.entries(things)) {
          const first = seen.get(thing);
          seen.set(thing, first ?? at);
          if (first === undefined) continue;
          context.addIssue({ code: 'custom', path: [at, field], message: `${thing} is that of [${first}] already` });
        }
      }
    });

const volumesSchema = listOf(volumeSchema);
export const askedVolumesSchema = listOf(askedVolumeSchema);
const volumesOfAlloc = 'the volumes of the alloc';

export const allocIdOf = (allocId: unknown): string => checked(nameSchema, allocId, 'the alloc id');

/** @throws StagecraftError INVALID_ARGUMENT with every fault */
export function knownMount(request: MountRequest): KnownMount {
  const { volume, allocId, usage } = checked(mountSchema, request, 'the mount');
  const { readOnly, ...rest } = usage;
  const capability = definedCapability(rest);
  return { key: volume, allocId, usage: capability, readOnly: readOnly ?? isReadOnly(capability.accessMode) };
}

/** @throws StagecraftError INVALID_ARGUMENT with every fault, and the name of its volume */
export const askedVolumes = (requests: readonly AllocVolumeRequest[]): AskedVolume[] =>
  checked(askedVolumesSchema, requests, volumesOfAlloc);

/** @throws StagecraftError INVALID_ARGUMENT with every fault, and the name of its volume; a missing mode is a fault */
export function knownVolumes(requests: readonly (AllocVolumeRequest | AskedVolume)[]): AllocVolume[] {
  return checked(volumesSchema, requests, volumesOfAlloc).map(
    ({ name, volume, mode, taskPath, readOnly, ...usage }) => {
      const capability = definedCapability(usage);
      const isReader = mode === 'read' || isReadOnly(capability.accessMode);
      return { name, volume, mode, taskPath, readOnly: readOnly ?? isReader, ...capability };
    },
  );
}

type Modes = Pick<Capability, 'accessMode' | 'attachmentMode'>;

export const hasModes = ({ accessMode, attachmentMode }: AskedVolume): boolean =>
  accessMode !== undefined && attachmentMode !== undefined;

/**
 * Fills in missing modes from the first of the offered modes that has the given ones; if none has them, from the
 * first.
 */
export function withModes(asked: AskedVolume, offered: readonly Modes[]): AskedVolume {
  const made = defaultCapability(offered, asked) ?? offered[0];
  const { accessMode = made?.accessMode, attachmentMode = made?.attachmentMode } = asked;
  return { ...asked, accessMode, attachmentMode };
}

/**
 * Capability to mount with: that of the volume for these modes, with the requested fields in its place.
 * @throws StagecraftError INVALID_ARGUMENT naming the modes that there are
 */
export function capabilityFor(key: VolumeKey, { capabilities }: KnownVolume, usage: Capability): Capability {
  const made = capabilities.find((one) => isOfModes(one, usage));
  if (made) return { ...made, ...usage };
  const fault = `${volumeName(key)}: ${notMadeFor(capabilities, usage)}`;
  throw new StagecraftError('INVALID_ARGUMENT', fault, { faults: [fault] });
}

/** What a mount, and the volumes of an alloc, may be asked to be: checked whole, every fault at once, before anything is done. */
import { posix } from 'node:path';
import { z } from 'zod';
import type { AllocVolume } from '../../machines/alloc-types.js';
import type { AccessMode, AttachmentMode, Capability } from '../../machines/csi-types.js';
import { isReadOnly } from '../../machines/volume-claims.js';
import { isOfModes } from '../../machines/volume-modes.js';
import { nameOf } from '../../machines/volume-requests.js';
import type { VolumeKey } from '../../machines/volume-types.js';
import { StagecraftError } from '../errors.js';
import {
  capabilitySchema,
  checked,
  definedCapability,
  keySchema,
  textSchema,
  type VolumeKeyInput,
} from '../requests/fields.js';
import type { KnownVolume } from './claim-client.js';

/** How a volume is to be mounted; what is left out is as the volume was made. */
export interface MountUsage {
  accessMode: AccessMode;
  attachmentMode: AttachmentMode;
  fsType?: string;
  mountFlags?: string[];
  /** Default: as the access mode has it. */
  readOnly?: boolean;
}

export interface MountRequest {
  volume: VolumeKeyInput;
  allocId: string;
  usage: MountUsage;
}

/** One volume of an alloc. */
export interface AllocVolumeRequest extends MountUsage {
  /** Of this volume among those of the alloc. */
  name: string;
  volume: VolumeKeyInput;
  /** How it is claimed. */
  mode: 'read' | 'write';
  /** Where the workload is to have it: absolute. */
  taskPath: string;
}

/** One that is checked. */
export interface KnownMount {
  key: VolumeKey;
  allocId: string;
  usage: Capability;
  readOnly: boolean;
}

const usageShape = { ...capabilitySchema.shape, readOnly: z.boolean().optional() };

const usageSchema = z.strictObject(usageShape);

const mountSchema = z.strictObject({ volume: keySchema, allocId: textSchema, usage: usageSchema });

const maxPathBytes = 4_096;

const pathSchema = z
  .string()
  .refine((path) => path.startsWith('/'), 'must be absolute')
  .refine((path) => Buffer.byteLength(path) < maxPathBytes, `must have less than ${maxPathBytes} bytes`)
  .refine((path) => !/[\p{Cc}\p{Cs}]/u.test(path), 'must have no control characters or broken surrogate pairs')
  .refine((path) => !path.split('/').includes('..'), 'must have no .. in it');

const allocVolumeSchema = z.strictObject({
  name: textSchema,
  volume: keySchema,
  mode: z.enum(['read', 'write']),
  taskPath: pathSchema,
  ...usageShape,
});

const allocVolumesSchema = z
  .array(allocVolumeSchema)
  .min(1, 'must name at least one')
  .superRefine((volumes, context) => {
    const seen = new Map<string, number>();
    for (const [at, { name, volume, taskPath }] of volumes.entries()) {
      const things = {
        name: `the name '${name}'`,
        volume: nameOf(volume),
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

export const allocIdOf = (allocId: unknown): string => checked(textSchema, allocId, 'the alloc id');

/** @throws StagecraftError INVALID_ARGUMENT with every fault */
export function knownMount(request: MountRequest): KnownMount {
  const { volume, allocId, usage } = checked(mountSchema, request, 'the mount');
  const { readOnly, ...rest } = usage;
  const capability = checkedUsage(rest);
  return { key: volume, allocId, usage: capability, readOnly: readOnlyOf(capability, readOnly, 'usage') };
}

/** @throws StagecraftError INVALID_ARGUMENT with every fault */
export function knownVolumes(requests: readonly AllocVolumeRequest[]): AllocVolume[] {
  return checked(allocVolumesSchema, requests, 'the volumes of the alloc').map(
    ({ name, volume, mode, taskPath, readOnly, ...usage }, at) => {
      const capability = checkedUsage(usage);
      const asked = readOnly ?? (mode === 'read' ? true : undefined);
      const known = readOnlyOf(capability, asked, `[${at}]`);
      if (mode === 'read' && !known)
        throw refused(
          `[${at}].readOnly: a volume that is claimed for reading is mounted read-only: claim it for writing`,
        );
      return { name, volume, mode, taskPath, readOnly: known, ...capability };
    },
  );
}

/** What belongs together is checked by the schema that volumes have, too. */
const checkedUsage = (usage: z.output<typeof capabilitySchema>): Capability =>
  definedCapability(checked(capabilitySchema, usage, 'the usage'));

function readOnlyOf({ accessMode }: Capability, asked: boolean | undefined, where: string): boolean {
  const isReaderOnly = isReadOnly(accessMode);
  if (asked === false && isReaderOnly)
    throw refused(`${where}.readOnly: ${accessMode} is for reading only: leave it out, or ask for another mode`);
  return asked ?? isReaderOnly;
}

/**
 * How a volume is mounted: as it was made for these modes, with what is asked for in its place, field by field.
 * @throws StagecraftError INVALID_ARGUMENT naming the modes that there are
 */
export function capabilityFor(key: VolumeKey, { capabilities }: KnownVolume, usage: Capability): Capability {
  const made = capabilities.find((one) => isOfModes(one, usage));
  if (made) return { ...made, ...usage };
  const modes = capabilities.map(({ attachmentMode, accessMode }) => `${attachmentMode}, ${accessMode}`).join('; ');
  const { attachmentMode, accessMode } = usage;
  throw refused(
    `${nameOf(key)} was not made for ${attachmentMode}, ${accessMode}, but for ${modes}: ask for one of these`,
  );
}

const refused = (fault: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', fault, { faults: [fault] });

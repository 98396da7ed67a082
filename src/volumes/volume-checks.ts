/** Checks requests against the record of their volume, and makes the errors that all requests share. */
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { Bytes, CallFailure, Capability } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { creationFailure, type Lifecycle } from '../../machines/volume/lifecycle.js';
import { isOfModes, notMadeFor } from '../../machines/volume/modes.js';
import { absenceOf, volumeName, volumeNotFound } from '../../machines/volume/requests.js';
import { sizeOf } from '../../machines/volume/size.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { creationAdviceAt } from '../../machines/volume/words.js';
import type { HomedCall, Origin } from '../calls/homes.js';
import { StagecraftError } from '../errors.js';
import { capabilitySchema, checked, definedCapability } from '../requests/fields.js';
import type { CheckedSpec } from './spec.js';

export const addressOf = ({ namespace, id }: VolumeKey): string => volumeAddress(namespace, id);

/** Makes the error for a volume that nobody can use. @param context record of a deleted one. Absent: there is none */
export function notFoundError(key: VolumeKey, context?: VolumeContext): StagecraftError {
  const { code, message } = context ? absenceOf(context) : volumeNotFound(key);
  return new StagecraftError(code, message, { address: addressOf(key) });
}

/** Makes the error for a volume that nothing can be made from yet. */
export const notCreated = (key: VolumeKey): StagecraftError =>
  new StagecraftError('VOLUME_NOT_FOUND', `${volumeName(key)} is not created yet: wait for that`, {
    address: addressOf(key),
  });

/** @throws StagecraftError PLUGIN_NOT_FOUND */
export async function refuseUnknown(plugin: string, { isKnownPlugin, refresh }: KnownPlugins): Promise<void> {
  if (isKnownPlugin(plugin)) return;
  await refresh?.();
  if (isKnownPlugin(plugin)) return;
  const message = `no plugin is registered as '${plugin}': register it, or list those that are`;
  throw new StagecraftError('PLUGIN_NOT_FOUND', message);
}

export interface KnownPlugins {
  isKnownPlugin(plugin: string): boolean;
  /** Reads again which plugins other agents have. @throws {Error} the store is away */
  refresh?(): Promise<void>;
}

export const failedError = (key: VolumeKey, failure: CallFailure): StagecraftError =>
  failedWith(key, failure, 'it stays failed until the request changes, or retry is called');

/** Makes the error of a failed creation; undefined if it has not failed. */
export function failedCreation(key: VolumeKey, lifecycle: Lifecycle): StagecraftError | undefined {
  const failure = creationFailure(lifecycle);
  return failure && failedWith(key, failure, creationAdviceAt(lifecycle.at));
}

function failedWith(
  key: VolumeKey,
  { code, message, ...details }: CallFailure,
  advice: string | undefined,
): StagecraftError {
  // Leaves out the advice: the message of OTHER_DRIVER has its own.
  const text = code === 'OTHER_DRIVER' || advice === undefined ? message : `${message}; ${advice}`;
  return new StagecraftError(code, `${volumeName(key)}: ${text}`, { ...details, address: addressOf(key) });
}

/**
 * Finds the requested capability among those of the volume's spec. Access mode and attachment mode must be given.
 * @throws StagecraftError INVALID_ARGUMENT lists the capabilities of the volume
 */
export function offeredCapability(key: VolumeKey, { spec }: VolumeContext, asked: unknown): Capability {
  const offered = spec?.capabilities ?? [];
  const wanted = definedCapability(checked(capabilitySchema, asked, 'the capability'));
  const isMeant = (one: Capability): boolean =>
    isOfModes(one, wanted) &&
    (wanted.fsType === undefined || wanted.fsType === one.fsType) &&
    (wanted.mountFlags === undefined || JSON.stringify(wanted.mountFlags) === JSON.stringify(one.mountFlags ?? []));
  const meant = offered.find(isMeant);
  if (meant) return meant;
  const why =
    notMadeFor(offered, wanted) ??
    `it was not made for ${inWords(wanted)}, but for ${offered.map(inWords).join(' or ')}: ask for one of these`;
  const message = `${volumeName(key)}: ${why}`;
  throw new StagecraftError('INVALID_ARGUMENT', message, {
    address: addressOf(key),
    faults: [`capability: ${message}`],
  });
}

const inWords = ({ accessMode, attachmentMode, fsType, mountFlags = [] }: Capability): string =>
  [attachmentMode, accessMode, ...(fsType === undefined ? [] : [fsType]), ...mountFlags].join(', ');

/** Source of a new volume, with its CSI id. */
export interface KnownSource extends Origin {
  csiId: string;
  /** Size of its content. Absent: not known. */
  sizeBytes?: Bytes | undefined;
}

interface Sources {
  /** @throws StagecraftError VOLUME_NOT_FOUND */
  volume(key: VolumeKey): Promise<VolumeContext>;
  snapshot(asked: { namespace: string; id: string; plugin: string }): Promise<KnownSource>;
  /** Home of a new volume. @throws StagecraftError VOLUME_ELSEWHERE: its source is on another node */
  homeHere(what: string, call: HomedCall): Promise<string | undefined>;
}

/**
 * Resolves the source of a new volume; undefined if its spec has none.
 * @param known record of the same key, if any: the same spec again means the same source
 */
export async function volumeSourceOf(
  { source, plugin, namespace }: CheckedSpec,
  known: VolumeContext | undefined,
  sources: Sources,
): Promise<KnownSource | undefined> {
  if (!source) return undefined;
  if (known?.spec?.source) {
    const { csiId, ...taken } = known.spec.source;
    if (isSameData(taken, source)) return { csiId };
  }
  if ('volumeSnapshot' in source) return sources.snapshot({ namespace, id: source.volumeSnapshot, plugin });
  const present = await sources.volume(source.volume);
  const { spec, csi, home, driver, nodeExpansion } = present;
  if (spec?.plugin !== plugin) {
    const message = `${volumeName(source.volume)} belongs to plugin '${spec?.plugin}': only that plugin can clone it`;
    throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`source.volume: ${message}`] });
  }
  if (!csi) throw notCreated(source.volume);
  const call = { plugin, ...(home && { home }), topology: csi.accessibleTopology };
  return {
    csiId: csi.id,
    home: await sources.homeHere(volumeName(source.volume), call),
    driver: driver ?? undefined,
    // A file system that a node still has to expand is smaller than its volume.
    sizeBytes: nodeExpansion ? undefined : sizeOf(present),
  };
}

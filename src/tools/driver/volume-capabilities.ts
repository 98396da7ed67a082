/**
 * How volumes may be used: the access type is the volume's for good; any volume can be used on one node, and on
 * several as far as its creation asked for it. File system types and mount flags are noted only.
 */
import type { VolumeCapability, VolumeCapabilityAccessModeMode } from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import type { AccessType } from './disk.js';
import { invalid } from './requests.js';
import type { VolumeRecord } from './state.js';

/** Reach of each mode: wider modes can do what narrower ones can. */
const reach: Readonly<Record<string, number>> = {
  SINGLE_NODE_WRITER: 0,
  SINGLE_NODE_READER_ONLY: 0,
  SINGLE_NODE_SINGLE_WRITER: 0,
  SINGLE_NODE_MULTI_WRITER: 0,
  MULTI_NODE_READER_ONLY: 1,
  MULTI_NODE_SINGLE_WRITER: 2,
  MULTI_NODE_MULTI_WRITER: 3,
} satisfies Partial<Record<VolumeCapabilityAccessModeMode, number>>;

export const accessModeOf = ({ accessMode }: VolumeCapability): string => accessMode?.mode ?? 'UNKNOWN';

export const accessTypeOf = ({ block }: VolumeCapability): AccessType => (block ? 'block' : 'mount');

export const isMultiNode = (capability: VolumeCapability): boolean => reachOf(capability) > 0;

/** Whether the capability never writes, whatever the publication says. */
export const isReaderOnly = (capability: VolumeCapability): boolean =>
  accessModeOf(capability).endsWith('_READER_ONLY');

/** @throws {CsiStatus} INVALID_ARGUMENT: none, or one without access type or mode */
export function requireCapabilities(capabilities: readonly VolumeCapability[]): void {
  if (capabilities.length === 0) throw invalid('volume_capabilities is missing');
  for (const capability of capabilities) requireCapability(capability);
}

/** @throws {CsiStatus} INVALID_ARGUMENT */
export function requireCapability(capability: VolumeCapability | undefined): VolumeCapability {
  if (!capability) throw invalid('volume_capability is missing');
  if (!capability.block && !capability.mount) throw invalid('a volume capability must say block or mount');
  if (accessModeOf(capability) === 'UNKNOWN') throw invalid('a volume capability must have an access mode');
  return capability;
}

/**
 * Access type of a volume with all of these capabilities.
 * @throws {CsiStatus} INVALID_ARGUMENT: no volume can have all
 */
export function commonAccessType(capabilities: readonly VolumeCapability[]): AccessType {
  requireCapabilities(capabilities);
  const unknown = capabilities.find((capability) => reachOf(capability) === -1);
  if (unknown) throw invalid(`the access mode ${accessModeOf(unknown)} is not known here`);
  const [accessType, other] = new Set(capabilities.map(accessTypeOf));
  if (!accessType || other) throw invalid('a volume is either block or mount: ask for one of them');
  return accessType;
}

/** @returns why the volume can't be used so, or undefined if it can */
export function whyNot(volume: VolumeRecord, capability: VolumeCapability): string | undefined {
  const accessType = accessTypeOf(capability);
  if (accessType !== volume.accessType) return `the volume ${volume.id} is ${volume.accessType}, not ${accessType}`;
  const widest = Math.max(...volume.capabilities.map(reachOf));
  if (reachOf(capability) >= 0 && reachOf(capability) <= widest) return undefined;
  return `the volume ${volume.id} was not made for ${accessModeOf(capability)}`;
}

/** @throws {CsiStatus} INVALID_ARGUMENT: the volume can't be used so */
export function checkUsable(volume: VolumeRecord, capability: VolumeCapability): void {
  const reason = whyNot(volume, capability);
  if (reason !== undefined) throw new CsiStatus('INVALID_ARGUMENT', reason);
}

/** Whether both lists have the same capabilities, in any order. */
export function sameCapabilities(some: readonly VolumeCapability[], others: readonly VolumeCapability[]): boolean {
  const [a, b] = [new Set(some.map(textOf)), new Set(others.map(textOf))];
  return a.size === b.size && [...a].every((text) => b.has(text));
}

const reachOf = (capability: VolumeCapability): number => reach[accessModeOf(capability)] ?? -1;

function textOf(capability: VolumeCapability): string {
  const { fsType = '', mountFlags = [], volumeMountGroup = '' } = capability.mount ?? {};
  return JSON.stringify([
    accessTypeOf(capability),
    accessModeOf(capability),
    fsType,
    [...mountFlags].sort(),
    volumeMountGroup,
  ]);
}

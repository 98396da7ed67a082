/** Checks requests to the Node service before anything is looked up: each fault is INVALID_ARGUMENT. */
import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { VolumeCapability } from '../../csi/generated/plain.js';
import type { MountEntry } from '../../host/mount-table.js';
import { invalid } from './requests.js';
import { accessModeOf, commonAccessType, isReaderOnly, requireCapability } from './volume-capabilities.js';

/** Longest path in Linux, without the closing NUL. */
const maxPathBytes = 4095;

/** Modes with which a volume has one target on a node. */
const oneTarget = new Set(['SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER', 'SINGLE_NODE_READER_ONLY']);

type Options = MountEntry['options'];

/** Mount flags that the kernel knows for a single mount, each with its test on an entry of the mount table. */
const flags = new Map<string, (shown: Options) => boolean>([
  ['defaults', () => true],
  // A mount of something read-only stays read-only.
  ['rw', () => true],
  ['ro', (shown) => shown.has('ro')],
  ['nosuid', (shown) => shown.has('nosuid')],
  ['suid', (shown) => !shown.has('nosuid')],
  ['nodev', (shown) => shown.has('nodev')],
  ['dev', (shown) => !shown.has('nodev')],
  ['noexec', (shown) => shown.has('noexec')],
  ['exec', (shown) => !shown.has('noexec')],
  ['noatime', (shown) => shown.has('noatime')],
  ['relatime', (shown) => shown.has('relatime')],
  ['strictatime', (shown) => !shown.has('noatime') && !shown.has('relatime')],
  ['nodiratime', (shown) => shown.has('nodiratime')],
  ['diratime', (shown) => !shown.has('nodiratime')],
  ['nosymfollow', (shown) => shown.has('nosymfollow')],
]);

/** Pairs of flags that exclude each other. */
const opposites = [
  ['ro', 'rw'],
  ['nosuid', 'suid'],
  ['nodev', 'dev'],
  ['noexec', 'exec'],
  ['noatime', 'relatime', 'strictatime'],
  ['nodiratime', 'diratime'],
];

export function idOf(volumeId: string): string {
  if (volumeId === '') throw invalid('volume_id is missing');
  return volumeId;
}

/** @returns the path without doubled and trailing slashes, used from here on */
export function cleanPath(path: string, field: string): string {
  if (path === '') throw invalid(`${field} is missing`);
  const shown = JSON.stringify(path.slice(0, maxPathBytes));
  if (path.includes('\0')) throw invalid(`${field} has a NUL in it: ${shown}`);
  if (!path.startsWith('/')) throw invalid(`${field} must be absolute, but is ${shown}`);
  if (path.split('/').includes('..')) throw invalid(`${field} must not have .. in it, but is ${shown}`);
  if (Buffer.byteLength(path) > maxPathBytes) throw invalid(`${field} has more than ${maxPathBytes} bytes`);
  const tidy = tidied(path);
  if (tidy === '/') throw invalid(`${field} must not be /`);
  return tidy;
}

export function tidied(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

export function capabilityOf(asked: VolumeCapability | undefined): VolumeCapability {
  const capability = requireCapability(asked);
  commonAccessType([capability]);
  const { mount } = capability;
  if (mount?.volumeMountGroup) throw invalid('volume_mount_group is not offered: see NodeGetCapabilities');
  checkFlags(mount?.mountFlags ?? []);
  return capability;
}

function checkFlags(asked: readonly string[]): void {
  const unknown = asked.find((flag) => !flags.has(flag));
  if (unknown !== undefined) {
    const known = [...flags.keys()].join(', ');
    throw invalid(`the mount flag ${JSON.stringify(unknown)} does not apply to bind mounts; known flags: ${known}`);
  }
  for (const group of opposites) {
    const both = group.filter((flag) => asked.includes(flag));
    if (both.length > 1) throw invalid(`the mount flags ${both.join(' and ')} are opposites: ask for one of them`);
  }
}

/** Whether its mode or its flags allow reading only. */
export const readsOnly = (capability: VolumeCapability): boolean =>
  isReaderOnly(capability) || (capability.mount?.mountFlags.includes('ro') ?? false);

export const allowsOneTarget = (capability: VolumeCapability): boolean => oneTarget.has(accessModeOf(capability));

/** Options of a mount for this use, as mount(8) accepts them. */
export const mountOptionsOf = ({ mount }: VolumeCapability, readonly: boolean): string[] => [
  ...(mount?.mountFlags ?? []).filter((flag) => !(readonly && flag === 'rw')),
  ...(readonly ? ['ro'] : []),
];

export const missingOptions = (wanted: readonly string[], shown: Options): string[] =>
  wanted.filter((flag) => !flags.get(flag)?.(shown));

/** Compares objects, of which one may come from a file and so has no undefined fields. */
export const isSame = (one: object, other: object): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));

/** What every request has to keep to: the size limits of CSI, and ids that are ids. All else is of its RPC. */
import { CsiStatus } from '../csi/server.js';

const maxStringBytes = 128;
const maxMapBytes = 4096;
const maxNodeIdBytes = 256;

/** The fields that are maps; all other objects are messages. */
const maps = new Set(['parameters', 'mutableParameters', 'secrets', 'volumeContext', 'publishContext', 'segments']);

/** A token that is not ours is another error; of paths CSI says that they may be as long as the system takes them. */
const unlimited = new Set(['startingToken', 'stagingTargetPath', 'targetPath', 'volumePath']);

/** Control characters, less tab, line feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that CSI bans from names
const bannedInNames = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** @throws {CsiStatus} INVALID_ARGUMENT: a field is larger than CSI lets it be */
export function checkSizes(request: object): void {
  for (const [field, value] of Object.entries(request)) checkSize(field, value);
}

function checkSize(field: string, value: unknown): void {
  const limitBytes = limitOf(field, value);
  if (limitBytes !== undefined) checkBytes(limitBytes, field, value);
  else if (Array.isArray(value)) for (const item of value) checkSize(field, item);
  else if (typeof value === 'object' && value !== null) checkSizes(value);
}

/** @returns undefined where what is in it has limits of its own, or it has none */
function limitOf(field: string, value: unknown): number | undefined {
  if (unlimited.has(field)) return undefined;
  if (maps.has(field) || (field === 'mountFlags' && Array.isArray(value))) return maxMapBytes;
  if (typeof value !== 'string') return undefined;
  return field === 'nodeId' ? maxNodeIdBytes : maxStringBytes;
}

function checkBytes(limitBytes: number, field: string, value: unknown): void {
  const texts =
    typeof value === 'string' ? [value] : Array.isArray(value) ? value : Object.entries(Object(value)).flat();
  const bytes = texts.reduce((sum: number, text) => sum + Buffer.byteLength(String(text)), 0);
  if (bytes > limitBytes) throw invalid(`${wireName(field)} has ${bytes} bytes: CSI allows ${limitBytes}`);
}

/** @throws {CsiStatus} INVALID_ARGUMENT: there is none, or it is none that a driver could have given */
export function requireId(field: string, id: string): string {
  if (id === '') throw invalid(`${wireName(field)} is missing`);
  return checkId(field, id);
}

/** The same, where it may be left out. */
export function checkId(field: string, id: string): string {
  if (/[/\0]/.test(id) || id === '.' || id === '..')
    throw invalid(`${wireName(field)} ${JSON.stringify(id)} is no id: give one that this driver has answered`);
  return id;
}

/** @throws {CsiStatus} INVALID_ARGUMENT: there is none, or CSI bans it */
export function requireName(name: string): string {
  if (name === '') throw invalid('name is missing');
  if (bannedInNames.test(name)) throw invalid('name has a control character: give one without');
  return name;
}

export const invalid = (message: string): CsiStatus => new CsiStatus('INVALID_ARGUMENT', message);

export const notFound = (what: 'volume' | 'snapshot' | 'node', id: string): CsiStatus =>
  new CsiStatus('NOT_FOUND', `there is no ${what} ${JSON.stringify(id)} here`);

/** As CSI writes it. */
const wireName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

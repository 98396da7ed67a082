/** Checks for every request: the size limits of CSI, the form of ids, and pages of lists. */
import { CsiStatus } from '../../csi/server.js';

const maxStringBytes = 128;
const maxMapBytes = 4096;
const maxNodeIdBytes = 256;

/** Fields that are maps; all other objects are messages. */
const maps = new Set(['parameters', 'mutableParameters', 'secrets', 'volumeContext', 'publishContext', 'segments']);

/** Fields without a limit: a foreign token is another error, and paths may be as long as the system allows. */
const unlimited = new Set(['startingToken', 'stagingTargetPath', 'targetPath', 'volumePath']);

/** Control characters, less tab, line feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that CSI bans from names
const bannedInNames = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** @throws {CsiStatus} INVALID_ARGUMENT: a field is larger than CSI allows */
export function checkSizes(request: object): void {
  for (const [field, value] of Object.entries(request)) checkSize(field, value);
}

function checkSize(field: string, value: unknown): void {
  const limitBytes = limitOf(field, value);
  if (limitBytes !== undefined) checkBytes(limitBytes, field, value);
  else if (Array.isArray(value)) for (const item of value) checkSize(field, item);
  else if (typeof value === 'object' && value !== null) checkSizes(value);
}

/** @returns undefined if its content has limits of its own, or there is no limit */
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

/** @throws {CsiStatus} INVALID_ARGUMENT: no id, or none that a driver could have given */
export function requireId(field: string, id: string): string {
  if (id === '') throw invalid(`${wireName(field)} is missing`);
  return checkId(field, id);
}

/** Checks an optional id. */
export function checkId(field: string, id: string): string {
  if (/[/\0]/.test(id) || id === '.' || id === '..')
    throw invalid(`${wireName(field)} ${JSON.stringify(id)} is no id: give one that this driver has answered`);
  return id;
}

/** @throws {CsiStatus} INVALID_ARGUMENT: no name, or one that CSI forbids */
export function requireName(name: string): string {
  if (name === '') throw invalid('name is missing');
  if (bannedInNames.test(name)) throw invalid('name has a control character: give one without');
  return name;
}

export const invalid = (message: string): CsiStatus => new CsiStatus('INVALID_ARGUMENT', message);

export const notFound = (what: 'volume' | 'snapshot' | 'node', id: string): CsiStatus =>
  new CsiStatus('NOT_FOUND', `there is no ${what} ${JSON.stringify(id)} here`);

/** Name of the field in CSI. */
const wireName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface PageRequest {
  readonly maxEntries: number;
  readonly startingToken: string;
}

interface Page<T> {
  readonly items: readonly T[];
  /** Empty after the last page. */
  readonly nextToken: string;
}

/**
 * Returns a page of a list. A token names the last id of its page, so later changes move nothing.
 * @param all in the order of their ids
 * @param prefix of the ids: one list's tokens are not another's
 * @throws {CsiStatus} INVALID_ARGUMENT: a negative number of entries; ABORTED: a token that was never given
 */
export function entriesPage<T extends { readonly id: string }>(
  all: readonly T[],
  prefix: string,
  { maxEntries, startingToken }: PageRequest,
): Page<T> {
  if (maxEntries < 0) throw invalid('max_entries is negative');
  const after = startingToken === '' ? '' : lastIdIn(startingToken, prefix);
  const rest = all.filter(({ id }) => id > after);
  const items = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const last = items.length < rest.length ? items.at(-1) : undefined;
  return { items, nextToken: last ? tokenOf(last.id) : '' };
}

const tokenOf = (id: string): string => Buffer.from(`after:${id}`).toString('base64url');

function lastIdIn(token: string, prefix: string): string {
  const [, id = ''] = /^after:([a-z]+-[0-9a-f-]{36})$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (id.startsWith(prefix) && tokenOf(id) === token) return id;
  throw new CsiStatus('ABORTED', 'starting_token is not valid: begin again with an empty one');
}

/** Checks of `register`: each fault has its own code, and nothing is changed before all have passed. */
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import { faultIn, maxMapBytes, nameSchema, textSchema } from '../host/names.js';
import { checkSocketPath } from '../host/socket-path.js';

/** Functions that a dispenser must have. */
const abilities = ['connect', 'fingerprint', 'close'] as const;
/** Longest name that every store accepts, in bytes. */
const maxAddressBytes = 960;

const missing = (code: ErrorCode, what: string): StagecraftError =>
  new StagecraftError(code, `the registration has no ${what}: give one that is not empty`);

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);

/** A type is named by whoever writes its dispenser; the others are names that users give. */
function checkPart(value: unknown, what: 'type' | 'name' | 'allocId', code: ErrorCode): void {
  checkText(textOf(value, what, code), what, what === 'type' ? textSchema : nameSchema);
}

/** Requires a string that is not empty. */
function textOf(value: unknown, what: string, code: ErrorCode): string {
  if (value === undefined || value === null || value === '') throw missing(code, what);
  if (typeof value !== 'string') throw invalid(`the ${what} must be a string`);
  return value;
}

function checkText(value: string, what: string, schema: typeof textSchema = textSchema): void {
  const fault = faultIn(schema, value);
  if (fault !== undefined) throw invalid(`the ${what} ${fault}`);
}

/** @throws StagecraftError PLUGIN_TYPE_MISSING, PLUGIN_NAME_MISSING, PLUGIN_ALLOC_ID_MISSING, INVALID_ARGUMENT */
export function checkKey(type: string, name: string, allocId: string): void {
  checkPart(type, 'type', 'PLUGIN_TYPE_MISSING');
  checkPart(name, 'name', 'PLUGIN_NAME_MISSING');
  checkPart(allocId, 'allocId', 'PLUGIN_ALLOC_ID_MISSING');
}

/**
 * @param types those with a dispenser
 * @throws StagecraftError as checkKey; SOCKET_PATH_MISSING, SOCKET_PATH_RELATIVE, SOCKET_PATH_TOO_LONG; NO_DISPENSER
 */
export function checkRegistration(info: PluginInfo, types: string[]): void {
  if (!isObject(info)) throw invalid('register an object: { type, name, allocId, connection: { socketPath } }');
  checkKey(info.type, info.name, info.allocId);
  checkSocketPath(textOf(info.connection?.socketPath, 'connection.socketPath', 'SOCKET_PATH_MISSING'));
  if (!types.includes(info.type)) throw noDispenser(info.type, types);
  const version: unknown = info.version;
  if (version !== undefined && typeof version !== 'string') throw invalid('the version must be a string');
  if (info.options !== undefined) checkOptions(info.options);
}

function checkOptions(options: Record<string, string>): void {
  const texts = isObject(options) ? Object.entries(options).flat() : [undefined];
  if (!texts.every((text) => typeof text === 'string')) throw invalid('options must be an object of strings');
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > maxMapBytes) throw invalid(`the options have ${bytes} bytes: at most ${maxMapBytes} are allowed`);
  const { scope, controllers } = options;
  if (controllers !== undefined && controllers !== 'any' && controllers !== 'one')
    throw invalid(
      `the controllers of the plugin, in its options, are '${controllers}': give 'any' where all of its instances may get controller calls, 'one' where only one at a time may`,
    );
  if (scope === undefined || scope === 'shared' || scope === 'host') return;
  throw invalid(
    `the scope of the plugin, in its options, is '${scope}': give 'shared' where its instances on all hosts have the same volumes, 'host' where each host has its own`,
  );
}

/** Faults of dispensers by type, each with its type. */
export function* dispenserFaults(dispensers: unknown): Generator<string> {
  if (!isObject(dispensers)) return yield 'must be an object: dispensers by type';
  for (const [type, dispenser] of Object.entries(dispensers)) {
    const fault = type === '' ? undefined : faultIn(textSchema, type);
    if (type === '') yield 'a dispenser stands under an empty type: give it a name';
    if (fault !== undefined) yield `the type '${type}' of a dispenser ${fault}`;
    yield* faultsOfDispenser(type, dispenser);
  }
}

function* faultsOfDispenser(type: string, dispenser: unknown): Generator<string> {
  if (!isObject(dispenser)) return yield `the dispenser of '${type}' is no object`;
  const lacks = abilities.filter((ability) => typeof dispenser[ability] !== 'function');
  if (lacks.length > 0) yield `the dispenser of '${type}' has no function ${lacks.join(', nor ')}`;
  const { onDisconnect } = dispenser;
  if (onDisconnect !== undefined && typeof onDisconnect !== 'function')
    yield `onDisconnect of the dispenser of '${type}' is no function: leave it out`;
}

/** @throws StagecraftError INVALID_ARGUMENT: it names the type and what is wrong with it */
export function checkDispenser(type: string, dispenser: unknown): void {
  for (const fault of faultsOfDispenser(type, dispenser)) throw invalid(fault);
}

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkWait(until: string, timeoutMs: number): void {
  if (until !== 'healthy' && until !== 'registered') {
    throw invalid(`nothing is waited for until '${until}': give 'healthy' or 'registered'`);
  }
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) {
    throw invalid(`timeoutMs must be a number above 0, in milliseconds, but is ${timeoutMs}`);
  }
}

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkFollowed(type: unknown): void {
  if (type === undefined || typeof type === 'string') return;
  throw invalid(
    'the type of the plugins to follow must be a string: call updates(type, { from, signal }), or for all of them updates(undefined, { from, signal })',
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Addresses are percent-encoded, so that short names of other scripts may make long ones.
 * @throws StagecraftError INVALID_ARGUMENT
 */
export function checkAddress(address: string): void {
  const bytes = Buffer.byteLength(address);
  if (bytes <= maxAddressBytes) return;
  throw invalid(
    `node, type, name and allocId make an address of ${bytes} bytes, percent-encoded: at most ${maxAddressBytes} are ` +
      'allowed, so choose a shorter name or allocId',
  );
}

export const noDispenser = (type: string, types: string[]): StagecraftError =>
  new StagecraftError(
    'NO_DISPENSER',
    `nothing here speaks to plugins of type '${type}': known are ${types.join(', ')}`,
  );

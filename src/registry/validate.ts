/** What `register` refuses, each fault by its own code, before anything is changed. */
import type { PluginInfo } from '../../machines/plugin.js';
import { StagecraftError } from '../errors.js';
import { checkSocketPath } from '../host/socket-path.js';

/** The CSI specification's limit for strings; it also keeps an address below what stores take as a key. */
const maxBytes = 128;

const missing = (code: string, what: string): StagecraftError =>
  new StagecraftError(code, `the registration has no ${what}: give one that is not empty`);

function checkPart(value: unknown, what: 'type' | 'name' | 'allocId', code: string): void {
  if (typeof value !== 'string' || value === '') throw missing(code, what);
  const bytes = Buffer.byteLength(value);
  if (bytes > maxBytes) {
    throw new StagecraftError('INVALID_ARGUMENT', `the ${what} has ${bytes} bytes: at most ${maxBytes} are allowed`);
  }
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
  checkKey(info.type, info.name, info.allocId);
  const socketPath = info.connection?.socketPath;
  if (!socketPath) throw missing('SOCKET_PATH_MISSING', 'connection.socketPath');
  checkSocketPath(socketPath);
  if (!types.includes(info.type)) throw noDispenser(info.type, types);
}

export const noDispenser = (type: string, types: string[]): StagecraftError =>
  new StagecraftError(
    'NO_DISPENSER',
    `nothing here speaks to plugins of type '${type}': known are ${types.join(', ')}`,
  );

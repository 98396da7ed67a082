/** Finds the configuration where none is named, and the data directory of the agent that it configures. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isAlias, isScalar, parseDocument } from 'yaml';
import { StagecraftError } from '../errors.js';
import { defaultDataDir, loadConfig } from './config.js';

const beside = './stagecraft.yaml';
const system = '/etc/stagecraft/agent.yaml';

/** Where `findConfig` looks; tests name other places. */
export interface ConfigPlaces {
  env?: Record<string, string | undefined>;
  /** In this order. */
  files?: string[];
}

/**
 * @param given by `--config`; it goes first, then `STAGECRAFT_CONFIG`, then the files
 * @returns undefined where there is none: all defaults hold
 * @throws StagecraftError CONFIG_INVALID where STAGECRAFT_CONFIG names no file
 */
export function findConfig(
  given?: string,
  { env = process.env, files = [beside, system] }: ConfigPlaces = {},
): string | undefined {
  if (given !== undefined) return given;
  const named = env.STAGECRAFT_CONFIG;
  if (!named) return files.find((file) => existsSync(file));
  if (existsSync(named)) return named;
  throw new StagecraftError('CONFIG_INVALID', `STAGECRAFT_CONFIG names ${named}: there is no such file`);
}

/**
 * The data directory alone: other faults of the file don't matter to whoever asks its agent.
 * @param file as `loadConfig` takes it
 * @throws StagecraftError CONFIG_INVALID where the file can't be read, or its dataDir is not clear
 */
export function dataDirIn(file?: string): string {
  if (file === undefined) return defaultDataDir();
  const document = parseDocument(textOf(file));
  const node = document.get('dataDir', true);
  const value = isAlias(node) ? node.resolve(document) : node;
  if (isScalar(value) && typeof value.value === 'string' && value.value !== '')
    return resolve(dirname(file), value.value);
  if (node === undefined && document.errors.length === 0) return defaultDataDir();
  return loadConfig(file).dataDir;
}

/** Empty where it can't be read: `loadConfig` says why. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    loadConfig(file);
    return '';
  }
}

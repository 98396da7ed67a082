/** Finds the configuration file, and the data directory that it names. Commands use it: it loads no schema. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StagecraftError } from '../errors.js';
import { defaultDataDir } from './places.js';

const beside = './stagecraft.yaml';
const system = '/etc/stagecraft/agent.yaml';

/** Places where `findConfig` looks; tests use others. */
interface ConfigPlaces {
  env?: Record<string, string | undefined>;
  /** Default files, in order. */
  files?: string[];
}

/**
 * @param given value of `--config`, which wins over `STAGECRAFT_CONFIG`, which wins over the default files
 * @returns undefined if there is no file: all defaults hold
 * @throws StagecraftError CONFIG_INVALID if the file named by STAGECRAFT_CONFIG does not exist
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
 * Reads only the data directory from a file, so that other faults in the file don't matter to commands. Loads the
 * schema of the whole configuration only to describe a fault.
 * @param file as `loadConfig` takes it
 * @throws StagecraftError CONFIG_INVALID if the file can't be read, or its `dataDir` is wrong
 */
export async function dataDirIn(file?: string): Promise<string> {
  if (file === undefined) return defaultDataDir();
  const [{ isAlias, isScalar }, { parseYaml }] = await Promise.all([import('yaml'), import('./parse-yaml.js')]);
  const document = parseYaml(await textOf(file));
  const node = document.get('dataDir', true);
  const value = isAlias(node) ? node.resolve(document) : node;
  if (isScalar(value) && typeof value.value === 'string' && value.value !== '')
    return resolve(dirname(file), value.value);
  if (node === undefined && document.errors.length === 0) return defaultDataDir();
  const { loadConfig } = await import('./config.js');
  return loadConfig(file).dataDir;
}

/** Reads the file. If it can't be read, `loadConfig` throws the reason. */
async function textOf(file: string): Promise<string> {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { loadConfig } = await import('./config.js');
    loadConfig(file);
    return '';
  }
}

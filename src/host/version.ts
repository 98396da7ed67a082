/** Version of this package, the same for sources and compiled files. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The `version` of the package.json above this file; `unknown` if there is none, as in a bundle. */
export function packageVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) return 'unknown';
    folder = dirname(folder);
  }
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return typeof version === 'string' ? version : 'unknown';
}

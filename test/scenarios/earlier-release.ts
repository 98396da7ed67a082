/** A packed build of an earlier release: its README says how it was made. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export class EarlierRelease {
  readonly version: string;
  /** Its `stagecraft` command, for Node. */
  readonly mainPath: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'stagecraft-earlier-'));

  constructor(version: string) {
    this.version = version;
    const packed = fileURLToPath(new URL(`../fixtures/stagecraft-${version}/main.mjs.gz`, import.meta.url));
    mkdirSync(join(this.#directory, 'cli'));
    this.mainPath = join(this.#directory, 'cli', 'main.js');
    writeFileSync(this.mainPath, gunzipSync(readFileSync(packed)));
    writeFileSync(join(this.#directory, 'package.json'), JSON.stringify({ version, type: 'module' }));
    const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
    symlinkSync(modules, join(this.#directory, 'node_modules'));
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

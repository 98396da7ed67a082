/** The examples of the documents do what is said of them, as they stand there. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startDriver } from '../../src/driver/driver.js';
import { RedisProcess } from '../redis/servers.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** With each of these texts, which must be there, replaced. */
function adapted(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((whole, [from, to]) => {
    expect(whole).to.include(from);
    return whole.replaceAll(from, to);
  }, text);
}

describe('examples', () => {
  let directory: string;
  let server: RedisProcess;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-example-'));
    server = await RedisProcess.start();
  });
  afterEach(async () => {
    await server.remove();
    rmSync(directory, { recursive: true });
  });

  it('the library example of README.md runs to its end, and shows a plugin from registration to deregistration', async () => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    const socketPath = join(directory, 'csi.sock');
    const endpoint = `unix://${socketPath}`;
    const driver = await startDriver({ endpoint, nodeId: 'worker-1', dataDir: join(directory, 'driver') });
    // Below the package, which finds itself by its own name there.
    const place = mkdtempSync(join(root, 'dist', 'example-'));
    try {
      const file = join(place, 'example.mjs');
      const text = adapted(example, {
        '/run/my-driver/csi.sock': socketPath,
        '/var/lib/my-agent': join(directory, 'data'),
        'redis://db.example:6379': server.url,
      });
      writeFileSync(file, text);
      const { stdout } = await promisify(execFile)(process.execPath, [file]);
      expect(stdout).to.match(/^hostpath\.csi\.stagecraft \[[^\]]*'STAGE_UNSTAGE_VOLUME'[^\]]*\]\n/);
      expect(stdout.slice(stdout.indexOf(']') + 1).split('\n')).to.deep.equal([
        '',
        'registered my-driver',
        'node-info my-driver',
        'health my-driver',
        'deregistered my-driver',
        '',
      ]);
    } finally {
      rmSync(place, { recursive: true });
      await driver.stop();
    }
  });
});

/** Runs the examples of the documents as written there. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startDriver } from '../../src/tools/driver/driver.js';
import { inJavaScript } from '../built.js';
import { RedisProcess } from '../redis/servers.js';
import { mountsIn, pluginPids, unmountAll } from '../scenarios/agent-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Replaces texts in an example. Each of them must occur. */
function adapted(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((whole, [from, to]) => {
    expect(whole).to.include(from);
    return whole.replaceAll(from, to);
  }, text);
}

describe('programs that start plugins', () => {
  let directory: string;
  /** Folder inside the package, where `stagecraft` resolves to the package itself. */
  let place: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-example-'));
    place = mkdtempSync(join(root, 'dist', 'example-'));
  });
  afterEach(() => {
    for (const pid of pluginPids({ dataDir: join(directory, 'data') })) process.kill(pid, 'SIGKILL');
    unmountAll({ directory });
    rmSync(place, { recursive: true });
    rmSync(directory, { recursive: true });
  });

  it('the program of README.md prints where its volume is mounted, and ends', async () => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    const dataDir = join(directory, 'data');
    const file = join(place, 'example.mjs');
    writeFileSync(file, adapted(example, { '/var/lib/my-agent': dataDir }));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 20_000 });
    expect(mountsIn({ directory })).to.include(stdout.trimEnd());
  });

  it('the ts blocks of docs/library.md form one program, which ends and leaves no task', async () => {
    const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
    const program = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code).join('');
    const file = join(place, 'example.mjs');
    writeFileSync(file, inJavaScript(adapted(program, { '/var/lib/my-agent': join(directory, 'data') })));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 20_000 });
    expect(stdout.split('\n')).to.deep.equal([
      'running true true',
      'true',
      'true',
      '1073741824 published',
      'VOLUME_IN_USE',
      'created',
      'publication',
      'publication',
      'publication',
      'publication',
      'deleted',
      'createVolume 0',
      'true 2 true',
      'hello true',
      "[ 'bytes', 'inodes' ]",
      'task my-driver was not stopped: it is in use by the nightly backup, volume default/site (mounted for alloc build-1, web-1); release that first, or stop it with force',
      'mounted build-1',
      'mounted web-1',
      'unmounted build-1',
      'unmounted web-1',
      'unpublishing',
      'run-2 1',
      'PLUGIN_IN_USE task my-driver was not stopped: it is in use by the nightly backup; release that first, or stop it with force',
      '0',
      '',
    ]);
    expect(JSON.parse(readFileSync(join(directory, 'data.json'), 'utf8'))).to.include({ starts: 2 });
  });
});

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

  it('the js block of docs/library.md shows a plugin from registration to deregistration, and ends', async () => {
    const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'docs/library.md'), 'utf8')) ?? [];
    const socketPath = join(directory, 'csi.sock');
    const endpoint = `unix://${socketPath}`;
    const driver = await startDriver({ endpoint, nodeId: 'worker-1', dataDir: join(directory, 'driver') });
    // Inside the package, where `stagecraft` resolves to the package itself.
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

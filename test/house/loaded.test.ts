/** Checks what processes load: whatever a command, an agent or a driver does not need costs time at each start. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { AgentProcess, mainPath, makePlace, type Place, removePlace } from '../scenarios/agent-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** At its end node writes the URLs of all modules that it has loaded into this directory. */
let coverage: string;
const env = (): NodeJS.ProcessEnv => ({ ...process.env, NODE_V8_COVERAGE: coverage });

/** Modules that the process has loaded: names of packages, files below dist/, and WHATWG clients of Node itself. */
function loaded(): string[] {
  const [file = '', ...others] = readdirSync(coverage);
  if (others.length > 0) throw new Error(`several processes have ended: ${[file, ...others].join(', ')}`);
  const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(coverage, file), 'utf8'));
  const urls = result.filter(({ url }) => url.startsWith('file:') || url.includes('undici'));
  const names = urls.map(({ url }) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? ownFile(url));
  return [...new Set(names)].sort();
}

const ownFile = (url: string): string => url.replace(`file://${root}dist/`, '');

/** Loaded packages, and loaded files of these folders. */
const loadedOf = (folders: string[]): string[] =>
  loaded().filter((name) => !name.endsWith('.js') || folders.some((folder) => name.startsWith(folder)));

function run(...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [mainPath, ...args], { env: env(), encoding: 'utf8' });
  expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
}

/** Runs a program until it has printed the line, and then ends it. */
async function runUntil(line: RegExp, args: string[]): Promise<void> {
  const child: ChildProcess & { stdout: NodeJS.ReadableStream } = spawn(process.execPath, [mainPath, ...args], {
    env: env(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let isSeen = false;
  for await (const said of createInterface({ input: child.stdout })) {
    if (!isSeen && line.test(said)) isSeen = child.kill('SIGTERM');
  }
  expect(isSeen, `it has printed ${line}`).to.equal(true);
  expect(await exited).to.deep.equal([0, null]);
}

/** Modules of an agent that commands have no use for. */
const ofAgents = ['machines/', 'src/engine', 'src/runtime', 'src/requests', 'src/stores', 'src/tools', 'src/tasks'];

describe('what is loaded', () => {
  let place: Place;
  let agent: AgentProcess | undefined;
  beforeEach(() => {
    coverage = mkdtempSync(join(tmpdir(), 'stagecraft-loaded-'));
    place = makePlace();
  });
  afterEach(() => {
    rmSync(coverage, { recursive: true });
    removePlace(place, agent);
    agent = undefined;
  });

  it('A5 --version loads commander, and no command', () => {
    run('--version');
    expect(loadedOf(['src/cli', 'src/client', ...ofAgents])).to.deep.equal([
      'commander',
      'machines/kit/error-table.js',
      'machines/kit/resource-errors.js',
      'src/cli/commands.js',
      'src/cli/main.js',
      'src/cli/output.js',
      'src/client/agent-error.js',
    ]);
  });

  it('A5 lists load commander and states, with a configuration yaml, but no schema and no machine', async () => {
    agent = new AgentProcess(place);
    await agent.ready();
    const states = ['kit/size-text.js', 'snapshot/types.js', 'volume/types.js', 'volume/words.js'].map(
      (file) => `machines/${file}`,
    );
    const some = ['commander', 'machines/kit/error-table.js', 'machines/kit/resource-errors.js', ...states];
    run('volume', 'list', '--socket', place.socketPath);
    expect(loadedOf(ofAgents)).to.deep.equal(some);
    rmSync(coverage, { recursive: true });
    run('volume', 'list', '--config', place.configPath);
    expect(loadedOf(ofAgents)).to.deep.equal([...some, 'yaml']);
  });

  it('the bundled driver loads gRPC and modules of its own, but no schema', async () => {
    const { directory } = place;
    const given = [
      '--node-id',
      'n1',
      '--endpoint',
      `unix://${directory}/csi.sock`,
      '--data-dir',
      `${directory}/volumes`,
    ];
    await runUntil(/^hostpath driver .* serves /, ['driver', ...given]);
    expect(loadedOf(['src/client', 'src/agent', 'src/stores', 'src/engine', 'src/requests'])).to.deep.equal([
      '@grpc/grpc-js',
      '@js-sdsl/ordered-map',
      'commander',
      'google-protobuf',
      'src/client/agent-error.js',
    ]);
  });

  it('A1 an agent on the embedded store loads no Redis client, Ajv, WebSockets, or documents of its API', async () => {
    await runUntil(/\(csi-node\): healthy/, ['agent', '--config', place.configPath]);
    expect(loaded()).to.include.members(['fastify', 'lmdb', 'src/stores/lmdb/lmdb.js', 'zod']);
    const unused =
      /^(ioredis|ajv|ws|@fastify\/.*(swagger|compiler)|fastify-type-provider-zod)$|^src\/(driver|stores\/redis|testing)/;
    expect(loaded().filter((name) => unused.test(name))).to.deep.equal([]);
  });
});

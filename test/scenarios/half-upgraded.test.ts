/** Two hosts on one Redis, one with the release before: each lists, explains, prepares and releases, whichever leads. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { stringify } from 'yaml';
import type { ClusterReport } from '../../src/api/agent-routes.js';
import { type Client, createClient } from '../../src/client/index.js';
import { storeLevel } from '../../src/engine/store-level.js';
import { packageVersion } from '../../src/host/version.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { until as eventually } from '../until.js';
import { AgentProcess, mainPath, mountsIn, type Place, pluginPids, unmountAll } from './agent-process.js';
import { EarlierRelease } from './earlier-release.js';

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

type Release = 'earlier' | 'present';

describe('a half-upgraded pair of hosts', () => {
  const hosts = ['a', 'b'] as const;
  type Host = (typeof hosts)[number];
  let releases: Record<'0.2.0' | '0.3.0', EarlierRelease>;
  let earlier: EarlierRelease;
  let url: string;
  let prefix: string;
  let directory: string;
  let volumes: string[];
  const agents = new Map<Host, { agent: AgentProcess; release: Release }>();

  const place = (host: Host): Place => {
    const dataDir = join(directory, host);
    return { directory, dataDir, configPath: join(directory, `${host}.yaml`), socketPath: join(dataDir, 'agent.sock') };
  };
  const programOf = (release: Release): string => (release === 'earlier' ? earlier.mainPath : mainPath);

  before(() => {
    releases = { '0.2.0': new EarlierRelease('0.2.0'), '0.3.0': new EarlierRelease('0.3.0') };
  });
  after(() => {
    for (const release of Object.values(releases)) release.remove();
  });
  beforeEach(async () => {
    earlier = releases['0.3.0'];
    url = await sharedUrl();
    prefix = freshPrefix();
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
    volumes = [];
    for (const host of hosts) {
      const driver = ['stagecraft', 'driver', '--node-id', host, '--data-dir', join(directory, 'storage')];
      const files = { id: 'files', type: 'monolith', command: [...driver, '--attach', '--shared'] };
      const { configPath, dataDir } = place(host);
      const store = { redis: { url, prefix } };
      writeFileSync(
        configPath,
        stringify({ nodeId: host, dataDir, store, inspector: { listen: '127.0.0.1:0' }, tasks: [files] }),
      );
    }
  });
  afterEach(async () => {
    for (const { agent } of agents.values()) agent.child.kill('SIGKILL');
    for (const host of hosts) for (const pid of pluginPids(place(host))) process.kill(pid, 'SIGKILL');
    agents.clear();
    unmountAll({ directory });
    rmSync(directory, { recursive: true, force: true });
    const sweeper = new Redis(url);
    await sweep(sweeper, prefix);
    sweeper.disconnect();
  });

  async function start(host: Host, release: Release): Promise<void> {
    const agent = new AgentProcess(place(host), [programOf(release), 'agent']);
    agents.set(host, { agent, release });
    await agent.line(/plugin files \(csi-node\): healthy/);
  }

  const agentOf = (host: Host): AgentProcess => {
    const { agent } = agents.get(host) ?? {};
    if (!agent) throw new Error(`no agent runs on ${host}`);
    return agent;
  };

  /** A command on a host, of the release that runs there. */
  function cli(host: Host, ...args: string[]): Promise<Said> {
    const { release = 'present' } = agents.get(host) ?? {};
    const { configPath } = place(host);
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [programOf(release), ...args, '--config', configPath]);
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (part) => {
        said.stdout += part;
      });
      child.stderr.on('data', (part) => {
        said.stderr += part;
      });
      child.on('close', (status) => resolve({ status, ...said }));
    });
  }
  async function done(host: Host, ...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await cli(host, ...args);
    expect(status, `${args.join(' ')}, on ${host}: ${stderr}`).to.equal(0);
    return stdout;
  }
  /** Asks the agent of a host, of either release. Only what is printed is asked by command, as each starts a process. */
  const client = (host: Host): Client => createClient({ socketPath: place(host).socketPath });
  /** Volumes that are listed on a host, and those that are only counted there. */
  const volumesOn = async (host: Host): Promise<number> => {
    const { items, skipped = 0 } = await client(host).volumes.list({ query: { limit: 1_000 } });
    return items.length + skipped;
  };

  const create = async (host: Host): Promise<string> => {
    const id = `made-on-${host}-${volumes.length}`;
    const capabilities = [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const];
    const capacity = { requiredBytes: 2 ** 30 };
    await client(host).volumes.create({ body: { id, plugin: 'files', capacity, capabilities } });
    volumes.push(id);
    return id;
  };
  const prepare = async (host: Host, allocId: string, id: string): Promise<string> => {
    const wanted = { name: id, volume: { id }, taskPath: '/srv/data', mode: 'write' } as const;
    const [mount] = await client(host).allocs.prepare({ params: { allocId }, body: { volumes: [wanted] } });
    return join(mount?.hostPath ?? '', 'note');
  };
  const releaseAlloc = (host: Host, allocId: string): Promise<unknown> =>
    client(host).allocs.release({ params: { allocId } });

  /** Each host makes a volume; the other one mounts it, writes to it and gives it back, and both see it. */
  async function work(): Promise<void> {
    for (const [at, host] of hosts.entries()) {
      const other = hosts[1 - at] ?? host;
      const id = await create(host);
      const note = await prepare(other, `web-${id}`, id);
      writeFileSync(note, id);
      for (const one of hosts) {
        expect(await volumesOn(one), `volumes listed or counted on ${one}`).to.equal(volumes.length);
        const { lines } = await client(one).actors.history({ params: { address: `volume/default/${id}` } });
        expect(lines, `history on ${one}`).not.to.equal([]);
        const { publications } = await client(one).volumes.get({ params: { namespace: 'default', id } });
        expect(publications[other]?.state, `on ${other}, as ${one} says`).to.equal('published');
      }
      await releaseAlloc(other, `web-${id}`);
      expect(existsSync(note)).to.equal(false);
    }
  }

  const versions = async (host: Host): Promise<unknown> => {
    const { agents: known, owner } = await client(host).cluster.status();
    return { owner: owner?.nodeId, ...Object.fromEntries(known.map(({ nodeId, version }) => [nodeId, version])) };
  };
  const present = packageVersion();

  /** Waits for what an agent says of the cluster. */
  async function until(host: Host, isSo: (report: ClusterReport) => boolean): Promise<void> {
    let report: ClusterReport | undefined;
    const asked = async (): Promise<boolean> => {
      report = await client(host).cluster.status();
      return isSo(report);
    };
    await eventually(asked, () => `on ${host}: ${JSON.stringify(report)}`);
  }

  it('O6, 34.7 the earlier release leads, and is killed: all goes on at any moment, on both hosts', async () => {
    await start('a', 'earlier');
    await start('b', 'present');
    for (const host of hosts)
      expect(await versions(host)).to.deep.equal({ owner: 'a', a: earlier.version, b: present });
    await work();
    const id = await create('a');
    const note = await prepare('b', 'stays', id);
    writeFileSync(note, 'hello');
    await agentOf('a').kill('SIGKILL');
    await until('b', ({ owner }) => owner?.nodeId === 'b');
    expect(await done('b', 'volume', 'list')).to.include(id);
    await start('a', 'present');
    await work();
    expect(readFileSync(note, 'utf8')).to.equal('hello');
    await releaseAlloc('b', 'stays');
    for (const id of volumes) await client('a').volumes.delete({ params: { namespace: 'default', id } });
    expect(mountsIn({ directory }).filter((path) => path.includes('/per-alloc/'))).to.deep.equal([]);
  });

  it('O4 O5 O6, 34.7 the present one leads, and is killed: the earlier one says what it needs, then all goes on', async () => {
    await start('a', 'present');
    await start('b', 'earlier');
    for (const host of hosts)
      expect(await versions(host)).to.deep.equal({ owner: 'a', a: present, b: earlier.version });
    await work();
    expect(await done('b', 'cluster')).to.match(/^b .* too old to work on volumes$/m);
    expect(await done('a', 'cluster')).to.match(/^b .* too old to work on volumes$/m);
    expect((await cli('b', 'volume', 'list')).stderr).to.match(/^\d+ left out, as they can't be read/m);
    const id = await create('b');
    const note = await prepare('b', 'stays', id);
    writeFileSync(note, 'hello');
    await agentOf('a').kill('SIGKILL');
    const needs = `this agent (0.3.0) reads level ${storeLevel - 1} of what is stored, and the store has level ${storeLevel}: update it to ${present} or newer`;
    await until('b', ({ tooOld }) => tooOld === needs);
    expect(readFileSync(note, 'utf8')).to.equal('hello');
    await start('a', 'present');
    await until('b', ({ owner: now }) => now !== undefined && now.silentSinceMs === undefined);
    await work();
    await releaseAlloc('b', 'stays');
    for (const id of volumes) await client('b').volumes.delete({ params: { namespace: 'default', id } });
    expect(mountsIn({ directory }).filter((path) => path.includes('/per-alloc/'))).to.deep.equal([]);
  });

  for (const version of ['0.2.0', '0.3.0'] as const)
    it(`O5 O6, 34.7 35.9 a rolling upgrade from ${version}: a volume stays mounted, and the level rises last`, async () => {
      earlier = releases[version];
      for (const host of hosts) await start(host, 'earlier');
      const id = await create('a');
      const note = await prepare('b', 'stays', id);
      writeFileSync(note, 'hello');
      await work();
      // The one that does not lead first, and the earlier one is to lead while there is one.
      await agentOf('b').kill('SIGTERM');
      await start('b', 'present');
      await until('b', ({ owner }) => owner?.nodeId === 'a');
      await work();
      await agentOf('a').kill('SIGTERM');
      await until('b', ({ owner }) => owner?.nodeId === 'b');
      await start('a', 'present');
      await work();
      expect(readFileSync(note, 'utf8')).to.equal('hello');
      await releaseAlloc('b', 'stays');
      expect(await versions('a')).to.deep.equal({ owner: 'b', a: present, b: present });
    });
});

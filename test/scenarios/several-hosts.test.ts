/**
 * Several hosts on one Redis: the tour of docs/several-hosts.md as it stands there, and what users see beside the agent that
 * owns volumes. The owner is killed during one step of it; with `MATRIX=whole`, during each.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { ActorDetail, Overview } from '../../src/api/actor-routes.js';
import type { ClusterReport } from '../../src/api/agent-routes.js';
import type { AllocReport } from '../../src/api/node-routes.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { askAgent } from '../support/ask-agent.js';
import { TestBrowser } from '../support/browser.js';
import { thirdOf } from '../support/third.js';
import { AgentProcess, mainPath, mountsIn, type Place, pluginPids, unmountAll } from './agent-process.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/several-hosts.md', import.meta.url)), 'utf8');
const [, section = ''] = /\n## Try it on one machine\n(.*?)\n## /s.exec(page) ?? [];
const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(section) ?? [];
const [makeFiles = '', use = '', afterDeath = '', ...more] = [...section.matchAll(/```console\n(.*?)```/gs)].map(
  ([, text = '']) => text,
);

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('three hosts on one Redis', () => {
  let url: string;
  let prefix: string;
  let directory: string;
  /** Of a test that looks into Redis. */
  let client: Redis | undefined;
  const agents = new Map<string, AgentProcess>();

  const place = (node: string): Place => {
    const dataDir = join(directory, node);
    return { directory, dataDir, configPath: `${node}.yaml`, socketPath: join(dataDir, 'agent.sock') };
  };
  const driversOf = (node: string): number[] => pluginPids(place(node));

  beforeEach(async () => {
    url = await sharedUrl();
    prefix = freshPrefix();
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
    const config = yaml.replace('redis://127.0.0.1:6379', `${url}\n    prefix: '${prefix}'`);
    writeFileSync(join(directory, 'a.yaml'), `${config}inspector:\n  listen: 127.0.0.1:0\n`);
    follow(makeFiles);
  });
  afterEach(async () => {
    client?.disconnect();
    client = undefined;
    for (const agent of agents.values()) agent.child.kill('SIGKILL');
    for (const node of ['a', 'b', 'c']) for (const pid of driversOf(node)) process.kill(pid, 'SIGKILL');
    agents.clear();
    unmountAll({ directory });
    rmSync(directory, { recursive: true, force: true });
    const sweeper = new Redis(url);
    await sweep(sweeper, prefix);
    sweeper.disconnect();
  });

  /** As a shell does it there, with our own `stagecraft`. */
  function shell(command: string): string {
    const here = command.replace('npx stagecraft', `'${process.execPath}' '${mainPath}'`);
    const { stdout, stderr } = spawnSync('sh', ['-c', here], { cwd: directory, encoding: 'utf8' });
    return `${stdout}${stderr.replaceAll(/^waiting.*\n/gm, '')}`
      .trimEnd()
      .replace(/vol-[0-9a-f-]{36}/, 'vol-…')
      .replace(/\S+per-alloc(\/[0-9a-f]{16}){2}/, '…/per-alloc/…');
  }
  function follow(block: string): void {
    for (const step of block.split(/^\$ /m).slice(1)) {
      const [command = '', ...said] = step.trimEnd().split('\n');
      expect(`${command}\n${shell(command)}`.trimEnd()).to.equal([command, ...said].join('\n'));
    }
  }

  async function start(node: string): Promise<AgentProcess> {
    const agent = new AgentProcess(place(node), [mainPath, 'agent', '--config', `${node}.yaml`], []);
    agents.set(node, agent);
    await agent.line(/plugin files \(csi-node\): healthy/);
    return agent;
  }

  /** Beside the agents, whose output is read meanwhile. */
  function cli(node: string, ...args: string[]): Promise<Said> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [mainPath, ...args, '--config', `${node}.yaml`], { cwd: directory });
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
  const get = async <T>(node: string, path: string): Promise<T> =>
    (await askAgent(place(node).socketPath, 'GET', path)) as T;
  const create = ['volume', 'create', 'data', '--plugin', 'files', '--size', '1Gi'];
  const prepare = ['alloc', 'prepare', 'web', '--volume', 'data:/srv/data', '--json'];
  const pathIn = ({ stdout, stderr }: Said): string => {
    expect(stdout, stderr).not.to.equal('');
    const [mount] = JSON.parse(stdout) as NonNullable<AllocReport['mounts']>;
    return join(mount?.hostPath ?? '', 'note');
  };

  it('D5 D8 the tour of several-hosts.md: a host dies with a volume, and another one reads what it wrote', async () => {
    expect(more).to.deep.equal([]);
    for (const node of ['a', 'b', 'c']) await start(node);
    follow(use);
    follow(afterDeath);
    const again = await start('b');
    await again.line(/volume default\/data: unmounted for alloc web/);
    expect((await cli('c', 'alloc', 'release', 'web')).status).to.equal(0);
    expect((await cli('b', 'volume', 'delete', 'data')).stdout).to.equal('volume default/data is deleted\n');
    expect(mountsIn({ directory }).filter((path) => path.includes('/per-alloc/'))).to.deep.equal([]);
  });

  const moments = ['the mount', 'the fence', 'the move'] as const;
  for (const moment of thirdOf(moments)) {
    it(`D5 D6 D8 the same, and the owner is killed during ${moment}`, async () => {
      for (const node of ['a', 'b', 'c']) await start(node);
      /** Kills the agent that owns volumes, if this is the moment, while the command is under way. */
      const during = async (now: string, asked: Promise<Said>): Promise<Said> => {
        if (now === moment) agents.get('a')?.child.kill('SIGKILL');
        return asked;
      };
      expect((await cli('a', ...create)).status).to.equal(0);
      writeFileSync(pathIn(await during('the mount', cli('b', ...prepare))), 'hello');
      for (const pid of driversOf('b')) process.kill(pid, 'SIGKILL');
      await agents.get('b')?.kill('SIGKILL');
      const fence = ['node', 'fence', 'b', '--reason', 'its host is off'];
      expect(await during('the fence', cli('c', ...fence))).to.include({ status: 0 });
      const moved = pathIn(await during('the move', cli('c', ...prepare)));
      expect(readFileSync(moved, 'utf8')).to.equal('hello');
    });
  }

  it('D9 beside the owner: lists, why, history, events, overview and cluster show the same volume', async () => {
    for (const node of ['a', 'b']) await start(node);
    expect((await cli('b', ...create)).status).to.equal(0);
    const seen = async (node: string) => {
      const { actors, leads } = await get<Overview>(node, '/v1/overview');
      const shared = actors.address.filter((address) => /^(node|volume)\//.test(address));
      const { state, seq, why } = await get<ActorDetail>(
        node,
        `/v1/actors/${encodeURIComponent('volume/default/data')}`,
      );
      const { owner, agents: known } = await get<ClusterReport>(node, '/v1/cluster');
      const plugins = known.map(({ nodeId, plugins: has }) => [nodeId, has.filter(({ healthy }) => healthy).length]);
      const said = [];
      for (const command of ['volume list', 'volume status data', 'history volume data', 'node list'])
        said.push((await cli(node, ...command.split(' '))).stdout);
      const events = (await cli(node, 'events', '--address', 'volume/')).stdout;
      const [is] = /^is .*$/m.exec((await cli(node, 'why', 'volume', 'data')).stdout) ?? [];
      return { leads, shared, state, seq, why, owner, plugins, said, events, is };
    };
    const [{ leads, ...owner }, { leads: leadsToo, ...other }] = [await seen('a'), await seen('b')];
    expect([leads, leadsToo]).to.deep.equal([true, false]);
    expect(other).to.deep.equal(owner);
    expect(other.shared).to.deep.equal(['node/a', 'node/b', 'volume/default/data']);
    expect(other.plugins).to.deep.equal([
      ['a', 2],
      ['b', 2],
    ]);
    expect(other.owner?.nodeId).to.equal('a');
    expect(other.events).to.match(/volume default\/data: created/);
    expect((await cli('b', 'actor', 'release', 'volume/default/data')).status).to.equal(0);
  });

  it('D9 the page beside the owner says so, and shows a volume that is made while it is open', async () => {
    for (const node of ['a', 'b']) await start(node);
    const browser = new TestBrowser();
    await browser.start();
    try {
      const { url: link = '' } = await get<{ url?: string }>('b', '/v1/inspector');
      const { page, errors } = await browser.open(link);
      await page.getByText('Another agent works on volumes').waitFor();
      expect((await cli('a', ...create)).status).to.equal(0);
      await page.getByRole('link', { name: /Volumes 1 all healthy/ }).waitFor();
      await page.goto(`${new URL(link).origin}/#/a/volume/default/data`);
      await page.getByText('not published').first().waitFor();
      expect((await cli('a', 'volume', 'publish', 'data', 'a')).status).to.equal(0);
      await page.getByText('on a').first().waitFor();
      expect(errors).to.deep.equal([]);
    } finally {
      await browser.stop();
    }
  });

  it('D3 D6 the owner is dead: a waiting user reads who is silent, and a limit ends with that reason', async () => {
    for (const node of ['a', 'b']) await start(node);
    await agents.get('a')?.kill('SIGKILL');
    // Its lease stands until all have been asked.
    client = new Redis(url);
    const [held = ''] = (await client.keys(`${prefix}*:h:*`)).filter((key) => key.endsWith(':h:volumes/0'));
    await client.persist(held);
    const { status, stderr } = await cli('b', ...create, '--timeout', '8');
    const silent = 'the agent that works on volumes (node a, .*) has been silent for more than 3 s; another takes over';
    expect(status).not.to.equal(0);
    expect(stderr).to.match(new RegExp(`^waiting: ${silent.replaceAll(/[()]/g, '\\$&')}`, 'm'));
    expect(stderr).to.match(new RegExp(`there was no answer within 8000 ms \\(${silent.replaceAll(/[()]/g, '\\$&')}`));
    expect(stderr).not.to.include('NOT_LEADER');
    await client.unlink(held);
    expect((await cli('b', ...create)).status).to.equal(0);
  });
});

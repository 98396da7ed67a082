/** The agent with its state in Redis, as its operator sees it: two hosts on one server, a node that is taken over. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { pluginsAddress } from '../../machines/kit/addresses.js';
import type { AgentReport } from '../../src/api/agent-routes.js';
import { createRuntime, type Runtime, type RuntimeOptions, StagecraftError } from '../../src/index.js';
import { lmdbStore, redisStore } from '../../src/stores/index.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';
import { monitor } from '../redis/monitor.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { askAgent } from '../support/ask-agent.js';
import { eventually } from '../until.js';
import { AgentProcess, answerOf, mainPath, makePlace, type Place, pluginPids, removePlace } from './agent-process.js';

function cli(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [mainPath, ...args], { encoding: 'utf8' });
}

describe('agent on Redis', () => {
  let url: string;
  let prefix: string;
  const places: Place[] = [];
  const agents: AgentProcess[] = [];

  beforeEach(async () => {
    url = await sharedUrl();
    prefix = freshPrefix();
  });
  afterEach(async () => {
    for (const place of places.splice(0)) removePlace(place, agents.shift());
    const client = new Redis(url);
    await sweep(client, prefix);
    client.disconnect();
  });

  const start = (config: object = {}, place = makePlace({}, { store: { redis: { url, prefix } }, ...config })) => {
    places.push(place);
    const agent = new AgentProcess(place);
    agents.push(agent);
    return agent;
  };

  it('it says where its state is, and after SIGKILL of agent and driver all is healthy again', async () => {
    const agent = start();
    await agent.line(/plugin hostpath \(csi-node\): healthy/);
    expect(agent.lines.join('\n')).to.include(`state in Redis, ${new URL(url).host}, under ${prefix}`);
    for (const pid of pluginPids(agent.place)) process.kill(pid, 'SIGKILL');
    await agent.kill('SIGKILL');
    const next = start({}, agent.place);
    await next.line(/hostpath \(csi-node\): healthy/);
    expect(cli('plugin', 'list', '--config', agent.place.configPath).stdout).to.match(/hostpath +csi-node +healthy/);
  });

  it('34.36 its embedded store has volumes: a warning says how many are not known now', async () => {
    const place = makePlace({}, { store: { redis: { url, prefix } } });
    const store = lmdbStore(join(place.dataDir, 'state'));
    await store.open();
    await store.commit(['a', 'b'].map((id) => plainCommit(`volume/default/${id}`, 0)));
    await store.close();
    writeFileSync(join(place.dataDir, 'lock'), '');
    const agent = start({}, place);
    await agent.line(/has 2 volumes of the embedded store, which the store that is configured does not know/);
  });

  it('a second agent with the same nodeId is refused, and the holder named', async () => {
    const first = start();
    await first.ready();
    const second = start();
    expect((await second.exited).code).to.equal(1);
    const said = second.lines.join('\n');
    expect(said).to.include(
      `node/n1 is run by the runtime of ${first.place.dataDir} on ${hostname()}, pid ${first.child.pid}`,
    );
    expect(pluginPids(second.place)).to.deep.equal([]);
  });

  it('A1 A4 D1 the second of two says who works on volumes, shows them, and has them changed', async () => {
    const first = start({ tasks: [] });
    await first.ready();
    const second = start({ nodeId: 'n2', tasks: [] });
    await second.ready();
    const { socketPath, configPath } = second.place;
    const leader = `node n1, the runtime of ${first.place.dataDir} on ${hostname()}, pid ${first.child.pid}`;
    await second.line(/^ {2}node n1, .* works on volumes: requests made here go there/);
    const asked = (await askAgent(socketPath, 'GET', '/v1/agent')) as AgentReport;
    expect(asked.leads).to.equal(false);
    expect(asked.reason).to.include(leader);
    expect((await askAgent(first.place.socketPath, 'GET', '/v1/agent')) as AgentReport).to.include({ leads: true });
    await askAgent(socketPath, 'POST', '/v1/nodes/n3/report', { body: { plugins: [] } });
    expect(await answerOf(socketPath, 'POST', '/v1/nodes/n4/fence', { reason: 'gone' })).to.deep.equal({
      status: 404,
      code: 'NODE_NOT_FOUND',
    });
    expect(cli('node', 'list', '--config', configPath).stdout).to.match(/^n3 +ready/m);
    await first.kill('SIGTERM');
    await second.line(/^\d\d:\d\d:\d\d this agent leads volumes and nodes now$/);
  });

  it('D10 of two agents only the one that leads reads events of volumes and nodes, then the next one', async () => {
    const first = start({ tasks: [] });
    await first.ready();
    const second = start({ nodeId: 'n2', tasks: [] });
    await second.ready();
    /** Reads of each topic, by connection. */
    const reads = new Map<string, Map<string, number>>();
    const stop = await monitor(url, ({ args, source }) => {
      const topic = args.map((text) => /\}:t:(.*)$/.exec(text)?.[1]).find((name) => name !== undefined);
      if (topic === undefined || source === 'lua' || !args.some((text) => text.startsWith(prefix))) return;
      const readers = reads.get(topic) ?? new Map<string, number>();
      reads.set(topic, readers.set(source, (readers.get(source) ?? 0) + 1));
    });
    const readersOf = (topic: string): number[] => [...(reads.get(topic)?.values() ?? [])];
    try {
      await eventually('both read who leads', () => readersOf('leadership').filter((count) => count > 3).length === 2);
    } finally {
      stop();
    }
    expect([readersOf('volumes').length, readersOf('nodes').length]).to.deep.equal([1, 1]);
    await first.kill('SIGTERM');
    await second.line(/this agent leads volumes and nodes now$/);
    const { socketPath } = second.place;
    await askAgent(socketPath, 'POST', '/v1/nodes/n3/report', { body: { plugins: [] } });
    await askAgent(socketPath, 'POST', '/v1/nodes/n3/down', {});
    await second.line(/node n3: down/);
  });

  it('two agents of other nodeIds run beside each other, and see their own plugins only', async () => {
    const [one, two] = [start(), start({ nodeId: 'n2' })];
    for (const agent of [one, two]) await agent.line(/hostpath \(csi-node\): healthy/);
    for (const [agent, node] of [
      [one, 'n1'],
      [two, 'n2'],
    ] as const) {
      const { stdout } = cli('actor', 'list', '--config', agent.place.configPath, '--json');
      const addresses = (JSON.parse(stdout) as { address: string }[]).map(({ address }) => address);
      expect(addresses).to.include(pluginsAddress(node, 'csi-node', 'hostpath'));
      // Nodes are nobody's own: the agent that leads has them all.
      const owned = addresses.filter((address) => !address.startsWith('node/'));
      expect(owned.every((address) => address.split('/')[1] === node)).to.equal(true);
    }
  });

  for (const [how, isFrozen] of [
    ['stood still until', true],
    ['goes on while', false],
  ] satisfies [string, boolean][]) {
    it(`an agent that ${how} its node is taken over reports it, exits with 1 and leaves its driver to the next`, async () => {
      const agent = start();
      await agent.line(/hostpath \(csi-node\): healthy/);
      const [driver] = pluginPids(agent.place);
      const said = agent.lines.length;
      if (isFrozen) agent.child.kill('SIGSTOP');
      const directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
      const next = await takeOver({ nodeId: 'n1', dataDir: join(directory, 'data') });
      try {
        if (isFrozen) agent.child.kill('SIGCONT');
        expect((await agent.exited).code).to.equal(1);
        expect(agent.lines.slice(said).join('\n')).to.match(/node\/n1 (is no longer ours|was taken over)/);
        expect(pluginPids(agent.place)).to.deep.equal([driver]);
        // Nothing of its end has reached what is the next one's by now.
        const { info } = await next.plugins.waitFor('csi-node', 'hostpath');
        expect(next.tasks.list().map(({ state, pid, allocId }) => [state, pid, allocId])).to.deep.equal([
          ['running', driver, info.allocId],
        ]);
        await next.plugins.deregister('csi-node', 'hostpath', info.allocId);
      } finally {
        await next.close();
        rmSync(directory, { recursive: true });
      }
    });
  }

  /** As soon as the lease of whoever has the node is over, which is now. */
  async function takeOver(options: Pick<RuntimeOptions, 'nodeId' | 'dataDir'>): Promise<Runtime> {
    const client = new Redis(url);
    try {
      for (;;) {
        for (const key of await client.keys(`${prefix}*:h:*`)) await client.unlink(key);
        const runtime = await createRuntime({ ...options, store: redisStore({ url, prefix }) }).catch(unlessHeld);
        if (runtime) return runtime;
      }
    } finally {
      client.disconnect();
    }
  }

  /** It was renewed in between. */
  function unlessHeld(error: unknown): undefined {
    if (!(error instanceof StagecraftError && error.code === 'NODE_IN_USE')) throw error;
  }

  it('nothing listens there, then it says where it looked and what to check, and ends with 1', async () => {
    const agent = start({ store: { redis: { url: 'redis://127.0.0.1:1', prefix } } });
    expect((await agent.exited).code).to.equal(1);
    expect(agent.lines.join('\n')).to.include('127.0.0.1:1');
  });

  it('an actor whose record is damaged is listed with the reason, and back in service once that is mended', async () => {
    const agent = start();
    await agent.line(/hostpath \(csi-node\): healthy/);
    await agent.kill('SIGTERM');
    const address = pluginsAddress('n1', 'csi-node', 'hostpath');
    const client = new Redis(url);
    const [key = ''] = (await client.keys(`${prefix}*:r:*`)).filter((name) => name.endsWith(`:r:${address}`));
    const text = (await client.hget(key, 'text')) ?? '';
    await client.hset(key, 'text', 'damaged');
    const next = start({}, agent.place);
    await next.line(/is out of service: its record can't be read/);
    const config = join(agent.place.directory, 'agent.yaml');
    expect(cli('actor', 'list', '--config', config).stdout).to.match(/plugins\/n1\/csi-node\/hostpath .*can't be read/);
    expect(cli('actor', 'release', address, '--config', config)).to.include({ status: 1 });
    await client.hset(key, 'text', text);
    client.disconnect();
    expect(cli('actor', 'release', address, '--config', config).stdout).to.equal(`${address} is in service\n`);
    const released = JSON.parse(cli('actor', 'release', address, '--json', '--config', config).stdout);
    const [listed] = JSON.parse(cli('actor', 'list', '--json', '--config', config).stdout);
    expect(released).to.include({ address }).and.to.have.all.keys(listed);
    expect(cli('actor', 'list', '--config', config).stdout).not.to.include("can't be read");
  });
});

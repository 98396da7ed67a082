/** Several hosts on one Redis, each with an agent and drivers of its own, as operators see them. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { AgentReport } from '../../src/api/agent-routes.js';
import type { Volume } from '../../src/volumes/volume-view.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { askAgent } from '../support/ask-agent.js';
import { eventually } from '../until.js';
import { AgentProcess, mainPath, makePlace, type Place, removePlace } from './agent-process.js';

interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('several hosts on one Redis', () => {
  let url: string;
  let prefix: string;
  const places: Place[] = [];
  const agents = new Map<Place, AgentProcess>();

  beforeEach(async () => {
    url = await sharedUrl();
    prefix = freshPrefix();
  });
  afterEach(async () => {
    for (const place of places.splice(0)) removePlace(place, agents.get(place));
    agents.clear();
    const client = new Redis(url);
    await sweep(client, prefix);
    client.disconnect();
  });

  /** A host with the bundled driver, whose volumes are on that host only. */
  const host = (nodeId: string): Place => {
    const driver = { type: 'monolith', command: ['stagecraft', 'driver', '--node-id', nodeId] };
    const place = makePlace(driver, { nodeId, store: { redis: { url, prefix } } });
    places.push(place);
    return place;
  };

  /** A host without plugins. */
  const bareHost = (nodeId: string): Place => {
    const place = makePlace({}, { nodeId, tasks: [], store: { redis: { url, prefix } } });
    places.push(place);
    return place;
  };

  async function start(place: Place, ready = /plugin hostpath \(csi-controller\): healthy/): Promise<AgentProcess> {
    const agent = new AgentProcess(place);
    agents.set(place, agent);
    await agent.line(ready);
    return agent;
  }

  const report = async ({ socketPath }: Place): Promise<AgentReport> =>
    (await askAgent(socketPath, 'GET', '/v1/agent')) as AgentReport;

  /** Beside the agents, whose output is read meanwhile. */
  function cli({ configPath }: Place, ...args: string[]): Promise<Ended> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [mainPath, ...args, '--config', configPath]);
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

  async function volumeOf(place: Place, id: string): Promise<Volume | undefined> {
    const { status, stdout } = await cli(place, 'volume', 'status', id, '--json');
    return status === 0 ? (JSON.parse(stdout) as Volume) : undefined;
  }

  const contentOf = ({ dataDir }: Place): string[] => {
    const volumes = join(dataDir, 'tasks', 'hostpath', 'content');
    return existsSync(volumes) ? readdirSync(volumes) : [];
  };
  const leads = (agent: AgentProcess, after: number): Promise<string> => agent.line(/this agent leads/, after);

  it('D4 a volume is deleted where another host leads: it waits, names its home, and goes once that is back', async () => {
    const [one, two] = [host('a'), host('b')];
    const first = await start(one);
    expect((await cli(one, 'volume', 'create', 'data', '--plugin', 'hostpath')).status).to.equal(0);
    expect((await volumeOf(one, 'data'))?.home).to.equal('a');
    const second = await start(two);
    await first.kill('SIGTERM');
    await leads(second, 0);
    expect(contentOf(one)).to.have.length(1);

    const waited = await cli(two, 'volume', 'delete', 'data', '--timeout', '2');
    expect(waited.status).not.to.equal(0);
    expect(waited.stderr).to.include('node a').and.include('passed before');
    expect((await volumeOf(two, 'data'))?.error?.message).to.match(/it is on node a.*only the agent of node a/);
    expect(contentOf(one)).to.have.length(1);

    await start(one);
    await eventually('it is deleted', async () => (await volumeOf(one, 'data')) === undefined);
    expect(contentOf(one)).to.deep.equal([]);
  });

  it('an agent without controllers came first and leads: it lets one lead that has controllers', async () => {
    const [bare, full] = [bareHost('a'), host('b')];
    const first = await start(bare, /^ {2}api /);
    expect(await report(bare)).to.include({ leads: true });
    const second = await start(full);
    await leads(second, 0);
    expect(await report(bare)).to.include({ leads: false });
    await eventually('it is made', async () => {
      return (await cli(full, 'volume', 'create', 'data', '--plugin', 'hostpath')).status === 0;
    });
    await second.kill('SIGKILL');
    await leads(first, 0);
  });

  it('the leader is killed: an agent with controllers leads next, and nobody is sent to the dead one', async () => {
    const [bare, one, two] = [bareHost('a'), host('b'), host('c')];
    const first = await start(one);
    await start(bare, /^ {2}api /);
    const next = await start(two);
    expect((await report(bare)).reason).to.match(/^node b, .* works on volumes/);
    await first.kill('SIGKILL');
    // Its lease stands until all have been asked.
    const client = new Redis(url);
    const [held = ''] = (await client.keys(`${prefix}*:h:*`)).filter((key) => key.endsWith(':h:volumes/0'));
    await client.persist(held);
    await eventually('its silence is told', async () => {
      return (await report(bare)).reason?.startsWith('the agent that works on volumes (node b') === true;
    });
    await client.unlink(held);
    client.disconnect();
    await leads(next, 0);
    expect(await report(bare)).to.include({ leads: false });
    expect((await cli(two, 'volume', 'create', 'data', '--plugin', 'hostpath')).status).to.equal(0);
  });
});

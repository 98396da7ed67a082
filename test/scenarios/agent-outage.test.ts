/** The agent while its Redis is gone, as its operator sees it. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { AgentReport } from '../../src/api/agent-routes.js';
import { RedisProcess } from '../redis/servers.js';
import { askAgent } from '../support/ask-agent.js';
import { eventually } from '../until.js';
import {
  AgentProcess,
  complaintsIn,
  mainPath,
  makePlace,
  type Place,
  pluginPids,
  removePlace,
} from './agent-process.js';
import { durable } from './redis-scene.js';

describe('an agent whose Redis is gone', () => {
  let server: RedisProcess;
  let place: Place;
  let agent: AgentProcess;

  beforeEach(async () => {
    server = await RedisProcess.start({ config: durable });
    place = makePlace({}, { store: { redis: { url: server.url } } });
    agent = new AgentProcess(place);
    await agent.line(/hostpath \(csi-node\): healthy/);
  });
  afterEach(async () => {
    removePlace(place, agent);
    await server.remove();
  });

  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [mainPath, ...args, '--config', place.configPath], { encoding: 'utf8' });
  const storeNow = async (): Promise<AgentReport['store']> =>
    ((await askAgent(place.socketPath, 'GET', '/v1/agent')) as AgentReport).store;
  const outage = async (): Promise<void> => {
    await server.kill();
    await eventually('it is noticed', async () => !(await storeNow()).available);
  };

  it('it says since when; what is listed comes with a warning on stderr, until the store is back', async () => {
    expect(await storeNow()).to.deep.equal({ kind: 'redis', available: true });
    // A call that it does not answer any more may have been asked a moment before its end, but not before this one.
    const before = Date.now();
    // What was asked before that has its answer by the second of these, whichever connection it went by.
    for (const id of ['n3', 'n4'])
      await askAgent(place.socketPath, 'POST', `/v1/nodes/${id}/report`, { body: { plugins: [] } });
    await outage();
    const { since = 0, ...rest } = await storeNow();
    expect(rest).to.deep.equal({ kind: 'redis', available: false });
    expect(since).to.be.within(before, Date.now());
    const warning = `the store has not answered since ${new Date(since).toISOString()}: what you see may be old, changes are refused\n`;
    for (const [look, shown] of [
      [['plugin', 'list'], /^hostpath +csi-node +healthy/m],
      [['plugin', 'status', 'hostpath'], /^state +healthy/m],
      [['actor', 'list'], /^task\/n1\/hostpath +running/m],
    ] as const) {
      const { status, stdout, stderr } = cli(...look);
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: warning });
      expect(stdout).to.match(shown);
    }
    await server.run();
    await eventually('it answers again', async () => (await storeNow()).available);
    expect(cli('plugin', 'list').stderr).to.equal('');
  });

  it('a drain says that the store is why nothing was stopped; done again once it is back, all is stopped', async () => {
    const pids = pluginPids(place);
    await outage();
    const { status, stderr } = cli('drain');
    expect(status).to.equal(1);
    expect(complaintsIn(stderr)).to.match(
      /^nothing was stopped: the store takes nothing now \(.*ECONNREFUSED.*then drain\n$/,
    );
    expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
    expect(pluginPids(place)).to.deep.equal(pids);
    await server.run();
    agent = new AgentProcess(place);
    await agent.line(/hostpath \(csi-node\): healthy/);
    const drained = cli('drain');
    expect([drained.status, complaintsIn(drained.stderr)]).to.deep.equal([0, '']);
    expect(pluginPids(place)).to.deep.equal([]);
  });

  it('a SIGTERM ends it, and the store is named; its plugin stays, and is found once the store is back', async () => {
    const pids = pluginPids(place);
    await outage();
    expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 1, signal: null });
    expect(agent.lastWord).to.match(
      /^closed with work under way: the store takes nothing now .* once the store answers$/,
    );
    expect(pluginPids(place)).to.deep.equal(pids);
    await server.run();
    agent = new AgentProcess(place);
    await agent.line(/hostpath \(csi-node\): healthy/);
    expect(pluginPids(place)).to.deep.equal(pids);
  });
});

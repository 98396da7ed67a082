/** The agents on one store as their users see them: the command `cluster`, `GET /v1/cluster` and `runtime.cluster`. */
import { expect } from 'chai';
import type { ClusterReport } from '../../src/api/agent-routes.js';
import { clusterText } from '../../src/cli/agents.js';
import { createClient } from '../../src/client/index.js';
import { askAgent } from '../support/ask-agent.js';
import { ApiHouse } from './api-house.js';

const nowMs = Date.UTC(2026, 0, 1);
const agent = { host: 'h', version: '1.0.0', startedAtMs: nowMs, isThis: false, ownsVolumes: false };
const disk = { name: 'disk', type: 'csi-controller', healthy: true, scope: 'shared' } as const;
const report = (changes: Partial<ClusterReport>): ClusterReport => ({
  agents: [
    { ...agent, nodeId: 'a', isThis: true, plugins: [] },
    { ...agent, nodeId: 'worker-2', host: 'host-2', ownsVolumes: true, plugins: [disk] },
  ],
  owner: { nodeId: 'worker-2', sinceMs: nowMs, epoch: 7 },
  requestsUnderWay: 0,
  ...changes,
});

describe('the agents on one store', () => {
  const api = new ApiHouse();

  before(() => api.open());
  after(() => api.dispose());

  it('D9 on a store of its own the agent is alone, and works on volumes: library, API and command', async () => {
    const { cluster, nodeId } = api.house.runtime;
    const [only, ...others] = await cluster.agents();
    expect(others).to.deep.equal([]);
    expect(only).to.include({ nodeId, isThis: true, ownsVolumes: true });
    expect(only?.plugins.map(({ name, type, healthy }) => [name, type, healthy])).to.deep.equal([
      ['disk', 'csi-controller', true],
    ]);
    const owner = await cluster.owner();
    expect(owner).to.include({ nodeId });
    const client = createClient({ socketPath: api.socketPath });
    expect(await client.cluster.status()).to.deep.equal({ agents: [only], owner, requestsUnderWay: 0 });
    const { code, stdout } = await api.cli('cluster');
    expect(code).to.equal(0);
    expect(stdout).to.match(new RegExp(`^${nodeId} .* works on them +this agent$`, 'm'));
    const asJson = await api.cli('cluster', '--json');
    expect(JSON.parse(asJson.stdout).owner).to.deep.equal(owner);
  });

  it('D9 the tables of agents and plugins are aligned, and the owner is named with its beginning', () => {
    expect(clusterText(report({}), nowMs).split('\n')).to.deep.equal([
      'NODE      HOST    VERSION  STARTED                   VOLUMES        STATE',
      'a         h       1.0.0    2026-01-01T00:00:00.000Z  -              this agent',
      'worker-2  host-2  1.0.0    2026-01-01T00:00:00.000Z  works on them  present',
      '',
      'PLUGIN  TYPE            NODE      SCOPE   STATE    TROUBLE',
      'disk    csi-controller  worker-2  shared  healthy  -',
      '',
      'node worker-2 works on volumes since 2026-01-01T00:00:00.000Z (epoch 7)',
    ]);
  });

  it('O5, 34.7 agents that are too old for what is stored: marked, also if nobody works on volumes', () => {
    const [own, other] = report({}).agents;
    const older = { ...agent, nodeId: 'b', version: '0.1.0', plugins: [] };
    const agents = [
      { ...agent, ...own, nodeId: 'a', plugins: [], level: 1 },
      { ...agent, ...other, nodeId: 'worker-2', plugins: [], level: 2 },
      older,
    ];
    const states = (text: string): string[] =>
      text
        .split('\n')
        .slice(1, 4)
        .map((line) => line.slice(line.search(/this|present/)));
    const tooOld =
      'this agent (1.0.0) reads level 1 of what is stored, and the store has level 2: update it to 2.0.0 or newer';
    const beside = clusterText(report({ agents }), nowMs);
    expect(states(beside)).to.deep.equal([
      'this agent, too old to work on volumes',
      'present',
      'present, too old to work on volumes',
    ]);
    const { owner: _, ...alone } = report({ agents: agents.slice(0, 1), tooOld });
    const left = clusterText(alone, nowMs);
    expect(left).to.include('this agent, too old to work on volumes').and.include(tooOld);
    expect(left).to.include('no agent works on volumes now: start one of a version that can');
  });

  it('D9 a silent owner: for how long, what waits for another one, and which plugin nobody can call', () => {
    const silentSinceMs = nowMs - 4_200;
    const text = clusterText(
      report({
        agents: [
          {
            ...agent,
            nodeId: 'a',
            isThis: true,
            plugins: [{ ...disk, name: 'nfs', healthy: false, trouble: 'no route' }],
          },
          { ...agent, nodeId: 'b', ownsVolumes: true, silentSinceMs, plugins: [disk] },
        ],
        owner: { nodeId: 'b', sinceMs: nowMs, epoch: 7, silentSinceMs },
        requestsUnderWay: 1,
      }),
      nowMs,
    );
    expect(text)
      .to.match(/^b .* silent for 4 s$/m)
      .and.match(/^nfs .* unhealthy +no route$/m);
    expect(text.split('\n').slice(-4)).to.deep.equal([
      'the agent that works on volumes (node b) is silent for 4 s: another takes over',
      '1 request made at this agent waits for its answer',
      'no agent can call the controller of plugin disk now: its volumes wait',
      'no agent can call the controller of plugin nfs now: its volumes wait',
    ]);
  });

  it('D9 nobody works on volumes: that is said, and no agent is named', () => {
    const { owner: _, ...vacant } = report({ agents: [{ ...agent, nodeId: 'a', isThis: true, plugins: [] }] });
    expect(clusterText(vacant, nowMs)).to.match(
      /no agent has plugins\n\nno agent works on volumes now: one takes over within seconds, or when one is started$/,
    );
  });

  it('D4 the home of a volume is a field of the API; what only agents tell each other is refused there', async () => {
    const client = createClient({ socketPath: api.socketPath });
    const spec = {
      plugin: 'disk',
      capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const],
    };
    const shared = /^plugin 'disk' has the same volumes/;
    const failure = (asked: Promise<unknown>) =>
      asked.then(
        () => 'done',
        ({ message }: Error) => message,
      );
    expect(await failure(client.volumes.create({ body: { id: 'x', ...spec, home: 'b' } }))).to.match(shared);
    expect((await api.cli('volume', 'create', 'x', '--plugin', 'disk', '--home', 'b')).stderr).to.match(shared);
    for (const path of ['/v1/volumes', '/v1/volumes?askedOn=b']) {
      const body = { id: 'x', ...spec, ...(path === '/v1/volumes' && { askedOn: 'b' }) };
      expect(await failure(askAgent(api.socketPath, 'POST', path, { body }))).to.match(/askedOn/);
    }
  });
});

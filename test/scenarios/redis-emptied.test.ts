/** A Redis that comes back empty under three agents: the one that works on volumes writes again what it has in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { messageOf } from '../../src/errors.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { Volume } from '../../src/volumes/volume-view.js';
import { RedisLab } from '../redis/lab.js';
import type { RedisProcess } from '../redis/servers.js';
import { until } from '../until.js';
import { FakePlugin } from '../volumes/fake-plugin.js';
import { nodes, pluginName, spec } from '../volumes/volume-house.js';

const rounds = Number(process.env.ROUNDS ?? 3);
const ids = ['one', 'two', 'three'];

describe('a Redis that comes back empty under three agents', () => {
  const lab = new RedisLab();
  const directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  let server: RedisProcess;
  let plugin: FakePlugin;
  let agents: Runtime[];

  beforeEach(async () => {
    server = await lab.server();
    plugin = new FakePlugin();
    agents = [];
    for (const nodeId of ['first', 'second', 'third']) {
      const dataDir = join(directory, `${nodeId}-${server.port}`);
      const dispensers = { 'csi-controller': plugin };
      const agent = await createRuntime({ nodeId, dataDir, store: redisStore(server.url), dispensers });
      agents.push(agent);
      const connection = { socketPath: '/nowhere/disk.sock' };
      await agent.plugins.register({ type: 'csi-controller', name: pluginName, allocId: `disk-${nodeId}`, connection });
    }
    const [owner] = agents;
    for (const [id, nodeId] of Object.entries(nodes))
      await owner?.nodes.report({ id, plugins: [{ name: pluginName, nodeId }] });
    for (const id of ids) await owner?.volumes.create(spec(id));
    await owner?.volumes.publish({ id: 'one' }, 'a');
  });
  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await lab.clear();
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const seenBy = async (agent: Runtime): Promise<(Volume | undefined)[] | string> => {
    try {
      return await Promise.all(ids.map((id) => agent.volumes.get({ id })));
    } catch (error) {
      return messageOf(error);
    }
  };
  /** Waits until all agents see the same as before, and work on it. */
  const restored = async (before: unknown, told: string): Promise<void> => {
    for (const agent of agents) {
      let seen: unknown;
      let isLooking = false;
      const look = async (): Promise<void> => {
        isLooking = true;
        seen = await seenBy(agent);
        isLooking = false;
      };
      await until(
        () => {
          if (!isLooking) void look();
          return JSON.stringify(seen) === JSON.stringify(before);
        },
        () => `${told}, as ${agent.nodeId} sees it: ${JSON.stringify(seen)}`,
      );
    }
  };

  const losses: [string, () => Promise<void>][] = [
    ['emptied by FLUSHALL', async () => void (await server.client().flushall())],
    [
      'killed, and started without its data',
      async () => {
        await server.kill();
        await server.run();
      },
    ],
  ];
  for (const [name, lose] of losses)
    it(`O2, 34.6 ${name}, ${rounds} times: nothing that the owner knew is forgotten`, async () => {
      const [owner, second] = agents;
      for (let round = 1; round <= rounds; round += 1) {
        const before = JSON.parse(JSON.stringify(await seenBy(agents[0] as Runtime)));
        await lose();
        await restored(before, `${name}, round ${round}`);
        expect(owner?.leadership.isOurs, `round ${round}`).to.equal(true);
        // The work goes on, from any agent.
        await second?.volumes.publish({ id: 'two' }, 'b');
        await second?.volumes.unpublish({ id: 'two' }, 'b');
      }
      expect(plugin.told().filter((call) => call.startsWith('CreateVolume'))).to.have.length(ids.length);
      expect(plugin.wrongs).to.deep.equal([]);
    });
});

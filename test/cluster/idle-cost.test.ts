/** Commands that an idle agent sends to a real Redis, beside a few or many other agents that work. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { monitor } from '../redis/monitor.js';
import type { RedisProcess } from '../redis/servers.js';
import { loggerInto, Scene } from '../scenarios/redis-scene.js';
import { eventually } from '../until.js';

/** Reads of the idle agent's inbox that are one measurement: each waits for a second, or for a message. */
const reads = 8;
const reports = 40;

describe('cost of an idle agent', () => {
  const scene = new Scene();
  afterEach(() => scene.clear());

  async function agent(server: RedisProcess, nodeId: string): Promise<Runtime> {
    const dataDir = join(scene.directory(), 'data');
    const runtime = await createRuntime({ nodeId, dataDir, store: redisStore(server.url), logger: loggerInto([]) });
    scene.atEnd(() => runtime.close().catch(() => undefined));
    return runtime;
  }

  const connections = async (client: Redis): Promise<string[]> =>
    String(await client.client('LIST')).match(/(?<= addr=)\S+/g) ?? [];

  /**
   * Counts the commands of an agent that is the last of so many, while the owner works for all others.
   * @returns commands during a fixed number of its reads
   */
  async function costAmong(agents: number): Promise<number> {
    const server = await scene.lab.server();
    const client = server.client();
    const others: Runtime[] = [];
    for (let at = 1; at < agents; at += 1) others.push(await agent(server, `agent-${at}`));
    expect(others[0]?.leadership.isOurs).to.equal(true);
    const before = new Set(await connections(client));
    await agent(server, 'idle');
    const own = new Set((await connections(client)).filter((address) => !before.has(address)));
    const commands: string[] = [];
    const stop = await monitor(server.url, ({ args: [name = ''], source }) => {
      if (own.has(source)) commands.push(name.toLowerCase());
    });
    const readsIn = (): number => commands.filter((name) => name === 'xread').length;
    await eventually('the first read', () => readsIn() === 1);
    const from = commands.length;
    for (let at = 0; at < reports; at += 1)
      await others[at % others.length]?.nodes.report({ id: `node-${at}`, plugins: [] });
    await eventually('the last read', () => readsIn() > reads);
    stop();
    return commands.length - from;
  }

  it('D10 beside eight agents that work it sends no more commands than beside two', async () => {
    const few = await costAmong(2);
    const many = await costAmong(8);
    expect(few).to.be.at.least(reads);
    // Renewals and beats, each with a period of its own, may fall on either side of an edge.
    expect(many).to.be.at.most(few + 4);
    // Nothing else is read each second, and nothing for each report.
    expect(Math.max(few, many)).to.be.below(2.5 * reads);
  });
});

/** Agents on a real Redis that sign their messages. */
import { expect } from 'chai';
import type { Runtime } from '../../src/runtime/runtime.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisProcess } from '../redis/servers.js';
import { refusalOf } from '../refusal.js';
import { FakeKind } from '../registry/fake-kind.js';
import { Scene } from '../scenarios/redis-scene.js';
import { eventually } from '../until.js';

describe('agents with a key', () => {
  const scene = new Scene();
  let server: RedisProcess;

  beforeEach(async () => {
    server = await scene.lab.server();
  });
  afterEach(() => scene.clear());

  async function agent(nodeId: string, key?: string): Promise<Runtime> {
    const runtime = await createRuntime({
      ...{ nodeId, dataDir: scene.directory(), store: redisStore(server.url) },
      ...{ dispensers: { fake: new FakeKind() }, cluster: { key } },
    });
    scene.atEnd(() => runtime.close().catch(() => undefined));
    return runtime;
  }
  const counted = ({ stats }: Runtime): Record<string, number> =>
    Object.fromEntries(stats.counts().messages.flatMap(({ outcome, count }) => (count > 0 ? [[outcome, count]] : [])));

  it('D11 a request with the same key is answered; unsigned and otherwise signed ones are counted', async () => {
    const owner = await agent('agent-1', 'k'.repeat(32));
    const other = await agent('agent-2', 'k'.repeat(32));
    await eventually('the first one leads', () => owner.leadership.isOurs);
    const fence = (runtime: Runtime): Promise<unknown> => runtime.nodes.fence('none', 'gone');
    expect((await refusalOf(fence(other))).code).to.equal('NODE_NOT_FOUND');
    expect([counted(owner), counted(other)]).to.deep.equal([{ accepted: 1 }, { accepted: 1 }]);
    for (const key of [undefined, 'x'.repeat(32)]) {
      const stranger = await agent(`stranger-${key ?? ''}`, key);
      const asked = refusalOf(fence(stranger));
      const before = counted(owner).unsigned ?? 0;
      await eventually('it is refused', () => (counted(owner).unsigned ?? 0) > before);
      await stranger.close();
      expect((await asked).code).to.equal('RUNTIME_CLOSED');
    }
    expect(counted(owner).accepted).to.equal(1);
  });
});

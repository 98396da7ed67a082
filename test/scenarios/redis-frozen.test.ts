/** A live runtime while its Redis is frozen: callers get their answer in time, and the log says each thing once. */
import { expect } from 'chai';
import type { VolumeSpec } from '../../src/index.js';
import { redisStore } from '../../src/stores/redis.js';
import { failureOf } from '../engine/lab.js';
import { durable, eventually, Scene } from './redis-scene.js';

describe('a runtime whose Redis is frozen', function () {
  this.timeout(60_000);
  const scene = new Scene();

  afterEach(() => scene.clear());

  it('calls end with STORE_UNAVAILABLE, and the log has each line once, and one end', async () => {
    const server = await scene.lab.server({ config: durable });
    const store = redisStore({ url: server.url, commandTimeoutMs: 1_000 });
    const { runtime, logged } = await scene.runtime({ store });
    expect(logged).to.deep.equal([]);
    server.signal('SIGSTOP');
    const capabilities: VolumeSpec['capabilities'] = [
      { accessMode: 'single-node-writer', attachmentMode: 'file-system' },
    ];
    const asked = { name: 'data', volume: { id: 'data' }, mode: 'write' as const, taskPath: '/data' };
    const failures = await Promise.all([
      failureOf(runtime.volumes.create({ id: 'data', plugin: 'disk', capabilities })),
      failureOf(runtime.volumes.get({ id: 'data' })),
      failureOf(runtime.allocations.prepare('a1', [asked], { timeoutMs: 2_000 })),
    ]);
    await eventually('the trouble is logged', () => logged.length > 0);
    server.signal('SIGCONT');
    expect(failures.map(({ code }) => code)).to.deep.equal(Array(3).fill('STORE_UNAVAILABLE'));
    await eventually('the trouble is over', () => logged.some(({ message }) => message.includes('in order again')));
    const messages = logged.map(({ message }) => message);
    expect(messages).to.have.lengthOf(new Set(messages).size).and.lengthOf.below(5);
    const ends = messages.filter((message) => message.includes('in order again'));
    expect(ends).to.have.lengthOf(1);
    expect(ends[0]).to.match(/^the store: in order again after \d+ s and \d+ failures?$/);
  });
});

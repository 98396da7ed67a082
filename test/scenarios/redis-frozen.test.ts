/** A live runtime while its Redis is frozen: callers get their answer in time, and the log has a line at each end. */
import { expect } from 'chai';
import type { VolumeSpec } from '../../src/index.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { failureOf } from '../engine/lab.js';
import { eventually } from '../until.js';
import { durable, Scene } from './redis-scene.js';

describe('a runtime whose Redis is frozen', () => {
  const scene = new Scene();

  afterEach(() => scene.clear());

  it('calls end with STORE_UNAVAILABLE, and the log has one line at the beginning and one at the end', async () => {
    const server = await scene.lab.server({ config: durable });
    const store = redisStore({ url: server.url, commandTimeoutMs: 1_000 });
    const { runtime, logged } = await scene.runtime({ store });
    // A runtime that is frozen before its first look at its own node logs that this look failed, too.
    expect(await failureOf(runtime.nodes.status('n1'))).to.include({ code: 'NODE_NOT_FOUND' });
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
    const [begins, ends, ...others] = logged.map(({ message }) => message);
    expect(others).to.deep.equal([]);
    expect(begins).to.match(/gave no answer within 1000 ms/);
    expect(ends).to.match(/^the store: in order again after \d+ s and \d+ failures?$/);
  });
});

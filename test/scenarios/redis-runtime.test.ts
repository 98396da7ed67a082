/** What an operator of a runtime on Redis sees at the start: warnings in plain words, and thousands of devices back. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { device } from '../registry/house.js';
import { eventually, within } from '../until.js';
import { checkReplay, codes, durable, owesNothing, recordsOf, Scene } from './redis-scene.js';

describe('a runtime that comes up on Redis', () => {
  const scene = new Scene();

  afterEach(() => scene.clear());

  for (const [name, config, warnings] of [
    ['without a log', [], [/loses all writes since its last dump.*set appendonly yes/]],
    ['flushed every second', ['appendonly yes'], [/last second of writes.*set appendfsync always/]],
    ['never flushed', ['appendonly yes', 'appendfsync no'], [/power cut.*set appendfsync always/]],
    ['evicting', [...durable, 'maxmemory-policy allkeys-lru'], [/may evict.*set maxmemory-policy noeviction/]],
    [
      'of the settings that it has by itself, and evicting',
      ['maxmemory-policy volatile-ttl'],
      [/may evict/, /set appendonly yes/],
    ],
    ['as it should be', durable, []],
  ] satisfies [string, string[], RegExp[]][]) {
    it(`${name}: the log names the server, what may be lost and what to set`, async () => {
      const server = await scene.lab.server({ config });
      const { runtime, logged } = await scene.runtime({ store: redisStore(server.url) });
      const unsafe = codes(logged, 'STORE_UNSAFE');
      expect(unsafe).to.have.lengthOf(warnings.length);
      for (const [i, pattern] of warnings.entries()) {
        expect(unsafe[i]).to.match(pattern).and.include(server.where).and.include('Redis at');
      }
      expect(logged.every(({ level }) => level === 'warn')).to.equal(true);
      expect(logged).to.have.lengthOf(warnings.length);
      // Not again while it runs, nor is it suspected for being the same.
      await runtime.plugins.register(device('a1'));
      await server.client().call('client', 'kill', 'type', 'normal');
      await eventually('it registers again', () => registered(runtime.plugins.register(device('a2'))));
      expect(codes(logged, 'STORE_UNSAFE')).to.have.lengthOf(warnings.length);
      expect(codes(logged, 'STORE_SUSPECT')).to.deep.equal([]);
    });
  }

  it('5,000 devices return after a restart, instances of each name in order, and are probed', async () => {
    const server = await scene.lab.server({ config: ['appendonly yes', 'appendfsync everysec'] });
    const names = Array.from({ length: 200 }, (_, n) => `device-${n}`);
    const rounds = 25;
    const dataDir = join(scene.directory(), 'data');
    const first = await scene.runtime({ store: redisStore(server.url), dataDir });
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(names.map((name) => first.runtime.plugins.register(device(`a${round}`, { name }))));
    }
    const reader = await scene.reader(server.url);
    await first.runtime.close();
    const instancesOf = (allocIds: number[], name: string): PluginInfo[] =>
      allocIds.map((n) => device(`a${n}`, { name }));
    const newestFirst = Array.from({ length: rounds }, (_, n) => rounds - 1 - n);

    const second = await within('it is up', scene.runtime({ store: redisStore(server.url), dataDir }));
    const { plugins } = second.runtime;
    expect(plugins.list()).to.have.lengthOf(names.length);
    for (const name of names) {
      expect(plugins.instances('device', name)).to.deep.equal(instancesOf(newestFirst, name));
    }
    await eventually('all are looked at', () => second.kind.looks.length >= names.length * rounds);
    await Promise.all(names.map((name) => plugins.waitFor('device', name)));
    for (const name of names.slice(0, 5)) {
      await plugins.deregister('device', name, `a${rounds - 1}`);
      expect(plugins.instances('device', name)).to.deep.equal(instancesOf(newestFirst.slice(1), name));
    }
    await owesNothing(reader, '');
    expect(await recordsOf(reader, 'plugin/')).to.have.lengthOf(names.length * rounds - 5);
    await checkReplay(reader, second.runtime.journal, 'plugins/n1/device/device-0');
    await checkReplay(reader, second.runtime.journal, 'plugin/n1/device/device-199/a0');
    expect(second.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

const registered = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

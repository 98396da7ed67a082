/** `createRuntime`: what it refuses, what a start that fails leaves, and whose journals can be read. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import { silentLogger } from '../../src/engine/logger.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { device, House, nodeId } from '../registry/house.js';

describe('createRuntime', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('34.10 a data directory of an earlier version that is open: a warning says what protects it', async () => {
    mkdirSync(join(directory, 'csi'));
    writeFileSync(join(directory, 'lock'), '');
    chmodSync(directory, 0o711);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
    const runtime = await createRuntime({ nodeId, dataDir: directory, store: memoryStore(), logger });
    await runtime.close();
    expect(warnings.filter((line) => line.includes('/proc/self/mountinfo'))).to.have.length(1);
    expect(warnings.join()).to.include(
      'set dataDirAccess to owner or to a group; or to everyone, and mount with nosuid',
    );
  });

  describe('options', () => {
    const faults: [title: string, more: object, why: string][] = [
      ['without a data directory', { dataDir: undefined }, 'dataDir: must be the absolute path of a directory'],
      ['a relative data directory', { dataDir: 'data' }, 'dataDir: is relative'],
      ['without a node', { nodeId: undefined }, 'nodeId: is missing'],
      ['the URL of a store', { store: 'redis://user:hunter2@db' }, "give redisStore('redis://…')"],
      ['null as a store', { store: null }, 'store: must be a store, not null'],
      ['null as times', { fingerprint: null }, 'fingerprint: must be a map'],
      ['no times at all', { fingerprint: { intervalMs: 0 } }, 'fingerprint.intervalMs: must be above 0'],
      ['a number as retention', { retention: 7 }, 'retention: must be a map'],
      ['no object for calls', { calls: 'fast' }, 'calls: must be a map'],
      ['a call without time', { calls: { timeoutMs: 0 } }, 'calls.timeoutMs: must be above 0'],
      ['half a call', { calls: { maxInFlightPerPlugin: 0.5 } }, 'calls.maxInFlightPerPlugin: must be a whole number'],
      ['text for a delay', { retry: { initialMs: '9' } }, 'retry.initialMs: must be a number of milliseconds'],
      [
        'endless delays',
        { retry: { maxMs: Number.POSITIVE_INFINITY } },
        'retry.maxMs: must be a number of milliseconds',
      ],
      ['delays that shrink', { retry: { initialMs: 500_000 } }, 'retry.initialMs: must not be more than maxMs'],
      ['fences at once', { fencing: { afterMs: -1 } }, 'fencing.afterMs: must be above 0'],
      ['stats without pause', { stats: { intervalMs: 0 } }, 'stats.intervalMs: must be above 0'],
      ['a number as stats', { stats: 5 }, 'stats: must be a map'],
      ['another answer to lost mounts', { onPluginLoss: 'ask' }, 'onPluginLoss: must be "remount" or "report"'],
      ['the URL of claims', { claims: 'http://hunter3' }, 'claims: must be a ClaimClient, not string'],
      [
        '34.32 half a claim client',
        { claims: { look: () => {}, claim: () => {}, release: () => {}, expanded: 5 } },
        'claims: must be a ClaimClient, but lacks holds, publish, unstaged, expanded',
      ],
      ['null for fencing', { fencing: null }, 'fencing: must be a map'],
      [
        'secrets themselves',
        { secrets: { password: 'hunter2' } },
        'secrets: must be a provider with a function resolve',
      ],
      ['an empty prefix of names', { volumeNamePrefix: '' }, 'volumeNamePrefix: must be 1 to 64 letters and digits'],
      ['a prefix with a slash', { volumeNamePrefix: 'a/b' }, 'volumeNamePrefix: must be'],
      ['a prefix that is too long', { volumeNamePrefix: 'a'.repeat(65) }, 'volumeNamePrefix: must be'],
      ['half a log', { logs: { maxBytes: 0.5 } }, 'logs.maxBytes: must be a whole number of bytes'],
      [
        'a check of secrets that is no function',
        { secrets: { resolve: () => {}, check: 5 } },
        'secrets.check: must be',
      ],
      ['a key that there is not', { stroe: memoryStore() }, 'stroe: unknown key; allowed here: nodeId, dataDir, '],
      ['a key of a group that there is not', { calls: { timeout: 5 } }, 'calls.timeout: unknown key; allowed here: '],
      ['the key of every object', { fencing: { constructor: 5 } }, 'fencing.constructor: unknown key'],
      [
        'a store that lacks something',
        { store: { ...memoryStore(), due: 5 } },
        'store: must be a store, but lacks open',
      ],
      ['a short key', { cluster: { key: 'hunter2' } }, 'cluster.key: must be a text or a Uint8Array of at least 32'],
      [
        'a key for a store of one process',
        { cluster: { key: 'hunter2'.repeat(5) }, store: memoryStore() },
        'cluster.key: has no use: this store is for one runtime',
      ],
      ['no owner on a store of one process', { cluster: { own: 'never' } }, 'cluster.own: must be auto'],
      ['a key for the embedded store', { cluster: { key: 'hunter2'.repeat(5) } }, 'cluster.key: has no use'],
      ['a time for a clock', { clock: 5 }, 'clock: must be a clock, not number'],
      [
        'a clock that lacks something',
        { clock: { now: () => 5 } },
        'clock: must be a clock, but lacks monotonicMs, after',
      ],
      ['chance without ids', { random: { next: () => 0.5 } }, 'random: must be a source of chance, but lacks id'],
      ['a function as logger', { logger: () => {} }, 'logger: must be a logger, but lacks debug, info, warn, error'],
      ['a text as dependents', { dependents: 'all' }, 'dependents: must be a function'],
    ];
    for (const [title, more, why] of faults) {
      it(`R15 ${title}: INVALID_ARGUMENT, which names it`, async () => {
        const error = await refusalOf(createRuntime({ nodeId, dataDir: directory, ...more }));
        expect(error.code).to.equal('INVALID_ARGUMENT');
        expect(error.message).to.include(why).and.not.include('hunter2');
      });
    }

    it('R15 several faults: all are named at once, each with its path, and nothing is made', async () => {
      const dataDir = join(directory, 'data');
      const more = { nodeId: '', calls: { timeoutMs: 0, x: 1 }, logger: {}, dispensers: { device: null }, stroe: 5 };
      const { message, faults = [] } = await refusalOf(createRuntime({ dataDir, ...more } as never));
      const paths = ['nodeId', 'calls.timeoutMs', 'calls.x', 'dispensers', 'logger', 'stroe'];
      expect(faults.map((fault) => fault.split(':')[0])).to.deep.equal(paths);
      for (const fault of faults) expect(message).to.include(fault);
      expect(existsSync(dataDir)).to.equal(false);
    });

    it('R15 an option that is undefined is as one that is left out', async () => {
      const none = { store: undefined, clock: undefined, secrets: undefined, calls: undefined, claims: undefined };
      const dataDir = join(directory, 'data');
      const runtime = await createRuntime({ nodeId, dataDir, ...none } as never);
      await runtime.close();
    });

    it('R15 none: INVALID_ARGUMENT, which says what is needed', async () => {
      // @ts-expect-error: plain JavaScript may leave them out
      const error = await refusalOf(createRuntime());
      expect(error.code).to.equal('INVALID_ARGUMENT');
      expect(error.message).to.include('{ nodeId, dataDir }');
    });
  });

  it('R15 start fails and the store cannot be closed: the start’s error is thrown, the other is logged', async () => {
    const dataDir = join(directory, 'data');
    const store = memoryStore();
    store.close = () => Promise.reject(new Error('stuck'));
    const errors: string[] = [];
    const quiet = (): void => {};
    const error = (_: object, message: string): void => void errors.push(message);
    const logger = { debug: quiet, info: quiet, warn: quiet, error };
    await (await createRuntime({ nodeId, dataDir, store: memoryStore() })).close();
    rmSync(join(dataDir, 'plugins'), { recursive: true });
    writeFileSync(join(dataDir, 'plugins'), '');
    expect((await refusalOf(createRuntime({ nodeId, dataDir, store, logger }))).code).to.equal('START_FAILED');
    expect(errors.at(-1)).to.equal('a step of the shutdown failed: stuck');
    rmSync(join(dataDir, 'plugins'));
    await (await createRuntime({ nodeId, dataDir, store: memoryStore() })).close();
  });
});

describe('journals', () => {
  let house: House;

  beforeEach(async () => {
    house = await new House().open();
  });

  afterEach(() => house.dispose());

  it('R15 of an actor that never was: ACTOR_NOT_FOUND, which names it', async () => {
    for (const address of [`task/${nodeId}/zz`, pluginAddress(nodeId, 'device', 'gpu', 'zz')]) {
      for (const work of [house.journal(address), house.runtime.journal.replay(address)]) {
        expect(await refusalOf(work)).to.include({ code: 'ACTOR_NOT_FOUND', address });
      }
    }
  });

  it('R15 of one that is gone: can be read as long as it is kept', async () => {
    await house.register(device('a1'));
    await house.plugins.deregister('device', 'gpu', 'a1');
    await house.rest();
    expect(await house.history(device('a1'))).to.deep.equal(['begun', 'fingerprint.changed', 'plugin.shutdown']);
    const { seq, snapshot } = await house.runtime.journal.replay(pluginAddress(nodeId, 'device', 'gpu', 'a1'));
    expect([seq, snapshot]).to.deep.equal([3, undefined]);
  });

  it('R15 of one that is there, from an entry on that is yet to come: none', async () => {
    await house.register(device('a1'));
    const entries = house.runtime.journal.entries(pluginAddress(nodeId, 'device', 'gpu', 'a1'), { from: 100 });
    for await (const entry of entries) expect(entry).to.equal(undefined);
  });
});

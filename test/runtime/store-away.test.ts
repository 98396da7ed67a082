/** The store gives no answer: every request ends within its time limit, else within five seconds, and says so. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { faultyStore } from '../support/faulty-store.js';
import { nodes, pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

type Options = { timeoutMs?: number; signal?: AbortSignal };
type Request = (runtime: Runtime, options: Options) => Promise<unknown>;

const key = { id: 'data' };
const away = { id: 'away' };
const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const connection = { socketPath: '/nowhere/disk.sock' };
const info = { type: 'csi-controller', name: 'other', allocId: 'other-1', connection };
const snapshot = { id: 'snap', volume: away };
const group = { id: 'group', volumes: [away] };
const allocVolume = { name: 'data', volume: away, taskPath: '/srv', mode: 'write' } as const;
const mountRequest = { volume: away, allocId: 'web', usage: capability };

const read = async (entries: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of entries) return;
};

/** Requests that take a time limit and a signal. */
const limited: Record<string, Request> = {
  'volumes.create': ({ volumes }, options) => volumes.create(spec('new'), options),
  'volumes.create of one that is there': ({ volumes }, options) => volumes.create(spec('data'), options),
  'volumes.create from one in memory': ({ volumes }, options) =>
    volumes.create({ ...spec('copy'), source: { volume: key } }, options),
  'volumes.publish': ({ volumes }, options) => volumes.publish(away, 'a', options),
  'volumes.publish of one in memory': ({ volumes }, options) => volumes.publish(key, 'a', options),
  'volumes.unpublish': ({ volumes }, options) => volumes.unpublish(away, 'a', options),
  'volumes.delete': ({ volumes }, options) => volumes.delete(away, options),
  'volumes.delete of one in memory': ({ volumes }, options) => volumes.delete(key, options),
  'volumes.expand': ({ volumes }, options) => volumes.expand(away, { requiredBytes: 2 ** 30 }, options),
  'volumes.modify': ({ volumes }, options) => volumes.modify(away, { tier: 'fast' }, options),
  'snapshots.create': ({ snapshots }, options) => snapshots.create(snapshot, options),
  'snapshots.delete': ({ snapshots }, options) => snapshots.delete(away, options),
  'snapshots.delete of one in memory': ({ snapshots }, options) => snapshots.delete(key, options),
  'groupSnapshots.create': ({ groupSnapshots }, options) => groupSnapshots.create(group, options),
  'groupSnapshots.delete': ({ groupSnapshots }, options) => groupSnapshots.delete(away, options),
  'allocations.prepare': ({ allocations }, options) => allocations.prepare('web', [allocVolume], options),
  'allocations.prepare with its modes': ({ allocations }, options) =>
    allocations.prepare('web', [{ ...allocVolume, ...capability }], options),
  'mounts.mount': ({ mounts }, options) => mounts.mount(mountRequest, options),
};

/** Requests that have no limit of their own. */
const others: Record<string, Request> = {
  'plugins.register': ({ plugins }) => plugins.register(info),
  'plugins.deregister': ({ plugins }) => plugins.deregister('csi-controller', pluginName, 'disk-1'),
  'tasks.start': ({ tasks }) => tasks.start({ id: 'one', type: 'controller', command: ['/bin/true'] }),
  'volumes.claim': ({ volumes }) => volumes.claim(away, { allocId: 'web', nodeId: 'a', mode: 'write', ...capability }),
  'volumes.release': ({ volumes }) => volumes.release(away, 'web'),
  'volumes.retry': ({ volumes }) => volumes.retry(away),
  'volumes.setAvailability': ({ volumes }) => volumes.setAvailability(away, 'pause'),
  'volumes.acknowledge': ({ volumes }) => volumes.acknowledge(away),
  'volumes.get': ({ volumes }) => volumes.get(away),
  'volumes.list': ({ volumes }) => volumes.list(),
  'volumes.reconcile': ({ volumes }) => volumes.reconcile(pluginName),
  'snapshots.get': ({ snapshots }) => snapshots.get(away),
  'snapshots.list': ({ snapshots }) => snapshots.list(),
  'snapshots.retry': ({ snapshots }) => snapshots.retry(away),
  'snapshots.acknowledge': ({ snapshots }) => snapshots.acknowledge(away),
  'groupSnapshots.get': ({ groupSnapshots }) => groupSnapshots.get(away),
  'groupSnapshots.list': ({ groupSnapshots }) => groupSnapshots.list(),
  'nodes.report': ({ nodes: all }) => all.report({ id: 'new', plugins: [] }),
  'nodes.report with a plugin': ({ nodes: all }) =>
    all.report({ id: 'new', plugins: [{ name: pluginName, nodeId: 'csi-new' }] }),
  'nodes.report of one that is there': ({ nodes: all }) => all.report({ id: 'a', plugins: [] }),
  'nodes.down': ({ nodes: all }) => all.down('a'),
  'nodes.fence': ({ nodes: all }) => all.fence('a', 'it burns'),
  'nodes.remove': ({ nodes: all }) => all.remove('a'),
  'nodes.status': ({ nodes: all }) => all.status('new'),
  'nodes.list': ({ nodes: all }) => all.list(),
  'nodes.reportUnstaged': ({ nodes: all }) => all.reportUnstaged('a', away, { claimGeneration: 1 }),
  'journal.entries': ({ journal }) => read(journal.entries('volume/default/away')),
  'journal.replay': ({ journal }) => journal.replay('volume/default/away'),
  'actors.release': ({ actors }) => actors.release('volume/default/away'),
};

describe('the store gives no answer', () => {
  let house: VolumeHouse;
  let isAway: boolean;
  let back: () => void;

  beforeEach(async () => {
    house = new VolumeHouse();
    isAway = false;
    let returned = Promise.resolve();
    house.store = faultyStore(memoryStore({ monotonicMs: () => house.clock.monotonicMs() }), {
      how: async (_, proceed) => {
        if (isAway) await returned;
        return proceed();
      },
    });
    await house.furnish();
    await house.runtime.volumes.create(spec('data'));
    await house.runtime.snapshots.create({ id: 'data', volume: key });
    // The indexes of the records are not read yet.
    await house.restart();
    await house.runtime.volumes.get(key);
    await house.runtime.snapshots.get(key);
    await house.rest();
    returned = new Promise((resolve) => {
      back = () => {
        isAway = false;
        resolve();
      };
    });
    isAway = true;
  });

  afterEach(async () => {
    back();
    await house.rest();
    await house.dispose();
  });

  const outcomeOf = async (request: Request, options: Options, afterMs: number): Promise<unknown> => {
    let outcome: unknown = 'it waits still';
    request(house.runtime, options).then(
      () => {
        outcome = 'it was answered';
      },
      (error: unknown) => {
        outcome = error;
      },
    );
    await house.clock.advance(afterMs);
    return outcome;
  };
  const expectAway = (outcome: unknown): void => {
    expect(outcome, String(outcome)).to.be.instanceOf(StagecraftError);
    expect(outcome).to.include({ code: 'STORE_UNAVAILABLE' });
    expect((outcome as StagecraftError).outcome).to.be.oneOf(['refused', 'unknown']);
  };

  for (const [name, request] of Object.entries({ ...limited, ...others })) {
    it(`${name}: STORE_UNAVAILABLE within 5 s`, async () => {
      expectAway(await outcomeOf(request, {}, 5_000));
    });
  }

  for (const [name, request] of Object.entries(limited)) {
    it(`${name}: STORE_UNAVAILABLE within its time limit`, async () => {
      expectAway(await outcomeOf(request, { timeoutMs: 2_000 }, 2_000));
    });

    it(`${name}: given up by its signal, ABORTED at once`, async () => {
      const giveUp = new AbortController();
      const asked = outcomeOf(request, { signal: giveUp.signal }, 1_000);
      giveUp.abort();
      expect(await asked).to.include({ code: 'ABORTED' });
    });
  }

  it('what was refused is not done when the store is back', async () => {
    const refused = await outcomeOf(
      limited['volumes.create'] ?? (() => Promise.resolve()),
      { timeoutMs: 2_000 },
      2_000,
    );
    expect(refused).to.include({ outcome: 'refused' });
    back();
    await house.rest();
    expect(await house.runtime.volumes.get({ id: 'new' })).to.equal(undefined);
    expect(Object.keys(nodes)).to.have.length(3);
  });
});

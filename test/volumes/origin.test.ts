/** Tests how the origin of a volume decides about its deletion: only a volume that a call has made is deleted at its plugin. */
import { expect } from 'chai';
import type { VolumeContext } from '../../machines/volume/types.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { volumeMigrations } from '../../src/volumes/migrations.js';
import { contextOf } from '../machines/volume/situations.js';
import { refusalOf } from '../refusal.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { faultyStore, type How } from '../support/faulty-store.js';
import { allCapabilities } from './fake-plugin.js';
import { gate, inOrder } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('origin of a volume', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  /** Has the plugin offer other capabilities, and waits for the next probe. */
  const offer = async (capabilities: string[]): Promise<void> => {
    house.plugin.capabilities = capabilities;
    await house.clock.advance(31_000);
  };

  it('V13, 34.1 found by its id, then the plugin can delete: the data stays, and the record is gone', async () => {
    await offer([]);
    house.plugin.keeps('data');
    expect(await house.volumes.create(spec('data'))).to.include({ csiId: 'data', origin: 'found' });
    await offer(allCapabilities);
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal([]);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['data']);
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V13, 34.1 found by its id, and published by a call: deleted with force, it is detached and stays', async () => {
    await offer(allCapabilities.filter((one) => one !== 'CREATE_DELETE_VOLUME'));
    house.plugin.volumes.set('data', {
      id: 'data',
      name: 'data',
      isFound: true,
      capacityBytes: 1n,
      attached: new Set(),
    });
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    await offer(allCapabilities);
    await house.volumes.delete(key, { force: true });
    expect(house.plugin.told()).to.deep.equal([
      'ControllerPublishVolume csi-a: OK',
      'ControllerUnpublishVolume csi-a: OK',
    ]);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['data']);
  });

  it('V13, 34.1 deletion asked for before it is found by its id, then the plugin can delete: the data stays', async () => {
    const owners = gate();
    let isHeld = false;
    const how: How = async (_, proceed) => {
      if (isHeld) await owners.passed;
      return proceed();
    };
    await house.dispose();
    house = new VolumeHouse();
    house.store = faultyStore(memoryStore(), { at: 'list', how });
    await house.furnish();
    await offer([]);
    house.plugin.keeps('data');
    isHeld = true;
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    const deleted = house.volumes.delete(key);
    // Another definition is probed at once: the store would not bear a pause.
    house.plugin.capabilities = allCapabilities;
    await house.register({ anew: 'yes' });
    await house.rest();
    owners.open();
    await deleted;
    expect(house.plugin.told()).to.deep.equal([]);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['data']);
  });

  it('V13, 34.1 made by a call, then the plugin can delete no more: the deletion waits, and says why', async () => {
    expect(await house.volumes.create(spec('data'))).to.include({ origin: 'call' });
    await offer([]);
    house.volumes.delete(key).catch(() => {});
    await house.rest();
    const { state, error } = (await house.volumes.get(key)) ?? {};
    expect([state, error?.code]).to.deep.equal(['pending-delete', 'PLUGIN_LACKS']);
    expect(error?.message).to.include('CREATE_DELETE_VOLUME');
    await offer(allCapabilities);
    await house.clock.advance(300_000);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
  });

  it('V13, 34.1 creation in doubt, then the plugin makes none: not taken for created under the user’s id', async () => {
    house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { code: 'UNAVAILABLE', work: true } : undefined);
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    await offer([]);
    house.plugin.script = () => undefined;
    await house.clock.advance(60_000);
    const { csiId, error } = (await house.volumes.get(key)) ?? {};
    expect([csiId, error?.code]).to.deep.equal([undefined, 'PLUGIN_LACKS']);
    await offer(allCapabilities);
    await house.clock.advance(300_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', csiId: 'vol-1' });
    expect(house.plugin.volumes.size).to.equal(1);
  });

  it('V13, 34.1 killed while the creation finds out that no call is needed: found after the restart', async () => {
    const kept = inMemory();
    const cable = new Cable(kept.store());
    const one = new VolumeHouse();
    one.store = cable;
    one.plugin.capabilities = [];
    await one.furnish({ nodeId: 'one' });
    cable.cutAt({ is: ({ journal }) => JSON.parse(journal).event?.output?.status === 'done', done: false });
    one.volumes.create(spec('data')).catch(() => {});
    await one.rest();
    await cable.whenCut;
    await one.dispose().catch(() => {}); // A killed runtime can't be closed in order.
    await kept.bury(kept.store());
    await house.dispose();
    house = new VolumeHouse();
    house.store = kept.store();
    house.plugin.capabilities = [];
    await house.furnish({ nodeId: 'two' });
    await house.clock.advance(60_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', origin: 'found', csiId: 'data' });
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V13, 34.1 killed in a creation, its repeat refused, then plugin makes none: not found by its id', async () => {
    inOrder(house.plugin, 'CreateVolume', [{ work: true, after: new Promise(() => {}) }, { code: 'INVALID_ARGUMENT' }]);
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    await house.restart();
    await house.clock.advance(60_000);
    expect(await house.volumes.get(key)).to.include({ state: 'failed', origin: 'call' });
    await offer([]);
    house.volumes.retry(key).catch(() => {});
    await house.clock.advance(60_000);
    const { csiId, error } = (await house.volumes.get(key)) ?? {};
    expect([csiId, error?.code]).to.deep.equal([undefined, 'PLUGIN_LACKS']);
  });

  it('V13, 34.1 external volume: its deletion makes no call', async () => {
    house.plugin.keeps('vol-7');
    expect(await house.volumes.create(spec('data', { external: { csiId: 'vol-7' } }))).to.include({
      origin: 'external',
    });
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal(['ValidateVolumeCapabilities: OK']);
  });

  it('V2, 34.1 nothing is made yet: no origin is shown', async () => {
    house.plugin.script = () => ({ code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.create(spec('data')));
    expect(await house.volumes.get(key)).not.to.have.property('origin');
  });
});

describe('origin of a volume of version 2', () => {
  const failure = { code: 'CSI_ERROR', message: 'CreateVolume: no answer', final: false } as const;
  const tries = { count: 1, notBeforeMs: 0, sinceMs: 0, failure };
  const spec2 = contextOf({}).spec;
  const bare = { id: 'data', context: {}, accessibleTopology: [] };
  const created = { what: 'created', message: 'the plugin was away' } as const;
  const key2 = { namespace: 'default', id: 'data' };
  const cases: [what: string, record: object, origin: VolumeContext['origin']][] = [
    ['has the id of its user, and nothing else', { csi: bare }, 'found'],
    ['has an id of its plugin', { csi: { ...bare, id: 'vol-1' } }, 'call'],
    ['has the id of its user, and a context', { csi: { ...bare, context: { made: 'x' } } }, 'call'],
    ['has the id of its user, and a size', { csi: { ...bare, capacityBytes: 1 } }, 'call'],
    ['has the id of its user, and a topology', { csi: { ...bare, accessibleTopology: [{ zone: 'a' }] } }, 'call'],
    ['is external', { csi: bare, spec: spec2 && { ...spec2, external: { csiId: 'data', context: {} } } }, 'external'],
    ['is not created', { csi: null }, null],
    [
      'was made otherwise than asked',
      { csi: null, lifecycle: { at: 'failed.not-as-asked', madeOtherwise: bare } },
      'call',
    ],
    ['backs off in doubt', { csi: null, lifecycle: { at: 'create-in-doubt.backing-off', tries } }, 'call'],
    ['is asked for again in doubt', { csi: null, lifecycle: { at: 'create-in-doubt.calling', tries } }, 'call'],
    ['was cut off during its creation', { csi: null, lifecycle: { at: 'create-in-doubt.due' } }, null],
    ['failed in doubt', { csi: null, lifecycle: { at: 'failed.in-doubt', failure } }, 'call'],
    ['was refused', { csi: null, lifecycle: { at: 'failed.refused', failure } }, null],
    ['is being found out for its deletion', { csi: null, lifecycle: { at: 'finding-out.due', tries } }, 'call'],
    ['is deleted during its first call', { csi: null, lifecycle: { at: 'finding-out.first-call', tries } }, null],
    [
      'could not be found out for its deletion',
      { csi: null, lifecycle: { at: 'failed.finding-out', failure } },
      'call',
    ],
    ['left behind under an id of its plugin', { csi: null, leftovers: [{ ...created, csiId: 'vol-1' }] }, 'call'],
    ['left behind under a name', { csi: null, leftovers: [{ ...created, name: 'sc-1' }] }, 'call'],
    ['left behind under the id of its user', { csi: null, leftovers: [{ ...created, csiId: 'data' }] }, 'found'],
  ];
  for (const [what, record, origin] of cases)
    it(`V13, 34.1 ${what}: ${origin ?? 'none'}`, () => {
      const { origin: _, ...context } = { ...contextOf({ key: key2 }), ...record };
      const to3 = volumeMigrations.find(({ from }) => from === '2');
      const migrated = to3?.migrate({ value: 'created', context });
      expect(migrated?.context).to.deep.equal({ ...context, origin });
    });
});

/**
 * Tests plugins of scope `host`: each host has its own volumes, and only the agent of a volume's home calls the plugin.
 */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
const perHost = { scope: 'host' };

describe('volumes with a home', () => {
  let kept: ReturnType<typeof inMemory>;
  let one: VolumeHouse;
  let two: VolumeHouse;
  /** Whether the first agent was killed, so that it can't be closed in order. */
  let isKilled = false;

  beforeEach(() => {
    kept = inMemory();
    isKilled = false;
    one = new VolumeHouse();
    two = new VolumeHouse();
    for (const house of [one, two]) house.store = kept.store();
    one.plugin.pluginCapabilities.push('GROUP_CONTROLLER_SERVICE');
  });
  afterEach(async () => {
    const ended = one.dispose();
    await (isKilled ? ended.catch(() => {}) : ended);
    await two.dispose();
  });

  /** Starts the agent of host `one` as leader, with these plugin options. */
  async function first(options: Record<string, string> | undefined = perHost): Promise<void> {
    await one.open({ nodeId: 'one' });
    await one.register(options);
    await one.rest();
  }

  /** Ends the agent of host `one`, then starts that of host `two` as leader, with a plugin of its own. */
  async function then(options: Record<string, string> | undefined = perHost): Promise<void> {
    const ended = one.runtime.close();
    await (isKilled ? ended.catch(() => {}) : ended);
    if (isKilled) await kept.bury(kept.store());
    await two.open({ nodeId: 'two' });
    if (options) await two.register(options);
    await two.rest();
  }

  it('D4 the home of a volume is committed before the first CreateVolume is sent', async () => {
    await first();
    let home: string | undefined;
    one.plugin.script = ({ rpc }) => {
      if (rpc !== 'CreateVolume') return undefined;
      const look = async (): Promise<void> => {
        home = (await one.volumes.get(data))?.home;
      };
      return { before: look() };
    };
    const made = await one.volumes.create(spec('data'));
    expect([home, made.home]).to.deep.equal(['one', 'one']);
    expect(one.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });

  it('D4 plugin without a scope: its volumes have no home', async () => {
    await first({});
    expect(await one.volumes.create(spec('data'))).not.to.have.property('home');
    await then({});
    await two.volumes.delete(data);
    expect(two.plugin.told()).to.deep.equal(['DeleteVolume: OK']);
  });

  for (const [moment, done] of [
    ['before', false],
    ['after', true],
  ] as const) {
    it(`D4 V1 killed ${moment} the home is committed: one volume is created, at the committed home`, async () => {
      const cable = new Cable(kept.store());
      one.store = cable;
      await first();
      cable.cutAt({ is: ({ journal }) => JSON.parse(journal).event?.output?.status === 'call-again', done });
      one.volumes.create(spec('data')).catch(() => {});
      await one.rest();
      await cable.whenCut;
      isKilled = true;
      await then();
      const expected = done ? [undefined, 'one'] : ['vol-1', 'two'];
      await two.rest();
      const volume = await two.volumes.get(data);
      expect([volume?.csiId, volume?.home]).to.deep.equal(expected);
      expect(one.plugin.told()).to.deep.equal([]);
      expect(two.plugin.told()).to.deep.equal(done ? [] : ['CreateVolume: OK']);
    });
  }

  for (const [what, ask] of [
    ['deletion', () => two.volumes.delete(data)],
    ['publication', () => two.volumes.publish(data, 'node-1')],
    ['expansion', () => two.volumes.expand(data, { requiredBytes: 100 })],
    ['change', () => two.volumes.modify(data, { tier: 'fast' })],
  ] as const) {
    it(`D4 ${what} of the volume of another host: waits, naming the reason, until its home leads`, async () => {
      await first();
      await one.volumes.create(spec('data', { capacity: { requiredBytes: 10 } }));
      await one.runtime.nodes.report({ id: 'node-1', plugins: [{ name: pluginName, nodeId: 'csi-1' }] });
      await then();
      ask().catch(() => {});
      await two.clock.advance(120_000);
      const { error } = (await two.volumes.get(data)) ?? {};
      expect(error?.message).to.include('it is on node one').and.include('node two leads now');
      expect(two.plugin.told()).to.deep.equal([]);
      await two.runtime.close();
      await one.open();
      await one.rest();
      expect(one.plugin.told().slice(1)).to.have.length(1);
    });
  }

  it('D4 leader without the plugin: the reason of a waiting deletion names the home, not the plugin', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await then(undefined);
    const late = refusalOf(two.volumes.delete(data, { timeoutMs: 1_000 }));
    await two.clock.advance(1_000);
    expect((await late).message).to.include('it is on node one, which is not among the nodes');
  });

  it('D4 leader whose plugin has no controller service: a deletion waits for the home', async () => {
    await first();
    await one.volumes.create(spec('data'));
    two.plugin.pluginCapabilities = [];
    await then();
    two.volumes.delete(data).catch(() => {});
    await two.rest();
    expect((await two.volumes.get(data))?.error?.message).to.include('it is on node one');
  });

  for (const [scene, make] of [
    ['offers no deletion', (): unknown => (two.plugin.capabilities = [])],
    ['is of another driver', (): unknown => Object.assign(two.plugin, { driver: 'other.example', capabilities: [] })],
  ] as const) {
    it(`D4 plugin of the leader ${scene}: the volume of another host is not taken for deleted`, async () => {
      await first();
      await one.volumes.create(spec('data'));
      make();
      await then();
      two.volumes.delete(data).catch(() => {});
      await two.rest();
      expect((await two.volumes.get(data))?.error?.message).to.include('it is on node one');
    });
  }

  it('D4 home goes down while a deletion waits: the reason names that, and advises force', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await one.runtime.nodes.report({ id: 'one', plugins: [{ name: pluginName, nodeId: 'csi-one' }] });
    await then();
    two.volumes.delete(data).catch(() => {});
    await two.rest();
    expect((await two.volumes.get(data))?.error?.message).not.to.include('force');
    await two.runtime.nodes.down('one');
    await two.clock.advance(60_000);
    const { error } = (await two.volumes.get(data)) ?? {};
    expect(error?.message).to.include('node one, which is down').and.include('delete it with force');
  });

  it('D4 V11 home is back when the leader restarts: the reason no longer calls it down', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await one.runtime.nodes.report({ id: 'one', plugins: [{ name: pluginName, nodeId: 'csi-one' }] });
    await then();
    two.volumes.delete(data).catch(() => {});
    await two.rest();
    await two.runtime.nodes.down('one');
    await two.clock.advance(60_000);
    await two.runtime.nodes.report({ id: 'one', plugins: [{ name: pluginName, nodeId: 'csi-one' }] });
    await two.restart();
    expect((await two.volumes.get(data))?.error?.message)
      .to.include('it is on node one')
      .and.not.include('down');
  });

  it('D4 V13 shared volume, leader without a controller service: not taken for deleted', async () => {
    await first({});
    await one.volumes.create(spec('data'));
    two.plugin.pluginCapabilities = [];
    await then({});
    two.volumes.delete(data).catch(() => {});
    await two.rest();
    expect((await two.volumes.get(data))?.error?.code).to.equal('PLUGIN_LACKS');
    two.volumes.delete(data, { force: true }).catch(() => {});
    await two.clock.advance(60_000);
    expect((await two.volumes.get(data))?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
  });

  it('V5 published by a call, leader without a controller service: not taken for detached', async () => {
    await first({});
    await one.volumes.create(spec('data'));
    await one.runtime.nodes.report({ id: 'node-1', plugins: [{ name: pluginName, nodeId: 'csi-1' }] });
    await one.volumes.publish(data, 'node-1');
    two.plugin.pluginCapabilities = [];
    await then({});
    two.volumes.unpublish(data, 'node-1').catch(() => {});
    await two.rest();
    const { error, publications } = (await two.volumes.get(data)) ?? {};
    expect(error?.code).to.equal('PLUGIN_LACKS');
    expect(publications?.['node-1']?.state).to.equal('pending-unpublish');
    await two.runtime.close();
    await one.open();
    await one.clock.advance(200_000);
    expect(one.plugin.told().slice(2)).to.deep.equal(['ControllerUnpublishVolume csi-1: OK']);
  });

  it('D4 one id from two hosts is two volumes; an id without a home has one owner on all hosts', async () => {
    one.plugin.keeps('vol-7');
    two.plugin.keeps('vol-7');
    const external = { csiId: 'vol-7' };
    await first({});
    await one.volumes.create(spec('old', { external }));
    await one.register(perHost);
    await one.clock.advance(60_000);
    const refused = await refusalOf(one.volumes.create(spec('new', { external })));
    expect(refused).to.include({ code: 'VOLUME_EXISTS' });
    await one.volumes.delete({ id: 'old' });
    await one.volumes.create(spec('of-one', { external }));
    await then();
    await two.volumes.create(spec('of-two', { external }));
    expect((await two.volumes.get({ id: 'of-two' }))?.home).to.equal('two');
  });

  it('D4 forced deletion on another host: no call; leftovers name the volume and its home', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await then();
    await two.volumes.delete(data, { force: true });
    const { leftovers } = (await two.volumes.get(data)) ?? {};
    expect(leftovers?.map(({ what, csiId }) => [what, csiId])).to.deep.equal([['created', 'vol-1']]);
    expect(leftovers?.[0]?.message).to.include('it is on node one');
    expect(two.plugin.told()).to.deep.equal([]);
    expect(one.plugin.volumes.size).to.equal(1);
  });

  it('D4 V13 forced while its call waits for its turn: no call, and no wait for the home', async () => {
    await first();
    await one.volumes.create(spec('data'));
    two.options.calls = { maxInFlightPerPlugin: 1 };
    await then();
    let goOn = (): void => {};
    const before = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    two.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { before } : undefined);
    const other = two.volumes.create(spec('other'));
    await two.rest();
    two.volumes.delete(data).catch(() => {});
    await two.rest();
    const gone = two.volumes.delete(data, { force: true });
    await two.rest();
    goOn();
    await other;
    await two.clock.advance(60_000);
    expect((await two.volumes.get(data))?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
    await gone;
    expect(two.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });

  it('D4 clone or snapshot of a source on another host: refused, naming its home', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await one.runtime.snapshots.create({ id: 'monday', volume: data });
    await then();
    const refusals = [
      two.volumes.create(spec('copy', { source: { volume: data } })),
      two.volumes.create(spec('restored', { source: { volumeSnapshot: 'monday' } })),
      two.runtime.snapshots.create({ id: 'tuesday', volume: data }),
      two.runtime.groupSnapshots.create({ id: 'all', volumes: [data] }),
    ];
    for (const refused of refusals) {
      const { code, message } = await refusalOf(refused);
      expect(code).to.equal('VOLUME_ELSEWHERE');
      expect(message).to.include('node one').and.include('node two leads now');
    }
    expect(two.plugin.told()).to.deep.equal([]);
  });

  it('D4 a snapshot has the home of its volume: a deletion elsewhere waits', async () => {
    await first();
    await one.volumes.create(spec('data'));
    expect((await one.runtime.snapshots.create({ id: 'monday', volume: data })).home).to.equal('one');
    await then();
    const late = refusalOf(two.runtime.snapshots.delete({ id: 'monday' }, { timeoutMs: 1_000 }));
    await two.clock.advance(1_000);
    expect((await late).message).to.include('it is on node one');
    expect(two.plugin.told()).to.deep.equal([]);
  });

  it('D4 a clone is created at the home of its source, even if another host leads by then', async () => {
    await first();
    await one.volumes.create(spec('data'));
    one.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { code: 'UNAVAILABLE' } : undefined);
    one.volumes.create(spec('copy', { source: { volume: data } })).catch(() => {});
    await one.rest();
    await then();
    await two.clock.advance(60_000);
    expect((await two.volumes.get({ id: 'copy' }))?.home).to.equal('one');
    expect(two.plugin.told()).to.deep.equal([]);
  });

  it('D4 V20 the list of one host proves nothing about volumes of other hosts', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await then();
    expect(await two.volumes.reconcile('disk')).to.deep.equal([{ plugin: 'disk', volumes: 0, differing: [] }]);
    expect(await two.volumes.get(data)).not.to.have.property('missing');
  });

  describe('created before homes were recorded', () => {
    const report = (house: VolumeHouse, id: string, zone: string): Promise<void> =>
      house.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId: `csi-${id}`, topology: { zone } }] });

    beforeEach(async () => {
      one.plugin.accessibleTopology = [{ segments: { zone: 'z1' } }];
      await first({});
      await one.volumes.create(spec('data'));
      await report(one, 'one', 'z1');
      await report(one, 'two', 'z2');
    });

    it('D4 the home is the only known node that fits their topology', async () => {
      await then();
      two.volumes.delete(data).catch(() => {});
      await two.rest();
      expect(await two.volumes.get(data)).to.deep.include({ home: 'one', state: 'pending-delete' });
      expect(two.plugin.told()).to.deep.equal([]);
    });

    it('D4 several nodes fit: no call, the reason names them', async () => {
      await report(one, 'three', 'z1');
      await then();
      const late = refusalOf(two.volumes.delete(data, { timeoutMs: 1_000 }));
      await two.clock.advance(1_000);
      expect((await late).message).to.include('nodes one, three');
      expect(two.plugin.told()).to.deep.equal([]);
    });
  });

  it('plugin with an unknown scope: refused, naming the valid ones', async () => {
    await one.open();
    const { code, message } = await refusalOf(one.register({ scope: 'node' }));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include("'shared'").and.include("'host'");
  });
});

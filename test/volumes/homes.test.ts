/** Volumes of a plugin of scope `host`: each host has its own, and only the agent of a volume's home calls the plugin for it. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
const perHost = { scope: 'host' };

describe('volumes that are on one host', () => {
  let kept: ReturnType<typeof inMemory>;
  let one: VolumeHouse;
  let two: VolumeHouse;
  /** The first agent was killed: it can't end in order. */
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

  /** The agent of host `one` leads, its plugin has a scope of its own. */
  async function first(options: Record<string, string> | undefined = perHost): Promise<void> {
    await one.open({ nodeId: 'one' });
    await one.register(options);
    await one.rest();
  }

  /** Ends the agent of host `one`. The agent of host `two` leads then, with a plugin of its own. */
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

  it('D4 a plugin that says nothing of its scope has volumes for all hosts: they have no home', async () => {
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
    it(`D4 V1 killed ${moment} the home is committed: one volume is made, at the home that is committed`, async () => {
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
    it(`D4 the ${what} of another host's volume waits, with the reason, until its home leads`, async () => {
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

  it('D4 a host that lacks the plugin names the home, not the plugin, as what a deletion waits for', async () => {
    await first();
    await one.volumes.create(spec('data'));
    await then(undefined);
    const late = refusalOf(two.volumes.delete(data, { timeoutMs: 1_000 }));
    await two.clock.advance(1_000);
    expect((await late).message).to.include('it is on node one, which is not among the nodes');
  });

  it('D4 the plugin here has no controller service: a deletion waits for the home all the same', async () => {
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
    it(`D4 the plugin here ${scene}: another host's volume is not said to be deleted`, async () => {
      await first();
      await one.volumes.create(spec('data'));
      make();
      await then();
      two.volumes.delete(data).catch(() => {});
      await two.rest();
      expect((await two.volumes.get(data))?.error?.message).to.include('it is on node one');
    });
  }

  it('D4 the home goes down while a deletion waits for it: the reason says so, and the way out', async () => {
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

  it('D4 V11 the home is back as the leader restarts: the reason does not say any more that it is down', async () => {
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

  it('D4 V13 one for all hosts, where the leader has no controller service: it is not said to be deleted', async () => {
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

  it('V5 published by a call, and the leader has no controller service: it is not said to be detached', async () => {
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

  it('D4 an id that the plugin of each host gives is of two volumes; of one made before homes, of that alone', async () => {
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

  it('D4 a forced deletion on another host calls nothing, and names what is left and where', async () => {
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

  it('D4 V13 forced while its call waits for its turn: nothing is called, and it does not wait for its home', async () => {
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

  it("D4 nothing is made of another host's volume or snapshot: it is refused, naming their home", async () => {
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

  it('D4 a snapshot has the home of its volume: its deletion elsewhere waits', async () => {
    await first();
    await one.volumes.create(spec('data'));
    expect((await one.runtime.snapshots.create({ id: 'monday', volume: data })).home).to.equal('one');
    await then();
    const late = refusalOf(two.runtime.snapshots.delete({ id: 'monday' }, { timeoutMs: 1_000 }));
    await two.clock.advance(1_000);
    expect((await late).message).to.include('it is on node one');
    expect(two.plugin.told()).to.deep.equal([]);
  });

  it('D4 a copy is made at the home of its source, though another host leads by then', async () => {
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

  it("D4 V20 what a host's plugin lists says nothing of volumes of other hosts", async () => {
    await first();
    await one.volumes.create(spec('data'));
    await then();
    expect(await two.volumes.reconcile('disk')).to.deep.equal([{ plugin: 'disk', volumes: 0, differing: [] }]);
    expect(await two.volumes.get(data)).not.to.have.property('missing');
  });

  describe('made before their homes were kept', () => {
    const report = (house: VolumeHouse, id: string, zone: string): Promise<void> =>
      house.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId: `csi-${id}`, topology: { zone } }] });

    beforeEach(async () => {
      one.plugin.accessibleTopology = [{ segments: { zone: 'z1' } }];
      await first({});
      await one.volumes.create(spec('data'));
      await report(one, 'one', 'z1');
      await report(one, 'two', 'z2');
    });

    it('D4 their home is the one known node where they can be used', async () => {
      await then();
      two.volumes.delete(data).catch(() => {});
      await two.rest();
      expect(await two.volumes.get(data)).to.deep.include({ home: 'one', state: 'pending-delete' });
      expect(two.plugin.told()).to.deep.equal([]);
    });

    it('D4 where several nodes fit no call is made, and the reason names them', async () => {
      await report(one, 'three', 'z1');
      await then();
      const late = refusalOf(two.volumes.delete(data, { timeoutMs: 1_000 }));
      await two.clock.advance(1_000);
      expect((await late).message).to.include('nodes one, three');
      expect(two.plugin.told()).to.deep.equal([]);
    });
  });

  it('a plugin with a scope that is none is refused, and says which there are', async () => {
    await one.open();
    const { code, message } = await refusalOf(one.register({ scope: 'node' }));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include("'shared'").and.include("'host'");
  });
});

/** Tests rounds over many plugins and volumes: a plugin that hangs or a quarantined volume does not block others. */
import { expect } from 'chai';
import { nobody } from '../../machines/volume/changes.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import type { PluginObservation, PluginPort } from '../../src/calls/plugin-port.js';
import { responseCodec } from '../../src/csi/codec.js';
import { csiController } from '../../src/csi-plugins/controller.js';
import type { ActorSystem, ActorView } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { StagecraftError } from '../../src/errors.js';
import { Reconciler } from '../../src/volumes/reconciler.js';
import { refusalOf } from '../refusal.js';
import { actorSystem } from '../support/actor-system.js';
import { FakePlugin } from './fake-plugin.js';
import { always } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const intervalMs = 300_000;

const seenWell: PluginObservation = {
  capabilities: new Set(['LIST_VOLUMES']),
  pluginCapabilities: new Set(),
  hasService: true,
  wellAtMs: 0,
};

describe('rounds of the reconciler', () => {
  let house: VolumeHouse;
  beforeEach(() => {
    house = new VolumeHouse();
  });
  afterEach(() => house.dispose());

  const attachedTo = (plugin: FakePlugin): string[] =>
    [...plugin.volumes.values()].flatMap(({ attached }) => [...attached]);
  const detach = (plugin: FakePlugin): void => {
    for (const { attached } of plugin.volumes.values()) attached.clear();
  };

  it('V20 plugin hangs in its listing: others are compared at each interval, it is not asked again', async () => {
    const tape = new FakePlugin();
    house.plugin.connect = ({ name }) => (name === 'tape' ? tape : house.plugin);
    await house.furnish();
    const connection = { socketPath: '/nowhere/tape.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'tape', allocId: 'tape-1', connection });
    const reported = [pluginName, 'tape'].map((name) => ({ name, nodeId: 'csi-a' }));
    await house.runtime.nodes.report({ id: 'a', plugins: reported });
    await house.volumes.create(spec('data'));
    await house.volumes.create(spec('more', { plugin: 'tape' }));
    await house.volumes.publish({ id: 'more' }, 'a');
    house.plugin.calls.splice(0);
    always(house.plugin, 'ListVolumes', { before: new Promise(() => {}) });
    for (let round = 1; round <= 3; round += 1) {
      detach(tape);
      await house.clock.advance(intervalMs);
      expect(attachedTo(tape)).to.deep.equal(['csi-a']);
    }
    expect(house.plugin.calls.map(({ rpc }) => rpc)).to.deep.equal(['ListVolumes']);
  });

  it('V20 plugin whose pages never end: the listing fails, naming the page', async () => {
    await house.furnish();
    await house.volumes.create(spec('data'));
    const listVolumes = house.plugin.listVolumes.bind(house.plugin);
    let pages = 0;
    house.plugin.listVolumes = async (request) => {
      pages += 1;
      // Alternates two tokens, long enough to show that nothing else ends the listing.
      return { ...(await listVolumes(request)), nextToken: pages < 1_000 ? `page ${pages % 2}` : '' };
    };
    const refusal = await refusalOf(house.volumes.reconcile(pluginName));
    expect(refusal).to.include({ code: 'CSI_ERROR', rpc: 'ListVolumes', answerClass: 'driver-bug' });
    expect(refusal.message).to.include('page 1').and.to.include('again');
    expect(pages).to.equal(3);
  });

  const endless: [what: string, page: { ids: string[]; tookMs: number }, after: string][] = [
    ['new tokens for ever', { ids: [], tookMs: 0 }, '10000 pages'],
    [
      'entries for ever',
      { ids: Array.from({ length: 50_000 }, (_, index) => `v-${index}`), tookMs: 0 },
      '550000 entries',
    ],
    ['slow pages for ever', { ids: ['v'], tookMs: 29_000 }, '319 s'],
  ];
  for (const [what, { ids, tookMs }, after] of endless)
    it(`V20, 34.17 plugin lists ${what}: the listing fails after ${after}, the volumes stay`, async () => {
      await house.furnish();
      await house.volumes.create(spec('data'));
      let page = 0;
      house.plugin.listVolumes = async () => {
        page += 1;
        if (tookMs > 0) await house.clock.advance(tookMs);
        return {
          entries: ids.map((volumeId) => ({
            volume: { volumeId, capacityBytes: 0n, volumeContext: {}, accessibleTopology: [] },
          })),
          nextToken: `page ${page}`,
        };
      };
      const refusal = await refusalOf(house.volumes.reconcile(pluginName));
      expect(refusal).to.include({ code: 'CSI_ERROR', rpc: 'ListVolumes', answerClass: 'driver-bug' });
      expect(refusal.message).to.equal(
        `ListVolumes: the plugin's list is not at its end after ${after}: it is read no further`,
      );
      expect((await house.volumes.get({ id: 'data' }))?.state).to.equal('created');
    });

  it('V20, 34.17 plugin lists bad entries: logged once, none of ours counts as missing, others are orphans', async () => {
    const lines: string[] = [];
    await house.furnish({ logger: { ...silentLogger, warn: (_, line) => lines.push(line) } });
    await house.volumes.create(spec('data'));
    const { encode, decode } = responseCodec('ListVolumes');
    const answers = (...ids: string[]) => {
      const bytes = encode({ entries: ids.map((volumeId) => ({ volume: { volumeId } })) });
      const at = bytes.indexOf('XYZ');
      if (at >= 0) bytes.set([0xff, 0xfe, 0x41], at);
      house.plugin.listVolumes = async () => decode(bytes);
    };
    const compared = async () => (await house.volumes.reconcile(pluginName)).map(({ differing }) => differing);
    answers('XYZ', 'foreign');
    expect(await compared()).to.deep.equal([[]]);
    expect(await compared()).to.deep.equal([[]]);
    expect(await house.volumes.orphans()).to.deep.equal({
      orphans: [{ plugin: pluginName, csiId: 'foreign' }],
      unknown: [],
      leftOut: [{ plugin: pluginName, count: 1, why: 'entries.volume.volumeId must be a text in UTF-8' }],
    });
    expect(lines.filter((line) => line.includes('left out'))).to.deep.equal([
      "plugin 'disk' lists volumes as CSI does not allow it: 1 left out, the first one as entries.volume.volumeId must be a " +
        'text in UTF-8. Meanwhile no volume counts as missing from its list: correct what these volumes have, or the driver',
    ]);
    answers('foreign');
    expect(await compared()).to.deep.equal([['default/data']]);
    expect(await house.volumes.orphans()).to.not.have.property('leftOut');
  });

  it('V20 volume in quarantine: the others get their observations first, then the caller gets the error', async () => {
    const told: string[] = [];
    const first = 'volume/default/a-first';
    const rows = [first, 'volume/default/data'].map((address): [string, ActorView] => [address, madeView(address)]);
    const reconciler = reconcilerOf({
      rows,
      ask: async (address) => {
        told.push(address);
        if (address === first) throw new StagecraftError('ACTOR_QUARANTINED', 'it is in quarantine', { address });
      },
    });
    const refusal = await refusalOf(reconciler.run(pluginName));
    expect(refusal).to.include({ code: 'ACTOR_QUARANTINED', address: first });
    expect(told).to.deep.equal([first, 'volume/default/data']);
  });

  it('V12 V20 another runtime leads after the wait for the plugin: no call', async () => {
    let isThere = false;
    let changed = (): void => {};
    let refusal: StagecraftError | undefined;
    const reconciler = reconcilerOf({
      rows: [['volume/default/data', madeView('volume/default/data')]],
      refusal: () => refusal,
      plugins: {
        observation: () => ({ ...seenWell, ...(!isThere && { trouble: 'it is away' }) }),
        watch: (_, hear) => {
          changed = hear;
          return () => {};
        },
      },
    });
    const refused = refusalOf(reconciler.run(pluginName));
    await house.rest();
    refusal = new StagecraftError('NOT_LEADER', 'another leads');
    isThere = true;
    changed();
    expect(await refused).to.equal(refusal);
    expect(house.plugin.calls).to.deep.equal([]);
  });

  interface Around {
    rows: [address: string, view: ActorView][];
    ask?: ActorSystem['ask'];
    refusal?: () => StagecraftError | undefined;
    plugins?: Partial<PluginPort>;
  }

  function reconcilerOf({ rows, ask = async () => {}, refusal = () => undefined, plugins }: Around): Reconciler {
    const engine = actorSystem({ page: async () => ({ rows }), ask });
    const port: PluginPort = {
      isKnown: () => true,
      observation: () => seenWell,
      client: async () => house.plugin,
      lookAgain: () => {},
      watch: () => () => {},
      ...plugins,
    };
    return new Reconciler({
      engine,
      controller: csiController({ timeoutMs: 1_000 }),
      access: new PluginAccess(port, { clock: house.clock, maxInFlight: 1 }),
      nodesOf: async () => new Map(),
      plugins: () => [],
      orphans: { seen: () => {} },
      refusal,
      clock: house.clock,
      logger: silentLogger,
      troubles: new TroubleLog({ clock: house.clock, logger: silentLogger }),
      intervalMs,
    });
  }
});

/** Makes the view of a created volume that the plugin does not list. */
function madeView(address: string): ActorView {
  const context = nobody({ namespace: 'default', id: address, seq: 0 });
  const csi = { id: address, context: {}, accessibleTopology: [] };
  return { seq: 1, state: 'created', context: { ...context, spec: { plugin: pluginName }, csi } };
}

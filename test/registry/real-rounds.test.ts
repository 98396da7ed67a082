/** What instances of real drivers are asked, over real sockets, and what is made of each answer. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import { openChannels } from '../../src/csi/channel.js';
import type { FaultyServer, Step } from '../../src/testing/index.js';
import { until } from '../until.js';
import { inRealScenes, often } from './real-scene.js';

const always = { times: 'always' } as const;
const initialFailure = 'failed initial fingerprint: ';

describe('instances of real drivers: rounds', () => {
  const scenes = inRealScenes(often);
  let server: FaultyServer;

  beforeEach(async () => {
    server = await scenes.scene.server();
  });

  const asked = (): string[] => server.calls().map(({ rpc }) => rpc);
  const count = (rpc: string): number => asked().filter((name) => name === rpc).length;

  it('I1 I2 a node plugin: who it is is asked once, then it is probed round by round, with no commit', async () => {
    const { scene } = scenes;
    await scene.register();
    expect(await scene.seenHealthy()).to.deep.include({ state: 'healthy', description: 'ready' });
    const seqOf = (): number | undefined =>
      scene.runtime.actors.list().find(({ address }) => address === pluginAddress('worker-1', 'csi-node', 'disk', 'a1'))
        ?.seq;
    const seq = seqOf();
    await until(() => count('NodeGetCapabilities') >= 4);
    expect(asked().slice(0, 11)).to.deep.equal([
      ...['GetPluginInfo', 'GetPluginCapabilities', 'NodeGetInfo', 'Probe', 'NodeGetCapabilities'],
      ...['Probe', 'NodeGetCapabilities', 'Probe', 'NodeGetCapabilities', 'Probe', 'NodeGetCapabilities'],
    ]);
    expect(seqOf()).to.equal(seq);
    const { fingerprint } = scene.status();
    expect(fingerprint).to.include({ pluginName: 'hostpath.csi.stagecraft', nodeId: 'node-1' });
    expect(fingerprint.capabilities).to.include('STAGE_UNSTAGE_VOLUME');
  });

  it('I2 a controller plugin is not asked about a node', async () => {
    await scenes.scene.register('csi-controller');
    await scenes.scene.seenHealthy('csi-controller');
    await until(() => count('ControllerGetCapabilities') >= 2);
    expect(asked().slice(0, 6)).to.deep.equal([
      ...['GetPluginInfo', 'GetPluginCapabilities', 'Probe', 'ControllerGetCapabilities'],
      ...['Probe', 'ControllerGetCapabilities'],
    ]);
  });

  it('I3 a first round that fails tells what it could read, unhealthy, and is tried again', async () => {
    const { scene } = scenes;
    server.script('NodeGetInfo', { code: 'INTERNAL', text: 'no metadata service' }, always);
    await scene.register();
    const { fingerprint } = await scene.seenUnhealthy(/^failed initial/);
    expect(scene.status().description).to.equal(`${initialFailure}NodeGetInfo: INTERNAL: no metadata service`);
    expect(fingerprint).to.include({ pluginName: 'hostpath.csi.stagecraft', capabilities: undefined });
    expect(fingerprint).to.not.have.property('nodeId');
    await until(() => count('NodeGetInfo') >= 3);
    expect(count('Probe')).to.equal(0);
    server.clear('NodeGetInfo');
    expect((await scene.seenHealthy()).fingerprint.nodeId).to.equal('node-1');
  });

  it('I4 not ready is not healthy yet, an error is unhealthy, ready or nothing said is healthy', async () => {
    const { scene } = scenes;
    const probe = (step: Step<'Probe'>): FaultyServer => server.script('Probe', step, always);
    probe({ answer: { ready: false } });
    await scene.register();
    await scene.seenUnhealthy(/^initialising: the plugin says it is not ready yet$/);
    expect(count('NodeGetCapabilities')).to.equal(0);
    probe({ answer: {} });
    await scene.seenHealthy();
    for (const code of ['FAILED_PRECONDITION', 'UNAVAILABLE', 'UNKNOWN'] as const) {
      probe({ code, text: 'no kernel module' });
      await scene.seenUnhealthy(new RegExp(`^Probe: ${code}: no kernel module$`));
    }
    probe({ answer: { ready: false } });
    await scene.seenUnhealthy(/^initialising/);
    probe({ answer: { ready: true } });
    await scene.seenHealthy();
  });

  const badBasics: [title: string, rpc: 'GetPluginInfo' | 'NodeGetInfo', answer: object, reason: string][] = [
    ['an empty name', 'GetPluginInfo', { vendorVersion: '1' }, 'the plugin name is empty'],
    [
      'a name of 64 bytes',
      'GetPluginInfo',
      { name: 'é'.repeat(32) },
      'the plugin name is 64 bytes long, but CSI allows 63',
    ],
    ['no node id', 'NodeGetInfo', {}, 'the node id is empty'],
    [
      'a node id of 257 bytes',
      'NodeGetInfo',
      { nodeId: 'n'.repeat(257) },
      'the node id is 257 bytes long, but CSI allows 256',
    ],
  ];
  for (const [title, rpc, answer, reason] of badBasics) {
    it(`I5 ${title}: unhealthy with that reason, not probed, and healthy once that is mended`, async () => {
      const { scene } = scenes;
      server.script(rpc, { answer }, always);
      await scene.register();
      await scene.seenUnhealthy(/^failed initial/);
      expect(scene.status().description).to.equal(initialFailure + reason);
      expect(count('Probe')).to.equal(0);
      server.clear();
      await scene.seenHealthy();
    });
  }

  it('I5 a limit of 0 volumes is none', async () => {
    server.script('NodeGetInfo', { answer: { nodeId: 'n', maxVolumesPerNode: 0 } });
    await scenes.scene.register();
    expect((await scenes.scene.seenHealthy()).fingerprint).to.not.have.property('maxVolumes');
  });

  it('I6 capabilities are unknown until read, stay while unhealthy, and unknown ones are left out', async () => {
    const { scene } = scenes;
    server.script('NodeGetCapabilities', { code: 'INTERNAL' }, always);
    await scene.register();
    expect((await scene.seenUnhealthy(/NodeGetCapabilities: INTERNAL/)).fingerprint.capabilities).to.equal(undefined);
    const capabilities = (['UNKNOWN', 'STAGE_UNSTAGE_VOLUME', '77'] as const).map((type) => ({ rpc: { type } }));
    server.script('NodeGetCapabilities', { answer: { capabilities } }, always);
    await scene.seenHealthy();
    server.script('Probe', { code: 'UNAVAILABLE' }, always);
    const { fingerprint } = await scene.seenUnhealthy(/UNAVAILABLE/);
    expect(fingerprint.capabilities).to.deep.equal(['STAGE_UNSTAGE_VOLUME']);
  });

  it('I7 a node-only socket whose driver advertises a Controller: healthy, its capabilities unknown', async () => {
    const { scene } = scenes;
    server.script('ControllerGetCapabilities', { code: 'UNIMPLEMENTED' }, always);
    await scene.register('csi-controller');
    const { description, fingerprint } = await scene.seenHealthy('csi-controller');
    expect(description).to.equal(
      'ready; no Controller service on this socket (ControllerGetCapabilities is UNIMPLEMENTED)',
    );
    expect(fingerprint.pluginCapabilities).to.include('CONTROLLER_SERVICE');
    expect(fingerprint.capabilities).to.equal(undefined);
  });

  it('I9 health is told when it changes, not round by round', async () => {
    const { scene } = scenes;
    await scene.register();
    await scene.seenHealthy();
    for (const code of ['INTERNAL', 'UNAVAILABLE'] as const) {
      server.script('Probe', { code, text: 'the array restarts' }, always);
      await scene.seenUnhealthy(new RegExp(code));
      const probes = count('Probe');
      await until(() => count('Probe') >= probes + 3);
    }
    server.clear();
    await scene.seenHealthy();
    await scene.deregister();
    expect(await scene.told(6)).to.deep.equal([
      'registered a1',
      'a1 unknown → true: ready',
      'a1 healthy → false: Probe: INTERNAL: the array restarts',
      'a1 unhealthy → true: ready',
      'deregistered a1',
      'a1 healthy → false: shut down',
    ]);
  });

  it('I11 deregistered with its own look in flight: that is cancelled at once, and nobody asks again', async () => {
    const { scene } = scenes;
    server.script('Probe', { hang: 'before' });
    await scene.register();
    const { number } = await server.waitForCall('Probe');
    await scene.deregister();
    await server.waitForGone(number);
    await until(() => openChannels() === 0);
    const { length } = server.calls();
    expect(await scene.told(2)).to.deep.equal(['registered a1', 'deregistered a1']);
    await scene.runtime.close();
    expect(server.calls()).to.have.lengthOf(length);
  });

  it('I13 a deregistered plugin is probed no more; others on its socket are', async () => {
    const { scene } = scenes;
    await scene.register('csi-node');
    await scene.register('csi-controller');
    await Promise.all([scene.seenHealthy('csi-node'), scene.seenHealthy('csi-controller')]);
    await scene.deregister('csi-node');
    await scene.runtime.plugins.gone(scene.instance('csi-node'), new AbortController().signal);
    const [nodeRounds, controllerRounds] = [count('NodeGetCapabilities'), count('ControllerGetCapabilities')];
    await until(() => count('ControllerGetCapabilities') >= controllerRounds + 3);
    expect(count('NodeGetCapabilities')).to.equal(nodeRounds);
  });

  it('I12 a monolith is two instances on one connection, which goes with the last of them', async () => {
    const { scene } = scenes;
    await scene.register('csi-node');
    await scene.register('csi-controller');
    await Promise.all([scene.seenHealthy('csi-node'), scene.seenHealthy('csi-controller')]);
    expect(openChannels()).to.equal(1);
    await server.replaceSocket();
    const before = server.calls().length;
    const isNew = (rpc: string): boolean =>
      server
        .calls()
        .slice(before)
        .some((call) => call.rpc === rpc && call.socket === 2);
    await until(() => isNew('NodeGetCapabilities') && isNew('ControllerGetCapabilities'));
    expect(openChannels()).to.equal(1);
    await scene.deregister('csi-node');
    await scene.seenHealthy('csi-controller');
    const controls = count('ControllerGetCapabilities');
    await until(() => count('ControllerGetCapabilities') > controls);
    expect(openChannels()).to.equal(1);
    await scene.deregister('csi-controller');
    await until(() => openChannels() === 0);
  });
});

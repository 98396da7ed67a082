/** An agent that led, was frozen while another led, and leads again: what it knew of its first term is no truth. */
import { expect } from 'chai';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import { refusalOf } from '../refusal.js';
import { pluginName, spec } from '../volumes/volume-house.js';
import { type Agent, LeaderLab, leaseTtlMs } from './leader-lab.js';

const said: Fingerprint = {
  healthy: true,
  description: 'ready',
  basic: { pluginName: 'fake.example', vendorVersion: '1', nodeId: 'csi-n1' },
};

describe('a runtime that leads again', () => {
  let lab: LeaderLab;
  let first: Agent;
  let second: Agent;
  beforeEach(async () => {
    lab = new LeaderLab();
    const nodePlugin = { connect: () => nodePlugin, close: () => {}, fingerprint: async () => said };
    first = await lab.agent('n1', { dispensers: { 'csi-controller': lab.plugin, 'csi-node': nodePlugin } });
    second = await lab.agent('n2');
  });
  afterEach(() => lab.dispose());

  /** The other one leads, does what is to be done, and ends; then the first leads again. */
  async function meanwhile(work: () => Promise<unknown>): Promise<void> {
    first.freeze();
    await lab.clock.advance(leaseTtlMs + 1_000);
    expect(second.runtime.leadership.isOurs).to.equal(true);
    await work();
    first.thaw();
    await lab.clock.advance(leaseTtlMs);
    await lab.close(second);
    await lab.clock.advance(2_000);
    expect(first.runtime.leadership.isOurs).to.equal(true);
  }

  async function ownState(): Promise<string> {
    return (await first.runtime.nodes.status('n1')).state;
  }

  for (const [what, done] of [
    ['fenced', 'down'],
    ['removed', 'gone'],
  ] as const)
    it(`N1 N3 its own node was ${what} by the other: it is reported anew`, async () => {
      const connection = { socketPath: '/nowhere/disk.sock' };
      await first.runtime.plugins.register({ type: 'csi-node', name: pluginName, allocId: 'disk-n', connection });
      await lab.rest();
      expect(await ownState()).to.equal('ready');
      await meanwhile(async () => {
        const { nodes } = second.runtime;
        await (done === 'down' ? nodes.fence('n1', 'it did not answer') : nodes.remove('n1'));
        await lab.rest();
        const left = (await second.runtime.nodes.list()).map(({ state }) => state);
        expect(left).to.deep.equal(done === 'down' ? ['down'] : []);
      });
      expect(await ownState()).to.equal('ready');
    });

  it('V18 the other has filled a node: it takes no more', async () => {
    await first.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a', maxVolumes: 2 }] });
    for (const id of ['v0', 'v1', 'v2']) await first.runtime.volumes.create(spec(id));
    await first.runtime.volumes.publish({ id: 'v0' }, 'a');
    await meanwhile(() => second.runtime.volumes.publish({ id: 'v1' }, 'a'));
    expect(await refusalOf(first.runtime.volumes.publish({ id: 'v2' }, 'a'))).to.include({ code: 'NODE_FULL' });
  });
});

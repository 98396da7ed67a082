/**
 * Kills the runtime around the commits of a call that waits for its plugin: one call in the end, and in-doubt calls are
 * kept.
 */
import { expect } from 'chai';
import type { Commit } from '../../src/engine/store.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { key } from './data-house.js';
import { nodes, pluginName, spec, VolumeHouse } from './volume-house.js';

const address = 'volume/default/data';
const ill = { healthy: false, description: 'initialising' };
const well = { healthy: true, description: 'ready' };

const isOutcome =
  (status: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.output?.status === status;

describe('a waiting call whose runtime is killed', () => {
  let kept: ReturnType<typeof inMemory>;
  let one: VolumeHouse;
  let two: VolumeHouse;

  beforeEach(() => {
    kept = inMemory();
    one = new VolumeHouse();
    two = new VolumeHouse();
    two.store = kept.store();
  });
  afterEach(async () => {
    expect([...one.plugin.wrongs, ...two.plugin.wrongs]).to.deep.equal([]);
    await one.dispose().catch(() => {}); // A killed runtime can't be closed in order.
    await two.dispose();
  });

  /**
   * Creates the volume, then publishes it on node a while the plugin is away.
   * @param cut commit at which the runtime is killed
   */
  async function waits(cut: { status: string; done: boolean }): Promise<void> {
    const cable = new Cable(kept.store());
    one.store = cable;
    await one.furnish({ nodeId: 'one' });
    await one.volumes.create(spec('data'));
    one.plugin.health = ill;
    await one.clock.advance(31_000);
    one.plugin.calls.length = 0;
    cable.cutAt({ is: isOutcome(cut.status), done: cut.done });
    one.volumes.publish(key, 'a').catch(() => {});
    await one.rest();
    one.plugin.health = well;
    await one.clock.advance(31_000);
    await cable.whenCut;
    expect(one.plugin.told()).to.deep.equal([]);
  }

  async function goesOn(): Promise<void> {
    await one.runtime.close().catch(() => {});
    await kept.bury(kept.store());
    for (const [id, volume] of one.plugin.volumes) two.plugin.volumes.set(id, volume);
    await two.open({ nodeId: 'two' });
    await two.register();
    for (const [id, nodeId] of Object.entries(nodes))
      await two.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId }] });
    await two.clock.advance(31_000);
  }

  const codes = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { event } of two.runtime.journal.entries(address)) if (event?.error) found.push(event.error.code);
    return found;
  };
  const stateOn = async (nodeId: string) => (await two.volumes.get(key))?.publications[nodeId]?.state;

  for (const [title, cut, interruptions] of [
    ['killed before the wait is committed: the call may have been sent, and is repeated', ['must-wait', false], 1],
    ['killed after the wait is committed: no call was sent, and it keeps waiting', ['must-wait', true], 0],
    ['killed before the admission is committed: no call was sent, and it keeps waiting', ['admitted', false], 0],
    ['killed after the admission is committed: the call may have been sent, and is repeated', ['admitted', true], 1],
  ] as const) {
    it(`V8 ${title}`, async () => {
      const [status, done] = cut;
      await waits({ status, done });
      await goesOn();
      expect(two.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
      expect(await stateOn('a')).to.equal('published');
      expect(await codes()).to.deep.equal(Array(interruptions).fill('INTERRUPTED'));
    });
  }

  it('V8 unpublished while it waits in the next runtime: cancelled at once, as no call was sent', async () => {
    await waits({ status: 'must-wait', done: true });
    two.plugin.health = ill;
    await goesOn();
    expect(await stateOn('a')).to.equal('pending-publish');
    await two.volumes.unpublish(key, 'a');
    expect(await stateOn('a')).to.equal(undefined);
    expect(two.plugin.told()).to.deep.equal([]);
  });

  it('V8 killed before the wait was committed, unpublished in the next runtime: resolved first', async () => {
    await waits({ status: 'must-wait', done: false });
    two.plugin.health = ill;
    await goesOn();
    const gone = two.volumes.unpublish(key, 'a');
    await two.rest();
    expect(await stateOn('a')).to.equal('pending-publish');
    two.plugin.health = well;
    await two.clock.advance(31_000);
    const told = ['ControllerPublishVolume csi-a: OK'];
    expect(two.plugin.told()).to.deep.equal(told);
    expect((await two.volumes.get(key))?.error?.message).to.include('an earlier call that this one undoes');
    // The call of the earlier runtime may still arrive.
    await two.clock.advance(125_000);
    await gone;
    expect(two.plugin.told()).to.deep.equal([...told, 'ControllerUnpublishVolume csi-a: OK']);
  });
});

/** Tests the slots of a node: their commits, their owners, and slots after a lost answer or volume. */
import { expect } from 'chai';
import type { Commit } from '../../src/engine/store.js';
import { localClaims } from '../../src/runtime/local-claims.js';
import { managerOf } from '../volumes/manager-of.js';
import { gate } from '../volumes/scripts.js';
import { full, ids, isEvent, SlotsScene } from './slots-scene.js';

describe('the slots of a node', () => {
  let scene: SlotsScene;
  beforeEach(async () => {
    scene = await new SlotsScene().open();
  });
  afterEach(() => scene.dispose());

  const eventsOf = (address: string): string[] =>
    scene.commits.filter((one) => one.address === address).map(({ journal }) => JSON.parse(journal).event?.type);
  const reserved = async (): Promise<string[]> =>
    ((await scene.node()).slots.disk?.reserved ?? []).map(({ volume }) => volume);

  it('V18 node without a limit: no request to the node, and no slot is stored', async () => {
    await scene.report();
    scene.commits.length = 0;
    expect(await scene.publish('v0')).to.equal('there');
    await scene.runtime.volumes.unpublish({ id: 'v0' }, 'a');
    expect(eventsOf('node/a')).to.deep.equal([]);
    expect(eventsOf('volume/default/v0')).to.have.lengthOf(4);
    expect(await scene.volume('v0')).to.not.have.property('slots');
  });

  it('V18 node with a limit: one commit to publish, one to unpublish, none if it is full', async () => {
    for (const id of ['v0', 'v1']) await scene.publish(id);
    await scene.runtime.volumes.unpublish({ id: 'v0' }, 'a');
    await scene.publish('v2');
    scene.commits.length = 0;
    expect(await scene.publish('v3')).to.equal(full);
    expect(scene.commits).to.deep.equal([]);
    await scene.runtime.volumes.unpublish({ id: 'v1' }, 'a');
    await scene.publish('v3');
    await scene.lab.rest();
    expect(eventsOf('node/a')).to.deep.equal(['node.release-slots', 'node.reserve-slot']);
    expect(eventsOf('volume/default/v3')).to.have.lengthOf(2);
  });

  it('V18 slots are in the journal of the node: after a restart the last slot is not given twice', async () => {
    await scene.publish('v0');
    expect(await reserved()).to.deep.equal(['volume/default/v0']);
    scene.agent.die();
    await scene.next();
    const outcomes = await Promise.all(['v1', 'v2', 'v3'].map((id) => scene.publish(id)));
    expect(outcomes).to.deep.equal(['there', full, full]);
    await scene.checkRoom();
  });

  it('V18 two volumes request the last slot at once: one gets it', async () => {
    await scene.publish('v0');
    expect(await Promise.all([scene.publish('v1'), scene.publish('v2')])).to.deep.equal(['there', full]);
    await scene.checkRoom();
  });

  it('V18 volume published again, or in another mode: has one slot', async () => {
    await scene.publish('v0');
    await scene.publish('v0');
    const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    const other = scene.runtime.volumes.publish({ id: 'v0' }, 'a', { capability }).catch(() => {});
    await scene.runtime.volumes.unpublish({ id: 'v0' }, 'a').catch(() => {});
    await other;
    await scene.lab.rest();
    await scene.runtime.volumes.unpublish({ id: 'v0' }, 'a');
    await scene.checkRoom();
    await scene.unpublishAll();
  });

  it('V18 H4 volume claimed and published in one request: no claim without a slot', async () => {
    const claimed: string[] = [];
    const both = (id: string): Promise<unknown> | undefined =>
      localClaims(managerOf(scene.runtime)).claimAndPublish?.(
        { namespace: 'default', id },
        {
          ...{ allocId: 'w', nodeId: 'a', mode: 'write', readOnly: false },
          ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
        },
        { signal: new AbortController().signal, claimed: () => claimed.push(id) },
      );
    await both('v0');
    await both('v1');
    expect(await reserved()).to.deep.equal(['volume/default/v0', 'volume/default/v1']);
    expect(await both('v2')?.catch(({ code }) => code)).to.equal('NODE_FULL');
    expect(claimed).to.deep.equal(['v0', 'v1']);
  });

  it('V18 volume deleted with force, also after it was created again: leaves no slot', async () => {
    await scene.publish('v0');
    await scene.publish('v1');
    await scene.runtime.volumes.delete({ id: 'v0' }, { force: true });
    await scene.lab.rest();
    expect(await reserved()).to.deep.equal(['volume/default/v1']);
    await scene.prepare();
    await scene.checkRoom();
    await scene.unpublishAll();
  });

  it('V18 N3 fenced node: its slots are free again', async () => {
    await scene.publish('v0');
    await scene.publish('v1');
    await scene.runtime.nodes.fence('a', 'its power is off');
    await scene.lab.rest();
    expect(await reserved()).to.deep.equal([]);
    await scene.report(2);
    await scene.checkRoom();
  });

  it('V18 N3 node removed, then reported while a volume is still there: the volume counts', async () => {
    await scene.publish('v0');
    const held = gate();
    scene.lab.plugin.script = ({ rpc }) => (rpc === 'ControllerUnpublishVolume' ? { before: held.passed } : undefined);
    await scene.runtime.nodes.remove('a');
    await scene.lab.rest();
    await scene.report(2);
    expect(await Promise.all([scene.publish('v1'), scene.publish('v2')])).to.deep.equal(['there', full]);
    held.open();
    await scene.lab.rest();
    scene.lab.plugin.script = () => undefined;
    expect(await scene.publish('v2')).to.equal('there');
    await scene.checkRoom();
  });

  /** Lets the store write these commits without an answer for a time. */
  function loses(is: (item: Commit) => boolean, forMs: number): void {
    const untilMs = scene.lab.clock.monotonicMs() + forMs;
    scene.gate = async (items, write) => {
      const answer = await write();
      if (items.some(is) && scene.lab.clock.monotonicMs() < untilMs) throw new Error('no answer');
      return answer;
    };
  }

  for (const event of ['node.reserve-slot', 'volume.publish'])
    it(`V18 answer to ${event} lost: the caller gets an unknown outcome, and no slot is lost`, async () => {
      loses(isEvent(event), 20_000);
      const outcome = scene.publish('v0');
      await scene.lab.clock.advance(60_000);
      expect(await outcome).to.equal('STORE_UNAVAILABLE');
      await scene.checkRoom();
      await scene.unpublishAll();
    });

  it('V18 outcome of a publish unknown: its slot is not given to another volume', async () => {
    await scene.publish('v0');
    loses(isEvent('volume.publish'), 20_000);
    const outcome = scene.publish('v1');
    await scene.lab.clock.advance(10_000);
    expect(await outcome).to.equal('STORE_UNAVAILABLE');
    expect(await scene.publish('v2')).to.equal(full);
    await scene.lab.clock.advance(60_000);
    expect(await scene.publish('v2')).to.equal(full);
    expect(await scene.publish('v1')).to.equal('there');
    expect(ids).to.include('v1');
  });
});

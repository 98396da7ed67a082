/**
 * A node that is reported, goes and is fenced, as the runtime dies around each commit of that: what was committed is
 * carried out by the next, for every volume that was there; what was not is as if nobody had asked.
 */
import { expect } from 'chai';
import type { Commit } from '../../src/engine/store.js';
import { refusalOf } from '../refusal.js';
import { eventually } from '../scenarios/redis-scene.js';
import { AnswersScene, capability, nodes, topology } from '../volumes/answers-scene.js';

const plugins = [{ name: 'disk', nodeId: nodes.b, topology }];

const isEvent =
  (type: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.type === type;

describe('nodes whose runtime dies', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
  });
  after(() => scene.end());

  /** Two volumes, claimed for node b and published there. */
  async function used(): Promise<string[]> {
    const first = scene.begin();
    const ids = [first, `${first}-too`];
    await scene.runtime.nodes.report({ id: 'b', plugins });
    for (const id of ids) {
      await scene.runtime.volumes.create(scene.spec(id));
      await scene.runtime.volumes.claim({ id }, { allocId: 'w', nodeId: 'b', mode: 'write', ...capability });
      await scene.runtime.volumes.publish({ id }, 'b');
    }
    return ids;
  }

  /** It dies at the commit of this event, and the next runtime comes up. */
  async function dies(type: string, done: boolean, work: () => Promise<unknown>): Promise<void> {
    scene.cutAt({ is: isEvent(type), done });
    work().catch(() => {}); // of a runtime that will not live to answer
    await scene.whenCut;
    await scene.succeed();
  }

  const stateOf = async (id: string) => (await scene.runtime.nodes.status(id)).state;

  /** Nobody has them any more, and the node takes volumes again once it reports. */
  async function settles(ids: string[]): Promise<void> {
    for (const id of ids)
      await scene.becomes(id, (volume) => volume?.claims.length === 0 && Object.keys(volume.publications).length === 0);
    expect(scene.real().map(({ attached }) => attached)).to.deep.equal([[], []]);
    await scene.runtime.nodes.report({ id: 'b', plugins });
    await eventually('node b is ready', async () => (await stateOf('b')) === 'ready');
    for (const id of ids) {
      await scene.runtime.volumes.publish({ id }, 'b');
      await scene.checkSettledOf(ids);
      await scene.runtime.volumes.unpublish({ id }, 'b');
      await scene.runtime.volumes.delete({ id });
      ids = ids.filter((one) => one !== id);
    }
    expect(scene.real()).to.deep.equal([]);
    scene.checkCalls();
  }

  const isFenced = (): Promise<void> =>
    eventually('node b is fenced', async () => (await scene.runtime.nodes.status('b')).fence?.isDone === true);

  it('N1 killed before its first report is committed: there is none; reported again, it is ready', async () => {
    scene.begin();
    const own = [{ name: 'disk', nodeId: 'node-x' }];
    await dies('node.report', false, () => scene.runtime.nodes.report({ id: 'new', plugins: own }));
    expect(await refusalOf(scene.runtime.nodes.status('new'))).to.include({ code: 'NODE_NOT_FOUND' });
    await scene.runtime.nodes.report({ id: 'new', plugins: own });
    expect(await scene.runtime.nodes.status('new')).to.deep.include({ state: 'ready', plugins: own });
  });

  it('N1 killed once another report is committed: that is what it has', async () => {
    scene.begin();
    await scene.runtime.nodes.report({ id: 'other', plugins: [{ name: 'disk', nodeId: 'node-y' }] });
    const renamed = [{ name: 'disk', nodeId: 'node-z' }];
    await dies('node.report', true, () => scene.runtime.nodes.report({ id: 'other', plugins: renamed }));
    expect(await scene.runtime.nodes.status('other')).to.deep.include({ state: 'ready', plugins: renamed });
  });

  for (const done of [false, true]) {
    const moment = done ? 'once' : 'before';

    it(`N3 killed ${moment} it is committed that it is down: its volumes stay either way`, async () => {
      const ids = await used();
      await dies('node.down', done, () => scene.runtime.nodes.down('b'));
      expect(await stateOf('b')).to.equal(done ? 'down' : 'ready');
      for (const id of ids)
        expect((await scene.runtime.volumes.get({ id }))?.publications.b?.state).to.equal('published');
      expect(scene.ends('ControllerUnpublishVolume')).to.deep.equal([]);
      await scene.runtime.nodes.fence('b', 'its power is off');
      await isFenced();
      await settles(ids);
    });

    it(`N3 killed ${moment} a fence is committed: ${done ? 'it is carried out' : 'nothing has happened'}`, async () => {
      const ids = await used();
      await dies('node.fence', done, () => scene.runtime.nodes.fence('b', 'its power is off'));
      if (!done) {
        expect(await scene.runtime.nodes.status('b')).to.not.have.property('fence');
        for (const id of ids) expect((await scene.runtime.volumes.get({ id }))?.claims[0]?.state).to.equal('taken');
        await scene.runtime.nodes.fence('b', 'its power is off');
      }
      await isFenced();
      await settles(ids);
    });

    it(`N3 killed ${moment} its removal is committed: ${done ? 'it is carried out' : 'it is there'}`, async () => {
      const ids = await used();
      await dies('node.remove', done, () => scene.runtime.nodes.remove('b'));
      if (!done) {
        expect(await stateOf('b')).to.equal('ready');
        await scene.runtime.nodes.remove('b');
      }
      await settles(ids);
    });

    for (const [what, type] of [
      ['the first volume has heard of a fence', 'volume.fence'],
      ['it is committed that all have heard', 'xstate.done.actor.releaseVolumes'],
      ['the first of them is taken away', 'xstate.done.actor.controllerUnpublish'],
    ] as const)
      it(`N3 killed ${moment} ${what}: all of them hear, and are taken away`, async () => {
        const ids = await used();
        await dies(type, done, () => scene.runtime.nodes.fence('b', 'its power is off'));
        await isFenced();
        await settles(ids);
      });

    it(`N3 killed ${moment} the report of one that is being fenced is committed: the fence goes first`, async () => {
      const ids = await used();
      await scene.runtime.nodes.fence('b', 'its power is off');
      await dies('node.report', done, () => scene.runtime.nodes.report({ id: 'b', plugins }));
      await settles(ids);
    });
  }
});

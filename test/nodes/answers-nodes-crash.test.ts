/**
 * Kills the runtime around each commit of a report, a fence and a removal of a node. The next runtime carries out what was
 * committed, for every volume on the node; an uncommitted request has no effect.
 */
import { expect } from 'chai';
import type { Commit } from '../../src/engine/store.js';
import { refusalOf } from '../refusal.js';
import { eventually } from '../until.js';
import { AnswersScene, capability, nodes, topology } from '../volumes/answers-scene.js';

const plugins = [{ name: 'disk', nodeId: nodes.b, topology }];

const isEvent =
  (type: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.type === type;

describe('nodes whose runtime is killed', () => {
  let scene: AnswersScene;
  before(async () => {
    // A publish waits so long for an unpublish of the killed runtime.
    scene = await AnswersScene.start({ calls: { timeoutMs: 1_000 } });
    await scene.furnish();
  });
  after(() => scene.end());

  /** Makes two volumes, claimed and published on node b. */
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

  /** Kills the runtime at the commit of this event, then starts the next one. */
  async function dies(type: string, done: boolean, work: () => Promise<unknown>): Promise<void> {
    scene.cutAt({ is: isEvent(type), done });
    work().catch(() => {}); // A killed runtime never answers.
    await scene.whenCut;
    await scene.succeed();
  }

  const stateOf = async (id: string) => (await scene.runtime.nodes.status(id)).state;

  /** Checks that no claim or publication remains, and that the node takes volumes again after a report. */
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

  it('N1 killed before the first report is committed: no node; ready after another report', async () => {
    scene.begin();
    const own = [{ name: 'disk', nodeId: 'node-x' }];
    await dies('node.report', false, () => scene.runtime.nodes.report({ id: 'new', plugins: own }));
    expect(await refusalOf(scene.runtime.nodes.status('new'))).to.include({ code: 'NODE_NOT_FOUND' });
    await scene.runtime.nodes.report({ id: 'new', plugins: own });
    expect(await scene.runtime.nodes.status('new')).to.deep.include({ state: 'ready', plugins: own });
  });

  it('N1 killed after a second report is committed: the node has that report', async () => {
    scene.begin();
    await scene.runtime.nodes.report({ id: 'other', plugins: [{ name: 'disk', nodeId: 'node-y' }] });
    const renamed = [{ name: 'disk', nodeId: 'node-z' }];
    await dies('node.report', true, () => scene.runtime.nodes.report({ id: 'other', plugins: renamed }));
    expect(await scene.runtime.nodes.status('other')).to.deep.include({ state: 'ready', plugins: renamed });
  });

  for (const done of [false, true]) {
    const moment = done ? 'after' : 'before';

    it(`N3 killed ${moment} the change to down is committed: its volumes stay in both cases`, async () => {
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

    it(`N3 killed ${moment} a fence is committed: ${done ? 'carried out' : 'no effect'}`, async () => {
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

    it(`N3 killed ${moment} its removal is committed: ${done ? 'carried out' : 'no effect'}`, async () => {
      const ids = await used();
      await dies('node.remove', done, () => scene.runtime.nodes.remove('b'));
      if (!done) {
        expect(await stateOf('b')).to.equal('ready');
        await scene.runtime.nodes.remove('b');
      }
      await settles(ids);
    });

    for (const [what, type] of [
      ['the first volume handles a fence', 'volume.fence'],
      ['the end of the fence is committed', 'xstate.done.actor.releaseVolumes'],
      ['the first volume is unpublished', 'xstate.done.actor.controllerUnpublish'],
    ] as const)
      it(`N3 killed ${moment} ${what}: all volumes are unpublished`, async () => {
        const ids = await used();
        await dies(type, done, () => scene.runtime.nodes.fence('b', 'its power is off'));
        await isFenced();
        await settles(ids);
      });

    it(`N3 killed ${moment} a report during a fence is committed: the fence is completed first`, async () => {
      const ids = await used();
      await scene.runtime.nodes.fence('b', 'its power is off');
      await dies('node.report', done, () => scene.runtime.nodes.report({ id: 'b', plugins }));
      await settles(ids);
    });
  }
});

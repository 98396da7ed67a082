/**
 * An agent that is killed while it unmounts what its driver has left: the next one unmounts it. The driver, a process of its
 * own, says OK to each unpublish and unstage of the volume, and does nothing. Needs root.
 */
import { expect } from 'chai';
import { thirdOf } from '../support/third.js';
import type { MatrixMoment, MatrixStep } from './kill-mounts-agent.js';
import { mountPathsBelow } from './kill-mounts-host.js';
import { MatrixScene } from './kill-mounts-scene.js';

const volume = 'files';
const undoing = ['NodeUnpublishVolume', 'NodeUnstageVolume'] as const;
const address = 'mount/n1/default/files';
const commitOf = (what: string): MatrixStep => ({ kind: 'commit', of: address, what, nth: 1 });
const callOf = (what: string): MatrixStep => ({ kind: 'call', of: volume, what, nth: 1 });

/** Of a call. The next stage of the volume waits for that, and 5 s more, where a killed agent left an unstage. */
const timeoutMs = 5_000;

const moments: [string, MatrixMoment][] = (
  [
    ['after the driver says that it is unpublished', callOf('NodeUnpublishVolume'), 'after'],
    ['before the commit that it is unpublished', commitOf('xstate.done.actor.nodeUnpublish'), 'before'],
    ['after the commit that it is unpublished', commitOf('xstate.done.actor.nodeUnpublish'), 'after'],
    ['after the driver says that it is unstaged', callOf('NodeUnstageVolume'), 'after'],
    ['before the commit that it is unstaged', commitOf('xstate.done.actor.nodeUnstage'), 'before'],
    ['after the commit that it is unstaged', commitOf('xstate.done.actor.nodeUnstage'), 'after'],
  ] as const
).map(([what, step, when]) => [what, { step, when, dying: ['agent'] }]);

describe('M10 H2 an agent is killed, whose driver says OK and leaves its mount', () => {
  let scene: MatrixScene;
  /** Paths mounted while only the keeper has volumes. */
  let empty: string[];

  before(async () => {
    scene = await MatrixScene.start([volume], 'script', timeoutMs);
    empty = mountPathsBelow(scene.csiDir);
  });
  after(() => scene?.end());
  afterEach(() => scene.driver?.clear());

  /** From here on the driver does nothing of this, and says that it has. */
  const forget = async (): Promise<void> => {
    const volumeId = (await scene.look()).volumes.find(({ key }) => key.id === volume)?.csiId;
    for (const rpc of undoing) scene.driver?.script(rpc, { answer: {} }, { times: 'always', where: { volumeId } });
  };
  const expectNothing = async (): Promise<void> => {
    expect(mountPathsBelow(scene.csiDir)).to.deep.equal(empty);
    const { mounts, volumes } = await scene.look();
    expect(mounts.map(({ volume: { id } }) => id)).to.deep.equal(['shared']);
    expect(volumes.find(({ key }) => key.id === volume)?.claims).to.deep.equal([]);
  };

  for (const [what, moment] of thirdOf(moments)) {
    it(`${what}: the next one unmounts it`, async () => {
      await scene.prepare();
      await forget();
      await scene.arm(moment);
      expect(await scene.through(moment.dying, () => scene.release())).to.equal('agent died');
      await scene.release();
      await expectNothing();
    });
  }

  it('M7 agent and driver are killed once a target is mounted: it is unmounted when it is released', async () => {
    await scene.beImpatient();
    const volumeId = (await scene.look()).volumes.find(({ key }) => key.id === volume)?.csiId;
    const step = callOf('NodePublishVolume');
    await scene.arm({ step, when: 'after', dying: ['agent'] });
    scene.driver?.script('NodePublishVolume', { die: 'after' }, { where: { volumeId } });
    // A repeat would be answered, and the mount would be known by that.
    scene.driver?.script('NodePublishVolume', { code: 'UNAVAILABLE' }, { times: 'always', where: { volumeId } });
    await forget();
    expect(await scene.through(['agent', 'driver'], () => scene.prepare())).to.equal('agent died');
    await scene.release();
    await expectNothing();
  });
});

/**
 * An agent that is killed during a call to its driver, which is a task of its own: what undoes that call waits for as long
 * as the driver lives, and not for the time of the call once it has died. Needs root.
 */
import { expect } from 'chai';
import { eventually } from '../until.js';
import type { MatrixMoment } from './kill-mounts-agent.js';
import { mountPathsBelow } from './kill-mounts-host.js';
import { comer, MatrixScene } from './kill-mounts-scene.js';

/** Of a call: no test waits for it. */
const timeoutMs = 3_600_000;
const calls = ['NodeStageVolume', 'NodePublishVolume'];

describe('M7 H2 an agent is killed during a call to its driver, a task', () => {
  let scene: MatrixScene;
  /** Paths mounted while only the keeper has volumes. */
  let empty: string[];

  before(async () => {
    scene = await MatrixScene.start(['files'], 'task', timeoutMs);
    empty = mountPathsBelow(scene.csiDir);
  });
  after(() => scene?.end());

  const strike = async (what: string, when: MatrixMoment['when'], dying: MatrixMoment['dying']): Promise<void> => {
    await scene.arm({ step: { kind: 'call', of: 'files', what, nth: 1 }, when, dying });
    expect(await scene.through(dying, () => scene.prepare())).to.equal('agent died');
  };
  const waits = async (): Promise<string> => {
    const { allocs } = await scene.look();
    return allocs.find(({ allocId }) => allocId === comer)?.waits.files ?? '';
  };

  for (const what of calls) {
    it(`the driver is killed with it, ${what} was done: the release does not wait for that call`, async () => {
      await strike(what, 'after', ['agent', 'driver']);
      await scene.release();
      expect(mountPathsBelow(scene.csiDir)).to.deep.equal(empty);
    });

    it(`the driver lives on, ${what} was sent: the release waits, and goes on once it has died`, async () => {
      await strike(what, 'before', ['agent']);
      const released = scene.release();
      await eventually('it says what it waits for', async () => (await waits()).includes('may still be under way'));
      expect(await waits()).to.match(/until \S+Z at the latest, or until the process that it went to has ended$/);
      scene.killTask();
      await released;
      expect(mountPathsBelow(scene.csiDir)).to.deep.equal(empty);
    });
  }

  it('killed again while it waits: the next one waits for the same, and goes on once the driver has died', async () => {
    await strike('NodePublishVolume', 'before', ['agent']);
    const lost = scene.release().catch(() => {});
    await eventually('it waits', async () => (await waits()).includes('may still be under way'));
    await scene.restartAgent();
    await lost;
    const released = scene.release();
    await eventually('it waits again', async () => (await waits()).includes('or until the process'));
    scene.killTask();
    await released;
    expect(mountPathsBelow(scene.csiDir)).to.deep.equal(empty);
  });
});

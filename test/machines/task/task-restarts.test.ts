/** How often and how soon a task is restarted: the restart policy in the task machine, under plain XState. */
import { expect } from 'chai';
import { jittered } from '../../../machines/kit/backoff.js';
import { seededRandom } from '../../../src/testing/seeded-random.js';
import { spec, TaskScene } from './task-scene.js';

const { maxRestarts, windowMs, backoff } = spec.restart;

/** Runs to its end, as often as told, each after the backoff of the one before. */
async function endTimes(scene: TaskScene, times: number): Promise<TaskScene> {
  for (let n = 0; n < times; n += 1) {
    if (scene.state === 'backing-off') await scene.backOff();
    await (await scene.run()).exit();
  }
  return scene;
}

describe('task restarts', () => {
  it('T4 as many ends within the window as are allowed: it backs off after each', async () => {
    const scene = await endTimes(new TaskScene().start(), maxRestarts);
    expect(scene.state).to.equal('backing-off');
    expect(scene.toldTypes.filter((type) => type === 'restarting')).to.have.lengthOf(maxRestarts);
  });

  it('T4 one end more within the window: told as failed with the reason, processes ended, then failed', async () => {
    const scene = await endTimes(new TaskScene().start(), maxRestarts + 1);
    expect(scene.state).to.equal('stopping');
    const limit = `it ended more than ${maxRestarts} times within ${windowMs} ms`;
    const reason = `the limit of restarts is reached, ${limit}; the last time: the process exited with code 1`;
    expect(scene.told.at(-1)).to.deep.equal({ type: 'failed', id: 'ebs', reason });
    expect(scene.endings.last.input).to.deep.equal({
      spec,
      registered: { allocId: scene.allocId(maxRestarts), types: ['csi-node'] },
      process: scene.context.process,
      isFailed: true,
    });
    await scene.ended();
    expect(scene.state).to.equal('failed');
    expect(scene.context.reason).to.equal(reason);
    expect(scene.toldTypes).to.not.include('stopped');
  });

  it('T4 failed: the dead plugin is deregistered, nothing is spawned any more, however long it lasts', async () => {
    const scene = await endTimes(new TaskScene().start(), maxRestarts);
    await (await scene.backOff()).run();
    scene.takeMessages();
    await (await scene.exit()).ended();
    const dead = scene.allocId(maxRestarts);
    expect(scene.takeMessages()).to.deep.equal([`plugins/worker-1/csi-node/ebs plugins.deregister ${dead}`]);
    scene.elapse(10 * windowMs);
    expect(scene.spawns.all).to.have.lengthOf(maxRestarts + 1);
  });

  describe('34.33 of a task that keeps children', () => {
    const keeping = { ...spec, restart: { ...spec.restart, keep: 'children' as const } };
    const kept = (input: object): unknown => ('kept' in input ? input.kept : undefined);
    const token = (scene: TaskScene, nth: number): string => scene.spawns.all[nth]?.input.run.token ?? '';

    it('T4 its runs are told to whatever ends processes, until nothing of them lives', async () => {
      const scene = await endTimes(new TaskScene().start(keeping), 1);
      expect(kept(scene.endings.last.input)).to.deep.equal([token(scene, 0)]);
      await scene.backOff();
      expect(kept(scene.spawns.last.input)).to.deep.equal([token(scene, 0)]);
      await scene.spawn([]);
      await (await scene.answer()).exit();
      expect(kept(scene.endings.last.input)).to.deep.equal([token(scene, 1)]);
    });

    it('T4 a restart that was asked for and a failure leave them, a stop does not, also one while it fails', async () => {
      const scene = await new TaskScene().start(keeping).run();
      scene.restart();
      expect(kept(scene.spawns.last.input)).to.deep.equal([token(scene, 0)]);
      await scene.run();
      scene.stop();
      expect(kept(scene.endings.last.input)).to.equal(undefined);
      expect((await scene.ended()).context.kept).to.equal(undefined);

      const failing = await endTimes(new TaskScene().start(keeping), maxRestarts + 1);
      const runs = failing.spawns.all.map((_, nth) => token(failing, nth));
      expect(kept(failing.endings.last.input)).to.deep.equal(runs);
      failing.stop();
      expect(kept(failing.endings.last.input)).to.equal(undefined);
      expect((await failing.ended()).state).to.equal('stopped');

      const failed = await (await endTimes(new TaskScene().start(keeping), maxRestarts + 1)).ended();
      const count = failed.spawns.all.length;
      failed.start(keeping);
      expect(kept(failed.spawns.last.input)).to.have.length(count);
    });

    it('T4 without that, and once its definition has changed, none is kept', async () => {
      const scene = await new TaskScene().start(keeping).run();
      scene.start(spec);
      expect([kept(scene.spawns.last.input), scene.context.kept]).to.deep.equal([undefined, undefined]);
    });
  });

  it('T4 no restarts allowed: the first end fails it', async () => {
    const once = { ...spec, restart: { ...spec.restart, maxRestarts: 0 } };
    const scene = await endTimes(new TaskScene().start(once), 1);
    expect([scene.state, scene.told.at(-1)?.type]).to.deep.equal(['stopping', 'failed']);
    expect(scene.context.reason).to.match(/^the limit of restarts is reached, no restart is allowed; the last time: /);
  });

  it('T4 ends of every kind count alike: not spawned, not ready, exited', async () => {
    const scene = new TaskScene().start();
    scene.spawns.last.reject(new Error('ENOENT'));
    await (await scene.reaches('backing-off')).backOff();
    await scene.spawn();
    scene.readies.last.reject(new Error('not ready'));
    await (await scene.reaches('backing-off')).backOff();
    await (await scene.run()).exit();
    expect(scene.state).to.equal('stopping');
  });

  it('T4 ends that have left the window count no more: a task that dies now and then is restarted for ever', async () => {
    const scene = new TaskScene().start();
    for (let n = 0; n < 20; n += 1) {
      await scene.run();
      scene.elapse(windowMs / 2);
      await scene.exit();
      expect(scene.state, `end ${n}`).to.equal('backing-off');
      expect(scene.context.endedAtMs.length).to.be.at.most(maxRestarts);
      await scene.backOff();
    }
  });

  for (const [title, gapMs, counted] of [
    ['a millisecond less than the window ago counts', windowMs - 1, 2],
    ['exactly the window ago does not count', windowMs, 1],
  ] satisfies [string, number, number][]) {
    it(`T4 an end ${title}`, async () => {
      const scene = await endTimes(new TaskScene().start(), 1);
      scene.elapse(gapMs);
      await (await scene.run()).exit();
      expect(scene.context.endedAtMs).to.have.lengthOf(counted);
    });
  }

  it('T4 started anew after it has failed: the ends before do not count', async () => {
    const scene = await (await endTimes(new TaskScene().start(), maxRestarts + 1)).ended();
    scene.start();
    expect(scene.context).to.deep.include({ endedAtMs: [], reason: null, registered: null });
    await endTimes(scene, maxRestarts);
    expect(scene.state).to.equal('backing-off');
  });

  it('T4 told as failed already, it is stopped too while its processes end: stopped, not failed', async () => {
    const scene = await endTimes(new TaskScene().start(), maxRestarts + 1);
    await scene.stop().ended();
    expect([scene.state, scene.context.reason]).to.deep.equal(['stopped', null]);
  });

  it('T6 the delay before the nth restart is the jittered backoff of n, to the millisecond', async () => {
    const patient = { ...spec, restart: { ...spec.restart, maxRestarts: 10 } };
    for (const seed of [1, 2, 3]) {
      const scene = new TaskScene(seed).start(patient);
      const { next } = seededRandom(seed);
      next(); // of the start
      for (let attempt = 1; attempt <= 6; attempt += 1) {
        next(); // spawned
        next(); // ready
        await (await scene.run()).exit();
        const delayMs = jittered(backoff, attempt, next());
        expect(scene.context.nextStartAtMs).to.equal(scene.nowMs + delayMs);
        scene.elapse(delayMs - 1);
        expect(scene.state, `seed ${seed}, attempt ${attempt}, ${delayMs} ms`).to.equal('backing-off');
        scene.elapse(1);
        expect(scene.state, `seed ${seed}, attempt ${attempt}, ${delayMs} ms`).to.equal('starting');
        expect(scene.context.nextStartAtMs).to.equal(null);
        next(); // of the delay
      }
    }
  });

  it('T6 another spec during the backoff ends it: one run begins, not two', async () => {
    const scene = await endTimes(new TaskScene().start(), 1);
    scene.start({ ...spec, command: ['other'] }).elapse(backoff.maxMs);
    expect(scene.state).to.equal('starting');
    expect(scene.spawns.all).to.have.lengthOf(2);
  });
});

/** The task machine under plain XState: the health of its plugin, restarts that are asked for, plugins of somebody else. */
import { expect } from 'chai';
import type { TaskSpec } from '../../../machines/task/task-types.js';
import { node, spec, TaskScene } from './task-scene.js';

const bad = { healthy: false, description: 'stale socket' };
const good = { healthy: true, description: 'ready' };

describe('task machine: the health of a running task', () => {
  it('T5 it runs: each instance that it is registered as is watched, until it does not run any more', async () => {
    const scene = await new TaskScene().start({ ...spec, type: 'monolith' }).run();
    const allocId = scene.allocId(0);
    expect(scene.watched).to.deep.equal([
      { type: 'csi-controller', name: 'ebs', allocId },
      { type: 'csi-node', name: 'ebs', allocId },
    ]);
    await scene.exit();
    expect(scene.watched).to.equal(undefined);
  });

  it('T5 health is told only when it changes, with its text, and kept', async () => {
    const scene = await new TaskScene().start().run();
    const before = scene.told.length;
    scene
      .health(good)
      .health(bad)
      .health({ ...bad, description: 'no answer' })
      .health(good)
      .health(good);
    expect(scene.told.slice(before)).to.deep.equal([
      { type: 'unhealthy', id: 'ebs', reason: 'stale socket' },
      { type: 'healthy', id: 'ebs', allocId: scene.allocId(0) },
    ]);
    scene.health({ ...bad, description: 'no answer' });
    expect(scene.context.health).to.deep.equal({ healthy: false, description: 'no answer' });
    expect(scene.state).to.equal('running');
    expect(scene.spawns.all).to.have.lengthOf(1);
  });

  it('T5 once its process has ended it has no health, until the new run is ready', async () => {
    const scene = await new TaskScene().start().run();
    await scene.exit();
    expect([scene.state, scene.context.health]).to.deep.equal(['backing-off', null]);
    await scene.backOff();
    expect(scene.context.health).to.equal(null);
    await scene.run();
    expect(scene.context.health).to.deep.equal(good);
  });

  it('T7 stopped, its health is forgotten, and what is told too late changes nothing', async () => {
    const scene = (await new TaskScene().start().run()).health(bad).stop();
    const told = scene.told.length;
    scene.health(good);
    await scene.ended();
    expect(scene.context.health).to.equal(null);
    expect(scene.told.slice(told).map(({ type }) => type)).to.deep.equal(['stopped']);
  });

  it('T7 stopped although something uses it: what does is told with the deregistration', async () => {
    const scene = await new TaskScene().start().run();
    scene.takeMessages();
    scene.stop(['vol-1', 'vol-2']);
    expect(scene.messages).to.deep.equal([
      {
        to: `plugins/${node}/csi-node/ebs`,
        event: { type: 'plugins.deregister', allocId: scene.allocId(0), dependents: ['vol-1', 'vol-2'] },
      },
    ]);
  });
});

describe('task machine: a restart that is asked for', () => {
  const cases: [string, (scene: TaskScene) => unknown][] = [
    ['starting', () => undefined],
    ['waiting', (scene) => scene.spawn()],
    ['running', (scene) => scene.run()],
    ['backing-off', async (scene) => (await scene.run()).exit()],
    ['stopping', async (scene) => (await scene.run()).stop()],
    ['stopped', async (scene) => (await scene.run()).stop().ended()],
  ];
  for (const [state, reach] of cases) {
    it(`T6 ${state}: a run anew at once, with the process before it to end, and no ends counted`, async () => {
      const scene = new TaskScene().start();
      await reach(scene);
      expect(scene.state).to.equal(state);
      const { process } = scene.context;
      const runs = scene.spawns.all.length;
      scene.restart();
      expect(scene.state).to.equal('starting');
      expect(scene.told.at(-1)).to.deep.equal({ type: 'restarting', id: 'ebs', reason: 'a restart was asked for' });
      expect(scene.context.endedAtMs).to.deep.equal([]);
      expect(scene.spawns.all).to.have.lengthOf(runs + 1);
      expect(scene.spawns.last.input.previous).to.deep.equal(process);
      expect(scene.spawns.all[runs - 1]?.input.run).to.not.deep.equal(scene.spawns.last.input.run);
      await scene.run();
      scene.elapse(1_000_000);
      expect(scene.state, 'the effects of the run before are heard no more').to.equal('running');
    });
  }

  it('T6 failed: it runs again', async () => {
    const scene = new TaskScene().start({ ...spec, restart: { ...spec.restart, maxRestarts: 0 } });
    await (await (await scene.run()).exit()).ended();
    expect(scene.state).to.equal('failed');
    await scene.restart().run();
    expect([scene.state, scene.context.reason]).to.deep.equal(['running', null]);
  });

  it('T6 while it runs: its plugin stays registered until the new run is', async () => {
    const scene = await new TaskScene().start().run();
    scene.takeMessages();
    await scene.restart().spawn();
    expect(scene.takeMessages()).to.deep.equal([]);
    await scene.answer();
    expect(scene.takeMessages()).to.deep.equal([
      `plugins/${node}/csi-node/ebs plugins.register ${scene.allocId(1)}`,
      `plugins/${node}/csi-node/ebs plugins.deregister ${scene.allocId(0)}`,
    ]);
  });

  it('T6 of a task that was never started: nothing', () => {
    const scene = new TaskScene().restart();
    expect([scene.state, scene.told, scene.spawns.all]).to.deep.equal(['stopped', [], []]);
  });
});

describe('task machine: instances whose process is lost', () => {
  const lossOf = (scene: TaskScene, nth: number, description: string, type = 'csi-node') => ({
    to: `plugin/${node}/${type}/ebs/${scene.allocId(nth)}`,
    event: { type: 'plugin.lost', description },
  });

  it('T6 it ended: each of its instances is told how, before the next run', async () => {
    const scene = await (await new TaskScene().start({ ...spec, type: 'monolith' }).run()).exit({ signal: 'SIGKILL' });
    const types = ['csi-controller', 'csi-node'];
    expect(scene.losses).to.deep.equal(types.map((type) => lossOf(scene, 0, 'the process was ended by SIGKILL', type)));
    await scene.backOff();
    await scene.run();
    expect(scene.losses).to.have.lengthOf(2);
  });

  it('T6 it is ended for a restart or another definition: they are told why', async () => {
    const scene = await new TaskScene().start().run();
    await scene.restart().run();
    await scene.start({ ...spec, command: ['another'] }).run();
    expect(scene.losses).to.deep.equal([
      lossOf(scene, 0, 'a restart was asked for'),
      lossOf(scene, 1, 'its definition has changed'),
    ]);
    expect(scene.told.filter(({ type }) => type === 'restarting')).to.have.lengthOf(2);
  });

  it('T7 it is stopped: they shut down, and are told nothing else', async () => {
    const scene = await (await new TaskScene().start().run()).stop().ended();
    expect(scene.losses).to.deep.equal([]);
  });

  it('T6 one that never answered has no instances to tell', async () => {
    const scene = await (await new TaskScene().start().spawn()).exit();
    expect(scene.losses).to.deep.equal([]);
  });
});

describe('task machine: stopped and removed', () => {
  it('T7 asked again while it stops: what is under way goes on, nothing is asked for twice', async () => {
    const scene = (await new TaskScene().start().run()).stop();
    scene.takeMessages();
    scene.stop().stop();
    expect(scene.takeMessages()).to.deep.equal([]);
    expect(scene.endings.all).to.have.lengthOf(1);
    expect(scene.endings.last.signal.aborted).to.equal(false);
    await scene.ended();
    expect(scene.state).to.equal('stopped');
  });

  it('T7 stopped, then removed: told, and nothing follows', async () => {
    const scene = await (await new TaskScene().start().run()).stop().ended();
    scene.remove();
    expect([scene.state, scene.told.at(-1)]).to.deep.equal(['removed', { type: 'removed', id: 'ebs' }]);
  });

  it('T7 anywhere else a removal changes nothing', async () => {
    const scene = await new TaskScene().start().run();
    const told = scene.told.length;
    scene.remove();
    expect([scene.state, scene.told.length]).to.deep.equal(['running', told]);
  });
});

describe('task machine: a plugin that somebody else runs', () => {
  const { command: _, ...rest } = spec;
  const theirs: TaskSpec = { ...rest, socket: '/run/theirs/csi.sock' };

  it('T1 it is registered at its socket and watched; nothing is told as started', async () => {
    const scene = await new TaskScene().start(theirs).run();
    expect(scene.toldTypes).to.deep.equal(['healthy']);
    expect(scene.messages[0]).to.have.nested.property('event.info.connection.socketPath', theirs.socket);
    expect(scene.context.process).to.equal(null);
    expect(scene.watched).to.have.lengthOf(1);
  });

  it('T1 the path below which it stages and publishes is registered with it', async () => {
    const scene = await new TaskScene().start({ ...theirs, stagePublishBaseDir: '/csi/volumes' }).run();
    expect(scene.messages[0]).to.have.nested.property('event.info.options').that.deep.equals({
      stagePublishBaseDir: '/csi/volumes',
    });
  });

  it('T6 a restart of it tells its instance nothing: its process goes on', async () => {
    const scene = await new TaskScene().start(theirs).run();
    await scene.restart().run();
    expect(scene.losses).to.deep.equal([]);
  });

  it('T1 before it a process of ours ran: that one is the one to end first', async () => {
    const scene = await new TaskScene().start().run();
    const { process } = scene.context;
    await scene.start(theirs).spawn();
    expect(scene.spawns.last.input.previous).to.deep.equal(process);
    expect(scene.context.process).to.equal(null);
  });

  it('T4 not ready in time: unhealthy, and tried again under the restart policy', async () => {
    const scene = await new TaskScene().start(theirs).spawn();
    scene.readies.last.reject(new Error('there is no socket'));
    await scene.reaches('backing-off');
    expect(scene.told).to.deep.equal([
      { type: 'unhealthy', id: 'ebs', reason: 'there is no socket' },
      { type: 'restarting', id: 'ebs', reason: 'there is no socket' },
    ]);
    await scene.backOff();
    await scene.run();
    expect(scene.state).to.equal('running');
  });
});

/** The task machine under plain XState: one run after another, what is told and what is asked for. Policy: task-restarts.test.ts */
import { expect } from 'chai';
import { pluginTypes } from '../../../machines/task/task-context.js';
import type { TaskSpec, TaskType } from '../../../machines/task/task-types.js';
import { node, ready, spec, TaskScene } from './task-scene.js';

const controller = `plugins/${node}/csi-controller/ebs`;
const nodePlugin = `plugins/${node}/csi-node/ebs`;

describe('task machine', () => {
  it('T1 begun, it is stopped, and nothing happens until it is started', () => {
    const scene = new TaskScene().stop();
    expect(scene.state).to.equal('stopped');
    expect([scene.told, scene.messages, scene.spawns.all]).to.deep.equal([[], [], []]);
  });

  it('T3 started: the run is named before anything is spawned, with an allocId fit for a path and a token', () => {
    const scene = new TaskScene().start();
    expect(scene.state).to.equal('starting');
    const { run } = scene.spawns.last.input;
    expect(scene.spawns.last.input).to.deep.equal({ spec, run: scene.context.run, previous: null });
    expect(run.allocId).to.match(/^ebs-[0-9a-z]{8}$/);
    expect(run.token).to.match(/^ebs-[0-9a-z]{8}\./);
  });

  it('T2 runs have allocIds of their own, whatever chance says, also for the longest id', () => {
    const ids = Array.from({ length: 200 }, (_, seed) => new TaskScene(seed).start().allocId(0));
    expect(new Set(ids)).to.have.property('size', ids.length);
    const long = new TaskScene().start({ ...spec, id: 'x'.repeat(32) }).allocId(0);
    expect(long).to.have.lengthOf(41);
  });

  it('T5 spawned: told as started, waits for the answer and watches the process', async () => {
    const scene = await new TaskScene().start().spawn();
    const { spawned } = scene.context;
    expect(scene.told).to.deep.equal([{ type: 'started', id: 'ebs', allocId: scene.allocId(0) }]);
    expect(scene.readies.last.input).to.deep.equal({ spec, spawned });
    expect(scene.watches.last.input).to.deep.equal({ spec, spawned, withTail: true });
    expect(scene.messages).to.deep.equal([]);
  });

  it('T3 a plugin that answers is registered under the task’s id, with the driver’s name, and is healthy', async () => {
    const scene = await (await new TaskScene().start().spawn()).answer();
    const allocId = scene.allocId(0);
    const info = {
      type: 'csi-node',
      name: 'ebs',
      allocId,
      connection: { socketPath: `/data/plugins/${allocId}/csi.sock` },
      version: '1.2.3',
    };
    expect(scene.messages).to.deep.equal([{ to: nodePlugin, event: { type: 'plugins.register', info } }]);
    expect(scene.told.slice(1)).to.deep.equal([{ type: 'healthy', id: 'ebs', allocId }]);
    expect(scene.context).to.deep.include({ ready, registered: { allocId, types: ['csi-node'] }, reason: null });
  });

  it('T3 a plugin without a vendor version is registered without one', async () => {
    const scene = await new TaskScene().start().spawn();
    await scene.answer({ pluginName: 'x', vendorVersion: '' });
    expect(JSON.stringify(scene.messages)).to.not.include('version');
  });

  for (const [type, places] of [
    ['node', [nodePlugin]],
    ['controller', [controller]],
    ['monolith', [controller, nodePlugin]],
  ] satisfies [TaskType, string[]][]) {
    it(`T3 a ${type} is registered as ${places.length === 1 ? 'its type' : 'both types, in one step'}`, async () => {
      const scene = await new TaskScene().start({ ...spec, type }).run();
      expect(scene.takeMessages()).to.deep.equal(places.map((to) => `${to} plugins.register ${scene.allocId(0)}`));
    });

    it(`T6 the next run of a ${type} registers first, then deregisters what it replaces`, async () => {
      const scene = await new TaskScene().start({ ...spec, type }).run();
      scene.takeMessages();
      await scene.exit();
      expect(scene.takeMessages(), 'the dead one stays registered until then').to.deep.equal([]);
      await (await scene.backOff()).run();
      expect(scene.takeMessages()).to.deep.equal([
        ...places.map((to) => `${to} plugins.register ${scene.allocId(1)}`),
        ...places.map((to) => `${to} plugins.deregister ${scene.allocId(0)}`),
      ]);
    });

    it(`T7 a ${type} that is stopped is deregistered, then its processes are ended`, async () => {
      const scene = await new TaskScene().start({ ...spec, type }).run();
      scene.takeMessages();
      scene.stop();
      expect(scene.state).to.equal('stopping');
      expect(scene.takeMessages()).to.deep.equal(places.map((to) => `${to} plugins.deregister ${scene.allocId(0)}`));
      expect(scene.endings.last.input).to.deep.equal({
        spec: { ...spec, type },
        registered: { allocId: scene.allocId(0), types: pluginTypes[type] },
        process: scene.context.spawned?.process,
      });
    });
  }

  it('T6 a run that never answered is not deregistered: the one before it still is the registered one', async () => {
    const scene = await new TaskScene().start().run();
    await (await scene.exit()).backOff();
    await (await scene.spawn()).exit();
    scene.takeMessages();
    await (await scene.backOff()).run();
    expect(scene.takeMessages()).to.deep.equal([
      `${nodePlugin} plugins.register ${scene.allocId(2)}`,
      `${nodePlugin} plugins.deregister ${scene.allocId(0)}`,
    ]);
  });

  describe('the process ends', () => {
    for (const [end, reason] of [
      [{ code: 0 }, 'the process exited with code 0'],
      [{ code: 137 }, 'the process exited with code 137'],
      [{ signal: 'SIGKILL' }, 'the process was ended by SIGKILL'],
      [{}, 'the process is gone'],
    ] satisfies [object, string][]) {
      it(`T5 ${reason}, while running: told as exited with how, then as restarting with why`, async () => {
        const scene = await new TaskScene().start().run();
        await scene.exit(end);
        expect(scene.state).to.equal('backing-off');
        expect(scene.told.slice(2)).to.deep.equal([
          { type: 'exited', id: 'ebs', allocId: scene.allocId(0), end },
          { type: 'restarting', id: 'ebs', reason },
        ]);
      });
    }

    it('T6 while it is waited for: as while it runs, and nobody waits for its answer any more', async () => {
      const scene = await new TaskScene().start().spawn();
      await scene.exit({ code: 2 });
      expect(scene.state).to.equal('backing-off');
      expect(scene.toldTypes).to.deep.equal(['started', 'exited', 'restarting']);
      expect(scene.readies.last.signal.aborted).to.equal(true);
    });

    it('T6 while backing off nothing is watched, and the next run has another allocId and another token', async () => {
      const scene = await new TaskScene().start().run();
      await (await scene.exit()).backOff();
      const [first, second] = scene.spawns.all.map(({ input }) => input.run);
      expect(first?.allocId).to.not.equal(second?.allocId);
      expect(first?.token).to.not.equal(second?.token);
      expect(scene.context).to.deep.include({ spawned: null, ready: null });
      expect(scene.context.registered?.allocId).to.equal(first?.allocId);
    });

    it('T10 before it was ready: the end of its log belongs to the reason; while it runs it is not asked for', async () => {
      const scene = await new TaskScene().start().spawn();
      await scene.exit({ code: 2, tail: 'panic: no region' });
      const reason = 'the process exited with code 2; end of its log:\npanic: no region';
      expect(scene.told.at(-1)).to.deep.equal({ type: 'restarting', id: 'ebs', reason });
      await (await scene.backOff()).run();
      expect(scene.watches.last.input.withTail).to.equal(false);
    });

    it('T6 it answers again: the reason is forgotten', async () => {
      const scene = await new TaskScene().start().run();
      await (await scene.exit()).backOff();
      expect(scene.context.reason).to.equal('the process exited with code 1');
      await scene.run();
      expect(scene.context.reason).to.equal(null);
    });
  });

  it('T4 not ready in time: told as unhealthy, then restarting, with the reason and the end of its log', async () => {
    const scene = await new TaskScene().start().spawn();
    const reason = 'not ready within 30000 ms: no socket; end of its log:\npanic: no region';
    scene.readies.last.reject({ code: 'NOT_READY', message: reason, final: false });
    await scene.reaches('backing-off');
    expect(scene.told.slice(1)).to.deep.equal([
      { type: 'unhealthy', id: 'ebs', reason },
      { type: 'restarting', id: 'ebs', reason },
    ]);
    expect(scene.watches.last.signal.aborted, 'the watch').to.equal(true);
  });

  it('T4 not ready in time: its processes are ended while it backs off, whether that succeeds or not', async () => {
    const scene = await new TaskScene().start().run();
    const { registered } = (await (await scene.exit()).backOff()).context;
    expect(scene.endings.last.signal.aborted, 'of the backoff before').to.equal(true);
    const { process } = (await scene.spawn()).context;
    scene.readies.last.reject(new Error('not ready'));
    await scene.reaches('backing-off');
    expect(scene.endings.last.input).to.deep.equal({ spec, registered: null, process });
    scene.endings.last.reject(new Error('pid 102 does not end'));
    await Promise.resolve();
    expect([scene.state, scene.context.registered]).to.deep.equal(['backing-off', registered]);
  });

  it('T6 the last process stays known to each run until another takes its place', async () => {
    const scene = await new TaskScene().start().spawn();
    const { process } = scene.context;
    scene.start({ ...spec, command: ['other'] });
    expect(scene.spawns.last.input.previous).to.deep.equal(process);
    scene.spawns.last.reject(new Error('ENOENT'));
    await (await scene.reaches('backing-off')).backOff();
    expect(scene.spawns.last.input.previous).to.deep.equal(process);
    await scene.spawn();
    expect(scene.context.process).to.deep.equal(scene.context.spawned?.process).and.not.deep.equal(process);
  });

  it("T4 it can't be spawned: restarting, with the reason, and never told as started or unhealthy", async () => {
    const scene = new TaskScene().start();
    scene.spawns.last.reject(new Error('spawn ebs-csi ENOENT'));
    await scene.reaches('backing-off');
    expect(scene.told).to.deep.equal([{ type: 'restarting', id: 'ebs', reason: 'spawn ebs-csi ENOENT' }]);
  });

  describe('start', () => {
    const other: TaskSpec = { ...spec, command: ['ebs-csi', '--v2'] };

    it('T1 the same spec again, in any state on the way, changes nothing', async () => {
      const scene = new TaskScene().start();
      for (const go of [() => scene.spawn(), () => scene.answer(), () => scene.exit()]) {
        scene.start();
        expect(scene.spawns.last.signal.aborted).to.equal(false);
        await go();
      }
      expect(scene.start().state).to.equal('backing-off');
      expect(scene.spawns.all).to.have.lengthOf(1);
      expect(scene.toldTypes).to.deep.equal(['started', 'healthy', 'exited', 'restarting']);
    });

    for (const [title, come] of [
      ['starting', async (scene) => scene],
      ['waiting', (scene) => scene.spawn()],
      ['running', (scene) => scene.run()],
      ['backing-off', async (scene) => (await scene.run()).exit()],
    ] satisfies [string, (scene: TaskScene) => Promise<TaskScene>][]) {
      it(`T1 another spec while ${title}: a new run at once, without counted ends; the old effects end`, async () => {
        const scene = await come(new TaskScene().start());
        const live = [...scene.spawns.all, ...scene.readies.all, ...scene.watches.all];
        scene.start(other);
        expect(scene.state).to.equal('starting');
        expect(scene.spawns.all).to.have.lengthOf(2);
        expect(scene.spawns.last.input.spec).to.deep.equal(other);
        expect(scene.context).to.deep.include({ endedAtMs: [], reason: null });
        if (title !== 'backing-off') expect(live.some(({ signal }) => signal.aborted)).to.equal(true);
      });
    }

    it('T1 another spec while it runs: its plugin stays registered until the new one is', async () => {
      const scene = await new TaskScene().start().run();
      scene.takeMessages();
      await scene.start(other).run();
      expect(scene.takeMessages()).to.deep.equal([
        `${nodePlugin} plugins.register ${scene.allocId(1)}`,
        `${nodePlugin} plugins.deregister ${scene.allocId(0)}`,
      ]);
    });

    it('T1 another type while it runs: what it was registered as goes, whatever it is now', async () => {
      const scene = await new TaskScene().start().run();
      scene.takeMessages();
      await scene.start({ ...spec, type: 'controller' }).run();
      expect(scene.takeMessages()).to.deep.equal([
        `${controller} plugins.register ${scene.allocId(1)}`,
        `${nodePlugin} plugins.deregister ${scene.allocId(0)}`,
      ]);
    });

    it('T1 the same spec with its keys in another order changes nothing', async () => {
      const scene = await new TaskScene().start({ ...spec, env: { A: { stored: '1' }, B: { stored: '2' } } }).run();
      scene.start({ ...spec, env: { B: { stored: '2' }, A: { stored: '1' } } });
      expect([scene.state, scene.spawns.all.length]).to.deep.equal(['running', 1]);
    });

    it('T1 after it has stopped, also the same spec: a run anew', async () => {
      const scene = await (await new TaskScene().start().run()).stop().ended();
      scene.start();
      expect([scene.state, scene.spawns.all.length]).to.deep.equal(['starting', 2]);
    });

    it('T1 while it stops: the stop is given up, a new run begins; its first one stays deregistered', async () => {
      const scene = (await new TaskScene().start().run()).stop();
      scene.takeMessages();
      scene.start();
      expect(scene.state).to.equal('starting');
      expect(scene.endings.last.signal.aborted).to.equal(true);
      expect(scene.takeMessages()).to.deep.equal([]);
      await scene.run();
      expect(scene.takeMessages()[0]).to.equal(`${nodePlugin} plugins.register ${scene.allocId(1)}`);
      expect(scene.toldTypes).to.not.include('stopped');
    });
  });

  describe('stop', () => {
    for (const [title, come] of [
      ['starting', async (scene) => scene],
      ['waiting', (scene) => scene.spawn()],
      ['running', (scene) => scene.run()],
      ['backing-off', async (scene) => (await scene.run()).exit()],
    ] satisfies [string, (scene: TaskScene) => Promise<TaskScene>][]) {
      it(`T7 while ${title}: whatever runs is ended, then told as stopped; nothing of the run is left`, async () => {
        const scene = await come(new TaskScene().start());
        const live = [...scene.spawns.all, ...scene.readies.all, ...scene.watches.all];
        scene.stop();
        expect(scene.state).to.equal('stopping');
        if (title !== 'backing-off') expect(live.some(({ signal }) => signal.aborted)).to.equal(true);
        expect(scene.toldTypes).to.not.include('stopped');
        await scene.ended();
        expect(scene.state).to.equal('stopped');
        expect(scene.told.at(-1)).to.deep.equal({ type: 'stopped', id: 'ebs' });
        expect(scene.context).to.include({ run: null, spawned: null, process: null, registered: null, reason: null });
        scene.elapse(1_000_000);
        expect(scene.state).to.equal('stopped');
        expect(scene.spawns.all).to.have.lengthOf(1);
      });
    }

    it("T7 it can't be stopped: failed with the reason; asked again, it may succeed", async () => {
      const scene = (await new TaskScene().start().run()).stop();
      scene.endings.last.reject(new Error('pid 101 does not end'));
      await scene.reaches('failed');
      expect(scene.context.reason).to.equal('pid 101 does not end');
      await scene.stop().ended();
      expect([scene.state, scene.context.reason]).to.deep.equal(['stopped', null]);
    });

    it('T7 a stop of what is stopped asks for nothing and tells nothing', async () => {
      const scene = await (await new TaskScene().start().run()).stop().ended();
      const told = scene.told.length;
      scene.stop();
      expect([scene.state, scene.told.length, scene.endings.all.length]).to.deep.equal(['stopped', told, 1]);
    });
  });
});

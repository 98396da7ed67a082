/** The machine of a node's root actor under plain XState: the order of coming up and going down. */
import { expect } from 'chai';
import { type Actor, createActor, fromPromise, waitFor } from 'xstate';
import type { RestoreReport } from '../../../machines/kit/host.js';
import { registryMachine } from '../../../machines/registry/registry.js';
import { anyStamp, Runs } from '../stamped.js';

const report: RestoreReport = { actors: 3, quarantined: ['plugin/n/t/x/a'] };

/** A started machine whose effects the test ends. */
class Scene {
  readonly prepare = new Runs<object, void>();
  readonly restore = new Runs<object, RestoreReport>();
  readonly drain = new Runs<{ release: boolean }, void>();
  readonly actor: Actor<typeof registryMachine>;

  constructor() {
    const actors = {
      prepareHost: fromPromise(this.prepare.begin),
      restoreActors: fromPromise(this.restore.begin),
      drainActors: fromPromise(this.drain.begin),
    };
    this.actor = createActor(registryMachine.provide({ actors })).start();
  }

  get state(): string {
    return this.actor.getSnapshot().value;
  }

  get context(): { restored: RestoreReport; error: string | null } {
    return this.actor.getSnapshot().context;
  }

  /** How often each effect was asked for. */
  get asked(): number[] {
    return [this.prepare, this.restore, this.drain].map(({ all }) => all.length);
  }

  async reaches(state: 'stopped' | 'restoring' | 'running'): Promise<this> {
    await waitFor(this.actor, (snapshot) => snapshot.matches(state));
    return this;
  }

  start(): this {
    this.actor.send({ type: 'registry.start', ...anyStamp });
    return this;
  }

  stop(release = false): this {
    this.actor.send({ type: 'registry.stop', release, ...anyStamp });
    return this;
  }

  async run(): Promise<this> {
    this.start().prepare.last.resolve();
    await this.reaches('restoring');
    this.restore.last.resolve(report);
    return this.reaches('running');
  }
}

describe('registry machine', () => {
  it('R11 begun, it is stopped and asks for nothing until it is started', () => {
    const scene = new Scene();
    expect([scene.state, scene.asked]).to.deep.equal(['stopped', [0, 0, 0]]);
  });

  it('R11 started: the host is prepared, then actors are restored, then it runs and keeps what was found', async () => {
    const scene = new Scene().start();
    expect([scene.state, scene.asked]).to.deep.equal(['starting', [1, 0, 0]]);
    scene.prepare.last.resolve();
    await scene.reaches('restoring');
    expect(scene.asked).to.deep.equal([1, 1, 0]);
    scene.restore.last.resolve(report);
    await scene.reaches('running');
    expect(scene.context).to.deep.equal({ restored: report, error: null });
  });

  it("R11 the host can't be prepared: stopped, with the reason, and nothing is restored", async () => {
    const scene = new Scene().start();
    scene.prepare.last.reject(new Error('read-only file system'));
    await scene.reaches('stopped');
    expect([scene.context.error, scene.asked]).to.deep.equal(['read-only file system', [1, 0, 0]]);
  });

  it("R11 the actors can't be restored: stopped, with the reason", async () => {
    const scene = new Scene().start();
    scene.prepare.last.resolve();
    await scene.reaches('restoring');
    scene.restore.last.reject({ code: 'STORE_UNAVAILABLE', message: 'no answer', final: false });
    await scene.reaches('stopped');
    expect(scene.context.error).to.equal('no answer');
  });

  it('R11 started again after a failure: it forgets the reason and begins anew', async () => {
    const scene = new Scene().start();
    scene.prepare.last.reject(new Error('no'));
    await scene.reaches('stopped');
    await scene.run();
    expect(scene.context).to.deep.equal({ restored: report, error: null });
  });

  for (const [title, come] of [
    ['starting', (scene) => Promise.resolve(scene.start())],
    [
      'restoring',
      (scene) => {
        scene.start().prepare.last.resolve();
        return scene.reaches('restoring');
      },
    ],
    ['running', (scene) => scene.run()],
    ['draining', async (scene) => (await scene.run()).stop()],
  ] satisfies [string, (scene: Scene) => Promise<Scene>][]) {
    it(`R11 a record that says '${title}' after a crash: the start begins again, earlier requests are dropped`, async () => {
      const scene = await come(new Scene());
      const live = [...scene.prepare.all, ...scene.restore.all, ...scene.drain.all].at(-1);
      const before = scene.prepare.all.length;
      scene.start();
      expect(scene.state).to.equal('starting');
      expect(scene.context).to.deep.equal({ restored: { actors: 0, quarantined: [] }, error: null });
      expect(scene.prepare.all).to.have.lengthOf(before + 1);
      if (title !== 'running')
        expect(live?.signal.aborted).to.equal(title !== 'starting' || live !== scene.prepare.last);
    });
  }

  for (const release of [false, true]) {
    it(`R13 stopped with release ${release}: it drains with just that, then is stopped`, async () => {
      const scene = (await new Scene().run()).stop(release);
      expect([scene.state, scene.drain.last.input]).to.deep.equal(['draining', { release }]);
      scene.drain.last.resolve();
      await scene.reaches('stopped');
      expect(scene.context.error).to.equal(null);
    });
  }

  it('R13 two stops are one: the second asks for nothing', async () => {
    const scene = (await new Scene().run()).stop().stop(true);
    expect(scene.drain.all.map(({ input }) => input)).to.deep.equal([{ release: false }]);
  });

  it("R13 it can't be drained: stopped all the same, with the reason", async () => {
    const scene = (await new Scene().run()).stop();
    scene.drain.last.reject(new Error('task ebs could not be stopped'));
    await scene.reaches('stopped');
    expect(scene.context.error).to.equal('task ebs could not be stopped');
  });

  it('R13 a stop before it runs changes nothing', () => {
    expect(new Scene().stop().state).to.equal('stopped');
    expect(new Scene().start().stop().state).to.equal('starting');
  });
});

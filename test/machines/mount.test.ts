/** The mount machine under plain XState: its calls end as the test says. */
import { expect } from 'chai';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import type { CallFailure, CallOutcome } from '../../machines/csi-types.js';
import { mountMachine } from '../../machines/mount.js';
import type {
  MountCall,
  NodePublishAnswer,
  NodePublishCall,
  NodeUnpublishAnswer,
  StageAnswer,
  StageCall,
  TargetCall,
} from '../../machines/mount-calls.js';
import { mountRefusalOf } from '../../machines/mount-requests.js';
import type { MountChanged, MountedVolume } from '../../machines/mount-types.js';
import { stamped } from './stamped.js';

const many = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const volume: MountedVolume = {
  uid: 'u1',
  plugin: 'disk',
  csiId: 'vol-1',
  volumeContext: {},
  publishContext: {},
  secrets: {},
};
const use = (allocId: string, more: object = {}) =>
  ({ type: 'mount.use', volume, capability: many, allocId, readOnly: false, isClaimed: true, ...more }) as const;
const leave = (allocId: string) => ({ type: 'mount.leave', allocId }) as const;

const found = { device: '8:1', root: '/data' };
const staged: CallOutcome<StageAnswer> = { status: 'done', answer: { isStaged: true, found, bootId: 'b1' } };
const published: CallOutcome<NodePublishAnswer> = { status: 'done', answer: { found, bootId: 'b1' } };
const unpublished: CallOutcome<NodeUnpublishAnswer> = { status: 'done', answer: {} };
const unstaged = unpublished;
const failed = (failure: Partial<CallFailure>): CallOutcome<never> => ({
  status: 'failed',
  failure: { code: 'CSI_ERROR', message: 'lost', final: false, ...failure },
});

class Scene {
  readonly calls: string[] = [];
  readonly told: MountChanged[] = [];
  readonly clock = new SimulatedClock();
  readonly #open: ((outcome: CallOutcome<never>) => void)[] = [];
  readonly actor;

  constructor() {
    const call = <TAnswer, TInput extends object>(name: string) =>
      fromPromise<CallOutcome<TAnswer>, TInput>(({ input }) => {
        const { allocId } = input as { allocId?: string };
        this.calls.push(allocId === undefined ? name : `${name} ${allocId}`);
        return new Promise((resolve) => this.#open.push(resolve));
      });
    const machine = mountMachine.provide({
      actors: {
        nodeStage: call<StageAnswer, StageCall>('stage'),
        nodePublish: call<NodePublishAnswer, NodePublishCall>('publish'),
        nodeUnpublish: call<NodeUnpublishAnswer, TargetCall>('unpublish'),
        nodeUnstage: call<NodeUnpublishAnswer, MountCall>('unstage'),
      },
    });
    const logic = stamped(machine, () => ({ at: this.clock.now(), random: 0.5 }));
    this.actor = createActor(logic, { input: { node: 'n1', namespace: 'default', id: 'data' }, clock: this.clock });
    this.actor.on('*', (event) => this.told.push(event));
    this.actor.start();
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  get state(): string {
    const { value } = this.actor.getSnapshot();
    return typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
  }

  /** The call that is in flight is answered. */
  async answer(outcome: CallOutcome<unknown>): Promise<void> {
    const resolve = this.#open.shift();
    if (!resolve) throw new Error('no call is in flight');
    // The test gives each call an answer of its own type.
    resolve(outcome as CallOutcome<never>);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }

  /** Mounted for one alloc. */
  static async mounted(allocId = 'a', more: object = {}): Promise<Scene> {
    const scene = new Scene();
    scene.actor.send(use(allocId, more));
    await scene.answer(staged);
    await scene.answer(published);
    return scene;
  }

  states(): string[] {
    return this.context.users.map(({ allocId, state }) => `${allocId} ${state}`);
  }
}

describe('the mount machine', () => {
  it('M2 M3 a use is kept before anything is called; then it is staged, then published', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    expect([scene.states(), scene.calls, scene.state]).to.deep.equal([['a wanted'], ['stage'], 'staging']);
    await scene.answer(staged);
    expect([scene.calls, scene.state]).to.deep.equal([['stage', 'publish a'], 'publishing']);
    await scene.answer(published);
    expect([scene.states(), scene.state]).to.deep.equal([['a published'], 'published']);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['mounted']);
  });

  it('M5 many uses at once: one stage, then their publishes, one call at a time', async () => {
    const scene = new Scene();
    for (const allocId of ['a', 'b', 'c']) scene.actor.send(use(allocId));
    expect(scene.calls).to.deep.equal(['stage']);
    await scene.answer(staged);
    for (let at = 0; at < 3; at += 1) {
      expect(scene.calls).to.have.length(at + 2);
      await scene.answer(published);
    }
    expect(scene.calls).to.deep.equal(['stage', 'publish a', 'publish b', 'publish c']);
  });

  it('M2 the last that leaves is let go only when the volume is unstaged; those before it at once', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(use('b'));
    await scene.answer(published);
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    expect(scene.states()).to.deep.equal(['b published']);
    scene.actor.send(leave('b'));
    await scene.answer(unpublished);
    expect([scene.states(), scene.state]).to.deep.equal([['b detached'], 'unstaging']);
    await scene.answer(unstaged);
    expect([scene.states(), scene.state, scene.context.volume]).to.deep.equal([[], 'unstaged', null]);
    expect(scene.calls.slice(-3)).to.deep.equal(['unpublish a', 'unpublish b', 'unstage']);
  });

  it('M2 used again while it waits to be unstaged: who has left is let go, nothing is unstaged', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    await scene.answer(failed({}));
    expect(scene.states()).to.deep.equal(['a detached']);
    scene.actor.send(use('b'));
    expect(scene.calls.at(-1)).to.equal('stage');
    await scene.answer(staged);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['b published']);
  });

  it('M7 a failed unstage is tried again; used before that, the volume is staged again', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    await scene.answer(failed({}));
    expect([scene.context.staging.state, scene.state]).to.deep.equal(['doubtful', 'unstaging']);
    scene.clock.increment(1_000);
    expect(scene.calls.at(-1)).to.equal('unstage');
    await scene.answer(unstaged);
    expect(scene.state).to.equal('unstaged');
  });

  it('M7 a stage that is refused for good leaves nothing owed: its use has failed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({ final: true, message: 'no such volume' }));
    expect([scene.states(), scene.context.staging.state, scene.state]).to.deep.equal([
      ['a failed'],
      'none',
      'unstaged',
    ]);
    scene.actor.send(leave('a'));
    expect([scene.states(), scene.context.volume, scene.calls]).to.deep.equal([[], null, ['stage']]);
  });

  it('M7 a stage of unknown outcome owes an unstage before the volume is given up', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({}));
    scene.actor.send(leave('a'));
    expect([scene.calls, scene.state, scene.states()]).to.deep.equal([
      ['stage', 'unstage'],
      'unstaging',
      ['a detached'],
    ]);
    await scene.answer(unstaged);
    expect([scene.state, scene.states()]).to.deep.equal(['unstaged', []]);
  });

  it('M7 refused for good after an attempt of unknown outcome: it is still owed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({}));
    scene.clock.increment(1_000);
    await scene.answer(failed({ final: true }));
    expect([scene.states(), scene.state]).to.deep.equal([['a failed'], 'unstaging']);
    await scene.answer(unstaged);
    expect([scene.states(), scene.context.staging.state]).to.deep.equal([['a failed'], 'none']);
  });

  it('M4 another capability while it is used is refused, both named; by value the same is the same', async () => {
    const scene = await Scene.mounted();
    const other = use('b', { capability: { ...many, mountFlags: ['noatime'] } });
    scene.actor.send(other);
    expect(scene.states()).to.deep.equal(['a published']);
    scene.actor.send(use('b', { capability: { ...many } }));
    expect(scene.states()).to.deep.equal(['a published', 'b wanted']);
  });

  it('M4 a mode with one target waits for the one that leaves, and is refused beside one that stays', async () => {
    const scene = await Scene.mounted('a', { capability: single });
    scene.actor.send(use('b', { capability: single }));
    expect(scene.states()).to.deep.equal(['a published']);
    scene.actor.send(leave('a'));
    scene.actor.send(use('b', { capability: single }));
    expect(scene.calls.at(-1)).to.equal('unpublish a');
    await scene.answer(unpublished);
    expect([scene.calls.at(-1), scene.states()]).to.deep.equal(['publish b', ['b wanted']]);
  });

  it('M7 the last leaves while the volume is being staged: that is waited for, then undone, and only then let go', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    scene.actor.send(leave('a'));
    expect([scene.states(), scene.state]).to.deep.equal([['a detached'], 'staging']);
    await scene.answer(staged);
    expect([scene.states(), scene.calls]).to.deep.equal([['a detached'], ['stage', 'unstage']]);
    await scene.answer(unstaged);
    expect([scene.states(), scene.state, scene.context.volume]).to.deep.equal([[], 'unstaged', null]);
  });

  const unused: [how: string, outcome: CallOutcome<StageAnswer>][] = [
    ['refused for good', failed({ final: true })],
    ['not made', { status: 'not-begun', failure: { code: 'PLUGIN_UNAVAILABLE', message: 'gone', final: false } }],
    ['not needed', { status: 'done', answer: { isStaged: false, bootId: 'b1' } }],
  ];
  for (const [how, outcome] of unused) {
    it(`M7 the last leaves while the volume is being staged, which is ${how}: let go, nothing is undone`, async () => {
      const scene = new Scene();
      scene.actor.send(use('a'));
      scene.actor.send(leave('a'));
      await scene.answer(outcome);
      expect([scene.states(), scene.state, scene.context.volume]).to.deep.equal([[], 'unstaged', null]);
      expect(scene.calls).to.deep.equal(['stage']);
    });
  }

  it('M5 used again by another while it is being staged for one that has left: staged once, published for that', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    scene.actor.send(leave('a'));
    scene.actor.send(use('b'));
    await scene.answer(staged);
    await scene.answer(published);
    expect([scene.states(), scene.calls]).to.deep.equal([['b published'], ['stage', 'publish b']]);
  });

  it('M4 used otherwise while it is being staged for one that has left: refused', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    scene.actor.send(leave('a'));
    expect(mountRefusalOf(scene.context, use('b', { capability: single }))?.message).to.contain('has to be unstaged');
    expect(mountRefusalOf(scene.context, use('b'))).to.equal(undefined);
  });

  it('M2 left while its publish is in flight: that is waited for, then undone', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(staged);
    scene.actor.send(leave('a'));
    expect(scene.calls).to.deep.equal(['stage', 'publish a']);
    await scene.answer(published);
    expect(scene.calls.at(-1)).to.equal('unpublish a');
    await scene.answer(unpublished);
    await scene.answer(unstaged);
    expect([scene.states(), scene.state]).to.deep.equal([[], 'unstaged']);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['unmounted']);
  });

  it('M11 mounted otherwise than asked for: it is undone, then failed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a', { readOnly: true }));
    await scene.answer(staged);
    await scene.answer(failed({ code: 'MOUNT_NOT_AS_ASKED', final: true }));
    expect([scene.calls.at(-1), scene.states()]).to.deep.equal(['unpublish a', ['a leaving']]);
    await scene.answer(unpublished);
    expect(scene.states()).to.deep.equal(['a failed']);
    await scene.answer(unstaged);
    expect([scene.states(), scene.state]).to.deep.equal([['a failed'], 'unstaged']);
  });

  it('M2 published, it says that a step before is missing: staged again, then published', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(staged);
    await scene.answer(failed({ answerClass: 'repair' }));
    expect(scene.calls.at(-1)).to.equal('stage');
    await scene.answer(staged);
    scene.clock.increment(1_000);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M6 a mount that is missing is mounted again; with its staging gone, that comes first', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    const staging = [scene.context.staging.number];
    scene.actor.send({ type: 'mount.observed', users: [{ number, is: 'missing', isMended: true }], staging });
    expect(scene.calls.at(-1)).to.equal('stage');
    await scene.answer(staged);
    await scene.answer(published);
    expect([scene.states(), scene.calls.slice(2)]).to.deep.equal([['a published'], ['stage', 'publish a']]);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['mounted', 'lost', 'mounted']);
  });

  it('M6 what was seen of a mount before it was made anew changes nothing', async () => {
    const scene = await Scene.mounted();
    scene.actor.send({ type: 'mount.observed', users: [{ number: 0, is: 'missing', isMended: true }], staging: [] });
    expect([scene.states(), scene.state]).to.deep.equal([['a published'], 'published']);
  });

  it('M6 a mount that is only reported as lost stays so until it is asked for, and its staging with it', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    scene.actor.send({ type: 'mount.observed', users: [{ number, is: 'missing', isMended: false }], staging: [] });
    expect([scene.states(), scene.state, scene.calls]).to.deep.equal([['a lost'], 'staged', ['stage', 'publish a']]);
    scene.actor.send(use('a'));
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M6 a mount whose file system is dead is unmounted, then mounted again', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    scene.actor.send({ type: 'mount.observed', users: [{ number, is: 'dead', isMended: true }], staging: [] });
    expect(scene.calls.at(-1)).to.equal('unpublish a');
    await scene.answer(unpublished);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('H2 an unmount that fails, be it for good, is tried again', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(leave('a'));
    await scene.answer(failed({ final: true }));
    expect([scene.states(), scene.state]).to.deep.equal([['a leaving'], 'unpublishing']);
    scene.clock.increment(1_000);
    expect(scene.calls.slice(-2)).to.deep.equal(['unpublish a', 'unpublish a']);
  });

  it('M2 a plugin that has come to stage since: staged before it is published for another', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer({ status: 'done', answer: { isStaged: false, bootId: 'b1' } });
    await scene.answer(published);
    scene.actor.send(use('b'));
    await scene.answer(failed({ answerClass: 'repair' }));
    expect(scene.calls.slice(2)).to.deep.equal(['publish b', 'stage']);
    await scene.answer(staged);
    scene.clock.increment(1_000);
    expect(scene.calls.slice(4)).to.deep.equal(['publish b']);
  });

  it('M2 a plugin that does not stage: published, and let go of with the unpublish', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer({ status: 'done', answer: { isStaged: false, bootId: 'b1' } });
    await scene.answer(published);
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    expect([scene.states(), scene.state, scene.calls]).to.deep.equal([
      [],
      'unstaged',
      ['stage', 'publish a', 'unpublish a'],
    ]);
  });
});

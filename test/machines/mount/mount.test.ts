/** The mount machine: one volume on a node, its users, and the calls that they need. At its edges: mount-edges.test.ts */

import { expect } from 'chai';
import type { CallOutcome } from '../../../machines/kit/csi-types.js';
import { topState } from '../../../machines/kit/parts.js';
import type { StageAnswer } from '../../../machines/mount/calls.js';
import { mountRefusalOf } from '../../../machines/mount/requests.js';
import { failed, leave, many, published, Scene, single, staged, unpublished, unstaged, use } from './mount-scene.js';

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
    expect([topState(scene.context.staging), scene.state]).to.deep.equal(['unstage-in-doubt', 'unstaging']);
    scene.clock.increment(1_000);
    expect(scene.calls.at(-1)).to.equal('unstage');
    await scene.answer(unstaged);
    expect(scene.state).to.equal('unstaged');
  });

  it('M7 a stage that is refused for good leaves nothing owed: its use has failed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({ final: true, message: 'no such volume' }));
    expect([scene.states(), topState(scene.context.staging), scene.state]).to.deep.equal([
      ['a failed'],
      'not-staged',
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
    expect([scene.states(), topState(scene.context.staging)]).to.deep.equal([['a failed'], 'not-staged']);
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

  it('M7 the last user leaves during the stage: it ends, is undone, and only then is the hold released', async () => {
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
    ['not made', { status: 'not-sent', failure: { code: 'PLUGIN_UNAVAILABLE', message: 'gone', final: false } }],
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

  it('M7 the last leaves while the call to stage the volume waits: let go, as nothing was sent', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer({ status: 'must-wait', reason: 'its plugin is away', for: 'plugin' });
    expect([scene.context.staging.at, scene.actor.getSnapshot().value]).to.deep.equal([
      ...['pending-stage', 'waiting-for-plugin'],
    ]);
    scene.actor.send(leave('a'));
    expect([scene.states(), scene.state, scene.context.volume]).to.deep.equal([[], 'unstaged', null]);
    expect(scene.calls).to.deep.equal(['stage']);
  });

  it('M5 a new user during a stage for one that has left: staged once, published for the new one', async () => {
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
    const staging = [{ number: scene.context.staging.number, isMended: true }];
    scene.actor.send({
      type: 'mount.observed',
      users: [{ number, is: 'missing', isMended: true }],
      staging,
      isStart: false,
    });
    expect(scene.calls.at(-1)).to.equal('stage');
    await scene.answer(staged);
    await scene.answer(published);
    expect([scene.states(), scene.calls.slice(2)]).to.deep.equal([['a published'], ['stage', 'publish a']]);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['mounted', 'staging-lost', 'lost', 'mounted']);
  });

  it('M6 what was seen of a mount before it was made anew changes nothing', async () => {
    const scene = await Scene.mounted();
    scene.actor.send({
      type: 'mount.observed',
      users: [{ number: 0, is: 'missing', isMended: true }],
      staging: [],
      isStart: false,
    });
    expect([scene.states(), scene.state]).to.deep.equal([['a published'], 'published']);
  });

  it('M6 a mount that is only reported as lost stays so until it is asked for, and its staging with it', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    scene.actor.send({
      type: 'mount.observed',
      users: [{ number, is: 'missing', isMended: false }],
      staging: [],
      isStart: false,
    });
    expect([scene.states(), scene.state, scene.calls]).to.deep.equal([['a lost'], 'staged', ['stage', 'publish a']]);
    scene.actor.send(use('a'));
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M6 a mount whose file system is dead is unmounted, then mounted again', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    scene.actor.send({
      type: 'mount.observed',
      users: [{ number, is: 'dead', isMended: true }],
      staging: [],
      isStart: false,
    });
    expect(scene.calls.at(-1)).to.equal('unpublish a');
    await scene.answer(unpublished);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M2 M6 a dead staging path: every target is unpublished, then it is unstaged, and all is made again', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(use('b'));
    await scene.answer(published);
    const users = [...scene.context.users].map(({ number }) => ({ number, is: 'dead' as const, isMended: true }));
    const observation = { number: scene.context.staging.number, isMended: true, isDead: true } as const;
    scene.actor.send({ type: 'mount.observed', users, staging: [observation], isStart: false });
    await scene.answer(failed({}));
    await scene.answer(unpublished);
    // Nothing else goes on while one of them is mounted still.
    expect(scene.calls.slice(3)).to.deep.equal(['unpublish a', 'unpublish b']);
    scene.clock.increment(1_000);
    await scene.answer(unpublished);
    await scene.answer(failed({}));
    scene.clock.increment(1_000);
    for (const outcome of [unstaged, staged, published, published]) await scene.answer(outcome);
    expect(scene.calls.slice(5)).to.deep.equal([
      ...['unpublish a', 'unstage', 'unstage', 'stage', 'publish a', 'publish b'],
    ]);
    expect([scene.states(), scene.state, topState(scene.context.staging)]).to.deep.equal([
      ['a published', 'b published'],
      'published',
      'staged',
    ]);
  });

  it('M2 M6 a dead staging path in a report only: the next request unpublishes its target, then unstages', async () => {
    const scene = await Scene.mounted();
    const { staging, users } = scene.context;
    const seen = users.map(({ number }) => ({ number, is: 'dead' as const, isMended: false }));
    const observation = { number: staging.number, isMended: false, isDead: true } as const;
    scene.actor.send({ type: 'mount.observed', users: seen, staging: [observation], isStart: false });
    expect([scene.states(), scene.calls.slice(2)]).to.deep.equal([['a lost'], []]);
    scene.actor.send(use('a'));
    for (const outcome of [unpublished, unstaged, staged, published]) await scene.answer(outcome);
    expect(scene.calls.slice(2)).to.deep.equal(['unpublish a', 'unstage', 'stage', 'publish a']);
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

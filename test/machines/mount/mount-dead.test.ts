/** The mount machine over a staging path that is dead: nothing is staged over that, and nobody is left bound from it. */

import { expect } from 'chai';
import { isDead } from '../../../machines/mount/staging.js';
import { failed, leave, published, Scene, staged, unpublished, unstaged, use } from './mount-scene.js';

/** The staging path is seen dead, and with it the targets of these allocs; else of all that are published. */
function seenDead(scene: Scene, { isMended, allocIds, isStart = false }: Seen): void {
  const { users, staging } = scene.context;
  const dead = users.filter(({ allocId, at }) => allocIds?.includes(allocId) ?? at === 'published');
  scene.actor.send({
    type: 'mount.observed',
    users: dead.map(({ number }) => ({ number, is: 'dead', isMended })),
    staging: [{ number: staging.number, isMended, isDead: true }],
    isStart,
  });
}

interface Seen {
  isMended: boolean;
  allocIds?: string[];
  isStart?: boolean;
}

/** What is called since, each answered as it should be, until nothing is. */
async function calledSince(scene: Scene, before: number): Promise<string[]> {
  const answers = { stage: staged, publish: published, unpublish: unpublished, unstage: unstaged };
  for (let at = before; at < scene.calls.length; at += 1) {
    const [kind = ''] = scene.calls[at]?.split(' ') ?? [];
    await scene.answer(answers[kind as keyof typeof answers]);
    scene.clock.increment(1_000_000);
  }
  return scene.calls.slice(before);
}

const bothAnew = ['unpublish a', 'unpublish b', 'unstage', 'stage', 'publish a', 'publish b'];

async function mountedForBoth(): Promise<Scene> {
  const scene = await Scene.mounted('a');
  scene.actor.send(use('b'));
  await scene.answer(published);
  return scene;
}

describe('the mount machine over a dead staging path', () => {
  for (const [situation, outcome] of [
    ['about to fail', failed({ message: 'transport endpoint is not connected' })],
    ['about to succeed', published],
  ] as const) {
    it(`M2 M5 dead while another publish is ${situation}: all is unpublished and unstaged before the next stage`, async () => {
      const scene = await Scene.mounted('a');
      scene.actor.send(use('b'));
      expect(scene.calls.at(-1)).to.equal('publish b');
      seenDead(scene, { isMended: true, allocIds: ['a'] });
      const before = scene.calls.length;
      await scene.answer(outcome);
      expect(scene.states()).to.deep.equal(['a leaving', 'b leaving']);
      expect(await calledSince(scene, before)).to.deep.equal(bothAnew);
      expect(scene.states()).to.deep.equal(['a published', 'b published']);
      expect(scene.told.filter(({ type }) => type === 'mounted')).to.have.length(3);
    });
  }

  it('M2 M5 seen as a publish from it waits for its plugin: that is not made, all is made anew', async () => {
    const scene = await Scene.mounted('a');
    scene.actor.send(use('b'));
    await scene.answer({ status: 'must-wait', reason: 'the plugin is away', for: 'plugin' });
    expect(scene.actor.getSnapshot().value).to.deep.equal('waiting-for-plugin');
    const before = scene.calls.length;
    seenDead(scene, { isMended: true });
    expect(await calledSince(scene, before)).to.deep.equal(bothAnew.filter((one) => one !== 'unpublish b'));
  });

  it('M2 M6 a target that may be mounted from it is unpublished, too, before it is unstaged', async () => {
    const scene = await Scene.mounted('a');
    scene.actor.send(use('b'));
    await scene.answer(failed({ message: 'the connection is lost' }));
    const before = scene.calls.length;
    seenDead(scene, { isMended: true });
    expect(await calledSince(scene, before)).to.deep.equal(bothAnew);
    expect(scene.states()).to.deep.equal(['a published', 'b published']);
  });

  const askedAgain = [
    ['one of those', (scene: Scene) => scene.actor.send(use('a')), bothAnew],
    ['another alloc', (scene: Scene) => scene.actor.send(use('c')), [...bothAnew, 'publish c']],
    ['a retry', (scene: Scene) => scene.actor.send({ type: 'mount.retry' }), bothAnew],
  ] as const;
  for (const [who, ask, calls] of askedAgain) {
    it(`M2 M6 dead in a report only, then asked for by ${who}: unpublished, unstaged and made again`, async () => {
      const scene = await mountedForBoth();
      seenDead(scene, { isMended: false });
      const before = scene.calls.length;
      scene.clock.increment(1_000_000);
      expect([scene.states(), scene.calls.length]).to.deep.equal([['a lost', 'b lost'], before]);
      ask(scene);
      expect(await calledSince(scene, before)).to.deep.equal(calls);
      expect(new Set(scene.context.users.map(({ at }) => at))).to.deep.equal(new Set(['published']));
    });
  }

  it('M2 M6 only reported, and released by all: it is unstaged', async () => {
    const scene = await mountedForBoth();
    seenDead(scene, { isMended: false });
    const before = scene.calls.length;
    for (const allocId of ['a', 'b']) scene.actor.send(leave(allocId));
    expect(await calledSince(scene, before)).to.deep.equal(['unpublish a', 'unpublish b', 'unstage']);
    expect([scene.states(), scene.state]).to.deep.equal([[], 'unstaged']);
  });

  it('M6 N3 dead in a report only, asked for with an unconfirmed claim: nothing happens before it is confirmed', async () => {
    const scene = await Scene.mounted('a');
    scene.actor.send(use('b'));
    await scene.answer({ status: 'not-sent', failure: { code: 'PLUGIN_UNAVAILABLE', message: 'gone', final: false } });
    const before = scene.calls.length;
    seenDead(scene, { isMended: false, isStart: true });
    scene.clock.increment(1_000_000);
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a lost', 'b wanted'], before]);
    scene.actor.send({ type: 'mount.confirm', allocId: 'b' });
    expect(await calledSince(scene, before)).to.deep.equal(['unpublish a', 'unstage', 'stage', 'publish b']);
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    expect(scene.calls.at(-1)).to.equal('publish a');
  });

  for (const [when, see] of [
    ['at a start', (scene: Scene) => seenDead(scene, { isMended: true, isStart: true })],
    [
      'before a start',
      (scene: Scene) => {
        seenDead(scene, { isMended: true });
        scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
      },
    ],
  ] as const) {
    it(`M6 N3 dead ${when}: an unmounted target is not mounted again before its claim is confirmed`, async () => {
      const scene = await Scene.mounted('a');
      const before = scene.calls.length;
      see(scene);
      expect(await calledSince(scene, before)).to.deep.equal(['unpublish a', 'unstage']);
      scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
      expect(scene.calls.at(-1)).to.equal('stage');
    });
  }

  it('M6 N3 dead in a report before a restart: lost targets come back once their claims are confirmed', async () => {
    const scene = await mountedForBoth();
    seenDead(scene, { isMended: false });
    scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    const before = scene.calls.length;
    scene.actor.send(use('b'));
    expect(await calledSince(scene, before)).to.deep.equal(bothAnew.filter((one) => one !== 'publish a'));
    expect(scene.states()).to.deep.equal(['a wanted', 'b published']);
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    expect(scene.calls.at(-1)).to.equal('publish a');
  });

  it('M3 M6 a target that answers is not taken away: who wants the volume waits until that has left', async () => {
    const scene = await mountedForBoth();
    const before = scene.calls.length;
    seenDead(scene, { isMended: true, allocIds: ['a'] });
    scene.actor.send(use('c'));
    scene.actor.send({ type: 'mount.retry' });
    expect(await calledSince(scene, before)).to.deep.equal(['unpublish a']);
    expect(scene.states()).to.deep.equal(['a wanted', 'b published', 'c wanted']);
    scene.actor.send(leave('b'));
    const calls = await calledSince(scene, before + 1);
    expect(calls.slice(0, 3)).to.deep.equal(['unpublish b', 'unstage', 'stage']);
    expect(scene.states()).to.deep.equal(['a published', 'c published']);
  });

  it('M3 M6 a target that answered, and is seen dead later: all is made anew', async () => {
    const scene = await mountedForBoth();
    const before = scene.calls.length;
    seenDead(scene, { isMended: true, allocIds: ['a'] });
    await calledSince(scene, before);
    const users = scene.context.users.filter(({ allocId }) => allocId === 'b');
    scene.actor.send({
      type: 'mount.observed',
      users: users.map(({ number }) => ({ number, is: 'dead', isMended: true })),
      staging: [],
      isStart: false,
    });
    await calledSince(scene, before + 1);
    expect(scene.calls.slice(before)).to.have.members(bothAnew);
    expect(scene.states()).to.deep.equal(['a published', 'b published']);
  });

  it('M6 M7 the driver dies during a stage: unstaged before the next stage, and reported once', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({ message: 'the connection is lost' }));
    const before = scene.calls.length;
    for (let look = 0; look < 2; look += 1) seenDead(scene, { isMended: true });
    expect(scene.told.filter(({ type }) => type === 'staging-lost')).to.have.length(1);
    expect(await calledSince(scene, before)).to.deep.equal(['unstage', 'stage', 'publish a']);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M6 M7 a stage finds a dead mount although nothing is known to be staged: unstaged first', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    const failure = { code: 'MOUNT_STAYS' as const, message: 'dead', final: false };
    await scene.answer({ status: 'not-sent', failure });
    const before = scene.calls.length;
    for (let look = 0; look < 2; look += 1) seenDead(scene, { isMended: true });
    expect(await calledSince(scene, before)).to.deep.equal(['unstage', 'stage', 'publish a']);
    expect([scene.states(), scene.told.map(({ type }) => type)]).to.deep.equal([
      ['a published'],
      ['failed', 'mounted'],
    ]);
  });

  const refusedAsDead = {
    status: 'not-sent',
    failure: { code: 'MOUNT_STAYS', message: 'dead', final: false },
  } as const;

  /** A stage leaves something dead, which is unstaged. @returns how long the next stage waits */
  async function deadRound(scene: Scene): Promise<number> {
    await scene.answer(failed({ message: 'the driver has died' }));
    scene.clock.increment(1_000_000);
    await scene.answer(refusedAsDead);
    seenDead(scene, { isMended: true });
    await scene.answer(unstaged);
    return (scene.context.work?.dueAtMs ?? 0) - scene.clock.now();
  }

  it('M7 each stage leaves a dead mount: the pauses grow, and it is reported once', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    const pauses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      pauses.push(await deadRound(scene));
      scene.clock.increment(1_000_000);
    }
    expect(pauses).to.deep.equal([100, 400, 1_600, 6_400]);
    expect(scene.calls.filter((one) => one === 'unstage')).to.have.length(4);
    expect(scene.told.filter(({ type }) => type === 'failed')).to.have.length(1);
    expect(await calledSince(scene, scene.calls.length - 1)).to.deep.equal(['stage', 'publish a']);
  });

  for (const [who, ask] of [
    ['another alloc', (scene: Scene) => scene.actor.send(use('b'))],
    ['the same one, again', (scene: Scene) => scene.actor.send(use('a'))],
    ['a retry', (scene: Scene) => scene.actor.send({ type: 'mount.retry' })],
  ] as const) {
    it(`M7 a stage that has left something dead, and waits, is asked for by ${who}: it is made now`, async () => {
      const scene = new Scene();
      scene.actor.send(use('a'));
      expect(await deadRound(scene)).to.equal(100);
      const before = scene.calls.length;
      ask(scene);
      expect(scene.calls.slice(before)).to.deep.equal(['stage']);
    });
  }

  for (const [when, come] of [
    ['while that is unstaged', 'before'],
    ['after that', 'after'],
  ] as const) {
    it(`M7 every user has left a dead mount, and a new one comes ${when}: it does not wait`, async () => {
      const scene = new Scene();
      scene.actor.send(use('a'));
      await scene.answer(failed({ message: 'the driver has died' }));
      scene.clock.increment(1_000_000);
      await scene.answer(refusedAsDead);
      seenDead(scene, { isMended: true });
      scene.actor.send(leave('a'));
      if (come === 'before') scene.actor.send(use('b'));
      const before = scene.calls.length;
      await scene.answer(unstaged);
      if (come === 'after') scene.actor.send(use('b'));
      expect(scene.calls.slice(before)).to.deep.equal(['stage']);
    });
  }

  it('M6 M7 a staged mount dies later: staged again right after the unstage, whatever failed before', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    for (let count = 0; count < 5; count += 1) {
      await scene.answer(failed({ message: 'the connection is lost' }));
      scene.clock.increment(1_000_000);
    }
    await scene.answer(staged);
    await scene.answer(published);
    const before = scene.calls.length;
    seenDead(scene, { isMended: true });
    await scene.answer(unpublished);
    await scene.answer(unstaged);
    expect(scene.calls.slice(before)).to.deep.equal(['unpublish a', 'unstage', 'stage']);
  });

  it('M6 a death observed before the unstage changes nothing after it, with or without users', async () => {
    const scene = await Scene.mounted('a');
    const observation = { number: scene.context.staging.number, isMended: true, isDead: true };
    const late = () => scene.actor.send({ type: 'mount.observed', users: [], staging: [observation], isStart: false });
    scene.actor.send(leave('a'));
    expect(await calledSince(scene, 2)).to.deep.equal(['unpublish a', 'unstage']);
    late();
    scene.actor.send(use('b'));
    late();
    expect(await calledSince(scene, 4)).to.deep.equal(['stage', 'publish b']);
  });

  /** The staging path that was seen dead is not in the kernel's table any more. */
  function seenGone(scene: Scene, number = scene.context.staging.number): void {
    const staging = [{ number, isMended: true, isGone: true } as const];
    scene.actor.send({ type: 'mount.observed', users: [], staging, isStart: false });
  }

  it('M6 unmounted by hand while a target answers: who wants the volume waits no more', async () => {
    const scene = await mountedForBoth();
    const before = scene.calls.length;
    seenDead(scene, { isMended: true, allocIds: ['a'] });
    await calledSince(scene, before);
    const told = scene.told.length;
    seenGone(scene);
    expect(await calledSince(scene, before + 1)).to.deep.equal(['stage', 'publish a']);
    expect([scene.states(), isDead(scene.context.staging)]).to.deep.equal([['a published', 'b published'], false]);
    expect(scene.told.slice(told).map(({ type }) => type)).to.deep.equal(['mounted']);
  });

  for (const [situation, outcome] of [
    ['about to fail', failed({ message: 'transport endpoint is not connected' })],
    ['about to succeed', published],
  ] as const) {
    it(`M2 M6 unmounted by hand while another publish is ${situation}: unpublished before it is published`, async () => {
      const scene = await Scene.mounted('a');
      scene.actor.send(use('b'));
      seenDead(scene, { isMended: true, allocIds: ['a'] });
      seenGone(scene);
      const before = scene.calls.length;
      await scene.answer(outcome);
      expect(scene.states()).to.deep.equal(['a leaving', 'b leaving']);
      const calls = await calledSince(scene, before);
      expect(calls).to.have.members(['unpublish a', 'unpublish b', 'stage', 'publish a', 'publish b']);
      expect(calls[2]).to.equal('stage');
      expect(scene.states()).to.deep.equal(['a published', 'b published']);
    });
  }

  it('M6 what was seen gone of another staging changes nothing: it is dead still', async () => {
    const scene = await mountedForBoth();
    const before = scene.calls.length;
    seenDead(scene, { isMended: true, allocIds: ['a'] });
    await calledSince(scene, before);
    seenGone(scene, scene.context.staging.number - 1);
    expect([isDead(scene.context.staging), scene.calls.slice(before)]).to.deep.equal([true, ['unpublish a']]);
  });

  it('M6 unmounted by hand in a report only: lost until asked for again, then staged', async () => {
    const scene = await Scene.mounted();
    seenDead(scene, { isMended: false });
    const before = scene.calls.length;
    seenGone(scene);
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a lost'], before]);
    scene.actor.send(use('a'));
    expect(await calledSince(scene, before)).to.deep.equal(['stage', 'publish a']);
  });

  it('M6 N3 unmounted by hand, with an unanswered publish of an unconfirmed claim: unpublished before a publish', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(use('b'));
    await scene.answer(failed({ message: 'the connection is lost' }));
    const before = scene.calls.length;
    seenDead(scene, { isMended: false, isStart: true });
    seenGone(scene);
    expect(await calledSince(scene, before)).to.deep.equal(['unpublish b']);
    scene.actor.send({ type: 'mount.confirm', allocId: 'b' });
    expect(await calledSince(scene, before + 1)).to.deep.equal(['stage', 'publish b']);
  });

  for (const isMended of [true, false]) {
    it(`M6 M7 dead during another stage, which succeeds${isMended ? '' : ' (only reported)'}: unstaged before a publish`, async () => {
      const scene = new Scene();
      scene.actor.send(use('a'));
      await scene.answer(failed({ message: 'the connection is lost' }));
      scene.clock.increment(1_000);
      expect(scene.calls).to.deep.equal(['stage', 'stage']);
      const { number } = scene.context.staging;
      seenDead(scene, { isMended });
      const before = scene.calls.length;
      await scene.answer(staged);
      const observation = { number, isMended: true, isGone: true } as const;
      // Of before that call.
      scene.actor.send({ type: 'mount.observed', users: [], staging: [observation], isStart: false });
      expect(await calledSince(scene, before)).to.deep.equal(['unstage', 'stage', 'publish a']);
      expect(scene.states()).to.deep.equal(['a published']);
    });
  }

  it('M6 dead in a report during a stage for a user that has left: the earlier users stay lost', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.staging;
    const staging = [{ number, isMended: true }];
    scene.actor.send({ type: 'mount.observed', users: [], staging, isStart: false });
    expect(scene.calls.at(-1)).to.equal('stage');
    scene.actor.send(use('b'));
    seenDead(scene, { isMended: false, allocIds: ['a'] });
    scene.actor.send(leave('b'));
    const before = scene.calls.length;
    await scene.answer(staged);
    scene.clock.increment(1_000_000);
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a lost'], before]);
    scene.actor.send(use('a'));
    expect(await calledSince(scene, before)).to.deep.equal(['unpublish a', 'unstage', 'stage', 'publish a']);
  });

  it('M6 dead during a stage by a plugin that no longer stages: nothing is left to unstage', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({ message: 'the connection is lost' }));
    scene.clock.increment(1_000);
    seenDead(scene, { isMended: true });
    const before = scene.calls.length;
    await scene.answer({ status: 'done', answer: { isStaged: false, bootId: 'b1' } });
    expect(await calledSince(scene, before)).to.deep.equal(['publish a']);
  });

  it('M6 H6 hastened while it is made anew: it is mounted again all the same', async () => {
    const scene = await Scene.mounted('a');
    const before = scene.calls.length;
    seenDead(scene, { isMended: true });
    await scene.answer(failed({}));
    scene.actor.send({ type: 'mount.hasten' });
    expect(await calledSince(scene, before + 1)).to.deep.equal(['unpublish a', 'unstage', 'stage', 'publish a']);
    expect(scene.states()).to.deep.equal(['a published']);
  });
});

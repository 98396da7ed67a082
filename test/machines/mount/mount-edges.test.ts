/** The mount machine where things come together: calls in flight, volumes made anew, what others have meanwhile. */

import { expect } from 'chai';
import { topState } from '../../../machines/kit/parts.js';
import { nodeExpandCallOf, nodePublishCallOf, stageCallOf, unstageCallOf } from '../../../machines/mount/calls.js';
import type { MountEvent } from '../../../machines/mount/types.js';
import {
  failed,
  found,
  leave,
  many,
  published,
  Scene,
  single,
  staged,
  unpublished,
  unstaged,
  use,
  volume,
} from './mount-scene.js';

describe('the mount machine, at its edges', () => {
  it('M7 retried after a stage that was refused for good: it is staged again', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({ final: true, message: 'no such volume' }));
    scene.actor.send({ type: 'mount.retry' });
    expect([scene.actor.getSnapshot().status, scene.calls]).to.deep.equal(['active', ['stage', 'stage']]);
  });

  it('V10 a stage that is refused for good again and again while one is mounted: the pauses grow', async () => {
    const scene = await Scene.mounted();
    const staging = [{ number: scene.context.staging.number, isMended: true }];
    scene.actor.send({ type: 'mount.observed', users: [], staging, isStart: false });
    for (let at = 0; at < 20; at += 1) {
      await scene.answer(failed({ final: true }));
      const calls = scene.calls.length;
      for (let ms = 0; scene.calls.length === calls && ms < 1e7; ms += 10) scene.clock.increment(10);
    }
    expect(scene.clock.now()).to.be.greaterThan(60_000);
  });

  it('M4 another capability during an unwanted stage: the old stage is not published', async () => {
    const scene = new Scene();
    const xfs = { ...many, fsType: 'xfs' };
    scene.actor.send(use('a', { capability: { ...many, fsType: 'ext4' } }));
    scene.actor.send(leave('a'));
    scene.actor.send(use('b', { capability: xfs }));
    await scene.answer(staged);
    expect([scene.context.capability?.fsType, scene.calls]).to.deep.equal(['ext4', ['stage', 'unstage']]);
  });

  it('M12 another volume of the same name during an unwanted stage: the old stage is not published', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    scene.actor.send(leave('a'));
    scene.actor.send(use('b', { volume: { ...volume, uid: 'u2', csiId: 'vol-2' } }));
    await scene.answer(staged);
    expect([scene.context.volume?.csiId, scene.calls]).to.deep.equal(['vol-1', ['stage', 'unstage']]);
  });

  it('M4 with one target, one that waits beside a mount that is made anew is refused, or mounted', async () => {
    const scene = await Scene.mounted('a', { capability: single });
    const { number } = scene.context.users[0] ?? { number: 0 };
    scene.actor.send({
      type: 'mount.observed',
      users: [{ number, is: 'dead', isMended: true }],
      staging: [],
      isStart: false,
    });
    scene.actor.send(use('b', { capability: single }));
    await scene.answer(unpublished);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('V9 grown once more while it is being expanded: expanded to that, too', async () => {
    const scene = await Scene.mounted();
    scene.actor.send({ type: 'mount.expand', capacity: { requiredBytes: 1 } });
    expect(scene.calls.at(-1)).to.equal('expand a');
    scene.actor.send({ type: 'mount.expand', capacity: { requiredBytes: 2 } });
    await scene.answer({ status: 'done', answer: {} });
    expect([scene.calls.filter((one) => one === 'expand a').length, scene.state]).to.deep.equal([2, 'expanding']);
  });

  it('M4 with one target, a retry does not bring back one that has failed beside another that has it', async () => {
    const scene = new Scene();
    scene.actor.send(use('a', { capability: single }));
    await scene.answer(failed({ final: true }));
    scene.actor.send(use('b', { capability: single }));
    await scene.answer(staged);
    await scene.answer(published);
    scene.actor.send({ type: 'mount.retry' });
    expect(scene.states()).to.deep.equal(['a failed', 'b published']);
    scene.actor.send(leave('b'));
    await scene.answer(unpublished);
    expect(scene.calls.at(-1)).to.equal('unstage');
  });

  it('M13 published anew while it is being staged: what is staged is published as it was staged', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    scene.actor.send(use('b', { volume: { ...volume, publishContext: { device: 'sdb' } } }));
    await scene.answer(staged);
    expect([scene.context.volume?.publishContext, scene.calls.at(-1)]).to.deep.equal([{}, 'publish a']);
  });

  it('M2 a plugin that has come to stage since: staged before it is published for another', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer({ status: 'done', answer: { isStaged: false, bootId: 'b1' } });
    await scene.answer(published);
    scene.actor.send(use('b'));
    await scene.answer(failed({ answerClass: 'repair' }));
    scene.clock.increment(1_000);
    expect(scene.calls.slice(3)).to.include('stage');
  });

  for (const isMended of [true, false]) {
    const how = isMended ? 'mounted anew by itself' : 'asked for again';

    /** Its plugin has not answered OK to what is to be mounted since. */
    async function missing(users: readonly string[] = ['a']): Promise<Scene> {
      const scene = await Scene.mounted();
      for (const allocId of users.slice(1)) {
        scene.actor.send(use(allocId));
        await scene.answer(published);
      }
      const seen = scene.context.users.map(({ number }) => ({ number, is: 'missing' as const, isMended }));
      const staging = [{ number: scene.context.staging.number, isMended }];
      scene.actor.send({ type: 'mount.observed', users: seen, staging, isStart: false });
      if (!isMended) for (const allocId of users) scene.actor.send(use(allocId));
      return scene;
    }

    it(`M2 M6 a mount that was missing, released before it is ${how}: it is unpublished, then unstaged`, async () => {
      const scene = await missing();
      const before = scene.calls.length;
      await scene.answer(failed({}));
      scene.actor.send(leave('a'));
      for (const outcome of [unpublished, unstaged]) await scene.answer(outcome);
      expect([scene.calls.slice(before), scene.states()]).to.deep.equal([['unpublish a', 'unstage'], []]);
    });

    for (const [situation, outcome] of [
      ['not made', { status: 'not-sent', failure: { code: 'PLUGIN_UNAVAILABLE', message: 'gone', final: false } }],
      ['refused for good', failed({ final: true })],
      ['done', published],
    ] as const) {
      it(`M2 M6 a missing mount released during its publish (${how}), which is ${situation}: unpublished`, async () => {
        const scene = await missing();
        await scene.answer(staged);
        expect(scene.calls.at(-1)).to.equal('publish a');
        scene.actor.send(leave('a'));
        const before = scene.calls.length;
        for (const answer of [outcome, unpublished, unstaged]) await scene.answer(answer);
        expect([scene.calls.slice(before), scene.states()]).to.deep.equal([['unpublish a', 'unstage'], []]);
      });
    }

    it(`M2 M6 a missing mount refused for good while it is ${how}: unpublished before it fails`, async () => {
      const scene = await missing();
      await scene.answer(staged);
      const before = scene.calls.length;
      for (const outcome of [failed({ final: true }), unpublished, unstaged]) await scene.answer(outcome);
      expect([scene.calls.slice(before), scene.states()]).to.deep.equal([['unpublish a', 'unstage'], ['a failed']]);
    });

    it(`M2 M6 a missing mount that is ${how} is no repeat of an unanswered publish; unpublishing forgets it`, async () => {
      const scene = await missing();
      await scene.answer(staged);
      expect(nodePublishCallOf(scene.context).isRepeat).to.equal(false);
      await scene.answer(published);
      scene.actor.send(leave('a'));
      scene.actor.send(use('a'));
      await scene.answer(unpublished);
      scene.actor.send(leave('a'));
      await scene.answer({
        status: 'not-sent',
        failure: { code: 'PLUGIN_UNAVAILABLE', message: 'gone', final: false },
      });
      await scene.answer(unstaged);
      expect([scene.calls.slice(-3), scene.states()]).to.deep.equal([['unpublish a', 'publish a', 'unstage'], []]);
    });

    it(`M2 M6 a missing mount beside a dead staging path (${how}): unpublished before the unstage`, async () => {
      const scene = await missing(['a', 'b']);
      await scene.answer(failed({}));
      const before = scene.calls.length;
      const staging = [{ number: scene.context.staging.number, isMended: true, isDead: true }];
      scene.actor.send({ type: 'mount.observed', users: [], staging, isStart: false });
      for (const outcome of [unpublished, unpublished, unstaged, staged, published, published]) {
        await scene.answer(outcome);
        // The stage that has failed has its pause.
        scene.clock.increment(1_000);
      }
      expect(scene.calls.slice(before)).to.deep.equal([
        ...['unpublish a', 'unpublish b', 'unstage', 'stage', 'publish a', 'publish b'],
      ]);
      expect(scene.states()).to.deep.equal(['a published', 'b published']);
    });
  }

  const stepMissing = {
    status: 'not-sent',
    failure: { code: 'MOUNT_MISSING', message: 'not staged any more', final: false, answerClass: 'repair' },
  } as const;

  it('M2 a publish is not sent because the stage is gone: staged again, and the publish is no repeat', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(staged);
    await scene.answer(stepMissing);
    expect([scene.calls.at(-1), topState(scene.context.staging)]).to.deep.equal(['stage', 'in-doubt']);
    await scene.answer(staged);
    scene.clock.increment(1_000);
    expect([scene.calls.at(-1), nodePublishCallOf(scene.context).isRepeat]).to.deep.equal(['publish a', false]);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });

  it('M2 released when its publish is not sent because the stage is gone: unstaged without an unpublish', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(staged);
    scene.actor.send(leave('a'));
    await scene.answer(stepMissing);
    expect(scene.calls.slice(2)).to.deep.equal(['unstage']);
    await scene.answer(unstaged);
    expect(scene.states()).to.deep.equal([]);
  });

  it('M2 an unmount, or a stage, that is not made puts nothing in doubt, whatever it says', async () => {
    const scene = await Scene.mounted();
    scene.actor.send(use('b'));
    await scene.answer(published);
    scene.actor.send(leave('a'));
    await scene.answer(stepMissing);
    expect(scene.context.staging.at).to.equal('staged');
    const fresh = new Scene();
    fresh.actor.send(use('a'));
    await fresh.answer(stepMissing);
    expect(fresh.context.staging.at).to.equal('pending-stage');
  });

  it('M2 M6 what was staged is known until another stage was made: what is in its place is told apart', async () => {
    const scene = await Scene.mounted();
    const foundNow = () => stageCallOf(scene.context).found;
    const observation = { number: scene.context.staging.number, isMended: true };
    scene.actor.send({ type: 'mount.observed', users: [], staging: [observation], isStart: false });
    expect([scene.calls.at(-1), stageCallOf(scene.context).foundIn, foundNow()]).to.deep.equal(['stage', 'b1', found]);
    await scene.answer({ status: 'not-sent', failure: { code: 'HOST_UNFIT', message: 'covered', final: false } });
    expect(foundNow()).to.deep.equal(found);
    scene.clock.increment(1_000_000);
    await scene.answer(failed({ final: true, answerClass: 'final' }));
    expect(foundNow()).to.equal(undefined);
  });

  it('M2 M12 the stage is known until it is unstaged, also after a failure; while staged, it can be expanded', async () => {
    const scene = await Scene.mounted();
    expect(nodeExpandCallOf(scene.context).staged).to.deep.equal(found);
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    await scene.answer(failed({}));
    expect([topState(scene.context.staging), unstageCallOf(scene.context).found]).to.deep.equal([
      'unstage-in-doubt',
      found,
    ]);
  });

  it('M6 what is only to be reported is not staged again by itself', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    const staging = [{ number: scene.context.staging.number, isMended: false }];
    scene.actor.send(use('b'));
    await scene.answer(published);
    const users = [{ number, is: 'missing' as const, isMended: false }];
    scene.actor.send({ type: 'mount.observed', users, staging, isStart: false });
    expect(scene.calls).to.deep.equal(['stage', 'publish a', 'publish b']);
    expect(scene.told.slice(-2).map(({ type }) => type)).to.deep.equal(['staging-lost', 'lost']);
    scene.actor.send(use('a'));
    expect(scene.calls.at(-1)).to.equal('stage');
  });

  for (const [situation, begun] of [
    ['wanted', async (scene: Scene) => scene.answer(failed({}))],
    [
      'published, and missing',
      async (scene: Scene) => {
        await scene.answer(staged);
        await scene.answer(published);
      },
    ],
  ] as const) {
    it(`N3 ${situation} as the runtime was away: nothing is made for it before its claim is confirmed`, async () => {
      const scene = new Scene();
      scene.actor.send(use('a'));
      await begun(scene);
      const { number } = scene.context.users[0] ?? { number: 0 };
      const calls = scene.calls.length;
      const users = [{ number, is: 'missing' as const, isMended: true }];
      const staging = [{ number: scene.context.staging.number, isMended: true }];
      scene.actor.send({ type: 'mount.observed', users, staging, isStart: true });
      scene.clock.increment(1_000_000);
      expect([scene.states(), scene.calls.length]).to.deep.equal([['a wanted'], calls]);
      scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
      expect(scene.calls.at(-1)).to.equal('stage');
      await scene.answer(staged);
      await scene.answer(published);
      expect(scene.states()).to.deep.equal(['a published']);
    });
  }

  it('N3 beside one that is confirmed, the other is not published', async () => {
    const scene = new Scene();
    for (const allocId of ['a', 'b']) scene.actor.send(use(allocId));
    await scene.answer(failed({}));
    scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    scene.clock.increment(1_000_000);
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    for (const outcome of [staged, published]) await scene.answer(outcome);
    scene.clock.increment(1_000_000);
    expect([scene.states(), scene.calls]).to.deep.equal([
      ['a published', 'b wanted'],
      ['stage', 'stage', 'publish a'],
    ]);
  });

  for (const [situation, begun] of [
    [
      'was only reported as lost',
      async (scene: Scene) => {
        const { number } = scene.context.users[0] ?? { number: 0 };
        const users = [{ number, is: 'missing' as const, isMended: false }];
        scene.actor.send({ type: 'mount.observed', users, staging: [], isStart: false });
      },
    ],
    [
      'has failed',
      async (scene: Scene) => {
        scene.actor.send(leave('a'));
        scene.actor.send(use('a'));
        await scene.answer(unpublished);
        await scene.answer(failed({ final: true }));
        await scene.answer(unstaged);
      },
    ],
  ] as const) {
    it(`N3 a user that ${situation} before a restart is retried: nothing is made before its claim is confirmed`, async () => {
      const scene = await Scene.mounted();
      await begun(scene);
      const calls = scene.calls.length;
      scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
      scene.actor.send({ type: 'mount.retry' });
      scene.clock.increment(1_000_000);
      expect([scene.states(), scene.calls.length]).to.deep.equal([['a wanted'], calls]);
      scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
      if (scene.state === 'staging') await scene.answer(staged);
      await scene.answer(published);
      expect(scene.states()).to.deep.equal(['a published']);
    });
  }

  it('N3 undone before it failed, retried after a restart: nothing is made before its claim is confirmed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(staged);
    await scene.answer(failed({ code: 'MOUNT_NOT_AS_ASKED', final: true }));
    expect(scene.states()).to.deep.equal(['a leaving']);
    scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    for (const outcome of [unpublished, unstaged]) await scene.answer(outcome);
    const calls = scene.calls.length;
    scene.actor.send({ type: 'mount.retry' });
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a wanted'], calls]);
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    expect(scene.calls.at(-1)).to.equal('stage');
  });

  it('N3 its claim is lost: what may be staged is unstaged, and nothing else is asked', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({}));
    scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    scene.actor.send(leave('a'));
    expect(scene.calls).to.deep.equal(['stage', 'unstage']);
    await scene.answer(unstaged);
    expect(scene.states()).to.deep.equal([]);
  });

  const askedAgain: [string, MountEvent][] = [
    ['asked to leave once more', leave('a')],
    ['at a start', { type: 'mount.observed', users: [], staging: [], isStart: true }],
    ['hastened', { type: 'mount.hasten' }],
  ];
  for (const [situation, again] of askedAgain) {
    it(`H2 ${situation}, an unmount that backs off is tried now, and so is an unstage`, async () => {
      const scene = await Scene.mounted();
      scene.actor.send(leave('a'));
      for (let attempt = 0; attempt < 12; attempt += 1) {
        await scene.answer(failed({}));
        if (scene.state === 'unpublishing') scene.clock.increment(300_000);
      }
      await scene.answer(failed({}));
      const calls = scene.calls.length;
      scene.actor.send(again);
      expect(scene.calls.slice(calls)).to.deep.equal(['unpublish a']);
      await scene.answer(unpublished);
      await scene.answer(failed({}));
      scene.actor.send(again);
      expect(scene.calls.at(-1)).to.equal('unstage');
      await scene.answer(unstaged);
      expect(scene.states()).to.deep.equal([]);
    });
  }

  it('M3 at a start, a stage that backs off is tried once the claim is confirmed', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await scene.answer(failed({}));
      if (attempt < 11) scene.clock.increment(300_000);
    }
    const calls = scene.calls.length;
    scene.actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    expect(scene.calls.slice(calls)).to.deep.equal(['stage']);
  });

  it('H6 hastened: who was lost or has failed stays so, what is to be made waits for its time', async () => {
    const scene = await Scene.mounted();
    const { number } = scene.context.users[0] ?? { number: 0 };
    const users = [{ number, is: 'missing' as const, isMended: false }];
    scene.actor.send({ type: 'mount.observed', users, staging: [], isStart: false });
    for (const [allocId, final] of [
      ['b', true],
      ['c', false],
    ] as const) {
      scene.actor.send(use(allocId));
      await scene.answer(failed({ final }));
    }
    const calls = scene.calls.length;
    scene.actor.send({ type: 'mount.hasten' });
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a lost', 'b failed', 'c wanted'], calls]);
    scene.clock.increment(1_000);
    expect(scene.calls.at(-1)).to.equal('publish c');
  });

  it('H6 hastened, what is staged for nobody any more is unstaged now', async () => {
    const scene = new Scene();
    scene.actor.send(use('a'));
    await scene.answer(failed({}));
    scene.clock.increment(1_000);
    await scene.answer(failed({ final: true }));
    await scene.answer(failed({}));
    expect([scene.states(), scene.calls.slice(2)]).to.deep.equal([['a failed'], ['unstage']]);
    scene.actor.send({ type: 'mount.hasten' });
    expect(scene.calls.slice(2)).to.deep.equal(['unstage', 'unstage']);
  });

  it('M15 what was said of its health before it was mounted anew is not said of it any more', async () => {
    const scene = await Scene.mounted();
    scene.actor.send({ type: 'mount.condition', condition: { abnormal: true, message: 'it is not mounted' } });
    const { number } = scene.context.users[0] ?? { number: 0 };
    const users = [{ number, is: 'missing' as const, isMended: true }];
    scene.actor.send({ type: 'mount.observed', users, staging: [], isStart: false });
    await scene.answer(published);
    expect(scene.context.condition).to.equal(null);
  });
});

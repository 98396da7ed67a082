/** Holds that a mount keeps until the process that has the volumes knows of their end. */
import { expect } from 'chai';
import { failed, leave, many, Scene, single, unpublished, unstaged, use } from './mount-scene.js';

const held = (hold: number) => ({ isClaimed: false, hold });

describe('holds in the mount machine', () => {
  it('M2 the last user with a hold has left: that is owed until it is heard, then nothing is here', async () => {
    const scene = await Scene.mounted('a', held(5));
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    expect(scene.context.unreported ?? []).to.deep.equal([]);
    await scene.answer(unstaged);
    expect([scene.states(), scene.context.unreported]).to.deep.equal([[], [{ allocId: 'a', generation: 5 }]]);
    expect([scene.state, scene.actor.getSnapshot().hasTag('absent'), scene.context.volume]).to.deep.equal([
      'unstaged',
      false,
      null,
    ]);
    scene.actor.send({ type: 'mount.hold-released', allocId: 'a', generation: 5 });
    expect(scene.actor.getSnapshot().hasTag('absent')).to.equal(true);
  });

  it('M2 where others use the volume still, the hold is over with the target', async () => {
    const scene = await Scene.mounted('a', { ...held(5), capability: many });
    scene.actor.send(use('b'));
    scene.actor.send(leave('a'));
    while (scene.states().length > 1) await scene.answer(unpublished);
    expect(scene.context.unreported).to.deep.equal([{ allocId: 'a', generation: 5 }]);
  });

  it('M2 mounted again with a newer hold before the older one is heard of: that one alone is owed no more', async () => {
    const scene = await Scene.mounted('a', held(5));
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    await scene.answer(unstaged);
    scene.actor.send(use('a', held(6)));
    scene.actor.send({ type: 'mount.hold-released', allocId: 'a', generation: 5 });
    expect([scene.context.unreported, scene.context.users[0]?.hold]).to.deep.equal([[], 6]);
  });

  it('M2 asked for again as it leaves, then given up: the newest hold is owed', async () => {
    const scene = await Scene.mounted('a', held(5));
    scene.actor.send(leave('a'));
    scene.actor.send(use('a', held(6)));
    scene.actor.send(leave('a'));
    await scene.answer(unpublished);
    await scene.answer(unstaged);
    expect(scene.context.unreported).to.deep.equal([{ allocId: 'a', generation: 6 }]);
  });

  it('M7 one that could not be mounted keeps its hold only until nothing may be staged', async () => {
    const scene = new Scene();
    scene.actor.send(use('a', { ...held(5), capability: single }));
    await scene.answer(failed({}));
    scene.clock.increment(60_000);
    await scene.answer(failed({ final: true }));
    expect([scene.states(), scene.context.unreported ?? []]).to.deep.equal([['a failed'], []]);
    await scene.answer(unstaged);
    expect(scene.calls).to.deep.equal(['stage', 'stage', 'unstage']);
    expect(scene.context.unreported).to.deep.equal([{ allocId: 'a', generation: 5 }]);
    scene.actor.send({ type: 'mount.retry' });
    expect(scene.states()).to.deep.equal(['a failed']);
  });

  it('N3 lost while the agent was away: staged again only once its hold is known to be kept', async () => {
    const scene = await Scene.mounted('a', held(5));
    const [{ number } = { number: 0 }] = scene.context.users;
    const users = [{ number, is: 'missing', isMended: true }] as const;
    const staging = [{ number: scene.context.staging.number, isMended: true }];
    const before = scene.calls.length;
    scene.actor.send({ type: 'mount.observed', users: [...users], staging, isStart: true });
    expect([scene.states(), scene.calls.length]).to.deep.equal([['a wanted'], before]);
    scene.actor.send({ type: 'mount.confirm', allocId: 'a' });
    expect(scene.calls.slice(before)).to.deep.equal(['stage']);
  });

  it('N3 lost while the agent was away, its hold gone meanwhile: never staged again', async () => {
    const scene = await Scene.mounted('a', held(5));
    const [{ number } = { number: 0 }] = scene.context.users;
    const users = [{ number, is: 'missing', isMended: true }] as const;
    const staging = [{ number: scene.context.staging.number, isMended: true }];
    scene.actor.send({ type: 'mount.observed', users: [...users], staging, isStart: true });
    scene.actor.send({ type: 'mount.leave', allocId: 'a', hold: 5 });
    await scene.answer(unpublished);
    await scene.answer(unstaged);
    expect(scene.calls.filter((call) => call === 'stage')).to.have.length(1);
    expect(scene.context.unreported).to.deep.equal([{ allocId: 'a', generation: 5 }]);
  });
});

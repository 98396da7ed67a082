/** A mount of an agent at another place, once its volume was given up: its record goes without a call. */
import { expect } from 'chai';
import type { CallOutcome } from '../../../machines/kit/csi-types.js';
import { failed, leave, published, Scene, staged, unpublished, use } from './mount-scene.js';

const waits: CallOutcome<never> = { status: 'must-wait', reason: 'of the agent of another place', for: 'compared' };

async function used(...answers: CallOutcome<unknown>[]): Promise<Scene> {
  const scene = new Scene();
  scene.actor.send(use('a'));
  for (const one of answers) await scene.answer(one);
  return scene;
}

async function left(...answers: CallOutcome<unknown>[]): Promise<Scene> {
  const scene = await used(staged, published);
  scene.actor.send(leave('a'));
  for (const one of answers) await scene.answer(one);
  return scene;
}

const situations: Record<string, () => Promise<Scene>> = {
  mounted: () => used(staged, published),
  'mounted and dead, which is only reported': async () => {
    const scene = await used(staged, published);
    const staging = [{ number: scene.context.staging.number, isMended: false, isDead: true }];
    scene.actor.send({ type: 'mount.observed', users: [], staging, isStart: true });
    return scene;
  },
  'a stage is under way': () => used(),
  'a stage waits': () => used(waits),
  'a stage in doubt rests': () => used(failed({})),
  'a publish is under way': () => used(staged),
  'an unpublish waits': () => left(waits),
  'an unpublish rests': () => left(failed({})),
  'an unstage is under way': () => left(unpublished),
  'a stage was refused for good': () => used(failed({ final: true })),
};

describe('a mount whose volume was given up', () => {
  for (const [situation, begin] of Object.entries(situations))
    it(`34.32 ${situation}: its record is dropped, and nothing is called`, async () => {
      const scene = await begin();
      const { length } = scene.calls;
      scene.actor.send({ type: 'mount.given-up' });
      scene.clock.increment(600_000);
      const { users, unconfirmed, volume, capability, work, awaiting, staging } = scene.context;
      expect([users, unconfirmed, volume, capability, work, awaiting]).to.deep.equal([[], [], null, null, null, null]);
      expect([staging.at, scene.actor.getSnapshot().hasTag('absent')]).to.deep.equal(['not-staged', true]);
      expect(scene.calls).to.have.length(length);
    });

  it('34.32 those who may have it mounted are told that it is lost, others nothing', async () => {
    const scene = await Scene.mounted('a');
    scene.actor.send(use('b'));
    await scene.answer(failed({ final: true }));
    scene.actor.send({ type: 'mount.given-up' });
    expect(scene.told.slice(-1).map(({ node: _, key: __, ...told }) => told)).to.deep.equal([
      { type: 'lost', allocId: 'a', is: 'missing', isMended: false },
    ]);
  });

  it('34.32 mounted again by the agent of this place: as any new mount', async () => {
    const scene = await used(staged, published);
    scene.actor.send({ type: 'mount.given-up' });
    scene.actor.send(use('a'));
    await scene.answer(staged);
    await scene.answer(published);
    expect(scene.states()).to.deep.equal(['a published']);
  });
});

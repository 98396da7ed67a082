/**
 * Kills the agent around each commit that reserves, keeps, counts or releases a slot of a node. The next agent must admit
 * exactly as many volumes as the node takes.
 */
import { expect } from 'chai';
import { isEvent, SlotsScene } from './slots-scene.js';

describe('slots whose agent is killed', () => {
  let scene: SlotsScene;
  beforeEach(async () => {
    scene = await new SlotsScene().open();
  });
  afterEach(() => scene.dispose());

  const publish = (id: string) => () => scene.runtime.volumes.publish({ id }, 'a');
  const published = async (id: string, then: () => Promise<unknown>): Promise<unknown> => {
    await publish(id)();
    return then();
  };
  const unpublish = () => published('v0', () => scene.runtime.volumes.unpublish({ id: 'v0' }, 'a'));
  const deletion = () => published('v0', () => scene.runtime.volumes.delete({ id: 'v0' }, { force: true }));
  const fence = () => published('v0', () => scene.runtime.nodes.fence('a', 'its power is off'));
  const refusedPublish = async () => {
    await scene.runtime.volumes.setAvailability({ id: 'v0' }, 'pause');
    await publish('v0')();
  };
  const newLimit = async () => {
    await scene.report();
    await publish('v0')();
    await scene.report(2);
    await publish('v1')();
  };

  /** Works with the events at whose commits the agent is killed. */
  const moments: [what: string, work: () => Promise<unknown>, events: string[]][] = [
    ['publish', publish('v0'), ['node.reserve-slot', 'volume.publish', 'xstate.done.actor.controllerPublish']],
    ['refused publish', refusedPublish, ['node.reserve-slot', 'node.release-slots']],
    ['unpublish', unpublish, ['volume.unpublish', 'xstate.done.actor.controllerUnpublish', 'node.release-slots']],
    ['forced deletion', deletion, ['volume.delete', 'xstate.done.actor.deleteVolume', 'node.release-slots']],
    ['fence', fence, ['volume.fence', 'xstate.done.actor.controllerUnpublish', 'node.release-slots']],
    ['new limit', newLimit, ['node.add-slot', 'volume.add-slot', 'node.slots-counted']],
  ];

  const cases = moments.flatMap(([what, work, events]) =>
    events.flatMap((event) => [false, true].map((done) => ({ what, work, event, done }))),
  );
  for (const { what, work, event, done } of cases)
    it(`V18 ${what}: killed ${done ? 'after' : 'before'} ${event} is committed`, async () => {
      const isDead = scene.dies(isEvent(event), done);
      work().catch(() => {}); // A killed agent never answers.
      for (let turn = 0; turn < 20 && !isDead(); turn += 1) await scene.lab.clock.advance(100);
      expect(isDead()).to.equal(true);
      await scene.next();
      // Lets open calls end, and the calls that compensate them follow.
      await scene.lab.clock.advance(150_000);
      await scene.report(2);
      await scene.prepare();
      await scene.checkRoom();
      await scene.unpublishAll();
      await scene.checkRoom();
    });
});

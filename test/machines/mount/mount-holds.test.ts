/** Holds of versions up to 0.3.0: the record of a mount keeps each until it is released. */
import { expect } from 'chai';
import { createActor } from 'xstate';
import { noMount } from '../../../machines/mount/changes.js';
import { mountMachine } from '../../../machines/mount/mount.js';

const input = { node: 'n1', namespace: 'default', id: 'data' };
const holds = [
  { allocId: 'a', generation: 5 },
  { allocId: 'b', generation: 6 },
];

describe('holds in the mount machine', () => {
  it('35.6 nothing is mounted any more, and a hold is to be released: the record stays until it is', () => {
    const snapshot = mountMachine.resolveState({ value: { unstaged: 'held' }, context: { ...noMount(input), holds } });
    const actor = createActor(mountMachine, { input, snapshot }).start();
    actor.send({ type: 'mount.hold-released', allocId: 'a' });
    expect([actor.getSnapshot().hasTag('absent'), actor.getSnapshot().context.holds]).to.deep.equal([
      false,
      holds.slice(1),
    ]);
    actor.send({ type: 'mount.hold-released', allocId: 'b' });
    expect(actor.getSnapshot().hasTag('absent')).to.equal(true);
  });
});

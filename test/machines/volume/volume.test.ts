/** The volume machine under plain XState: its calls end as the test says. */
import { expect } from 'chai';
import { refusalOf } from '../../../machines/volume/requests.js';
import { capability, create, interrupted, made, mustWait, Scene, unknown, wish } from './volume-scene.js';

describe('the volume machine', () => {
  it('V14 there is none: it is absent, and takes nothing but its creation; generations go on from its past', () => {
    const scene = new Scene();
    scene.actor.send({ type: 'volume.delete', force: true });
    expect(scene.actor.getSnapshot().hasTag('absent')).to.equal(true);
    scene.actor.send(create);
    expect(scene.state).to.equal('pending-create.calling');
    expect(scene.context).to.include({ generation: 7, uid: 'u1', name: 'sc-u1' });
  });

  it('V2, 35.8 published in modes that it was not made for, as another one had its key: refused', async () => {
    const scene = new Scene();
    scene.outcomes.push(made);
    scene.actor.send(create);
    await scene.rest();
    const other = { ...capability, accessMode: 'single-node-writer' } as const;
    const request = { type: 'volume.publish', nodeId: 'a', ...wish, capability: other } as const;
    scene.actor.send(request);
    expect(scene.context.publications).to.deep.equal({});
    expect(refusalOf(scene.context, request)).to.deep.include({
      code: 'INVALID_ARGUMENT',
      message:
        'volume default/data: it was not made for file-system, single-node-writer, but for file-system, ' +
        'multi-node-multi-writer: ask for one of these',
    });
  });

  it('V10 a request while it backs off: the next attempt is made when it would have been', async () => {
    const scene = new Scene();
    scene.outcomes.push(unknown);
    scene.actor.send(create);
    await scene.rest();
    expect(scene.state).to.equal('pending-create.backing-off');
    scene.actor.send({ type: 'volume.set-availability', availability: 'pause' });
    scene.clock.increment(49);
    expect(scene.calls).to.deep.equal(['create']);
    scene.clock.increment(1);
    expect(scene.calls).to.deep.equal(['create', 'create']);
  });

  it('V8 asked to go while its call waits, and was not made: over at once', async () => {
    const scene = new Scene();
    scene.outcomes.push(made, mustWait);
    scene.actor.send(create);
    await scene.rest();
    scene.actor.send({ type: 'volume.publish', nodeId: 'a', ...wish });
    await scene.rest();
    expect(scene.state).to.equal('pending-publish.waiting-for-plugin');
    scene.actor.send({ type: 'volume.unpublish', nodeId: 'a' });
    expect(scene.context.publications).to.deep.equal({});
    expect(scene.state).to.equal('created');
  });

  it('V8 asked to go, then told that the call was never made: over then', async () => {
    const scene = new Scene();
    scene.outcomes.push(made, mustWait);
    scene.actor.send(create);
    await scene.rest();
    scene.actor.send({ type: 'volume.publish', nodeId: 'a', ...wish });
    scene.actor.send({ type: 'volume.unpublish', nodeId: 'a' });
    expect(scene.context.publications.a).to.deep.include({ at: 'cancelling-first-call' });
    await scene.rest();
    expect(scene.waiting).to.deep.equal([]);
    expect(scene.context.publications).to.deep.equal({});
    expect(scene.state).to.equal('created');
  });

  it('V8 a run before a restart may have made the call: the doubt is kept before it is made again', async () => {
    const scene = new Scene();
    scene.outcomes.push(interrupted);
    scene.actor.send(create);
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'create']);
    expect(scene.context.lifecycle).to.deep.equal({ at: 'create-in-doubt' });
  });

  it('V8 a call that waits is made once it is admitted, and the wait is no attempt', async () => {
    const scene = new Scene();
    scene.outcomes.push(mustWait);
    scene.actor.send(create);
    await scene.rest();
    expect(scene.state).to.equal('pending-create.waiting-for-plugin');
    expect(scene.context.awaiting).to.deep.equal({ reason: 'no plugin', for: 'plugin' });
    expect(scene.waiting).to.deep.equal(['createVolume']);
    scene.admit();
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'create']);
    expect(scene.context).to.deep.include({ lifecycle: { at: 'pending-create' }, awaiting: null });
  });

  it('V11 the reason of a wait changes: it is kept, and the wait goes on', async () => {
    const scene = new Scene();
    scene.outcomes.push(mustWait);
    scene.actor.send(create);
    await scene.rest();
    scene.actor.send({ type: 'wait.changed', reason: 'another call is under way', for: 'turn' });
    expect(scene.context.awaiting).to.deep.equal({ reason: 'another call is under way', for: 'turn' });
    expect(scene.waiting).to.have.length(1);
  });

  it('V14 asked to delete the one that had its id before: refused, and nothing changes', async () => {
    const scene = new Scene();
    scene.outcomes.push(made);
    scene.actor.send(create);
    await scene.rest();
    const before = scene.context;
    scene.actor.send({ type: 'volume.delete', force: true, uid: 'u0' });
    expect(scene.context).to.deep.equal(before);
    expect(scene.state).to.equal('created');
    scene.actor.send({ type: 'volume.delete', force: true, uid: 'u1' });
    expect(scene.state).to.equal('pending-delete.calling');
  });

  it('V13 deleted with force while its call waits without an end: it waits again, for a while only', async () => {
    const scene = new Scene();
    scene.outcomes.push(made, mustWait, mustWait);
    scene.actor.send(create);
    await scene.rest();
    scene.actor.send({ type: 'volume.delete', force: false });
    await scene.rest();
    expect(scene.waiting).to.deep.equal(['deleteVolume']);
    scene.actor.send({ type: 'volume.delete', force: true });
    await scene.rest();
    expect(scene.waiting).to.deep.equal(['deleteVolume', 'deleteVolume']);
    expect(scene.context.awaiting).to.deep.equal({ reason: 'no plugin', for: 'plugin', isForced: true });
  });

  it('V8 the node that is its home is found out: kept, and the call is made again', async () => {
    const scene = new Scene();
    scene.outcomes.push({ status: 'call-again', home: 'worker-1' });
    scene.actor.send(create);
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'create']);
    expect(scene.context).to.deep.include({ lifecycle: { at: 'pending-create' }, home: 'worker-1' });
  });

  it('V5 V8 published again while its node lets go of it: queued, and done after that', async () => {
    const scene = new Scene();
    scene.outcomes.push(made, { status: 'done', answer: { publishContext: {} } }, { status: 'done', answer: null });
    scene.actor.send(create);
    await scene.rest();
    const claim = { allocId: 'web', nodeId: 'a', csiNodeId: 'csi-a', mode: 'write', ...capability } as const;
    scene.actor.send({ type: 'volume.claim', claim, wait: false });
    scene.actor.send({ type: 'volume.publish', nodeId: 'a', ...wish });
    await scene.rest();
    scene.actor.send({ type: 'volume.release', allocId: 'web' });
    expect(scene.context.publications.a).to.include({ at: 'pending-node-unpublish' });
    scene.actor.send({ type: 'volume.publish', nodeId: 'a', ...wish });
    expect(scene.context.publications.a?.next).to.deep.equal(wish);
    scene.actor.send({ type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8 });
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'publish', 'unpublish', 'publish']);
    expect(scene.context.publications.a).to.include({ number: 2, at: 'pending-publish' });
  });
});

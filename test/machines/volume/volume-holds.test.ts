/** Holds of allocs that mount a volume without a claim, in the volume machine under plain XState. */
import { expect } from 'chai';
import type { CallOutcome } from '../../../machines/kit/csi-types.js';
import { beliefOf, observed } from '../../../machines/volume/listing.js';
import { refusalOf } from '../../../machines/volume/requests.js';
import { capability, create, made, mustWait, Scene, unknown, wish } from './volume-scene.js';

const attached: CallOutcome<object> = { status: 'done', answer: { publishContext: {} } };
const detached: CallOutcome<null> = { status: 'done', answer: null };
const claim = { allocId: 'web', nodeId: 'a', csiNodeId: 'csi-a', mode: 'write', ...capability } as const;
const publish = (hold?: string) => ({ type: 'volume.publish', nodeId: 'a', ...wish, ...(hold && { hold }) }) as const;
const released = (allocId: string, generation: number) =>
  ({ type: 'volume.hold-released', nodeId: 'a', allocId, generation }) as const;
const unpublish = { type: 'volume.unpublish', nodeId: 'a' } as const;

/** A volume that is made; its calls end so, in order. */
async function volumeWith(...outcomes: CallOutcome<unknown>[]): Promise<Scene> {
  const scene = new Scene();
  scene.outcomes.push(made, ...outcomes);
  scene.actor.send(create);
  await scene.rest();
  return scene;
}

describe('holds of a volume', () => {
  it('V5 a hold is committed before the call, and kept when its answer is lost', async () => {
    const scene = await volumeWith(unknown);
    scene.actor.send(publish('x'));
    expect(scene.context.publications.a?.holds).to.deep.equal([{ allocId: 'x', generation: 8 }]);
    await scene.rest();
    expect(scene.context.publications.a).to.deep.include({
      at: 'in-doubt',
      holds: [{ allocId: 'x', generation: 8 }],
    });
  });

  it('V5 asked for again, a hold is a newer one: what is said of the one before does not release it', async () => {
    const scene = await volumeWith(attached);
    scene.actor.send(publish('x'));
    await scene.rest();
    scene.actor.send(publish('x'));
    scene.actor.send(released('x', 8));
    expect(scene.context.publications.a?.holds).to.deep.equal([{ allocId: 'x', generation: 9 }]);
    expect(refusalOf(scene.context, unpublish)?.code).to.equal('VOLUME_IN_USE');
    scene.actor.send(released('x', 9));
    scene.actor.send(released('x', 9));
    expect(refusalOf(scene.context, unpublish)).to.equal(undefined);
  });

  it('V5 nothing was handed out yet: what is to be held is unpublished all the same', async () => {
    const scene = await volumeWith(mustWait);
    scene.actor.send(publish('x'));
    await scene.rest();
    expect(scene.waiting).to.deep.equal(['controllerPublish']);
    expect(refusalOf(scene.context, unpublish)).to.equal(undefined);
    scene.actor.send(unpublish);
    expect(scene.context.publications).to.deep.equal({});
  });

  it('C6 the last claim released while one without a claim has it: detached once both have let go', async () => {
    for (const first of ['claim', 'hold']) {
      const scene = await volumeWith(attached, detached);
      scene.actor.send({ type: 'volume.claim', claim, wait: false });
      scene.actor.send(publish('x'));
      await scene.rest();
      scene.actor.send({ type: 'volume.release', allocId: 'web' });
      const reports = [
        { type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8, allocId: 'web' },
        released('x', 9),
      ] as const;
      const [one, other] = first === 'claim' ? reports : [reports[1], reports[0]];
      scene.actor.send(one);
      await scene.rest();
      expect(scene.context.publications.a?.at, first).to.equal('pending-node-unpublish');
      expect(scene.context.claims, first).to.have.length(1);
      expect(scene.calls, first).to.deep.equal(['create', 'publish']);
      scene.actor.send(other);
      await scene.rest();
      expect([scene.context.publications, scene.context.claims, scene.calls], first).to.deep.equal([
        {},
        [],
        ['create', 'publish', 'unpublish'],
      ]);
    }
  });

  it('C6, 35.6 an alloc claims what it has a hold of, then the hold is released: it stays for the claim', async () => {
    const scene = await volumeWith(attached, detached);
    scene.actor.send(publish('web'));
    await scene.rest();
    scene.actor.send({ type: 'volume.claim', claim, wait: false });
    scene.actor.send({ ...publish(), claim: { allocId: 'web', generation: 9 } });
    scene.actor.send(released('web', 8));
    await scene.rest();
    const { at, holds } = scene.context.publications.a ?? {};
    expect([at, holds, scene.calls]).to.deep.equal(['published', undefined, ['create', 'publish']]);
    scene.actor.send({ type: 'volume.release', allocId: 'web' });
    scene.actor.send({ type: 'volume.unstaged', nodeId: 'a', claimGeneration: 9, allocId: 'web' });
    await scene.rest();
    expect([scene.context.publications, scene.context.claims]).to.deep.equal([{}, []]);
  });

  it('C6 held after its claim was reported as unstaged: it is published again for the hold', async () => {
    const scene = await volumeWith(attached, detached, attached);
    scene.actor.send({ type: 'volume.claim', claim, wait: false });
    scene.actor.send(publish());
    await scene.rest();
    scene.actor.send({ type: 'volume.release', allocId: 'web' });
    scene.actor.send(publish('x'));
    expect(scene.context.publications.a?.holds).to.equal(undefined);
    scene.actor.send({ type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8, allocId: 'web' });
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'publish', 'unpublish', 'publish']);
    expect(scene.context.publications.a).to.deep.include({
      at: 'published',
      holds: [{ allocId: 'x', generation: 9 }],
    });
  });

  it('V20 listed as detached while it is held: that is no report of those who hold it', async () => {
    const scene = await volumeWith(attached, unknown);
    scene.actor.send({ type: 'volume.claim', claim, wait: false });
    scene.actor.send(publish('x'));
    await scene.rest();
    const sighting = { isMissing: false, attached: [] };
    scene.actor.send({ type: 'volume.release', allocId: 'web' });
    const { context } = observed(scene.context, { believed: beliefOf(scene.context), sighting });
    expect(context.publications?.a?.at).to.equal('pending-node-unpublish');
  });

  it('V5 what can not be published once more is held: not replaced by another way, nor deleted', async () => {
    const refusal = { ...unknown, failure: { ...unknown.failure, final: true } } as const;
    const scene = await volumeWith(attached, unknown, refusal);
    scene.actor.send(publish('x'));
    await scene.rest();
    const sighting = { isMissing: false, attached: [] };
    scene.actor.send({ type: 'volume.observed', believed: beliefOf(scene.context), sighting });
    await scene.rest();
    scene.clock.increment(60_000);
    await scene.rest();
    expect(scene.context.publications.a).to.deep.include({ at: 'failed.was-published', mayStillArrive: true });
    for (const request of [
      { ...publish('y'), readOnly: true },
      unpublish,
      { type: 'volume.delete', force: false },
    ] as const) {
      const refused = refusalOf(scene.context, request);
      expect(refused?.code, request.type).to.equal('VOLUME_IN_USE');
      expect(refused?.message, request.type).to.contain('alloc x on node a (mounted without a claim)');
    }
  });

  it('N3 its node is fenced: it is held for nobody there any more', async () => {
    const scene = await volumeWith(attached, detached);
    scene.actor.send(publish('x'));
    await scene.rest();
    scene.actor.send({ type: 'volume.fence', nodeId: 'a', reason: 'its power is cut' });
    await scene.rest();
    expect([scene.context.publications, scene.calls]).to.deep.equal([{}, ['create', 'publish', 'unpublish']]);
  });

  it('V13 deleted with force while it is held: detached once its node has let go, and nothing is left', async () => {
    const scene = await volumeWith(attached, detached, detached);
    scene.actor.send(publish('x'));
    await scene.rest();
    scene.actor.send({ type: 'volume.delete', force: true });
    scene.actor.send({ type: 'volume.delete', force: true });
    scene.actor.send({ type: 'volume.retry' });
    scene.clock.increment(29_000);
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'publish']);
    expect(scene.told).to.deep.include({
      ...{ key: { namespace: 'default', id: 'data' }, uid: 'u1', type: 'hold', state: 'released' },
      ...{ nodeId: 'a', allocId: 'x', generation: 8, fenced: 'deleted with force' },
    });
    scene.actor.send(released('x', 8));
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'publish', 'unpublish', 'delete']);
    expect(scene.state).to.equal('deleted.confirmed');
  });

  it('V13 deleted with force, and its node does not let go in time: that stays listed until it reports', async () => {
    const scene = await volumeWith(attached, detached, detached);
    scene.actor.send(publish('x'));
    await scene.rest();
    scene.actor.send({ type: 'volume.delete', force: true });
    scene.clock.increment(30_000);
    await scene.rest();
    expect(scene.calls).to.deep.equal(['create', 'publish', 'unpublish', 'delete']);
    expect(scene.state).to.equal('deleted.unconfirmed');
    expect(scene.context.leftovers.map(({ what, nodeId }) => [what, nodeId])).to.deep.equal([['staged', 'a']]);
    scene.actor.send(released('x', 8));
    expect(scene.state).to.equal('deleted.confirmed');
  });

  /** Claimed once, and released; it is to be detached once the hold of x, generation 9, is released. */
  async function keptByHold(): Promise<Scene> {
    const scene = await volumeWith(attached, detached, attached);
    scene.actor.send({ type: 'volume.claim', claim, wait: false });
    scene.actor.send(publish('x'));
    await scene.rest();
    scene.actor.send({ type: 'volume.release', allocId: 'web' });
    scene.actor.send({ type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8, allocId: 'web' });
    await scene.rest();
    return scene;
  }

  it('M2 C6 kept by a hold, others mount it too: detached once with the last of them', async () => {
    const scene = await keptByHold();
    for (const allocId of ['x', 'y']) scene.actor.send(publish(allocId));
    expect(scene.context.publications.a).to.deep.include({
      at: 'pending-node-unpublish',
      holds: [
        { allocId: 'x', generation: 10 },
        { allocId: 'y', generation: 11 },
      ],
    });
    scene.actor.send(released('x', 9));
    scene.actor.send(released('x', 10));
    await scene.rest();
    expect(scene.context.publications.a?.at).to.equal('pending-node-unpublish');
    scene.actor.send(released('y', 11));
    await scene.rest();
    expect([scene.context.publications, scene.context.claims]).to.deep.equal([{}, []]);
  });

  it('M2 C6 kept by a hold, and asked for in another way: published so once it was detached', async () => {
    const scene = await keptByHold();
    scene.actor.send({ ...publish('y'), readOnly: true });
    expect(scene.context.publications.a).to.deep.include({
      holds: [{ allocId: 'x', generation: 9 }],
      next: { ...wish, readOnly: true, holds: [{ allocId: 'y', generation: 10 }], isByAgent: true },
    });
    scene.actor.send(released('x', 9));
    await scene.rest();
    expect(scene.context.publications.a).to.deep.include({
      at: 'published',
      readOnly: true,
      holds: [{ allocId: 'y', generation: 10 }],
    });
  });
});

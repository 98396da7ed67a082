/** A claim and a publication in one request: the same as one after the other, or neither. */
import { expect } from 'chai';
import { initialTransition, type SnapshotFrom, transition } from 'xstate';
import type { ClaimAndPublish, ClaimRequest, VolumeMachineEvent } from '../../../machines/volume/types.js';
import { volumeMachine } from '../../../machines/volume/volume.js';
import { seededRandom } from '../../../src/testing/index.js';
import { type Die, plausible } from '../../engine/plausible.js';
import { capability, create, made, Scene, wish } from './volume-scene.js';

const claim: ClaimRequest = { allocId: 'web', nodeId: 'a', csiNodeId: 'csi-a', mode: 'write', ...capability };
const both = { type: 'volume.claim-and-publish', claim, capability, readOnly: false } as const;

async function created(): Promise<Scene> {
  const scene = new Scene();
  scene.outcomes.push(made);
  scene.actor.send(create);
  await scene.rest();
  scene.told.length = 0;
  return scene;
}

type Volume = SnapshotFrom<typeof volumeMachine>;

/** What a step answers, and what becomes of the volume. */
function stepped(volume: Volume, event: VolumeMachineEvent): { next: Volume; refusal: unknown } {
  const [next, actions] = transition(volumeMachine, volume, event);
  const answer = actions.find(({ type }) => type === 'answer')?.params as { error?: unknown } | undefined;
  return { next, refusal: answer?.error };
}

describe('a volume that is claimed and published in one request', () => {
  it('C1 V5 it has the claim and the publication for it, told in that order, and calls once', async () => {
    const scene = await created();
    scene.actor.send(both);
    expect(scene.context.claims).to.deep.equal([{ ...claim, generation: 8, state: 'taken' }]);
    expect(scene.context.publications.a).to.deep.include({ ...wish, isByAgent: true });
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['claim', 'publication']);
    expect(scene.calls).to.deep.equal(['create', 'publish']);
  });

  it('C1 the same again has the same claim, and calls no more', async () => {
    const scene = await created();
    scene.actor.send(both);
    scene.actor.send(both);
    expect(scene.context.claims.map(({ generation }) => generation)).to.deep.equal([8]);
    expect(scene.calls).to.deep.equal(['create', 'publish']);
  });

  it('C3 V5 either is refused: neither is done, and the refusal is the one that it would have had', async () => {
    const scene = await created();
    scene.actor.send({ ...both, claim: { ...claim, nodeId: 'b', csiNodeId: 'csi-b' } });
    const { context } = scene;
    const other = { ...both, capability: { ...capability, accessMode: 'single-node-writer' as const } };
    const single = { ...claim, accessMode: 'single-node-writer' as const };
    for (const event of [other, { ...both, claim: single }]) scene.actor.send(event);
    expect(scene.context.claims).to.deep.equal(context.claims);
    expect(scene.context.publications).to.deep.equal(context.publications);
  });

  it('C1 V5 at random: what it comes to is what both come to, one after the other', () => {
    const given = plausible.find(({ machine }) => machine.id === volumeMachine.id);
    if (!given) throw new Error('there is no volume machine');
    const { events, outputs } = given;
    const seen = { done: 0, claimRefused: 0, publishRefused: 0 };
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = seededRandom(seed);
      const below = (end: number): number => Math.floor(random.next() * end);
      const die: Die = { below, of: (...all) => all[below(all.length)] ?? all[0] };
      let [volume] = initialTransition(volumeMachine, { namespace: 'default', id: 'data', seq: 7 });
      for (let step = 0; step < 30; step += 1) {
        const stamp = { at: 1_000_000 + step, random: 0.5 };
        const request = { ...(events['volume.claim-and-publish']?.(die) as ClaimAndPublish), ...stamp };
        const { nodeId, csiNodeId, allocId } = request.claim;
        const once = stepped(volume, { type: 'volume.claim-and-publish', ...request });
        const first = stepped(volume, { type: 'volume.claim', claim: request.claim, wait: false, ...stamp });
        const own = first.next.context.claims.find((one) => one.allocId === allocId);
        if (first.refusal !== undefined || !own) {
          if (first.refusal !== undefined && volume.context.spec) seen.claimRefused += 1;
          expect([once.refusal, once.next.context]).to.deep.equal([first.refusal, volume.context]);
        } else {
          const { capability: asked, readOnly, reservation } = request;
          const of = { allocId, generation: own.generation };
          const publish = {
            type: 'volume.publish',
            nodeId,
            csiNodeId,
            capability: asked,
            readOnly,
            claim: of,
            ...(reservation !== undefined && { reservation }),
          } as const;
          const second = stepped(first.next, { ...publish, ...stamp });
          seen[second.refusal === undefined ? 'done' : 'publishRefused'] += 1;
          const expected = second.refusal === undefined ? second.next : volume;
          expect([once.refusal, once.next.value, once.next.context]).to.deep.equal([
            second.refusal,
            expected.value,
            expected.context,
          ]);
        }
        const types = Object.keys(events);
        const calls = Object.values(volume.children).map((child) => child?.id ?? '');
        const type = die.of(types[0] ?? '', ...types, 'volume.create', 'volume.create');
        const [call] = calls;
        const event =
          call !== undefined && below(2) === 0
            ? { type: `xstate.done.actor.${call}`, output: outputs[call]?.(die) }
            : { type, ...events[type]?.(die) };
        try {
          [volume] = transition(volumeMachine, volume, { ...event, ...stamp } as VolumeMachineEvent);
        } catch {
          // Made up: a part may not know it there. Then nothing has changed.
        }
      }
    }
    for (const [what, times] of Object.entries(seen)) expect(times, what).to.be.greaterThan(20);
  });
});

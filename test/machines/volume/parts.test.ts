/** What the parts of a volume say of themselves. */
import { expect } from 'chai';
import type { PartView } from '../../../machines/kit/parts.js';
import { seenAt } from '../../../machines/kit/state-words.js';
import { expansionMachine, modificationMachine } from '../../../machines/volume/change.js';
import { lifecycleMachine } from '../../../machines/volume/lifecycle.js';
import { publicationMachine } from '../../../machines/volume/publication.js';
import { volumeParts } from '../../../machines/volume/states.js';
import type { VolumeContext } from '../../../machines/volume/types.js';
import { earlier, holds, lost, untilThen, wish } from './publication-table.js';
import { awaiting, backingOff, calling, claimOn, contextOf, on, onB } from './situations.js';

const singleNode = { capability: { ...wish.capability, accessMode: 'single-node-writer' } } as const;

/** Those of its publications. */
const partsOf = (record: Partial<VolumeContext>): PartView[] =>
  volumeParts(contextOf(record)).filter(({ chart }) => chart === 'publication');
const a = (at: string) => ({ id: 'publication/a', ...seenAt(publicationMachine, at) });
const b = (at: string) => ({ id: 'publication/b', ...seenAt(publicationMachine, at) });

describe('the parts of a volume', () => {
  it('V4 shows of its lifecycle and each change: the state, the reason, and the next attempt', () => {
    const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
    const parts = volumeParts(
      contextOf({
        lifecycle: { at: 'create-in-doubt', tries: earlier },
        expansion: { at: 'pending', wish: { requiredBytes: '2' } },
        modification: { at: 'failed', wish: { speed: 'high' }, failure: lost },
        work: calling('expand'),
        awaiting,
      }),
    );
    expect(parts).to.deep.equal([
      {
        id: 'lifecycle',
        ...seenAt(lifecycleMachine, 'create-in-doubt.backing-off'),
        why: failure.message,
        nextAttemptAtMs,
      },
      { id: 'expansion', ...seenAt(expansionMachine, 'pending.waiting-for-plugin'), why: 'no plugin' },
      { id: 'modification', ...seenAt(modificationMachine, 'failed'), why: lost.message },
    ]);
  });

  it('V4 its step says how far its call is, or which call has to end before it', () => {
    const tries = { tries: earlier };
    const steps: [step: string, part: VolumeContext['lifecycle'], call?: Partial<VolumeContext>][] = [
      ['pending-create.due', { at: 'pending-create' }],
      ['pending-create.calling', { at: 'pending-create' }, { work: calling('create') }],
      ['pending-create.waiting-for-plugin', { at: 'pending-create' }, { work: calling('create'), awaiting }],
      ['pending-create.backing-off', { at: 'pending-create', ...tries }, { work: backingOff('create', 50) }],
      ['finding-out-first-call.calling', { at: 'finding-out-first-call' }, { work: calling('create') }],
      ['emptying', { at: 'emptying', ...tries }, { work: calling('unpublish', 'a') }],
      ['emptying.create-under-way', { at: 'emptying' }, { work: calling('create') }],
      ['pending-delete.calling', { at: 'pending-delete' }, { work: calling('remove') }],
    ];
    for (const [step, lifecycle, call] of steps)
      expect(volumeParts(contextOf({ lifecycle, ...call }))[0]?.at).to.equal(step);
    const leaving = ['pending-node-unpublish', 'pending-unpublish'] as const;
    for (const at of leaving)
      expect(partsOf({ publications: { a: on(at) }, work: calling('publish', 'a') })[0]?.at).to.equal(
        `${at}.publish-under-way`,
      );
  });

  it('V5 one for each node that it is on, or on its way to; none where there are none', () => {
    expect(partsOf({})).to.deep.equal([]);
    const publications = { a: on('published'), b: onB('pending-publish') };
    expect(partsOf({ publications, work: calling('publish', 'b') })).to.deep.equal([
      { ...a('published') },
      { ...b('pending-publish.calling') },
    ]);
  });

  it('V10 between two attempts: the last failure and the next attempt; during an attempt: the failure only', () => {
    const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
    const publications = { a: on('in-doubt', { tries: earlier }) };
    expect(partsOf({ publications, work: backingOff('publish', nextAttemptAtMs, 'a') })).to.deep.equal([
      { ...a('in-doubt.backing-off'), why: failure.message, nextAttemptAtMs },
    ]);
    expect(partsOf({ publications, work: calling('publish', 'a') })).to.deep.equal([
      { ...a('in-doubt.calling'), why: failure.message },
    ]);
  });

  it('V9 its call waits for the plugin: why that is so, not why an attempt before failed', () => {
    const publications = { a: on('pending-unpublish', { tries: earlier }), b: onB('published') };
    expect(partsOf({ publications, awaiting, work: calling('unpublish', 'a') })).to.deep.equal([
      { ...a('pending-unpublish.waiting-for-plugin'), why: 'no plugin' },
      { ...b('published') },
    ]);
  });

  it('V11 failed: with what', () => {
    expect(partsOf({ publications: { a: on('failed.unpublish', { failure: lost }) } })).to.deep.equal([
      { ...a('failed.unpublish'), why: lost.message },
    ]);
  });

  it('V16 the volume has to be gone from another node first: from which, and why it is not', () => {
    const publications = {
      a: on('failed.unpublish', { ...singleNode, failure: lost }),
      b: onB('pending-publish', singleNode),
    };
    const why = 'to be published on node b, it has to be gone from node a, where it is failed: lost';
    expect(partsOf({ publications })[1]).to.deep.equal({ ...b('pending-publish.due'), why });
  });

  it('C4 its node has not let go of it: for which allocs, and where to look', () => {
    const at = 'pending-node-unpublish';
    const publications = { a: on(at, { holds }) };
    const claims = [claimOn('a', 'unpublishing', { allocId: 'db' }), claimOn('b', 'unpublishing')];
    const why =
      'alloc db is being released: see stagecraft alloc status db on node a; alloc web has it mounted without a claim';
    expect(partsOf({ publications, claims })).to.deep.equal([{ ...a(at), why }]);
    expect(partsOf({ publications: { a: on(at) } })).to.deep.equal([{ ...a(at) }]);
  });

  it('N3 its node is fenced: why; what has failed since goes first', () => {
    const fenced = 'no power';
    const work = calling('unpublish', 'a');
    expect(partsOf({ publications: { a: on('pending-unpublish', { fenced }) }, work })).to.deep.equal([
      { ...a('pending-unpublish.calling'), why: 'node a is fenced: no power' },
    ]);
    const failed = on('pending-unpublish', { fenced, tries: earlier });
    expect(partsOf({ publications: { a: failed }, work })[0]?.why).to.equal(lost.message);
  });

  it('V13 a forced deletion gives its node time: until when', () => {
    const publications = { a: on('pending-unpublish', { tries: untilThen }) };
    const at = 'pending-unpublish.waiting-for-node';
    expect(partsOf({ publications })[0]).to.include({ at, nextAttemptAtMs: 30_000, why: lost.message });
  });
});

/** What the parts of a volume say of themselves. */
import { expect } from 'chai';
import type { PartView } from '../../../machines/kit/parts.js';
import { volumeParts } from '../../../machines/volume/parts.js';
import type { VolumeContext } from '../../../machines/volume/types.js';
import { earlier, holds, lost, untilThen, wish } from './publication-table.js';
import { calling, claimOn, contextOf, on, onB } from './situations.js';

const singleNode = { capability: { ...wish.capability, accessMode: 'single-node-writer' } } as const;

/** Those of its publications. */
const partsOf = (record: Partial<VolumeContext>): PartView[] =>
  volumeParts(contextOf(record)).filter(({ chart }) => chart === 'publication');
const a = { id: 'publication/a', chart: 'publication' };
const b = { id: 'publication/b', chart: 'publication' };

describe('the parts of a volume', () => {
  it('V4 shows of its lifecycle and each change: the state, the reason, and the next attempt', () => {
    const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
    const parts = volumeParts(
      contextOf({
        lifecycle: { at: 'create-in-doubt.backing-off', tries: earlier },
        expansion: { at: 'pending.waiting-for-plugin', wish: { requiredBytes: '2' } },
        modification: { at: 'failed', wish: { speed: 'high' }, failure: lost },
        awaiting: { reason: 'no plugin', for: 'plugin' },
      }),
    );
    expect(parts).to.deep.equal([
      { id: 'lifecycle', chart: 'lifecycle', at: 'create-in-doubt.backing-off', why: failure.message, nextAttemptAtMs },
      { id: 'expansion', chart: 'expansion', at: 'pending.waiting-for-plugin', why: 'no plugin' },
      { id: 'modification', chart: 'modification', at: 'failed', why: lost.message },
    ]);
  });

  it('V5 one for each node that it is on, or on its way to; none where there are none', () => {
    expect(partsOf({})).to.deep.equal([]);
    expect(partsOf({ publications: { a: on('published'), b: onB('pending-publish.calling') } })).to.deep.equal([
      { ...a, at: 'published' },
      { ...b, at: 'pending-publish.calling' },
    ]);
  });

  it('V10 between two attempts: the last failure and the next attempt; during an attempt: the failure only', () => {
    const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
    const backingOff = on('in-doubt.backing-off', { tries: earlier });
    expect(partsOf({ publications: { a: backingOff } })).to.deep.equal([
      { ...a, at: 'in-doubt.backing-off', why: failure.message, nextAttemptAtMs },
    ]);
    expect(partsOf({ publications: { a: on('in-doubt.calling', { tries: earlier }) } })).to.deep.equal([
      { ...a, at: 'in-doubt.calling', why: failure.message },
    ]);
  });

  it('V9 its call waits for the plugin: why that is so, not why an attempt before failed', () => {
    const publications = { a: on('pending-unpublish.waiting-for-plugin', { tries: earlier }), b: onB('published') };
    const awaiting = { reason: 'no plugin', for: 'plugin' } as const;
    expect(partsOf({ publications, awaiting, work: calling('unpublish', 'a') })).to.deep.equal([
      { ...a, at: 'pending-unpublish.waiting-for-plugin', why: 'no plugin' },
      { ...b, at: 'published' },
    ]);
  });

  it('V11 failed: with what', () => {
    expect(partsOf({ publications: { a: on('failed.unpublish', { failure: lost }) } })).to.deep.equal([
      { ...a, at: 'failed.unpublish', why: lost.message },
    ]);
  });

  it('V16 the volume has to be gone from another node first: from which, and why it is not', () => {
    const publications = {
      a: on('failed.unpublish', { ...singleNode, failure: lost }),
      b: onB('pending-publish.due', singleNode),
    };
    const why = 'to be published on node b, it has to be gone from node a, where it is failed: lost';
    expect(partsOf({ publications })[1]).to.deep.equal({ ...b, at: 'pending-publish.due', why });
  });

  it('C4 its node has not let go of it: for which allocs, and where to look', () => {
    const publications = { a: on('pending-node-unpublish.waiting-for-node', { holds }) };
    const claims = [claimOn('a', 'unpublishing', { allocId: 'db' }), claimOn('b', 'unpublishing')];
    const why =
      'alloc db is being released: see stagecraft alloc status db on node a; alloc web has it mounted without a claim';
    const at = 'pending-node-unpublish.waiting-for-node';
    expect(partsOf({ publications, claims })).to.deep.equal([{ ...a, at, why }]);
    expect(partsOf({ publications: { a: on(at) } })).to.deep.equal([{ ...a, at }]);
  });

  it('N3 its node is fenced: why; what has failed since goes first', () => {
    const fenced = 'no power';
    const calling = on('pending-unpublish.calling', { fenced });
    expect(partsOf({ publications: { a: calling } })).to.deep.equal([
      { ...a, at: 'pending-unpublish.calling', why: 'node a is fenced: no power' },
    ]);
    const failed = on('pending-unpublish.calling', { fenced, tries: earlier });
    expect(partsOf({ publications: { a: failed } })[0]?.why).to.equal(lost.message);
  });

  it('V13 a forced deletion gives its node time: until when', () => {
    const publications = { a: on('pending-unpublish.waiting-for-node', { tries: untilThen }) };
    expect(partsOf({ publications })[0]).to.include({ nextAttemptAtMs: 30_000, why: lost.message });
  });
});

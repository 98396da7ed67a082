/** Assertions of the owner: its parts take outcomes in any phase, so it is the volume that refuses what can't be. */
import { expect } from 'chai';
import type { FailedAttempt } from '../../../machines/kit/call.js';
import { discard } from '../../../machines/volume/changes.js';
import { drafted } from '../../../machines/volume/draft.js';
import { failed, published } from '../../../machines/volume/outcomes.js';
import { step } from '../../../machines/volume/publications.js';
import { lost, untilThen } from './publication-table.js';
import { awaiting, backingOff, calling, contextOf, on } from './situations.js';

const attempt: FailedAttempt = { failure: lost, status: 'failed', at: 0, random: 0.5 };
const over = (kind: 'publish' | 'unpublish') => ({ ...calling(kind, 'a'), isCalling: false });

describe('what the volume refuses on behalf of its parts', () => {
  it('35.4 outcome of a call that is still under way', () => {
    const context = contextOf({ publications: { a: on('pending-publish') }, work: calling('publish', 'a') });
    expect(() => failed(context, attempt)).to.throw('publish.unknown is told while the call to publish is under way');
  });

  it('35.4 outcome of another kind of call', () => {
    const context = contextOf({ publications: { a: on('pending-unpublish') }, work: over('unpublish') });
    expect(() => published(context, { publishContext: {} })).to.throw('no outcome of a call to unpublish');
  });

  it('35.4 outcome of a call while there is no work', () => {
    const context = contextOf({ publications: { a: on('pending-publish') } });
    expect(() => published(context, { publishContext: {} })).to.throw('no call in progress');
  });

  it('35.4 end of a publication whose call is under way', () => {
    const context = contextOf({ publications: { a: on('pending-publish') }, work: calling('publish', 'a') });
    const untold = { type: 'withdrawn', underWay: undefined } as const;
    expect(() => drafted(context, (draft) => step(draft, 'a', untold))).to.throw(
      'it is removed while a call to publish is under way',
    );
  });

  it('35.4 time for the node to unmount, once the volume is being detached', () => {
    const context = contextOf({ publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') });
    const given = { type: 'node.given-time', tries: untilThen, underWay: undefined } as const;
    expect(() => drafted(context, (draft) => step(draft, 'a', given))).to.throw('its node is given time to unmount');
    const rests = contextOf({ publications: { a: on('pending-unpublish') }, work: backingOff('unpublish', 9, 'a') });
    expect(() => drafted(rests, (draft) => step(draft, 'a', given))).to.not.throw();
  });

  it('V13 a volume that no call made, deleted again with force while its deletion waits: goes on, by force', () => {
    const context = contextOf({
      origin: 'found',
      lifecycle: { at: 'pending-delete' },
      work: calling('delete'),
      awaiting,
    });
    const { context: changed } = discard(context, true, { at: 0, random: 0.5 });
    expect(changed.lifecycle).to.deep.equal({ at: 'pending-delete', force: true });
  });
});

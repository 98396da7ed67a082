/** What the parts of a mount say of themselves. */
import { expect } from 'chai';
import { seenAt } from '../../../machines/kit/state-words.js';
import { noMount } from '../../../machines/mount/changes.js';
import { stagingMachine } from '../../../machines/mount/staging.js';
import { mountParts } from '../../../machines/mount/states.js';
import { targetMachine } from '../../../machines/mount/target.js';
import type { MountContext, Target } from '../../../machines/mount/types.js';
import { earlier } from './staging-table.js';

const capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;
const user = (allocId: string, at: Target['at'], more: Partial<Target> = {}): Target => ({
  ...{ allocId, readOnly: false, capability, number: 1, sinceMs: 0, ...more },
  at,
});
const contextOf = (more: Partial<MountContext>): MountContext => ({
  ...noMount({ node: 'n', namespace: 'default', id: 'data' }),
  ...more,
});
const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
const staging = (at: string, more: object = {}) => ({ id: 'staging', ...seenAt(stagingMachine, at), ...more });
const staged = staging('staged');
const target = (allocId: string, at: string, more: object = {}) => ({
  ...{ id: `target/${allocId}`, ...seenAt(targetMachine, at) },
  ...more,
});

describe('the parts of a mount', () => {
  it('M2 its staging path, and the target of each alloc', () => {
    const context = contextOf({
      staging: { number: 1, at: 'staged' },
      users: [user('a', 'published'), user('b', 'pending-publish')],
      work: { kind: 'publish', allocId: 'b', dueAtMs: 0, isCalling: true },
    });
    const [a, b] = [target('a', 'published'), target('b', 'pending-publish.calling')];
    expect(mountParts(context)).to.deep.equal([staged, a, b]);
    expect(mountParts(context, 'b')).to.deep.equal([staged, b]);
  });

  it('M7 between two attempts: why the last one failed, and when the next one is', () => {
    const context = contextOf({
      staging: { number: 1, at: 'in-doubt', tries: earlier },
      users: [
        user('a', 'undoing', { tries: earlier, failure: { ...failure, message: 'refused' } }),
        user('b', 'pending-publish'),
      ],
    });
    expect(mountParts(context, 'a')).to.deep.equal([
      staging('in-doubt.backing-off', { why: failure.message, nextAttemptAtMs }),
      target('a', 'undoing.backing-off', { why: 'refused', nextAttemptAtMs }),
    ]);
  });

  it('M7 an unstage that failed: why that did, not why a stage before it did', () => {
    const inDoubt = { number: 1, at: 'unstage-in-doubt' } as const;
    const at = (tries: object) => mountParts(contextOf({ staging: { ...inDoubt, ...tries } }))[0];
    expect(at({ unstageTries: earlier })).to.include({
      ...{ at: 'unstage-in-doubt.backing-off', why: failure.message, nextAttemptAtMs },
    });
    expect(at({ tries: earlier })).to.deep.equal(staging('unstage-in-doubt.due'));
  });

  it('M3 a call that waits: for what', () => {
    const awaiting = { reason: 'no plugin', for: 'plugin' } as const;
    const users = [user('a', 'remounting', { tries: earlier })];
    const work = { kind: 'publish', allocId: 'a', dueAtMs: 0, isCalling: true } as const;
    expect(mountParts(contextOf({ awaiting, users, work }), 'a')[1]).to.deep.equal(
      target('a', 'remounting.waiting-for-plugin', { why: 'no plugin' }),
    );
  });

  it('M2 a call that is under way, and that its part does not want any more: none of its own', () => {
    const publish = { kind: 'publish', allocId: 'a', dueAtMs: 0, isCalling: true } as const;
    const users = [user('a', 'pending-unpublish')];
    expect(mountParts(contextOf({ users, work: publish }), 'a')[1]).to.deep.equal(target('a', 'pending-unpublish.due'));
    const stage = { kind: 'stage', dueAtMs: 0, isCalling: true } as const;
    const dead = { number: 1, at: 'dead' } as const;
    expect(mountParts(contextOf({ staging: dead, work: stage }))).to.deep.equal([staging('dead')]);
  });

  it('M2 a staging in doubt that no alloc needs now: no step of a call', () => {
    const inDoubt = { number: 1, at: 'in-doubt', tries: earlier } as const;
    const users = [user('a', 'published')];
    const [shown] = mountParts(contextOf({ staging: inDoubt, users, unconfirmed: ['a'] }));
    expect(shown).to.deep.equal(staging('in-doubt', { why: failure.message }));
  });

  it('N3 one whose claim is not known to be its own still: that, whatever has failed before', () => {
    const users = [user('a', 'publish-in-doubt', { tries: earlier }), user('b', 'published')];
    const [, a, b] = mountParts(contextOf({ users, unconfirmed: ['a', 'b'] }));
    expect(a?.why).to.contain('still has its claim');
    expect(b).not.to.have.property('why');
  });
});

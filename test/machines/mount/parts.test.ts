/** What the parts of a mount say of themselves. */
import { expect } from 'chai';
import { noMount } from '../../../machines/mount/changes.js';
import { mountParts } from '../../../machines/mount/parts.js';
import type { MountContext, Target } from '../../../machines/mount/types.js';
import { earlier } from './staging-table.js';

const capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;
const user = (allocId: string, at: Target['at'], more: Partial<Target> = {}): Target => ({
  ...{ allocId, readOnly: false, isClaimed: true, capability, number: 1, sinceMs: 0, ...more },
  at,
});
const contextOf = (more: Partial<MountContext>): MountContext => ({
  ...noMount({ node: 'n', namespace: 'default', id: 'data' }),
  ...more,
});
const { notBeforeMs: nextAttemptAtMs, failure } = earlier;
const staged = { id: 'staging', chart: 'staging', at: 'staged' };
const target = (allocId: string, at: Target['at'], more: object = {}) => ({
  ...{ id: `target/${allocId}`, chart: 'target', at },
  ...more,
});

describe('the parts of a mount', () => {
  it('M2 its staging path, and the target of each alloc', () => {
    const context = contextOf({
      staging: { number: 1, at: 'staged' },
      users: [user('a', 'published'), user('b', 'pending-publish.calling')],
    });
    const [a, b] = [target('a', 'published'), target('b', 'pending-publish.calling')];
    expect(mountParts(context)).to.deep.equal([staged, a, b]);
    expect(mountParts(context, 'b')).to.deep.equal([staged, b]);
  });

  it('M7 between two attempts: why the last one failed, and when the next one is', () => {
    const context = contextOf({
      staging: { number: 1, at: 'in-doubt.backing-off', tries: earlier },
      users: [user('a', 'undoing.backing-off', { tries: earlier, failure: { ...failure, message: 'refused' } })],
    });
    const at = { at: 'in-doubt.backing-off', why: failure.message, nextAttemptAtMs };
    expect(mountParts(context)).to.deep.equal([
      { id: 'staging', chart: 'staging', ...at },
      target('a', 'undoing.backing-off', { why: 'refused', nextAttemptAtMs }),
    ]);
  });

  it('M7 an unstage that failed: why that did, not why a stage before it did', () => {
    const staging = { number: 1, at: 'unstage-in-doubt.backing-off', unstageTries: earlier } as const;
    expect(mountParts(contextOf({ staging }))[0]).to.include({ why: failure.message, nextAttemptAtMs });
    expect(
      mountParts(contextOf({ staging: { number: 1, at: 'unstage-in-doubt.due', tries: earlier } }))[0],
    ).not.to.have.property('why');
  });

  it('M3 a call that waits: for what', () => {
    const awaiting = { reason: 'no plugin', for: 'plugin' } as const;
    const users = [user('a', 'remounting.waiting-for-plugin', { tries: earlier })];
    expect(mountParts(contextOf({ awaiting, users }), 'a')[1]).to.deep.equal(
      target('a', 'remounting.waiting-for-plugin', { why: 'no plugin' }),
    );
  });

  it('N3 one whose claim is not known to be its own still: that, whatever has failed before', () => {
    const users = [user('a', 'publish-in-doubt.due', { tries: earlier }), user('b', 'published')];
    const [, a, b] = mountParts(contextOf({ users, unconfirmed: ['a', 'b'] }));
    expect(a?.why).to.contain('still has its claim');
    expect(b).not.to.have.property('why');
  });
});

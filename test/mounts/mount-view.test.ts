/** A mount as callers see it. */
import { expect } from 'chai';
import { noMount } from '../../machines/mount-changes.js';
import type { MountContext, MountUser } from '../../machines/mount-types.js';
import { mountStatusOf } from '../../src/mounts/mount-view.js';
import { mountPaths } from '../../src/mounts/paths.js';

const capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;
const waiting: MountUser = {
  ...{ allocId: 'a', readOnly: false, isClaimed: true, capability, sinceMs: 0, number: 2 },
  state: 'wanted',
  isUnconfirmed: true,
};

describe('the list of mounts', () => {
  const messageOf = (user: MountUser): string | undefined => {
    const context: MountContext = {
      ...noMount({ node: 'n1', namespace: 'default', id: 'data' }),
      volume: { uid: 'u1', plugin: 'disk', csiId: 'vol-1', volumeContext: {}, publishContext: {}, secrets: {} },
      staging: { state: 'doubtful', number: 1 },
      users: [user],
    };
    const paths = mountPaths({ dataDir: '/d', socketRoot: '/d' });
    return mountStatusOf({ unstaged: 'held' }, context, paths, undefined)?.users[0]?.message;
  };

  it('H3 who waits until its claim is confirmed is told so, whatever has failed before', () => {
    const failure = { code: 'CSI_ERROR', message: 'of before', final: false };
    expect(messageOf(waiting)).to.contain('claim');
    expect(messageOf({ ...waiting, tries: { count: 1, notBeforeMs: 0, failure } })).to.contain('claim');
  });

  it('H3 nobody else is', () => {
    const { isUnconfirmed: _, ...confirmed } = waiting;
    expect([messageOf(confirmed), messageOf({ ...waiting, state: 'published' })]).to.deep.equal([undefined, undefined]);
  });
});

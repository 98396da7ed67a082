/** A mount as callers see it. */

import { expect } from 'chai';
import { noMount } from '../../machines/mount/changes.js';
import type { Staging } from '../../machines/mount/staging.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { type MountStatus, mountStatusOf } from '../../src/mounts/mount-view.js';
import { mountPaths } from '../../src/mounts/paths.js';

const capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;
const waiting: Target = {
  ...{ allocId: 'a', readOnly: false, isClaimed: true, capability, sinceMs: 0, number: 2 },
  at: 'pending-publish',
};

describe('the list of mounts', () => {
  const statusOf = (more: Partial<MountContext>, table?: MountTable): MountStatus | undefined => {
    const context: MountContext = {
      ...noMount({ node: 'n1', namespace: 'default', id: 'data' }),
      volume: { uid: 'u1', plugin: 'disk', csiId: 'vol-1', volumeContext: {}, publishContext: {}, secrets: {} },
      staging: { at: 'in-doubt', number: 1 },
      ...more,
    };
    const paths = mountPaths({ dataDir: '/d', socketRoot: '/d' });
    return mountStatusOf({ unstaged: 'held' }, context, paths, table);
  };
  const messageOf = (user: Target, unconfirmed = ['a']): string | undefined =>
    statusOf({ users: [user], unconfirmed })?.users[0]?.message;

  it('H3 who waits until its claim is confirmed is told so, whatever has failed before', () => {
    const failure = { code: 'CSI_ERROR' as const, message: 'of before', final: false };
    expect(messageOf(waiting)).to.contain('claim');
    expect(messageOf({ ...waiting, tries: { count: 1, notBeforeMs: 0, failure } })).to.contain('claim');
  });

  it('M6 one that was lost, and is only told of, says how it is mounted again', () => {
    expect(messageOf({ ...waiting, at: 'lost' })).to.contain('mount retry');
  });

  it('M3 a staging path that is dead, and kept by who has a mount that answers: says who', () => {
    const living: Target = { ...waiting, allocId: 'b', at: 'published', number: 1 };
    const staging = { at: 'dead', number: 1 } as const;
    expect(statusOf({ staging, users: [waiting, living] })?.error?.message).to.contain('while alloc b has');
    expect(statusOf({ staging, users: [waiting, living] })?.error?.message).to.contain(
      'release that first, or unmount the staging path',
    );
    expect(statusOf({ staging, users: [waiting] })?.error).to.equal(undefined);
    expect(statusOf({ users: [waiting, living] })?.error).to.equal(undefined);
  });

  it('M3 where it is staged, or may be, the path is told', () => {
    const stagedAs = (at: Staging['at']) => statusOf({ staging: { at, number: 1 } });
    const pathOf = (at: Staging['at']) => stagedAs(at)?.stagingPath;
    expect([stagedAs('staged')?.isStaged, stagedAs('in-doubt')?.isStaged]).to.deep.equal([true, false]);
    expect(pathOf('in-doubt')).to.be.a('string').and.to.equal(pathOf('staged'));
    expect([pathOf('not-staged'), pathOf('not-needed')]).to.deep.equal([undefined, undefined]);
  });

  it('M12 something else is mounted in the place of a mount: that is told, and nothing advised', () => {
    const user: Target = { ...waiting, at: 'published' };
    const found = { device: '8:16', root: '/', fsType: 'ext4' };
    const hostPath = statusOf({ users: [user] })?.users[0]?.hostPath ?? '';
    const lines = ['1 0 8:1 / / rw - ext4 a rw', `2 1 8:32 / ${hostPath} rw - ext4 b rw`];
    const table = new MountTable(parseMountInfo(lines.join('\n')));
    expect(statusOf({ users: [{ ...user, found }] }, table)?.users[0]?.message).to.equal(
      `something else is mounted in its place (/ of 8:32 (ext4), at ${hostPath})`,
    );
  });

  it('H3 nobody else is', () => {
    expect([messageOf(waiting, []), messageOf({ ...waiting, at: 'published' })]).to.deep.equal([undefined, undefined]);
  });
});

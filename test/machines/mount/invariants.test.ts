/** The mount holds to its one call: the part that it is made for stays until it has ended, and only then gets its outcome. */
import { expect } from 'chai';
import { leave, noMount, use } from '../../../machines/mount/changes.js';
import { settleStaging } from '../../../machines/mount/draft.js';
import { mountFailed, targetMounted, volumeStaged } from '../../../machines/mount/outcomes.js';
import type { MountContext, MountWorkKind, Target } from '../../../machines/mount/types.js';
import { found, many, volume } from './mount-scene.js';

const stamp = { at: 1_000, random: 0.5 };
const user = (at: Target['at']): Target => ({
  ...{ allocId: 'a', readOnly: false, capability: many, number: 1, sinceMs: 0 },
  at,
});

/** At this call for alloc `a`; one about the staging has no alloc. */
function during(kind: MountWorkKind, more: Partial<MountContext>, isCalling = true): MountContext {
  const isOfTarget = kind === 'publish' || kind === 'unpublish';
  const work = { kind, dueAtMs: 0, isCalling, ...(isOfTarget && { allocId: 'a' }) };
  return { ...noMount({ node: 'n', namespace: 'default', id: 'data' }), volume, capability: many, work, ...more };
}

const asked = { volume, capability: many, allocId: 'a', readOnly: false };
const published = { found, bootId: 'b' };
const lost = { ...stamp, status: 'failed', failure: { code: 'CSI_ERROR', message: 'lost', final: false } } as const;

describe('the one call of a mount', () => {
  it('M2 a target can not be let go of, nor begin anew, while its call is under way', () => {
    const context = during('publish', { users: [user('failed')], number: 1 });
    const why = /while its call is under way \(publish\)/;
    expect(() => leave(context, 'a', stamp)).to.throw(why);
    expect(() => use(context, asked, stamp)).to.throw(why);
    const waits = { ...context, awaiting: { reason: 'away', for: 'plugin' } } as const;
    expect(leave(waits, 'a', stamp).context.users).to.deep.equal([]);
  });

  it('M2 a staging can not be given up while its call is under way', () => {
    const draft = { ...during('unstage', { staging: { number: 1, at: 'pending-stage' } }), broadcasts: [], at: 1_000 };
    expect(() => settleStaging(draft)).to.throw("a part can't be 'not-staged' while its call is under way (unstage)");
  });

  it('M2 an outcome is taken only of the call that is made, and once that has ended', () => {
    const users = [user('pending-publish')];
    const why = /is no outcome of the call that has ended/;
    expect(() => targetMounted(during('publish', { users }), published, stamp)).to.throw(why);
    expect(() => targetMounted(during('unpublish', { users }, false), published, stamp)).to.throw(why);
    expect(() => volumeStaged(during('publish', { users }, false), { isStaged: true, bootId: 'b' }, stamp)).to.throw(
      why,
    );
    expect(() => mountFailed(during('publish', { users }), lost)).to.throw(why);
    const [target] = targetMounted(during('publish', { users }, false), published, stamp).context.users ?? [];
    expect(target?.at).to.equal('published');
  });
});

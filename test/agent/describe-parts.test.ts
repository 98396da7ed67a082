/** Descriptions of the parts of volumes and mounts. */
import { expect } from 'chai';
import type { PartView } from '../../machines/kit/parts.js';
import { seenAt } from '../../machines/kit/state-words.js';
import { stagingMachine } from '../../machines/mount/staging.js';
import { targetMachine } from '../../machines/mount/target.js';
import { publicationMachine } from '../../machines/volume/publication.js';
import { describeMountParts, describePublication } from '../../src/agent/describe-parts.js';

const nowMs = 1_000;
const textOf = (at: string, more: Partial<PartView> = {}): string =>
  describePublication([{ id: 'publication/a', ...seenAt(publicationMachine, at), ...more }], 'a', nowMs);

describe('a publication in words', () => {
  it('A5 V5 published: nothing to add', () => {
    expect(textOf('published')).to.equal('');
  });

  it('A5 V8 in doubt: when the next attempt is, and why the last one failed', () => {
    const why = 'DEADLINE_EXCEEDED: no answer within 60 s';
    expect(textOf('in-doubt.backing-off', { why, nextAttemptAtMs: 3_500 })).to.equal(
      `publish in doubt, next attempt in 3 s: ${why}`,
    );
    expect(textOf('in-doubt.backing-off', { why, nextAttemptAtMs: 500 })).to.equal(
      `publish in doubt, next attempt now: ${why}`,
    );
    expect(textOf('in-doubt.calling', { why })).to.equal(`publish in doubt, being repeated: ${why}`);
    expect(textOf('in-doubt.calling')).to.equal('publish in doubt, being repeated');
  });

  it('A5 a node without a publication: nothing', () => {
    expect(describePublication([{ id: 'publication/b', chart: 'publication', at: 'new' }], 'a', nowMs)).to.equal('');
  });
});

describe('the parts of a mount in words', () => {
  const staging = (at: string) => ({ id: 'staging', ...seenAt(stagingMachine, at) });
  const target = (at: string) => ({ id: 'target/web', ...seenAt(targetMachine, at) });

  it('A5 M2 staged and mounted: nothing to add', () => {
    expect(describeMountParts([staging('staged'), target('published')], nowMs)).to.deep.equal([]);
  });

  it('A5 M7 parts at work: name, step, next attempt and why', () => {
    const why = 'INTERNAL: no device';
    const parts = [{ ...staging('in-doubt.backing-off'), why, nextAttemptAtMs: 3_500 }, target('pending-publish.due')];
    expect(describeMountParts(parts, nowMs)).to.deep.equal([
      `staging: stage in doubt, next attempt in 3 s: ${why}`,
      'target: to be mounted, waits for its turn',
    ]);
  });
});

/** Tests the list of many snapshots. */
import { expect } from 'chai';
import { snapshotAddress } from '../../machines/kit/addresses.js';
import { noSnapshot } from '../../machines/snapshot/changes.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { snapshotManager } from '../../src/snapshots/snapshot-manager.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { actorSystem } from '../support/actor-system.js';

const ids = Array.from({ length: 4_200 }, (_, index) => `s-${String(index).padStart(4, '0')}`);
const rows = ids.map((id, index): [string, ActorView] => {
  const [state, at] = index === ids.length - 1 ? ['failed', 'failed.refused'] : ['ready', 'ready'];
  const context = { ...noSnapshot({ kind: 'volume-snapshot', namespace: 'default', id }), at };
  return [snapshotAddress('default', id), { state, context, seq: 1 }];
});

const engine = actorSystem({
  page: async ({ limit, after = '' }) => {
    const found = rows.filter(([address]) => address > after);
    const last = found[limit - 1]?.[0];
    return { rows: found.slice(0, limit), ...(found.length > limit && last !== undefined && { next: last }) };
  },
});

describe('listing snapshots', () => {
  it('V21 few matches in many rows: a page reads a limited number of rows, and may be empty', async () => {
    const clock = simulatedClock();
    const secrets = { resolve: async () => ({}) };
    const sources = { removalRefusal: async () => undefined };
    const random = seededRandom(1);
    const snapshots = snapshotManager({ engine, clock, random, namePrefix: 'sc', secrets, sources });
    const first = await snapshots.list({ state: 'failed' });
    expect(first.items).to.deep.equal([]);
    const second = await snapshots.list({ state: 'failed', after: first.next ?? '' });
    expect(second.items.map(({ key }) => key.id)).to.deep.equal(['s-4199']);
    expect(second.next).to.equal(undefined);
  });
});

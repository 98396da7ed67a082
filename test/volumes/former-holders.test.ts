/** Names of those who may have a volume mounted at another place: a refusal has them, and waits for them a second at most. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { type FormerHolder, FormerHolders } from '../../src/volumes/node-records.js';
import { on } from '../machines/volume/situations.js';

const key = { namespace: 'default', id: 'data' };
const used = { key, claims: [], publications: { n1: on('published') } };

describe('those who may have a volume mounted at another place', () => {
  const clock = simulatedClock();
  let read: string[];
  beforeEach(() => {
    read = [];
  });

  /** Names them, of records that are answered so. */
  function named(
    answer: () => Promise<ActorView | undefined>,
    { limit, trouble }: { limit?: AbortSignal; trouble?: Error } = {},
  ): { holders?: FormerHolder[] } {
    const stored = {
      read: (address: string) => {
        read.push(address);
        return answer();
      },
    };
    const told: { holders?: FormerHolder[] } = {};
    void new FormerHolders({ stored, clock, trouble: () => trouble }).of(used, limit).then((holders) => {
      told.holders = holders;
    });
    return told;
  }
  const silent = (): Promise<never> => new Promise(() => {});

  it('34.32 the record of a node names its agent before', async () => {
    const former = { [mountAddress('n1', 'default', 'data')]: { id: 'x', dataDir: '/x', host: 'h', replacedAtMs: 1 } };
    const told = named(async () => ({ seq: 1, state: 'running', context: { former } }));
    await clock.advance(0);
    expect(told.holders?.map(({ nodeId, why }) => [nodeId, why.includes('by the agent of /x')])).to.deep.equal([
      ['n1', true],
    ]);
  });

  it('34.32 the record is not answered: nobody is named, after a second at most', async () => {
    const told = named(silent);
    await clock.advance(999);
    expect(told.holders).to.equal(undefined);
    await clock.advance(1);
    expect([told.holders, clock.pending]).to.deep.equal([[], 0]);
  });

  it('34.32 the record is not answered, and the caller gives up: nobody is named, at once', async () => {
    const end = new AbortController();
    const told = named(silent, { limit: end.signal });
    await clock.advance(0);
    end.abort();
    await clock.advance(0);
    expect([told.holders, clock.pending]).to.deep.equal([[], 0]);
  });

  it('34.32 the record can’t be read: nobody is named, at once', async () => {
    const told = named(() => Promise.reject(new Error('it is damaged')));
    await clock.advance(0);
    expect([told.holders, clock.pending]).to.deep.equal([[], 0]);
  });

  it('34.32 the store is known to be away: nobody is named, at once, and nothing is read', async () => {
    const told = named(silent, { trouble: new Error('away') });
    await clock.advance(0);
    expect([told.holders, read]).to.deep.equal([[], []]);
  });
});

/** Tests which claims each access mode allows side by side, as a table and with random claims. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AccessMode } from '../../machines/kit/csi-types.js';
import type { Claim } from '../../machines/volume/types.js';
import { spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
type Asked = { mode: 'read' | 'write'; nodeId: string };

const asked: Record<string, Asked> = {
  'a read': { mode: 'read', nodeId: 'a' },
  'a write': { mode: 'write', nodeId: 'a' },
  'b read': { mode: 'read', nodeId: 'b' },
  'b write': { mode: 'write', nodeId: 'b' },
};

/**
 * Claims allowed beside a holder, by access mode and holder. A claim that is missing here is not possible in that mode.
 */
const table: Record<AccessMode, Record<string, string[]>> = {
  'single-node-writer': { none: ['a read', 'a write', 'b read', 'b write'], 'a read': [], 'a write': [] },
  'single-node-reader-only': { none: ['a read', 'b read'], 'a read': [] },
  'single-node-single-writer': { none: ['a read', 'a write', 'b read', 'b write'], 'a read': [], 'a write': [] },
  'single-node-multi-writer': {
    none: ['a read', 'a write', 'b read', 'b write'],
    'a read': ['a read', 'a write'],
    'a write': ['a read', 'a write'],
  },
  'multi-node-reader-only': { none: ['a read', 'b read'], 'a read': ['a read', 'b read'] },
  'multi-node-single-writer': {
    none: ['a read', 'a write', 'b read', 'b write'],
    'a read': ['a read', 'a write', 'b read', 'b write'],
    'a write': ['a read', 'b read'],
  },
  'multi-node-multi-writer': {
    none: ['a read', 'a write', 'b read', 'b write'],
    'a read': ['a read', 'a write', 'b read', 'b write'],
    'a write': ['a read', 'a write', 'b read', 'b write'],
  },
};

const modes = Object.keys(table) as AccessMode[];
const of = (accessMode: AccessMode) => ({ accessMode, attachmentMode: 'file-system' }) as const;

describe('claims by access mode', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  const claim = (
    allocId: string,
    mode: AccessMode,
    { wait = false, ...how }: Asked & { wait?: boolean },
  ): Promise<Claim> => house.volumes.claim(data, { allocId, ...of(mode), ...how, wait });

  for (const mode of modes) {
    for (const [holder, allowed] of Object.entries(table[mode])) {
      it(`C3 V16 ${mode}, ${holder === 'none' ? 'held by nobody' : `held by ${holder}`}: ${allowed.join(', ') || 'nobody else'}`, async () => {
        await house.volumes.create(spec('data', { capabilities: [of(mode)] }));
        const held = asked[holder];
        if (held) await claim('holder', mode, held);
        const got: string[] = [];
        for (const [name, how] of Object.entries(asked)) {
          try {
            await claim('other', mode, how);
            got.push(name);
            await house.volumes.release(data, 'other');
          } catch (error) {
            const { code, message } = error as { code: string; message: string };
            const isOfMode = how.mode === 'read' || !mode.endsWith('reader-only');
            expect(code).to.equal(isOfMode ? 'CLAIM_CONFLICT' : 'INVALID_ARGUMENT');
            if (held && isOfMode)
              expect(message).to.include(`alloc holder on node ${held.nodeId} (${held.mode}, ${mode}, taken)`);
          }
        }
        expect(got).to.deep.equal(allowed);
      });
    }
  }

  it('C3 C5 random claims: never more than the mode allows, granted in order, generations rise', async () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('claim' as const), as: fc.constantFrom(...Object.keys(asked)) }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), at: fc.nat(7) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('publish' as const), nodeId: fc.constantFrom('a', 'b') }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('unstaged' as const), nodeId: fc.constantFrom('a', 'b') }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...modes), fc.array(step, { maxLength: 25 }), async (mode, steps) => {
        const run = await new VolumeHouse().furnish();
        const order: string[] = [];
        const quiet = (): void => {};
        try {
          await run.volumes.create(spec('data', { capabilities: [of(mode)] }));
          for (const one of steps) {
            if (one.do === 'claim') {
              const how = asked[one.as] ?? { mode: 'read', nodeId: 'a' };
              if (how.mode === 'write' && mode.endsWith('reader-only')) continue;
              const allocId = `w${order.length}`;
              order.push(allocId);
              void run.volumes.claim(data, { allocId, ...of(mode), ...how, wait: true }).catch(quiet);
            } else if (one.do === 'release') {
              if (order[one.at]) await run.volumes.release(data, order[one.at] ?? '');
            } else if (one.do === 'publish') {
              void run.volumes.publish(data, one.nodeId).catch(quiet);
            } else if (one.do === 'unstaged') {
              await run.runtime.nodes.reportUnstaged(one.nodeId, data, { claimGeneration: 1_000 });
            } else await run.restart();
            await run.rest();
            checkHeld(mode, (await run.volumes.get(data))?.claims ?? []);
          }
          const taken = (await run.events()).flatMap((event) =>
            event.kind === 'claim' && event.state === 'taken' ? [event] : [],
          );
          const places = taken.map(({ allocId }) => order.indexOf(allocId));
          expect(places).to.deep.equal([...places].sort((one, other) => one - other));
          const generations = taken.map(({ generation = 0 }) => generation);
          expect(generations).to.deep.equal([...new Set(generations)].sort((one, other) => one - other));
          expect(run.plugin.wrongs).to.deep.equal([]);
        } finally {
          await run.dispose();
        }
      }),
      { seed: 6, numRuns: 30 },
    );
  });
});

/** Checks the rules of the access modes, written independently of the code under test. */
function checkHeld(mode: AccessMode, claims: Claim[]): void {
  const writers = claims.filter(({ mode: how }) => how === 'write').length;
  const nodes = new Set(claims.map(({ nodeId }) => nodeId)).size;
  const most = ['single-node-writer', 'single-node-reader-only', 'single-node-single-writer'].includes(mode) ? 1 : 25;
  expect(claims.length).to.be.at.most(most);
  if (mode.startsWith('single-node')) expect(nodes).to.be.at.most(1);
  if (mode.endsWith('reader-only')) expect(writers).to.equal(0);
  if (mode === 'multi-node-single-writer') expect(writers).to.be.at.most(1);
}

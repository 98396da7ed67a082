/** A runtime that is to release its allocs, and can't in its time: on a simulated clock, before anything is mounted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRuntime } from '../../src/index.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { simulatedClock } from '../../src/testing/index.js';
import { watched } from '../engine/lab.js';
import { refusalOf } from '../refusal.js';

const shared = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;

/** Nothing that it is asked for is ever done. */
const silent = (): Promise<never> => new Promise(() => {});

describe('a drain', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-drain-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  it('H6 an alloc is not released within a minute: the next steps are reported once', async () => {
    const clock = simulatedClock();
    const claims: ClaimClient = {
      look: async () => ({ uid: 'u1', plugin: 'disk', capabilities: [shared], secrets: {} }),
      ...{ claim: silent, holds: silent, publish: silent, release: silent, unstaged: silent },
      ...{ holdReleased: silent, expanded: silent },
    };
    const runtime = await createRuntime({ nodeId: 'n1', dataDir, clock, store: memoryStore(), claims });
    const events = runtime.allocations.updates()[Symbol.asyncIterator]();
    const prepared = refusalOf(
      runtime.allocations.prepare(
        'web',
        [{ name: 'data', volume: { id: 'data' }, mode: 'write', taskPath: '/data', ...shared }],
        { wait: true }, // whether this host can mount is not looked at then
      ),
    );
    await events.next(); // it is preparing
    const closed = watched(runtime.close({ release: true }));
    expect((await prepared).code).to.equal('ABORTED');
    await clock.advance(120_000);
    expect(closed.error).to.include({
      code: 'DRAIN_FAILED',
      message:
        '60000 ms have passed before alloc web was released; the next start goes on with it: it is releasing; data: what was begun for it before has not ended yet; start the agent again, and drain again',
    });
  });
});

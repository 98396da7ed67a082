/** T7: a runtime that is to release its tasks while its store is gone, from the beginning or half-way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { createRuntime, type Runtime, type TaskOptions } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/index.js';
import { watched } from '../engine/lab.js';
import { faultyStore } from '../support/faulty-store.js';
import { findProcesses } from './found.js';

/** Never ready. */
const mute: TaskOptions = { id: 'mute', type: 'node', command: ['/bin/sleep', '604'] };

describe('a drain without the store', () => {
  let dataDir: string;
  let clock: SimulatedClock;
  let runtime: Runtime;
  let isGone: boolean;
  /** The store goes once it has taken a commit with this in its journal entry. */
  let lastWords: string;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-drain-'));
    clock = simulatedClock();
    isGone = false;
    lastWords = 'none';
    runtime = await createRuntime({ nodeId: 'n1', dataDir, clock, store: mortal(memoryStore()) });
    const updates = runtime.tasks.updates()[Symbol.asyncIterator]();
    await runtime.tasks.start(mute);
    await updates.next(); // its process is started
  });
  afterEach(() => {
    for (const { group } of findProcesses(`${dataDir}#mute`)) process.kill(-group, 'SIGKILL');
    rmSync(dataDir, { recursive: true });
  });

  function mortal(data: Store): Store {
    const gated = faultyStore(data, {
      at: ({ method }) => isGone && method !== 'close',
      how: () => {
        throw new Error('no connection');
      },
    });
    return {
      ...gated,
      commit: async (items) => {
        const results = await gated.commit(items);
        isGone ||= items.some(({ journal }) => journal.includes(lastWords));
        return results;
      },
    };
  }

  it('gone before it: nothing was stopped, and the store is named as the cause', async () => {
    isGone = true;
    const closed = watched(runtime.close({ release: true }));
    await clock.advance(60_000);
    expect(closed.error).to.include({ code: 'DRAIN_FAILED' });
    expect(closed.error?.message).to.match(/^nothing was stopped: the store takes nothing now \(no connection\)/);
    expect(findProcesses(`${dataDir}#mute`)).to.have.length(1);
  });

  it('gone amid it: the store is named as the cause, and so is what may run on', async () => {
    lastWords = 'registry.stop';
    const closed = watched(runtime.close({ release: true }));
    await clock.advance(300_000);
    expect(closed.error).to.include({ code: 'DRAIN_FAILED' });
    expect(closed.error?.message).to.match(/: the store does not answer; not known to be stopped: mute$/);
  });

  it('gone, and nothing is to be released: it closes, and says so; a release comes too late then', async () => {
    isGone = true;
    const closed = watched(runtime.close());
    await clock.advance(60_000);
    expect(closed.error).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(closed.error?.message).to.match(/^closed with work under way: the store takes nothing now/);
    const released = watched(runtime.close({ release: true }));
    await clock.advance(0);
    expect(released.error).to.include({ code: 'RUNTIME_CLOSED' });
  });

  it('gone, and a release is asked for while it closes: that is told that nothing was stopped', async () => {
    isGone = true;
    void watched(runtime.close());
    const released = watched(runtime.close({ release: true }));
    await clock.advance(60_000);
    expect(released.error).to.include({ code: 'DRAIN_FAILED' });
  });
});

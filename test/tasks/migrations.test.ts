/** Records of older versions of the task machine, as they were written then: brought to the present one, and gone on with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { createRuntime } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory.js';

const address = 'task/n1/hostpath';

/** A running task of version 1; its process was that of another boot. */
const runningV1 = (() => {
  const spec = {
    id: 'hostpath',
    type: 'node',
    command: ['/bin/sleep', '605'],
    env: {},
    healthTimeoutMs: 30000,
    restart: { maxRestarts: 0, windowMs: 60000, backoff: { initialMs: 100, maxMs: 300000 } },
  };
  const run = { allocId: 'hostpath-6lurx2jp', token: 'hostpath-6lurx2jp.mwq6ko43' };
  const process = { pid: 27820, bootId: 'ea6bb846-6cf7-47b2-be9e-fc51679d87f9', startTime: 3275597 };
  const spawned = { ...run, process, socketPath: '/nowhere/plugins/hostpath-6lurx2jp/csi.sock' };
  const registered = { allocId: run.allocId, types: ['csi-node'] };
  const ready = { pluginName: 'hostpath.csi.stagecraft', vendorVersion: '0.1.0' };
  const context = { node: 'n1', spec, run, spawned, process, registered, ready, endedAtMs: [], reason: null };
  return {
    format: 1,
    machine: 'task',
    version: '1',
    effects: [{ id: 'watchProcess', src: 'watchProcess', input: { spec, spawned, withTail: false }, seq: 3 }],
    timers: [],
    received: {},
    answers: [],
    snapshot: { value: 'running', context },
  };
})();

describe('tasks of older versions', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('T9 a running task of version 1: it is taken up, its process is found gone, all in version 2', async () => {
    const store = memoryStore();
    await store.open();
    const entry = { seq: 3, at: 1, random: 0.5, kind: 'event', version: '1', source: { kind: 'request' } };
    await store.commit([
      {
        address,
        commitId: 'recorded',
        expectedSeq: 0,
        seq: 3,
        epoch: 0,
        owner: 'recorded',
        text: JSON.stringify(runningV1),
        journal: JSON.stringify({ ...entry, event: { type: 'task.start' } }),
      },
    ]);
    await store.close();

    const runtime = await createRuntime({ nodeId: 'n1', dataDir: join(directory, 'data'), store });
    try {
      const entries: JournalEntry[] = [];
      for await (const each of runtime.journal.entries(address)) entries.push(each);
      const migrated = entries.find(({ kind }) => kind === 'migrated');
      expect(migrated).to.deep.include({ version: '2', migrations: ['health is kept'] });
      expect(migrated?.snapshot?.context).to.deep.include({ health: { healthy: true, description: 'ready' } });
      for await (const { change } of runtime.tasks.updates({ from: '0' })) {
        if (change.type === 'failed') break;
      }
      expect(runtime.tasks.status('hostpath').reason).to.include('the process is gone');
    } finally {
      await runtime.close();
    }
  });
});

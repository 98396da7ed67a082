/** Records of older versions of the task machine, as they were written then: brought to the present one, and gone on with. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import type { Store } from '../../src/engine/store.js';
import { createRuntime } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { identify } from '../../src/tasks/processes.js';

const address = 'task/n1/hostpath';

/** A running task of version 2, with values of its environment in the record and in the input of its effect. */
const runningV2 = (process: ProcessIdentity) => {
  const spec = {
    id: 'hostpath',
    type: 'node',
    command: ['/bin/sleep', '605'],
    env: { TOKEN: 'planted-value', CSI_ENDPOINT: 'unix:///nowhere/csi.sock' },
    healthTimeoutMs: 30000,
    restart: { maxRestarts: 0, windowMs: 60000, backoff: { initialMs: 100, maxMs: 300000 } },
  };
  const run = { allocId: 'hostpath-6lurx2jp', token: 'hostpath-6lurx2jp.mwq6ko43' };
  const spawned = { ...run, process, socketPath: '/nowhere/plugins/hostpath-6lurx2jp/csi.sock' };
  const registered = { allocId: run.allocId, types: ['csi-node'] };
  const ready = { pluginName: 'hostpath.csi.stagecraft', vendorVersion: '0.1.0' };
  const health = { healthy: true, description: 'ready' };
  const context = { node: 'n1', spec, run, spawned, process, registered, ready, health, endedAtMs: [], reason: null };
  return {
    format: 1,
    machine: 'task',
    version: '2',
    effects: [{ id: 'watchProcess', src: 'watchProcess', input: { spec, spawned, withTail: false }, seq: 3 }],
    timers: [],
    received: {},
    answers: [],
    snapshot: { value: 'running', context },
  };
};

describe('tasks of older versions', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  async function storeWith(record: { version: string }): Promise<Store> {
    const store = memoryStore();
    await store.open();
    const { version } = record;
    const entry = { seq: 3, at: 1, random: 0.5, kind: 'event', version, source: { kind: 'request' } };
    await store.commit([
      {
        address,
        commitId: 'recorded',
        expectedSeq: 0,
        seq: 3,
        epoch: 0,
        owner: 'recorded',
        text: JSON.stringify(record),
        journal: JSON.stringify({ ...entry, event: { type: 'task.start' } }),
      },
    ]);
    await store.close();
    return store;
  }

  it('34.11 values in a record of version 2 are gone with its migration, and the same values are the same spec', async () => {
    const child = spawn('/bin/sleep', ['605'], { detached: true, stdio: 'ignore' });
    const identity = identify(child.pid ?? 0);
    if (!identity) throw new Error('the process has ended');
    const record = runningV2(identity);
    const store = await storeWith(record);
    const runtime = await createRuntime({ nodeId: 'n1', dataDir: join(directory, 'data'), store });
    try {
      const task = async (): Promise<string> => (await store.load(address))?.text ?? '';
      expect(await task())
        .to.include('TOKEN')
        .and.not.include('planted-value');
      const { allocId, spec } = runtime.tasks.status('hostpath');
      expect(spec).to.deep.include({ plugin: 'hostpath', env: ['TOKEN', 'CSI_ENDPOINT'] });
      const { env } = record.snapshot.context.spec;
      await runtime.tasks.start({ ...record.snapshot.context.spec, type: 'node', env });
      expect(runtime.tasks.status('hostpath').allocId).to.equal(allocId);
    } finally {
      await runtime.close();
      child.kill('SIGKILL');
    }
  });
});

/** T7: stops of tasks whose processes take their time, or that are out of service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { taskAddress } from '../../machines/kit/addresses.js';
import { createRuntime, type Runtime, type StagecraftError, type TaskOptions } from '../../src/index.js';
import { lmdbStore } from '../../src/stores/index.js';
import { TaskSupervisor } from '../../src/tasks/task-supervisor.js';
import { findProcesses } from './found.js';

/** Never ready, and deaf to SIGTERM. */
const deaf: TaskOptions = { id: 'deaf', type: 'node', command: ['/bin/sh', '-c', "trap '' TERM; echo up; sleep 603"] };
const ids = ['deaf', 'mute'];

const failureOf = async (promise: Promise<unknown>): Promise<Partial<StagecraftError>> =>
  promise.then(
    () => ({}),
    (error: StagecraftError) => error,
  );

describe('stops of tasks', () => {
  let dataDir: string;
  let runtime: Runtime;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-stops-'));
    runtime = await createRuntime({ nodeId: 'n1', dataDir });
  });
  afterEach(async () => {
    await runtime.close();
    kill();
    rmSync(dataDir, { recursive: true });
  });

  const kill = (): void => {
    for (const { group } of ids.flatMap((id) => findProcesses(`${dataDir}#${id}`))) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // it went with another of its group
      }
    }
  };

  const startDeaf = async (...wanted: string[]): Promise<void> => {
    const updates = runtime.tasks.updates();
    for (const id of wanted) await runtime.tasks.start({ ...deaf, id });
    let started = 0;
    for await (const { change } of updates) {
      if (change.type === 'started') started += 1;
      if (started === wanted.length) return;
    }
  };

  const stopping = async (id: string): Promise<void> => {
    while (runtime.tasks.status(id).state !== 'stopping') await new Promise(setImmediate);
  };

  it('T7 the runtime is closed while a stop is pending: it ends, with RUNTIME_CLOSED', async () => {
    await startDeaf('deaf');
    const stop = failureOf(runtime.tasks.stop('deaf'));
    await stopping('deaf');
    await runtime.close();
    expect(await stop).to.have.property('code', 'RUNTIME_CLOSED');
  });

  it('T7 the runtime is closed with release: what a pending stop began is finished', async () => {
    await startDeaf('deaf');
    const stop = failureOf(runtime.tasks.stop('deaf'));
    await stopping('deaf');
    const closed = runtime.close({ release: true });
    expect(await stop).to.have.property('code', 'RUNTIME_CLOSED');
    kill();
    await closed;
    expect(findProcesses(`${dataDir}#deaf`)).to.deep.equal([]);
  });

  it('T7 started again while a stop is pending: it was not stopped, and the stop says so', async () => {
    await startDeaf('deaf');
    const stop = failureOf(runtime.tasks.stop('deaf'));
    await stopping('deaf');
    await runtime.tasks.start(deaf);
    expect(await stop).to.have.property('code', 'ABORTED');
  });

  it('T7 of several that could not be stopped each is named', async () => {
    await startDeaf(...ids);
    if (!(runtime.tasks instanceof TaskSupervisor)) throw new Error('stopAll is for the runtime alone');
    const stop = failureOf(runtime.tasks.stopAll());
    for (const id of ids) await stopping(id);
    for (const id of ids) await runtime.tasks.start({ ...deaf, id });
    const { code, faults } = await stop;
    expect(code).to.equal('TASK_STOP_FAILED');
    expect(faults?.map((fault) => fault.split(': ')[0])).to.have.members(ids);
  });

  it('T7 stopped right after it was asked to start, it is found', async () => {
    const start = runtime.tasks.start(deaf);
    await runtime.tasks.stop('deaf');
    await start;
    expect(runtime.tasks.status('deaf').state).to.equal('stopped');
  });

  it('T7 a task whose record can’t be read is not called unknown: its stop says that it is quarantined', async () => {
    await runtime.tasks.start({ ...deaf, command: ['/bin/true'] });
    await runtime.tasks.stop('deaf');
    await runtime.close();
    await damage(taskAddress('n1', 'deaf'));
    runtime = await createRuntime({ nodeId: 'n1', dataDir });
    expect(await failureOf(runtime.tasks.stop('deaf'))).to.have.property('code', 'ACTOR_QUARANTINED');
    expect(await failureOf(runtime.tasks.stop('nobody'))).to.have.property('code', 'TASK_NOT_FOUND');
  });

  it('T7 a task that does not exist was just looked up: its stop is refused, and leaves no record', async () => {
    const address = taskAddress('n1', 'nobody');
    expect(await failureOf(runtime.actors.inspect(address))).to.have.property('code', 'ACTOR_NOT_FOUND');
    expect(await failureOf(runtime.tasks.stop('nobody'))).to.have.property('code', 'TASK_NOT_FOUND');
    await runtime.close();
    const store = lmdbStore(join(dataDir, 'state'));
    await store.open();
    const record = await store.load(address);
    await store.close();
    runtime = await createRuntime({ nodeId: 'n1', dataDir });
    expect(record).to.equal(undefined);
  });

  const damage = async (address: string): Promise<void> => {
    const store = lmdbStore(join(dataDir, 'state'));
    await store.open();
    const record = await store.load(address);
    if (!record) throw new Error(`there is no ${address}`);
    const { seq, epoch, owner } = record;
    await store.commit([{ address, commitId: 'damage', expectedSeq: seq, epoch, owner, text: '{}', journal: '{}' }]);
    await store.close();
  };
});

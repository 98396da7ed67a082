/** T10: the logs of tasks, through a runtime, with processes that write them. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRuntime, type Runtime, type TaskOptions } from '../../src/index.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';

const maxBytes = 20_000;
const restart = { maxRestarts: 1, windowMs: 600_000, backoff: { initialMs: 1, maxMs: 2 } };
const shell = (script: string): TaskOptions => ({
  id: 'ebs',
  type: 'node',
  command: ['/bin/sh', '-c', script],
  restart,
});

describe('logs of the tasks of a runtime', () => {
  let dataDir: string;
  let runtime: Runtime;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-logs-'));
    runtime = await createRuntime({ nodeId: 'n1', dataDir, logs: { maxBytes } });
  });
  afterEach(async () => {
    await runtime.close({ release: true });
    rmSync(dataDir, { recursive: true });
  });

  const failed = async (): Promise<void> => {
    for await (const { change } of runtime.tasks.updates({ from: '0' })) if (change.type === 'failed') return;
  };

  it('T10 the status names the log; the last lines of all runs are given, each run below its header', async () => {
    await runtime.tasks.start(shell('echo no license >&2; sleep 0.2; exit 3'));
    await failed();
    expect(runtime.tasks.status('ebs').logPath).to.equal(join(dataDir, 'logs', 'ebs.log'));
    expect(await runtime.tasks.logs('ebs')).to.match(
      /^--- ebs-\w{8} \S+Z\nno license\n--- ebs-\w{8} \S+Z\nno license\n$/,
    );
    expect(await runtime.tasks.logs('ebs', { lines: 1 })).to.equal('no license\n');
  });

  it('T10 refuses what is no task, and a number of lines that can’t be', async () => {
    await runtime.tasks.start(shell('sleep 600'));
    expect(await refusalOf(runtime.tasks.logs('nobody'))).to.include({ code: 'TASK_NOT_FOUND' });
    expect(await refusalOf(runtime.tasks.logs('ebs', { lines: 10_001 }))).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('T10 a task with somebody else’s plugin has no log', async () => {
    await runtime.tasks.start({ id: 'ebs', type: 'node', socket: join(dataDir, 'none.sock') });
    expect(runtime.tasks.status('ebs')).to.not.have.property('logPath');
    expect(await runtime.tasks.logs('ebs')).to.equal('');
  });

  it('T10 while its process runs, a log that has grown over the limit is cut off', async () => {
    await runtime.tasks.start(shell(`i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; sleep 600`));
    const { logPath = '' } = runtime.tasks.status('ebs');
    while (!existsSync(`${logPath}.1`)) await new Promise((resolve) => setTimeout(resolve, 50));
    while (statSync(logPath).size > maxBytes) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(runtime.tasks.status('ebs').state).to.equal('waiting');
    expect(await runtime.tasks.logs('ebs', { lines: 2 })).to.equal('line 2999\nline 3000\n');
  });

  it('T10 at a start, what earlier runs have left is cut off first', async () => {
    await runtime.tasks.start(shell(`[ -e ${dataDir}/x ] && exit 3; touch ${dataDir}/x; seq 10000; exit 3`));
    await failed();
    expect(statSync(join(dataDir, 'logs', 'ebs.log.1')).size).to.be.within(maxBytes - 10, maxBytes + 100);
    expect(statSync(join(dataDir, 'logs', 'ebs.log')).size).to.be.below(200);
  });

  it('T10 also where no process comes of a start, so that nobody watches its log', async () => {
    const { logPath = '' } = await runtime.tasks
      .start({ ...shell(''), command: ['/no/such'] })
      .then(() => runtime.tasks.status('ebs'));
    await failed();
    writeFileSync(logPath, 'x\n'.repeat(maxBytes));
    await runtime.tasks.restart('ebs');
    await failed();
    // It is copied first, then cut off.
    await until(() => existsSync(`${logPath}.1`) && statSync(logPath).size < 200);
  });

  it('T10 a limit that can’t be is refused', async () => {
    for (const [wrong, why] of [
      [0, 'must be above 0'],
      [1.5, 'must be a whole number of bytes, e.g. 10485760'],
      [-1, 'must be above 0'],
    ] as const) {
      const refused = createRuntime({ nodeId: 'n2', dataDir: join(dataDir, 'other'), logs: { maxBytes: wrong } });
      expect((await refusalOf(refused)).faults).to.deep.equal([`logs.maxBytes: ${why}`]);
    }
  });
});

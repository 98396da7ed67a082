/**
 * T8: what one task takes, after its first start and after many: timers, watches, open files, processes, listeners,
 * directories, live effects. Real processes; the clock is the real one, with its timers counted.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { taskAddress } from '../../machines/kit/addresses.js';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import { type Clock, systemClock } from '../../src/engine/clock.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { Store } from '../../src/engine/store.js';
import { createRuntime, type Runtime, type TaskOptions } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { identify } from '../../src/tasks/processes.js';
import { type Children, watchProcess } from '../../src/tasks/spawn.js';
import { TaskLogs } from '../../src/tasks/task-logs.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { eventually, until } from '../until.js';
import { findProcesses } from './found.js';
import { environments, recordedSpec } from './recorded-spec.js';

const mainPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const restarts = 32;
const quick = { maxRestarts: 1_000, windowMs: 600_000, backoff: { initialMs: 1, maxMs: 2 } };

const driver: TaskOptions = {
  id: 'leaky',
  type: 'node',
  command: [process.execPath, mainPath, 'driver', '--node-id', 'n1'],
  restart: quick,
};

/** Its first start stays, as does the last one; those between end at once, one with an error. */
const failing: TaskOptions = {
  ...driver,
  command: [
    '/bin/sh',
    '-c',
    `cd "$STAGECRAFT_TASK_DIR"; echo x >> starts; n=$(wc -l < starts)
     [ $n -gt 1 ] && [ $n -le ${restarts} ] && exit 1; exec sleep 600`,
  ],
  healthTimeoutMs: 600_000,
};

/** The real clock, and how many timers of it are set. */
function countingClock(): Clock & { pending: number } {
  const clock = {
    ...systemClock,
    pending: 0,
    after(delayMs: number, callback: () => void): () => void {
      let isSet = true;
      const end = (): void => {
        clock.pending -= isSet ? 1 : 0;
        isSet = false;
      };
      clock.pending += 1;
      const cancel = systemClock.after(delayMs, () => {
        end();
        callback();
      });
      return () => {
        end();
        cancel();
      };
    },
  };
  return clock;
}

/** Files, sockets and pipes that this process has open, and what it watches: each watch is a line of its inotify file. */
function openFiles(): { files: number; watches: number } {
  const infos = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('inotify')
        ? [readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')]
        : [''];
    } catch {
      return []; // the directory that is being read
    }
  });
  return { files: infos.length, watches: infos.join('\n').split('inotify wd:').length - 1 };
}

/** Our children, those included that ended and that nobody has asked for yet. */
const children = (): number =>
  readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  ).length;

type Taken = { files: number } & Record<string, unknown>;

/** Timers are counted by the clock; a call to the file system ends by itself. */
const passing = ['Timeout', 'Immediate', 'FSReqCallback'];

describe('T8 what a task takes', () => {
  let dataDir: string;
  let clock: ReturnType<typeof countingClock>;
  let store: Store;
  let runtime: Runtime;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-leaks-'));
    clock = countingClock();
    store = memoryStore();
    runtime = await createRuntime({ nodeId: 'n1', dataDir, clock, store });
  });

  afterEach(async () => {
    try {
      await runtime.close({ release: true });
    } finally {
      for (const { group } of findProcesses(`${dataDir}#leaky`)) process.kill(-group, 'SIGKILL');
      rmSync(dataDir, { recursive: true });
    }
  });

  /** Everything there is one of, or that should be as many as before. */
  async function taken(): Promise<Taken> {
    const record = await store.load(taskAddress('n1', 'leaky'));
    const { effects, timers } = decodeRecord(record?.text ?? '{}');
    const resources = process.getActiveResourcesInfo().filter((kind) => !passing.includes(kind));
    return {
      timers: clock.pending,
      ...openFiles(),
      children: children(),
      processes: findProcesses(`${dataDir}#leaky`).length,
      resources: resources.toSorted(),
      listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
      effects: effects.map(({ src }) => src),
      ownTimers: timers.length,
      directories: readdirSync(join(dataDir, 'plugins')).length,
      logs: readdirSync(join(dataDir, 'logs')),
      actors: runtime.actors.list().map(({ address, state }) => `${address.replace(/-\w{8}$/, '')} ${state}`),
      state: runtime.tasks.list().map(({ state }) => state),
    };
  }

  /** What it takes comes to what it took: a timer or a process may take a moment to end. */
  async function comesTo({ files, ...before }: Taken): Promise<void> {
    let last = '';
    const isSo = async (): Promise<boolean> => {
      const { files: filesNow, ...now } = await taken();
      last = `${JSON.stringify(now)} and ${filesNow} open files, not ${JSON.stringify(before)} and ${files}`;
      return filesNow <= files && JSON.stringify(now) === JSON.stringify(before);
    };
    await until(isSo, () => last);
  }

  const starts = (): number => {
    const path = join(dataDir, 'tasks', 'leaky', 'starts');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  };

  /** The pid of a start that has come as far as this. */
  async function pidWhen(state: string, not?: number): Promise<number> {
    let pid: number | undefined;
    await eventually(`it is ${state}`, () => {
      const [task] = runtime.tasks.list();
      pid = task?.state === state ? task.pid : undefined;
      return pid !== undefined && pid !== not;
    });
    return pid ?? 0;
  }

  /** Once all that it takes has stayed the same for some looks. */
  async function settled(): Promise<Taken> {
    let last = await taken();
    for (let same = 0; same < 10; ) {
      await sleep(10);
      const now = await taken();
      same = JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0;
      last = now;
    }
    return last;
  }

  it(`T8 a command that fails at once, ${restarts} times: as much as after its first start`, async () => {
    await runtime.tasks.start(failing);
    const pid = await pidWhen('waiting');
    await eventually('its process has begun', () => starts() === 1);
    const before = await settled();
    process.kill(pid, 'SIGKILL');
    await eventually('it has failed often', () => starts() === restarts + 1);
    await pidWhen('waiting', pid);
    await comesTo(before);
  });

  it('T8 a task that never gets ready, restarted again and again: uses no more than after its first start', async () => {
    const slow = { ...driver, command: ['/bin/sleep', '600'], healthTimeoutMs: 30 };
    await runtime.tasks.start({ ...slow, healthTimeoutMs: 600_000 });
    await pidWhen('waiting');
    const before = await settled();
    let restarted = 0;
    const updates = runtime.tasks.updates();
    await runtime.tasks.start(slow);
    for await (const { change } of updates) {
      if (change.type === 'restarting') restarted += 1;
      if (restarted === restarts) break;
    }
    await runtime.tasks.start({ ...slow, healthTimeoutMs: 600_000 });
    await pidWhen('waiting');
    await comesTo(before);
  });

  it('T8 a driver that is killed as soon as it is healthy, 3 times: as much as after its first start', async () => {
    await runtime.tasks.start(driver);
    let pid = await pidWhen('running');
    await runtime.plugins.waitFor('csi-node', 'leaky');
    const before = await settled();
    for (let n = 0; n < 3; n += 1) {
      process.kill(pid, 'SIGKILL');
      pid = await pidWhen('running', pid);
      await runtime.plugins.waitFor('csi-node', 'leaky');
    }
    await comesTo(before);
  });

  it('T8 started, stopped and started with another spec in haste: then as much as after its first stop', async () => {
    await runtime.tasks.start(failing);
    await pidWhen('waiting');
    await runtime.tasks.stop('leaky');
    const before = await settled();
    for (let n = 0; n < restarts; n += 1) {
      const calls = [
        runtime.tasks.start({ ...failing, env: { N: String(n) } }),
        runtime.tasks.start({ ...failing, command: ['/bin/false'] }),
        ...(n % 3 === 0 ? [runtime.tasks.stop('leaky')] : []),
      ];
      await Promise.allSettled(calls);
    }
    await runtime.tasks.stop('leaky');
    await comesTo(before);
  });

  it('T8 a process that is watched for a day: nothing of what it waits for is kept', async () => {
    const clock = simulatedClock();
    const end = new AbortController();
    const known = identify(process.pid);
    if (!known) throw new Error('this process is not in /proc');
    const joined = AbortSignal.any;
    let joins = 0;
    AbortSignal.any = (signals) => {
      joins += 1;
      return joined(signals);
    };
    try {
      const spawned = { allocId: 'leaky-1', token: 'leaky-1', process: known, socketPath: '/nowhere/csi.sock' };
      const nobody: Children = new Map();
      const options = { spec: recordedSpec(driver), spawned, withTail: false, signal: end.signal };
      const logs = new TaskLogs({ paths: { dataDir, socketRoot: dataDir }, clock, logger: silentLogger });
      const watched = watchProcess({ logs, clock, children: nobody, environments }, options).catch(() => 'given up');
      await clock.advance(60_000);
      expect(joins).to.be.at.most(1);
      expect(clock.pending, 'the next look at the process, and at its log').to.be.at.most(2);
      end.abort();
      expect(await watched).to.equal('given up');
      expect(clock.pending).to.equal(0);
    } finally {
      AbortSignal.any = joined;
    }
  });
});

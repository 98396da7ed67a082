/** T5: how a process ended is told as its parent knows it, also after it is gone. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { ProcessEnd } from '../../machines/task/task-types.js';
import { systemClock } from '../../src/engine/clock.js';
import { silentLogger } from '../../src/engine/logger.js';
import { identify } from '../../src/tasks/processes.js';
import { type Children, spawnRun, watchProcess } from '../../src/tasks/spawn.js';
import { TaskLogs } from '../../src/tasks/task-logs.js';
import { environments, recordedSpec } from './recorded-spec.js';

const spec = recordedSpec({ id: 'ebs', type: 'node', command: ['/bin/sh', '-c', 'echo bye; sleep 0.3; exit 3'] });

describe('watching a process', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-watch-'));
    mkdirSync(join(dataDir, 'plugins'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  it('T5 its code is told to whoever asks, however late; of each task only the last run is kept', async () => {
    const paths = { dataDir, socketRoot: dataDir };
    const logs = new TaskLogs({ paths, clock: systemClock, logger: silentLogger });
    const children: Children = new Map();
    const { signal } = new AbortController();
    for (const allocId of ['ebs-1', 'ebs-2']) {
      const spawned = await spawnRun(
        { paths, children, environments },
        { spec, run: { allocId, token: allocId }, signal },
      );
      const watch = (withTail: boolean): Promise<ProcessEnd> =>
        watchProcess({ logs, clock: systemClock, children, environments }, { spec, spawned, withTail, signal });
      expect(await watch(false)).to.deep.equal({ code: 3 });
      expect(await watch(true))
        .to.deep.include({ code: 3 })
        .and.have.property('tail')
        .that.includes('bye');
    }
    expect([...children.values()].map(({ token }) => token)).to.deep.equal(['ebs-2']);
  });

  it('T7 its process is gone and nobody tells how it ended: the watch ends with its signal', async () => {
    const self = identify(process.pid);
    if (!self) throw new Error('this process is not in /proc');
    const gone = { ...self, startTime: self.startTime - 1 };
    const logs = new TaskLogs({ paths: { dataDir, socketRoot: dataDir }, clock: systemClock, logger: silentLogger });
    const children: Children = new Map([['ebs', { token: 't', ended: new Promise(() => {}) }]]);
    const left = new AbortController();
    const spawned = { allocId: 'ebs-1', token: 't', process: gone, socketPath: '/nowhere/csi.sock' };
    const watch = watchProcess(
      { logs, clock: systemClock, children, environments },
      { spec, spawned, withTail: false, signal: left.signal },
    );
    const ending = watch.catch((error: unknown) => error);
    await setImmediate();
    left.abort(new Error('left'));
    expect(await ending).to.have.property('message', 'left');
  });

  for (const [situation, command, env, fault] of [
    ['is not in PATH', ['no-such'], { PATH: '/usr/none' }, 'no such program (looked for in PATH /usr/none)'],
    ['is not at its path', ['./no-such'], {}, `no such program (looked for as a path from ${process.cwd()})`],
    ['is no program', ['/etc/passwd'], {}, 'it may not be executed (looked for as a path from'],
  ] as const) {
    it(`T4 a command that ${situation} is refused with where it was looked for`, async () => {
      const wrong = recordedSpec({ id: 'ebs', type: 'node', command: [...command], env });
      const request = { spec: wrong, run: { allocId: 'ebs-1', token: 't' }, signal: new AbortController().signal };
      const start: unknown = await spawnRun(
        { paths: { dataDir, socketRoot: dataDir }, children: new Map(), environments },
        request,
      ).catch((error) => error);
      expect(start).to.have.property('message').that.includes(`can't start ${command[0]}: ${fault}`);
    });
  }
});

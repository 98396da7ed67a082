/** T10: the logs of tasks stay bounded while their processes write them, and are read from their end. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { tellingLine } from '../../src/agent/describe.js';
import { systemClock } from '../../src/engine/clock.js';
import { silentLogger } from '../../src/engine/logger.js';
import { messageOf } from '../../src/errors.js';
import { copyEnd } from '../../src/tasks/log-copy.js';
import { runHeader, tailOf } from '../../src/tasks/log-tail.js';
import { identify } from '../../src/tasks/processes.js';
import { spawnRun } from '../../src/tasks/spawn.js';
import { TaskLogs } from '../../src/tasks/task-logs.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { environments, recordedSpec } from './recorded-spec.js';

const maxBytes = 10_000;
const lineOf = (n: number): string => `line ${n} ${'x'.repeat(n % 90)}\n`;
const linesTo = (end: number, from = 1): string =>
  Array.from({ length: end - from + 1 }, (_, index) => lineOf(from + index)).join('');

describe('logs of tasks', () => {
  let dataDir: string;
  let path: string;
  let older: string;
  let told: string[];
  let logs: TaskLogs;
  let child: ChildProcess | undefined;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-logs-'));
    mkdirSync(join(dataDir, 'logs'));
    told = [];
    const tell = (_: object, message: string): void => void told.push(message);
    const logger = { ...silentLogger, warn: tell, error: tell };
    logs = new TaskLogs({ paths: { dataDir, socketRoot: dataDir }, clock: systemClock, logger, maxBytes });
    path = logs.pathOf('ebs');
    older = `${path}.1`;
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    child = undefined;
    rmSync(dataDir, { recursive: true });
  });

  /** A process whose output is the log, as that of a task. */
  function write(script: string, to = path): ChildProcess & { pid: number; identity: ProcessIdentity } {
    const log = openSync(to, 'a', 0o600);
    const started = spawn(process.execPath, ['-e', script], { stdio: ['pipe', log, log] });
    closeSync(log);
    child = started;
    const identity = identify(started.pid ?? 0);
    if (!identity) throw new Error('it did not start');
    return Object.assign(started, { pid: identity.pid, identity });
  }

  it('T10 a process that writes fast goes on while its log is cut again and again; lines stay whole', async () => {
    const writer = write(`
      const { fstatSync, writeSync } = require('node:fs');
      for (let n = 1; n <= 60_000; n += 1) {
        while (fstatSync(1).size > 300_000); // however slow the one who cuts it off may be
        writeSync(1, 'line ' + n + ' ' + 'x'.repeat(n % 90) + '\\n');
      }
    `);
    let isOver = false;
    const exited = once(writer, 'exit').finally(() => {
      isOver = true;
    });
    let copies = 0;
    let inode = 0;
    const isWhole = (line: string): boolean => `${line}\n` === lineOf(Number(line.split(' ')[1]));
    while (!isOver) {
      await logs.bound('ebs', writer.identity);
      if (!existsSync(older) || statSync(older).ino === inode) continue;
      copies += 1;
      inode = statSync(older).ino;
      // Behind its last newline a line may be cut: what comes next is in the other file.
      const lines = readFileSync(older, 'utf8').split('\n').slice(0, -1);
      expect(lines.filter((line) => !isWhole(line))).to.deep.equal([]);
      expect(statSync(older).size, 'the limit, and what was written meanwhile').to.be.below(3 * maxBytes + 256 * 1_024);
    }
    expect(await exited).to.deep.equal([0, null]);
    expect(copies).to.be.above(2);
    expect(
      readFileSync(path, 'utf8')
        .split('\n')
        .slice(0, -1)
        .filter((line) => !isWhole(line)),
    ).to.deep.equal([]);
    await logs.bound('ebs');
    expect(statSync(path).size).to.be.at.most(maxBytes);
    expect(statSync(older).mode & 0o777).to.equal(0o600);
    expect(told).to.deep.equal([]);
  });

  it('T10 below the limit nothing is touched; above it all is in the older file, and the log is empty', async () => {
    writeFileSync(path, linesTo(100));
    await logs.bound('ebs');
    expect(existsSync(older)).to.equal(false);
    appendFileSync(path, linesTo(230, 101));
    const before = readFileSync(path, 'utf8');
    expect(before.length).to.be.above(maxBytes);
    await logs.bound('ebs');
    expect(readFileSync(path, 'utf8')).to.equal('');
    expect(before.endsWith(readFileSync(older, 'utf8'))).to.equal(true);
  });

  it('T10 of a log that is far above the limit the newest lines are kept, whole', async () => {
    writeFileSync(path, linesTo(5_000));
    await logs.bound('ebs');
    const kept = readFileSync(older, 'utf8');
    expect(kept.length).to.be.within(maxBytes - 200, maxBytes);
    const [first = ''] = kept.split('\n');
    expect(kept).to.equal(linesTo(5_000, Number(first.split(' ')[1])));
  });

  it('T10 killed between copy and cut: the lines are in both until the next check; half a copy is harmless', async () => {
    writeFileSync(path, linesTo(300));
    writeFileSync(older, linesTo(300, 250));
    writeFileSync(`${older}.part`, 'half a co');
    await logs.bound('ebs');
    expect(readFileSync(older, 'utf8')).to.match(/^line \d+ x*\n(.*\n)*line 300 x*\n$/);
    expect(readFileSync(path, 'utf8')).to.equal('');
    expect(existsSync(`${older}.part`)).to.equal(false);
  });

  it('T10 where no copy can be made, as on a full disk, the log is emptied all the same, and that is told', async () => {
    writeFileSync(path, linesTo(300));
    mkdirSync(older);
    await logs.bound('ebs');
    expect(statSync(path).size).to.equal(0);
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^the log of task ebs was emptied, \d+ bytes, without a whole copy in .*ebs\.log\.1: /);
    expect(existsSync(`${older}.part`)).to.equal(false);
  });

  it('T10 a log that is a symbolic link is left as it is; that is told, once', async () => {
    const elsewhere = join(dataDir, 'elsewhere');
    writeFileSync(elsewhere, linesTo(300));
    symlinkSync(elsewhere, path);
    await logs.bound('ebs');
    await logs.bound('ebs');
    expect(readFileSync(elsewhere, 'utf8')).to.equal(linesTo(300));
    expect(told).to.deep.equal([
      'task ebs: its log is not kept below 10000 bytes: it is a symbolic link, and what that leads to is not ours to cut off',
    ]);
  });

  it('T10 holes that a process with an offset of its own leaves don’t count', async () => {
    writeFileSync(path, '');
    truncateSync(path, 100 * maxBytes);
    appendFileSync(path, 'the last words\n');
    await logs.bound('ebs');
    expect(statSync(path).size).to.be.above(100 * maxBytes);
    expect(existsSync(older)).to.equal(false);
  });

  for (const [situation, act] of [
    ['removed', () => rmSync(path)],
    ['renamed', () => renameSync(path, join(dataDir, 'logs', 'mine'))],
  ] as const) {
    it(`T10 a log that was ${situation} under its process is still bounded, and that is told, once`, async () => {
      const writer = write(`
        const { writeSync } = require('node:fs');
        writeSync(1, 'x\\n'.repeat(${maxBytes}));
        process.stdin.once('data', () => writeSync(1, 'y\\n'.repeat(${maxBytes})));
        setInterval(() => {}, 1_000);
      `);
      while (!existsSync(path) || statSync(path).size < 2 * maxBytes) await new Promise(setImmediate);
      act();
      const held = `/proc/${writer.pid}/fd/1`;
      await logs.bound('ebs', writer.identity);
      expect(statSync(held).size).to.equal(0);
      expect(readFileSync(older, 'utf8')).to.match(/^(x\n){4000,}$/);
      writer.stdin?.write('more');
      while (statSync(held).size < 2 * maxBytes) await new Promise(setImmediate);
      await logs.bound('ebs', writer.identity);
      expect(statSync(held).size).to.equal(0);
      expect(told).to.have.length(1);
      expect(told[0]).to.match(
        /^task ebs: its log was removed or renamed, and it still writes .*: a new one begins when it is restarted$/,
      );
    });
  }

  it('T10 the last lines are shown also right after a cut, those of the last run only', async () => {
    writeFileSync(path, '');
    writeFileSync(
      path,
      `${runHeader(path, 'ebs-1')}of another run\n${linesTo(300)}${runHeader(path, 'ebs-2')}no\n--- license\n`,
    );
    await logs.bound('ebs');
    expect(statSync(path).size).to.equal(0);
    expect(tailOf(path, {})).to.equal('no\n--- license');
    appendFileSync(path, 'at all\n');
    expect(tailOf(path, {})).to.equal('no\n--- license\nat all');
  });

  it('T10 a Go program panics below its first lines: those, the panic and the last lines are shown', () => {
    const of = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name} ${n + 1}`);
    const stacks = ['goroutine 1 [running]:', ...of('main.main() frame', 3_000)];
    const said = [...of('flag', 30), 'panic: no region', '[signal SIGSEGV]', '', ...stacks];
    writeFileSync(path, `of before\n`);
    appendFileSync(path, `${runHeader(path, 'ebs-2')}${said.join('\n')}\n`);
    const shown = tailOf(path, {}).split('\n');
    expect(shown).to.deep.equal([
      ...said.slice(0, 5),
      '… 25 lines left out …',
      ...said.slice(30, 35),
      '… 2989 lines left out …',
      ...said.slice(-10),
    ]);
    expect(tellingLine(shown)).to.equal('panic: no region');
    expect(tellingLine(['flag 1', 'F1122 no license', 'goroutine 1 [running]:', 'x'])).to.equal('F1122 no license');
    expect(tellingLine(['one', 'no license'])).to.equal('no license');
    expect(tellingLine([])).to.equal(undefined);
  });

  it('T10 a run that begins too far before its end: its first lines are left out, and no other run’s appear', () => {
    const line = 'x'.repeat(99);
    writeFileSync(path, `of before\n`);
    appendFileSync(path, `${runHeader(path, 'ebs-2')}first\n${`${line}\n`.repeat(20_000)}last\n`);
    expect(tailOf(path, {})).to.match(/^… \d+ lines left out …\n(x{99}\n){9}last$/);
  });

  for (const [situation, make] of [
    ['a pipe', () => execFileSync('mkfifo', [path])],
    ['a link to a device', () => symlinkSync('/dev/null', path)],
    ['a link to nothing', () => symlinkSync('/none', path)],
    ['a directory', () => mkdirSync(path)],
  ] as const) {
    it(`T10 ${situation} in the place of the log: a start is refused with the reason, and nothing waits`, async () => {
      make();
      const paths = { dataDir, socketRoot: dataDir };
      const spec = recordedSpec({ id: 'ebs', type: 'node', command: ['/bin/true'] });
      const run = { allocId: 'ebs-00000000', token: 't' };
      const start = spawnRun(
        { paths, children: new Map(), environments },
        { spec, run, signal: new AbortController().signal },
      );
      const fault = `${path} is no plain file`;
      expect(await start.catch((error: unknown) => error)).to.have.property('message', `${fault}: move it away`);
      expect(tailOf(path, {})).to.equal(`(${fault}: move it away)`);
      expect((await refusalOf(logs.read('ebs', {}))).message).to.include(fault);
      await logs.bound('ebs');
      expect(told).to.have.length(1);
    });
  }

  it('T10, 34 a link to a file in the place of the log: a start writes nothing to that file', async () => {
    const file = join(dataDir, 'elsewhere');
    writeFileSync(file, 'of somebody else');
    symlinkSync(file, path);
    const spec = recordedSpec({ id: 'ebs', type: 'node', command: ['/bin/echo', 'written'] });
    const run = { allocId: 'ebs-00000000', token: 't' };
    const paths = { dataDir, socketRoot: dataDir };
    const ports = { paths, children: new Map(), environments };
    const start = spawnRun(ports, { spec, run, signal: new AbortController().signal });
    expect(await start.catch(messageOf)).to.equal(`${path} is no plain file: move it away`);
    expect(readFileSync(file, 'utf8')).to.equal('of somebody else');
  });

  it('T10 files outside the logs directory, or of a process that reuses the pid, are not cut', async () => {
    const elsewhere = join(dataDir, 'elsewhere');
    const fill = `require('node:fs').writeSync(1, 'x\\n'.repeat(${maxBytes})); setInterval(() => {}, 1_000)`;
    const outside = write(fill, elsewhere);
    await until(() => statSync(elsewhere).size === 2 * maxBytes);
    await logs.bound('ebs', outside.identity);
    expect(statSync(elsewhere).size).to.equal(2 * maxBytes);
    outside.kill('SIGKILL');
    const renamed = join(dataDir, 'logs', 'other');
    const another = write(fill, renamed);
    await until(() => statSync(renamed).size === 2 * maxBytes);
    await logs.bound('ebs', { ...another.identity, startTime: another.identity.startTime - 1 });
    expect(statSync(renamed).size).to.equal(2 * maxBytes);
    expect(told).to.deep.equal([]);
  });

  it('T10 a fault that went away and came back is told again', async () => {
    for (let n = 0; n < 2; n += 1) {
      mkdirSync(path);
      await logs.bound('ebs');
      await logs.bound('ebs');
      rmSync(path, { recursive: true });
      await logs.bound('ebs');
    }
    expect(told).to.have.length(2);
  });

  it('T10 it is read and cut off in turns, one thing after the other', async () => {
    writeFileSync(path, linesTo(300));
    const [, { text }] = await Promise.all([logs.bound('ebs'), logs.read('ebs', { lines: 400 }), logs.bound('ebs')]);
    expect(text).to.equal(readFileSync(older, 'utf8'));
  });

  describe('a copy', () => {
    /** The log, to which more is written whenever it was read. @param isTime whether it is time for more, by what was read */
    async function writtenMeanwhile(isTime: (bytesRead: number) => boolean, more: string): Promise<FileHandle> {
      const file = await open(path, 'r');
      return new Proxy(file, {
        get(target, name) {
          if (name !== 'read') return Reflect.get(target, name);
          return async (...args: [Buffer, number, number, number]) => {
            const read = await target.read(...args);
            if (isTime(read.bytesRead)) appendFileSync(path, more);
            return read;
          };
        },
      });
    }

    it('T10 gets what is written until it has its name', async () => {
      writeFileSync(path, linesTo(10));
      let isLate = false;
      const file = await writtenMeanwhile((bytesRead) => {
        const isFirstEnd = bytesRead === 0 && !isLate;
        isLate ||= isFirstEnd;
        return isFirstEnd;
      }, lineOf(11));
      try {
        const end = await copyEnd(file, { sizeBytes: statSync(path).size, maxBytes, to: older });
        expect(readFileSync(older, 'utf8')).to.equal(linesTo(11));
        expect(end).to.equal(statSync(path).size);
      } finally {
        await file.close();
      }
    });

    it('T10 does not follow for ever who writes faster than it is made', async () => {
      writeFileSync(path, linesTo(10));
      let readings = 0;
      const file = await writtenMeanwhile(() => {
        readings += 1;
        if (readings > 100) throw new Error('it is followed for ever');
        return true;
      }, 'x'.repeat(maxBytes));
      try {
        const { size: sizeBytes } = statSync(path);
        expect(await copyEnd(file, { sizeBytes, maxBytes, to: older })).to.be.at.least(sizeBytes + maxBytes);
      } finally {
        await file.close();
      }
    });
  });

  it('T10 environment values that a driver prints are masked; short ones and the endpoint stay', () => {
    const env = {
      TOKEN: 's3cret-token',
      PREFIX: 's3cret',
      KEY: '-----BEGIN-----\nMIIEvQ\n-----END-----',
      LEVEL: 'debug',
      CSI_ENDPOINT: 'unix:///csi/csi.sock',
    };
    writeFileSync(
      path,
      `${Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .join('\n')}\n${JSON.stringify(env.KEY)}\n`,
    );
    expect(tailOf(path, env).split('\n')).to.deep.equal([
      'TOKEN=***',
      'PREFIX=***',
      'KEY=***',
      'LEVEL=debug',
      'CSI_ENDPOINT=unix:///csi/csi.sock',
      '"***"',
    ]);
  });

  describe('reading', () => {
    it('T10 gives the last lines, from both files where one is not enough, however long they are', async () => {
      writeFileSync(older, `${linesTo(2_000)}${'z'.repeat(200_000)}\n`);
      writeFileSync(path, linesTo(2_010, 2_001));
      const read = async (lines: number): Promise<string> => (await logs.read('ebs', { lines })).text;
      expect(await read(1)).to.equal(lineOf(2_010));
      expect(await read(10)).to.equal(linesTo(2_010, 2_001));
      expect(await read(12)).to.equal(`${lineOf(2_000)}${'z'.repeat(200_000)}\n${linesTo(2_010, 2_001)}`);
      expect((await read(10_000)).split('\n')).to.have.length(2_012);
      appendFileSync(path, 'begun');
      expect(await read(2)).to.equal(`${lineOf(2_010)}begun`);
    });

    it('T10 of a log that is not there it gives nothing; of one that is no file it says so', async () => {
      expect(await logs.read('ebs', {})).to.deep.equal({ text: '', next: 0 });
      mkdirSync(path);
      expect(await refusalOf(logs.read('ebs', {}))).to.include({ code: 'LOG_UNREADABLE' });
    });

    it('T10 refuses a number of lines or a place that can’t be', async () => {
      for (const asked of [{ lines: 0 }, { lines: 10_001 }, { lines: 1.5 }, { after: -1 }, { after: Number.NaN }]) {
        expect(await refusalOf(logs.read('ebs', asked))).to.include({ code: 'INVALID_ARGUMENT' });
      }
    });

    it('T10 goes on after what was read, over any number of cuts, and leaves out no line', async () => {
      writeFileSync(path, lineOf(1));
      let { text: all, next } = await logs.read('ebs', {});
      const readOn = async (): Promise<void> => {
        for (let text = ' '; text !== ''; all += text) ({ text, next } = await logs.read('ebs', { after: next }));
      };
      for (let n = 2; n <= 3_000; n += 1) {
        appendFileSync(path, lineOf(n));
        if (n % 50 === 0) await readOn();
        await logs.bound('ebs');
      }
      await readOn();
      expect(all).to.equal(linesTo(3_000));
      expect(existsSync(older)).to.equal(true);
    });

    it('T10 what was cut off before it could be read is left out; a line that is not ended yet waits', async () => {
      writeFileSync(path, `${lineOf(1)}begun`);
      const first = await logs.read('ebs', { after: 0 });
      expect(first.text).to.equal(lineOf(1));
      expect((await logs.read('ebs', { after: first.next })).text).to.equal('');
      for (let from = 2; from < 2_000; from += 300) {
        appendFileSync(path, linesTo(from + 299, from));
        await logs.bound('ebs');
      }
      const { text } = await logs.read('ebs', { after: first.next });
      expect(text).to.equal(readFileSync(older, 'utf8'));
    });

    it('T10 a log that somebody has emptied is read from its beginning', async () => {
      writeFileSync(path, linesTo(10));
      const { next } = await logs.read('ebs', {});
      writeFileSync(path, lineOf(11));
      expect((await logs.read('ebs', { after: next })).text).to.equal(lineOf(11));
    });
  });
});

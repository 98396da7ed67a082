/** T7 When a process of ours, and all that it has started, has ended; and whether it serves a socket itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootId } from '../../src/host/boot-id.js';
import { haveNodeCallsEnded, isServedBy } from '../../src/tasks/own-process.js';
import { identify } from '../../src/tasks/processes.js';
import { until } from '../until.js';

describe('processes that node calls go to', () => {
  /** One for each test: a process of the test before may still be dying. */
  let token: string;
  let folder: string;
  let children: ChildProcess[];
  /** Processes that a child has started in a session of their own, where no group leads to them. */
  let orphans: number[];

  beforeEach(() => {
    token = randomUUID();
    folder = mkdtempSync(join(tmpdir(), 'sc-own-'));
    [children, orphans] = [[], []];
  });
  afterEach(() => {
    for (const pid of [...children.map((child) => -(child.pid ?? 0)), ...orphans])
      try {
        if (pid !== 0) process.kill(pid, 'SIGKILL');
      } catch {
        // Ignores a process that is gone.
      }
    rmSync(folder, { recursive: true });
  });

  /** Runs a program in a session of its own, and resolves with the first line that it writes. */
  async function run(program: string, args: string[], env = {}) {
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, STAGECRAFT_TOKEN: token, ...env },
    });
    children.push(child);
    const [line] = await once(child.stdout, 'data');
    const identity = identify(child.pid ?? 0);
    if (!identity) throw new Error('it did not start');
    return { child, identity, line: String(line).trim() };
  }
  const recipientOf = (identity: ReturnType<typeof identify>) => ({
    bootId: bootId(),
    token,
    ...(identity && { process: identity }),
  });
  const kill = async (child: ChildProcess): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  it('it lives: its calls may go on', async () => {
    const { identity } = await run('sh', ['-c', 'echo up; sleep 600']);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(false);
  });

  it('it was killed, and had started nothing: its calls have ended', async () => {
    const { child, identity } = await run('sh', ['-c', 'echo up; exec sleep 600']);
    await kill(child);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(true);
  });

  it('it was killed, and something lives on in its group: its calls may go on until that has ended', async () => {
    const { child, identity, line } = await run('sh', ['-c', 'env -i sleep 600 & echo $!; wait']);
    await kill(child);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(false);
    process.kill(Number(line), 'SIGKILL');
    await until(() => identify(Number(line)) === undefined);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(true);
  });

  it('it was killed, and what it has started lives in another session: the same, by its token', async () => {
    const { child, identity, line } = await run('sh', ['-c', 'setsid sleep 600 & echo $!; wait']);
    orphans.push(Number(line));
    await kill(child);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(false);
    process.kill(Number(line), 'SIGKILL');
    await until(() => identify(Number(line)) === undefined);
    expect(await haveNodeCallsEnded(recipientOf(identity))).to.equal(true);
  });

  it('another process has its number by now: its calls have ended', async () => {
    const { identity } = await run('sh', ['-c', 'echo up; sleep 600'], { STAGECRAFT_TOKEN: 'another' });
    const before = { ...identity, startTime: identity.startTime - 1 };
    expect(await haveNodeCallsEnded(recipientOf(before))).to.equal(true);
  });

  it('the host was booted since: calls have ended, whoever they went to', async () => {
    expect(await haveNodeCallsEnded({ bootId: 'another boot' })).to.equal(true);
    expect(await haveNodeCallsEnded({ bootId: bootId() })).to.equal(undefined);
  });

  const listen = "require('node:net').createServer().listen(process.argv[1], () => console.log('up'))";

  it('it listens on its socket itself, or a process that it has started does: it serves it', async () => {
    const socketPath = join(folder, 'a b.sock');
    const { identity } = await run(process.execPath, ['-e', listen, socketPath]);
    expect(isServedBy(identity, socketPath)).to.equal(true);
    const other = join(folder, 'started.sock');
    const shell = await run('sh', ['-c', '"$0" -e "$1" "$2"; true', process.execPath, listen, other]);
    expect(isServedBy(shell.identity, other)).to.equal(true);
  });

  it('somebody else listens there, as in a container that it has started: it does not serve it', async () => {
    const socketPath = join(folder, 'csi.sock');
    await run(process.execPath, ['-e', listen, socketPath]);
    const { identity } = await run('sh', ['-c', 'echo up; sleep 600']);
    expect(isServedBy(identity, socketPath)).to.equal(false);
    expect(isServedBy(identity, join(folder, 'none.sock'))).to.equal(false);
  });
});

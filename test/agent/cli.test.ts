/** The command line's own parts: signals, the connection to the agent, what is printed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { table } from '../../src/cli/print.js';
import { firstSignal } from '../../src/cli/signals.js';
import { AgentError } from '../../src/client/agent-error.js';
import { oneLine } from '../../src/host/terminal-text.js';
import { AgentProcess, mainPath, makePlace, type Place, removePlace } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { StubAgent } from './stub-agent.js';

describe('A5 the client', () => {
  let directory: string;
  let server: Server | undefined;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-cli-'));
  });
  afterEach(() => {
    server?.close();
    rmSync(directory, { recursive: true });
  });

  async function codeOf(ask: Promise<unknown>): Promise<string> {
    const error: unknown = await ask.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof AgentError ? error.code : String(error);
  }

  it('A5 NOT_REACHABLE without a socket, or without a process that listens on it', async () => {
    expect(await codeOf(askAgent(join(directory, 'none.sock'), 'GET', '/'))).to.equal('NOT_REACHABLE');
  });

  it('A5 the agent of another user: NOT_PERMITTED names the owner', async () => {
    const locked = join(directory, 'locked');
    const uid = process.geteuid?.();
    mkdirSync(locked, { mode: 0 });
    let asked: Promise<unknown>;
    try {
      if (uid === 0) process.seteuid?.(65_534); // root may enter any directory
      asked = askAgent(join(locked, 'agent.sock'), 'GET', '/');
    } finally {
      if (uid === 0) process.seteuid?.(0);
    }
    const error: unknown = await asked.catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'NOT_PERMITTED' });
    expect(String(error)).to.include(
      `it is ${uid === 0 ? 'root' : `user ${uid}`}'s: run this as that user, or as root`,
    );
  });

  it('A5 a connection that breaks before or during the answer: AGENT_LOST', async () => {
    const socketPath = join(directory, 'agent.sock');
    for (const said of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n[']) {
      server = createServer((socket) => {
        socket.once('data', () => socket.write(said, () => socket.destroy()));
      }).listen(socketPath);
      await once(server, 'listening');
      expect(await codeOf(askAgent(socketPath, 'GET', '/'))).to.equal('AGENT_LOST');
      server.close();
      await once(server, 'close');
    }
  });
});

describe('A1 signals', () => {
  const { kill } = process;
  const { now } = performance;
  const signals = ['SIGTERM', 'SIGINT'] as const;
  let ends: (number | string | undefined)[];
  let nowMs: number;
  let others: [NodeJS.Signals, NodeJS.SignalsListener[]][];

  beforeEach(() => {
    ends = [];
    nowMs = 1_000;
    // Mocha's own listeners would end the test run.
    others = signals.map((signal) => [signal, process.listeners(signal)]);
    for (const signal of signals) process.removeAllListeners(signal);
    process.kill = (pid, signal) => {
      if (pid === process.pid) ends.push(signal);
      return true;
    };
    performance.now = () => nowMs;
  });
  afterEach(() => {
    process.kill = kill;
    performance.now = now;
    for (const [signal, listeners] of others) {
      process.removeAllListeners(signal);
      for (const listener of listeners) process.on(signal, listener);
    }
  });

  it('A1 the first signal is remembered, one right after counts as the same, a later one ends the process', async () => {
    const asked = firstSignal();
    process.emit('SIGINT');
    nowMs += 499;
    process.emit('SIGINT');
    process.emit('SIGTERM');
    await asked;
    expect(ends).to.deep.equal([]);
    nowMs += 1;
    process.emit('SIGINT');
    process.emit('SIGTERM');
    expect(ends).to.deep.equal(['SIGINT', 'SIGTERM']);
  });
});

describe('A1 the agent process', () => {
  let place: Place;
  let agent: AgentProcess;

  beforeEach(() => {
    place = makePlace({}, { tasks: [] });
    agent = new AgentProcess(place);
  });
  afterEach(() => removePlace(place, agent));

  it('A1 a SIGTERM during the start ends the agent in order after the start', async () => {
    while (!existsSync(join(place.dataDir, 'lock'))) await nextTurn();
    expect(agent.lines).to.deep.equal([]);
    expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(agent.lines.at(-1)).to.equal('stopping; plugin processes stay');
  });

  it('A1 the agent runs on when the reader of its output is gone', async () => {
    await agent.ready();
    agent.child.stdout?.destroy();
    agent.child.stderr?.destroy();
    expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
  });

  it('A5 commands find the agent by a data directory behind a symbolic link', async () => {
    await agent.ready();
    const link = join(place.directory, 'link');
    symlinkSync(place.dataDir, link);
    const configPath = join(place.directory, 'linked.yaml');
    writeFileSync(configPath, `dataDir: ${link}\n`);
    const { status, stdout } = spawnSync(process.execPath, [mainPath, 'plugin', 'list', '--config', configPath], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: 'no plugins are registered\n' });
  });
});

describe('A5 printing', () => {
  it('A5 a list in a terminal: the last column is cut to the width', () => {
    const rows = [
      ['data', 'no answer from the plugin since noon'],
      ['x', ''],
    ];
    expect(table(['ID', 'TROUBLE'], rows, 24)).to.equal('ID    TROUBLE\ndata  no answer from th…\nx');
    expect(table(['ID', 'TROUBLE'], rows, 5)).to.equal('ID    TROUBLE\ndata  no answer…\nx');
    expect(table(['ID', 'TROUBLE'], rows)).to.include('since noon');
  });

  it('A5 in a real terminal of 80 columns lists are cut, except with --wide and --json', async () => {
    const agent = await new StubAgent().start();
    try {
      const message = 'x'.repeat(200);
      const volume = { key: { namespace: 'n', id: 'd' }, plugin: 'p', state: 'failed', publications: {}, claims: [] };
      agent.answers['GET /v1/volumes?limit=1000'] = { items: [{ ...volume, error: { message } }] };
      const inTerminal = async (...args: string[]): Promise<string[]> => {
        const words = [process.execPath, mainPath, 'volume', 'list', ...args].map((word) => `'${word}'`).join(' ');
        const child = spawn('script', ['-qec', `stty cols 80; ${words}`, '/dev/null'], {
          env: { ...process.env, STAGECRAFT_SOCKET: join(agent.directory, 'agent.sock') },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        return (await text(child.stdout)).trimEnd().split('\r\n');
      };
      const [, cut = ''] = await inTerminal();
      expect([cut.length, cut.endsWith('xx…')]).to.deep.equal([80, true]);
      for (const whole of ['--wide', '--json']) expect((await inTerminal(whole)).join('')).to.include(message);
      expect((await agent.run(['volume', 'list'])).stdout).to.include(message);
    } finally {
      agent.remove();
    }
  });

  it('A5 text of a driver stays in its row and does not steer the terminal', () => {
    expect(oneLine('a\r\n\u001b[31mred\u0007\u0085b\u2028c')).to.equal('a [31mred b c');
    expect(table(['A', 'B'], [['x\ny', 'z']])).to.equal('A    B\nx …  z');
  });
});

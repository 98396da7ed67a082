/** Commands that wait, against a server that stands in for the agent and answers when the test says so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { mainPath } from '../scenarios/agent-process.js';
import { until } from '../until.js';

/** GET request that the test answers by hand, as it does every POST. */
const askedPath = '/v1/mounts/team/data/stats';

describe('A5 a command that waits', () => {
  let directory: string;
  let server: Server;
  let waitedPath: string;
  let volume: object;
  /** Other answers, by path. */
  let others: Record<string, object>;
  /** Response to the request that the command waits for. */
  let asked: Promise<ServerResponse>;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-waiting-'));
    waitedPath = '/v1/volumes/team/data';
    others = {};
    asked = new Promise((resolve) => {
      server = createServer((request, response) => {
        if (request.method === 'POST' || request.url === askedPath) resolve(response);
        else {
          const answer = request.url === waitedPath ? volume : (others[request.url ?? ''] ?? {});
          response.statusCode = 'code' in answer ? 503 : 200;
          response.end(JSON.stringify(answer));
        }
      }).listen(join(directory, 'agent.sock'));
    });
    await once(server, 'listening');
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });

  function start(...args: string[]): { process: ChildProcess; line(): Promise<string>; ended: Promise<unknown[]> } {
    return run('volume', ...args, '--namespace', 'team');
  }

  function run(...args: string[]): ReturnType<typeof start> {
    const socket = ['--socket', join(directory, 'agent.sock')];
    const process = spawn(global.process.execPath, [mainPath, ...args, ...socket], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = process;
    const lines = createInterface({ input: process.stderr })[Symbol.asyncIterator]();
    return { process, line: async () => String((await lines.next()).value), ended: once(process, 'exit') };
  }

  it('A5 V4 prints what the request waits for, at every change, and ends with the answer', async () => {
    volume = { state: 'pending-create', error: { message: 'plugin disk is unhealthy' } };
    const { line, ended } = start('create', 'data', '--plugin', 'disk');
    const response = await asked;
    expect(await line()).to.equal('waiting: pending-create: plugin disk is unhealthy');
    volume = { state: 'pending-create' };
    expect(await line()).to.equal('waiting: pending-create: CreateVolume has not been answered yet');
    volume = { state: 'pending-create', deleting: true };
    expect(await line()).to.equal(
      'waiting: pending-create, to be deleted after that: CreateVolume has not been answered yet',
    );
    response.end(JSON.stringify({ key: { namespace: 'team', id: 'data' }, csiId: 'vol-1' }));
    expect(await ended).to.deep.equal([0, null]);
  });

  it('A5 V4 Ctrl-C ends the wait, and prints that the request goes on, and its state', async () => {
    volume = { state: 'published', publications: { b: { state: 'pending-publish', message: 'busy' } } };
    const { process, line, ended } = start('publish', 'data', 'b');
    await asked;
    process.kill('SIGINT');
    expect(await line()).to.equal(
      'stopped waiting; the request for volume team/data goes on: it is pending-publish on node b: busy',
    );
    expect(await ended).to.deep.equal([130, null]);
  });

  it('A5 V4 in a terminal one line counts seconds, names the call, and vanishes with the answer', async () => {
    volume = { state: 'pending-create' };
    const command = [process.execPath, mainPath, 'volume', 'create', 'data', '--plugin', 'disk', '--namespace', 'team'];
    const words = [...command, '--socket', join(directory, 'agent.sock')].map((word) => `'${word}'`).join(' ');
    child = spawn('script', ['-qec', `stty cols 60; ${words}`, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    child.stdout?.on('data', (part) => {
      said += String(part).replaceAll('\u001b[K', 'CLEAR');
    });
    const ended = once(child, 'exit');
    const response = await asked;
    const seconds = (): string[] => [...said.matchAll(/\rCLEARwaiting for (\d+) s: /g)].map(([, one = '']) => one);
    await until(() => seconds().length >= 2);
    response.end(JSON.stringify({ key: { namespace: 'team', id: 'data' }, csiId: 'vol-1' }));
    expect(await ended).to.deep.equal([0, null]);
    const [first, second] = seconds().map(Number);
    expect(first)
      .to.be.within(3, 10)
      .and.to.be.lessThan(second ?? 0);
    expect(said).to.include('waiting for 3 s: pending-create: CreateVolume has not been…\r');
    expect(said.endsWith('\rCLEARvolume team/data is created: the plugin knows it as vol-1\r\n')).to.equal(true);
  });

  it('A5 V4 Ctrl-C with --json: the error is JSON', async () => {
    volume = { state: 'pending-delete' };
    const { process, line, ended } = start('delete', 'data', '--json');
    await asked;
    process.kill('SIGINT');
    expect(JSON.parse(await line())).to.include({ code: 'INTERRUPTED' });
    expect(await ended).to.deep.equal([130, null]);
  });

  it('A5 H1 H2 an alloc: prints what its volumes wait for and why it is undone; Ctrl-C undoes nothing', async () => {
    waitedPath = '/v1/allocs/web';
    const volumes = [
      { name: 'data', underWay: 'no answer yet' },
      { name: 'db', underWay: 'no answer yet' },
    ];
    volume = { state: 'releasing', waits: { data: 'busy', log: 'no plugin' }, volumes, error: { message: 'too late' } };
    const { process, line, ended } = run('alloc', 'release', 'web');
    await asked;
    const how = 'releasing: too late; data: busy; log: no plugin; db: no answer yet';
    expect(await line()).to.equal(`waiting: ${how}`);
    process.kill('SIGINT');
    expect(await line()).to.equal(`stopped waiting; the request for alloc web goes on: it is ${how}`);
    expect(await ended).to.deep.equal([130, null]);
  });

  it('A5 H6 a drain: prints allocs not released yet, then processes not stopped yet', async () => {
    const alloc = (allocId: string, waits: object = {}, underWay?: string): object => ({
      ...{ allocId, state: 'releasing', waits, volumes: [{ name: 'data', ...(underWay && { underWay }) }] },
    });
    const call = 'no answer yet (unpublish)';
    const web = alloc('web', { data: 'busy' }, call);
    others['/v1/allocs'] = [web, alloc('a', {}, call), alloc('b'), alloc('c'), alloc('d')];
    const { line, ended } = run('drain');
    const response = await asked;
    const first = `alloc web: releasing: data: busy; alloc a: releasing: data: ${call}; alloc b: releasing; and 2 more`;
    expect(await line()).to.equal(`waiting: ${first}`);
    others['/v1/allocs'] = { code: 'RUNTIME_CLOSED' };
    others['/v1/tasks'] = [
      { id: 'disk', state: 'stopping' },
      { id: 'old', state: 'failed' },
      { id: 'off', state: 'stopped' },
    ];
    expect(await line()).to.equal('waiting: task disk: stopping');
    response.end();
    expect(await ended).to.deep.equal([0, null]);
  });

  it('A5 M15 mount stats: prints which plugin has not answered yet, and why if known', async () => {
    const volume = { namespace: 'team', id: 'data' };
    const plugin = '/v1/plugins/csi-node/disk';
    others['/v1/mounts'] = [
      { volume: { namespace: 'default', id: 'data' }, plugin: 'other' },
      { volume, plugin: 'disk' },
    ];
    others[plugin] = { healthy: true, description: 'ready' };
    const { line, ended } = run('mount', 'stats', 'data', '--namespace', 'team');
    const response = await asked;
    expect(await line()).to.equal('waiting: plugin disk has not answered yet');
    others[plugin] = { healthy: false, description: 'no answer to Probe' };
    expect(await line()).to.equal('waiting: plugin disk has not answered yet: no answer to Probe');
    const error = { code: 'PLUGIN_UNAVAILABLE', message: 'a call is under way (publish)' };
    others['/v1/mounts'] = [{ volume, plugin: 'disk', error }];
    expect(await line()).to.equal('waiting: plugin disk has not answered yet: a call is under way (publish)');
    response.end(JSON.stringify({ volume, at: 0, usage: [] }));
    expect(await ended).to.deep.equal([0, null]);
  });
});

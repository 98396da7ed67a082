/** Commands for volumes and snapshots, against a server that stands in for the agent. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mainPath } from '../scenarios/agent-process.js';

interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

describe('A5 volumes on the command line', () => {
  let directory: string;
  let server: Server;
  /** Answers by `METHOD path`; other requests get 404. */
  let answers: Record<string, object | undefined>;
  let asked: string[];
  /** Bodies of requests, by `METHOD path`. */
  let sent: Record<string, string>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-volume-cli-'));
    answers = { 'GET /v1/agent': {} };
    asked = [];
    sent = {};
    server = createServer((request, response) => {
      const [path] = (request.url ?? '').split('?');
      const key = `${request.method} ${path}`;
      asked.push(key);
      request.on('data', (part: Buffer) => {
        sent[key] = `${sent[key] ?? ''}${part}`;
      });
      const answer = answers[key];
      if (!answer) response.statusCode = 404;
      response.end(JSON.stringify(answer ?? { code: 'VOLUME_NOT_FOUND', message: 'there is none: list them' }));
    }).listen(join(directory, 'agent.sock'));
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });

  const cli = (...args: string[]): Promise<Said> =>
    new Promise((resolve) => {
      const socket = ['--socket', join(directory, 'agent.sock')];
      const child = execFile(process.execPath, [mainPath, ...args, ...socket], (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });

  it('34.35 orphaned volumes: what is left out, of lists and of records, is counted on stderr', async () => {
    const leftOut = [{ plugin: 'disk', nodeId: 'b', count: 2, why: 'an id is no text' }];
    answers['GET /v1/orphaned-volumes'] = { orphans: [], unknown: [], leftOut, skipped: 3 };
    const { stdout, stderr } = await cli('volume', 'orphans');
    expect(stdout).to.equal('no orphaned volumes are known\n');
    expect(stderr).to.include("3 left out, as they can't be read; until then no other orphaned volumes are found");
    expect(stderr).to.include('2 left out of the list of plugin disk on node b: an id is no text');
  });

  describe('V13 a forced deletion', () => {
    const leftovers = [
      { what: 'published', nodeId: 'a', csiNodeId: 'n-a', csiId: 'vol-1', message: 'busy' },
      { what: 'created', csiId: 'vol-1', message: 'busy' },
    ];

    it('V13 with leftovers: prints them with what to do, or as JSON', async () => {
      answers['POST /v1/volumes/team/z/delete'] = {};
      answers['GET /v1/volumes/team/z'] = { state: 'deleted', leftovers };
      const args = ['volume', 'delete', 'z', '--force', '--namespace', 'team'];
      expect(await cli(...args)).to.deep.equal({
        code: 0,
        stdout: [
          'volume team/z is deleted, but parts of it may be left behind:',
          '  published on node a (n-a), csi id vol-1: busy',
          '  created, csi id vol-1: busy',
          'after the cause is fixed, retry: stagecraft volume retry z --namespace team',
          'or clean up by hand, then: stagecraft volume acknowledge z --namespace team',
          '',
        ].join('\n'),
        stderr: '',
      });
      expect(JSON.parse((await cli(...args, '--json')).stdout)).to.deep.equal({
        done: 'volume team/z is deleted, but parts of it may be left behind',
        leftovers,
      });
    });

    it('V13 without leftovers, or with a new volume under the id: prints that it is deleted', async () => {
      answers['POST /v1/volumes/default/z/delete'] = {};
      for (const now of [undefined, { state: 'pending-create' }]) {
        answers['GET /v1/volumes/default/z'] = now;
        const { code, stdout } = await cli('volume', 'delete', 'z', '--force');
        expect([code, stdout]).to.deep.equal([0, 'volume default/z is deleted\n']);
      }
    });

    it('V13 of a group snapshot with leftovers: prints them in the same way', async () => {
      answers['POST /v1/group-snapshots/default/t/delete'] = {};
      answers['GET /v1/group-snapshots/default/t'] = { state: 'deleted', leftovers: ['made, csi id g-1: busy'] };
      const { stdout } = await cli('group-snapshot', 'delete', 't', '--force');
      expect(stdout.split('\n').slice(1)).to.deep.equal([
        '  made, csi id g-1: busy',
        'after the cause is fixed, retry: stagecraft group-snapshot retry t',
        'or clean up by hand, then: stagecraft group-snapshot acknowledge t',
        '',
      ]);
    });
  });

  it('V6 a retry sends the accepted driver, and no body without it', async () => {
    answers['GET /v1/volumes/default/data'] = { state: 'failed', error: { message: 'another driver' } };
    const retry = 'POST /v1/volumes/default/data/retry';
    answers[retry] = {};
    answers['POST /v1/mounts/default/data/retry'] = {};
    const { stdout } = await cli('volume', 'retry', 'data', '--accept-driver', 'other.example');
    expect(stdout).to.equal('volume default/data is retried\n');
    await cli('mount', 'retry', 'data', '--accept-driver', 'other.example');
    const body = '{"acceptDriver":"other.example"}';
    expect(sent).to.deep.equal({ [retry]: body, 'POST /v1/mounts/default/data/retry': body });
    sent = {};
    await cli('volume', 'retry', 'data');
    expect(sent).to.deep.equal({});
  });

  it('V2 an external volume is taken over, and its deletion keeps the content', async () => {
    const one = { key: { namespace: 'default', id: 'data' }, state: 'created', csiId: 'their', external: true };
    answers['POST /v1/volumes'] = one;
    answers['GET /v1/volumes/default/data'] = one;
    answers['POST /v1/volumes/default/data/delete'] = {};
    expect((await cli('volume', 'create', 'data', '--plugin', 'disk', '--external', 'their')).stdout).to.equal(
      'volume default/data is taken over: the plugin knows it as their\n',
    );
    expect((await cli('volume', 'delete', 'data')).stdout).to.equal(
      'volume default/data is no longer managed; its content stays\n',
    );
  });

  it('V5 unpublish from a node without the volume: prints where it is published', async () => {
    answers['POST /v1/volumes/default/data/unpublish'] = {};
    answers['GET /v1/volumes/default/data'] = { state: 'published', publications: { here: { state: 'published' } } };
    const from = async (nodeId: string): Promise<string> => (await cli('volume', 'unpublish', 'data', nodeId)).stdout;
    expect(await from('here')).to.equal('volume default/data is not published to node here\n');
    expect(await from('nowhere')).to.equal(
      'volume default/data is not published to node nowhere and was not before: it is on node here\n',
    );
  });

  it('V21 an empty list: says whether filters were given', async () => {
    answers['GET /v1/volumes'] = { items: [] };
    expect((await cli('volume', 'list')).stdout).to.equal('there are no volumes\n');
    expect((await cli('volume', 'list', '--node', 'a')).stdout).to.equal('there are no such volumes\n');
  });

  it('misuse prints one line with a hint, and sends no request', async () => {
    for (const [args, told] of [
      [['volume', 'create', 'x1'], /^error: give the --plugin of volume x1\n$/],
      [['volume', 'create', 'x1', '--plugin', 'p', '--size', 'big'], /^error: [^\n]+\n$/],
      [
        ['volume', 'create', 'x1', '--plugin', 'p', '--size', '1Gi', '--limit', '512Mi'],
        /^error: --limit 512Mi is below --size 1Gi\n$/,
      ],
      [
        ['volume', 'create', 'x1', '--access-mode', 'RWX'],
        /^error: [^\n]+ RWX of Kubernetes is multi-node-multi-writer here\.\n$/,
      ],
      [['volume', 'list', '--state', 'odd'], /^error: [^\n]+Allowed choices are pending-create, [^\n]+\n$/],
      [['snapshot', 'list', '--state', 'odd'], /^error: [^\n]+Allowed choices are pending-create, [^\n]+\n$/],
      [['volume', 'availability', 'x1', 'open'], /^error: [^\n]+Allowed choices are active, pause, drain[^\n]+\n$/],
      [['volume', 'list', '--zzzzzz'], /^error: unknown option '--zzzzzz'\n$/],
      [['volume', '--zzzzzz', 'list'], /^error: unknown option '--zzzzzz'\n\(options come after the command/],
      [['--zzzzzz', 'volume', 'list'], /^error: unknown option '--zzzzzz'\n\(options come after the command/],
      [['volume', 'status'], /^error: missing required argument 'id'\n\(see stagecraft volume list\)\n$/],
    ] as const) {
      const { code, stderr } = await cli(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).to.match(told);
    }
    expect(asked).to.deep.equal([]);
  });

  it('X2 why of a kind that is misspelled: the error names the kind', async () => {
    const { code, stderr } = await cli('why', 'volum', 'data');
    expect(code).to.equal(2);
    expect(stderr).to.match(/with a name \(did you mean volume data\?\)\n$/);
  });

  it('X2 why of a snapshot or a mount by name: its actor is asked for', async () => {
    answers['GET /v1/agent'] = { nodeId: 'n1' };
    await cli('why', 'snapshot', 's1');
    await cli('why', 'mount', 'data', '--namespace', 'team');
    expect(asked.map(decodeURIComponent).join('\n'))
      .to.include('volume-snapshot/default/s1')
      .and.include('mount/n1/team/data');
  });

  it('V2 a size of a few bytes: warns that units are missing', async () => {
    answers['POST /v1/volumes'] = { key: { namespace: 'default', id: 'data' }, csiId: 'vol-1' };
    const { code, stderr } = await cli(
      'volume',
      'create',
      'data',
      '--plugin',
      'disk',
      '--size',
      '10',
      '--timeout',
      '5',
    );
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: '--size 10 is a number of bytes: add Ki, Mi, Gi, Ti or Pi for more\n',
    });
  });

  it('V18, 34.22 --topology names the segments of one place', async () => {
    answers['POST /v1/volumes'] = { key: { namespace: 'default', id: 'data' }, csiId: 'vol-1' };
    const places = ['--topology', 'zone=a', '--topology', 'rack=1'];
    expect((await cli('volume', 'create', 'data', '--plugin', 'disk', ...places, '--timeout', '5')).code).to.equal(0);
    const topology = { requisite: [{ zone: 'a', rack: '1' }] };
    expect(JSON.parse(sent['POST /v1/volumes'] ?? '')).to.deep.include({ topology });
  });

  it('V2 a spec file together with options of the spec is refused, and no request is sent', async () => {
    const file = join(directory, 'f.yaml');
    writeFileSync(file, 'id: data\n');
    const rest = ['--file', file, '--timeout', '5'];
    expect(await cli('volume', 'create', 'q', '--namespace', 'team', '--size', '5Gi', '--block', ...rest)).to.include({
      code: 2,
      stderr: 'error: --file has the whole spec: leave out q, --namespace, --size, --block\n',
    });
    expect((await cli('snapshot', 'create', '--parameter', 'a=b', ...rest)).code).to.equal(2);
    expect(asked).to.deep.equal([]);
    answers['POST /v1/volumes'] = { key: { namespace: 'default', id: 'data' }, csiId: 'vol-1' };
    expect((await cli('volume', 'create', ...rest)).code).to.equal(0);
  });
});

/** Commands for allocs and mounts, against a server that stands in for the agent: requests sent, text printed. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import type { AllocReport, MountReport, PreparedMount, StatsReport } from '../../src/api/node-routes.js';
import { mainPath } from '../scenarios/agent-process.js';

interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Asked {
  key: string;
  body: unknown;
}

const block = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;

describe('A5 allocs and mounts on the command line', () => {
  let directory: string;
  let server: Server;
  /** Answers by `METHOD path?query`; other requests get 404. */
  let answers: Record<string, object | undefined>;
  let asked: Asked[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-alloc-cli-'));
    answers = { 'GET /v1/agent': {}, 'GET /v1/tasks': [] };
    asked = [];
    server = createServer((request, response) => {
      const key = `${request.method} ${request.url}`;
      let text = '';
      request.on('data', (part) => {
        text += part;
      });
      request.on('end', () => {
        asked.push({ key, body: text === '' ? undefined : JSON.parse(text) });
        const answer = answers[key];
        if (!answer || 'code' in answer) response.statusCode = answer ? 400 : 404;
        response.end(JSON.stringify(answer ?? { code: 'ALLOC_NOT_FOUND', message: 'there is none: list them' }));
      });
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
  const posted = (): Asked[] => asked.filter(({ key }) => key.startsWith('POST '));

  const mounts: PreparedMount[] = [
    {
      name: 'data',
      volume: { namespace: 'team', id: 'data' },
      hostPath: '/d/csi/1/per-alloc/2/3',
      taskPath: '/var/a-b',
      readOnly: false,
      isDevice: false,
      propagation: 'shared',
    },
    {
      name: 'disk',
      volume: { namespace: 'team', id: 'disk' },
      hostPath: '/d/csi/1/per-alloc/2/4',
      taskPath: '/dev/xvdb',
      readOnly: true,
      isDevice: true,
    },
  ];

  it('H1 H5 M16 prepare sends only the options given, and prints the paths as a table', async () => {
    answers['POST /v1/allocs/a%2Fb/prepare'] = mounts;
    const volumes = ['--volume', 'data:/var/a-b', '--volume', 'disk:/dev/xvdb:ro', '--namespace', 'team'];
    expect(await cli('alloc', 'prepare', 'a/b', ...volumes, '--timeout', '1.5')).to.deep.equal({
      code: 0,
      stdout: [
        'NAME  VOLUME     TASK PATH  ACCESS             HOST PATH',
        'data  team/data  /var/a-b   read-write         /d/csi/1/per-alloc/2/3',
        'disk  team/disk  /dev/xvdb  read-only, device  /d/csi/1/per-alloc/2/4',
        '',
      ].join('\n'),
      stderr: '',
    });
    const [data, disk] = [
      { name: 'data', volume: { namespace: 'team', id: 'data' }, taskPath: '/var/a-b', mode: 'write' },
      { name: 'disk', volume: { namespace: 'team', id: 'disk' }, taskPath: '/dev/xvdb', mode: 'read' },
    ];
    expect(posted().map(({ body }) => body)).to.deep.equal([{ volumes: [data, disk], timeoutMs: 1_500 }]);
    asked = [];
    const shared = ['--access-mode', 'single-node-multi-writer'];
    const { stdout } = await cli('alloc', 'prepare', 'a/b', ...volumes, ...shared, '--json');
    expect(JSON.parse(stdout)).to.deep.equal(mounts);
    const [, accessMode] = shared;
    expect(posted().map(({ body }) => body)).to.deep.equal([
      {
        volumes: [
          { ...data, accessMode },
          { ...disk, accessMode },
        ],
      },
    ]);
  });

  it('H1 prepare accepts :ro and :rw after the path, and refuses anything else there', async () => {
    answers['POST /v1/allocs/web/prepare'] = [];
    const given = ['/a:ro', '/b:rw', '/ro', '/:rw'];
    await cli('alloc', 'prepare', 'web', ...given.flatMap((rest) => ['--volume', `v:${rest}`]));
    const [{ body } = { body: undefined }] = posted();
    const { volumes } = body as { volumes: { taskPath: string; mode: string }[] };
    expect(volumes.map(({ taskPath, mode }) => [taskPath, mode])).to.deep.equal([
      ['/a', 'read'],
      ['/b', 'write'],
      ['/ro', 'write'],
      ['/', 'write'],
    ]);
  });

  it('H1 prepare with a file sends its list unchanged, and reports faults with their line', async () => {
    const file = join(directory, 'volumes.yaml');
    writeFileSync(file, '- name: d\n  volume: { id: data }\n  taskPath: rel\n');
    answers['POST /v1/allocs/web/prepare'] = mounts;
    expect((await cli('alloc', 'prepare', 'web', '--file', file)).code).to.equal(0);
    const volumes = [{ name: 'd', volume: { id: 'data' }, taskPath: 'rel' }];
    expect(posted().map(({ body }) => body)).to.deep.equal([{ volumes }]);
    const message = 'cannot accept the volumes of the alloc:\n  volumes[0].taskPath: must be absolute';
    answers['POST /v1/allocs/web/prepare'] = { code: 'INVALID_ARGUMENT', message };
    const { code, stderr } = await cli('alloc', 'prepare', 'web', '--file', file);
    expect([code, stderr]).to.deep.equal([
      1,
      `cannot accept the volumes of the alloc:\n  ${file}:3: volumes[0].taskPath: must be absolute\n`,
    ]);
  });

  it('H2 release sends its timeout', async () => {
    answers['GET /v1/allocs/web'] = { allocId: 'web' };
    answers['POST /v1/allocs/web/release'] = {};
    expect((await cli('alloc', 'release', 'web')).stdout).to.equal('alloc web is released\n');
    await cli('alloc', 'release', 'web', '--timeout', '2');
    expect(posted().map(({ body }) => body)).to.deep.equal([{}, { timeoutMs: 2_000 }]);
  });

  it('H2 release of an unknown alloc succeeds, and says that there was nothing to release', async () => {
    answers['POST /v1/allocs/nosuch/release'] = {};
    const done = "there is no alloc 'nosuch' on this node: nothing to release";
    expect(await cli('alloc', 'release', 'nosuch')).to.deep.equal({ code: 0, stdout: `${done}\n`, stderr: '' });
    expect(JSON.parse((await cli('alloc', 'release', 'nosuch', '--json')).stdout)).to.deep.equal({ done });
    expect(posted()).to.have.length(2);
  });

  it('H2 release prints the error if the agent refuses to show the alloc', async () => {
    answers['GET /v1/allocs/web'] = { code: 'RUNTIME_CLOSED', message: 'the runtime was closed' };
    expect(await cli('alloc', 'release', 'web')).to.include({ code: 1, stderr: 'the runtime was closed\n' });
    expect(posted()).to.deep.equal([]);
  });

  it('H1 H3 alloc list and status show where volumes are, and what they wait for', async () => {
    const volumes: AllocReport['volumes'] = mounts.map(({ name, volume, taskPath, readOnly }) => ({
      ...{ name, volume, taskPath, readOnly, mode: 'write', state: 'mounted', step: 'mounted' },
      ...{ parts: [], ...block },
    }));
    const prepared: AllocReport = { allocId: 'web', state: 'prepared', volumes, mounts, waits: {} };
    const [first, ...others] = volumes;
    const hidden = [...(first ? [{ ...first, message: 'covered by a tmpfs' }] : []), ...others];
    const covered: AllocReport = { allocId: 'log', state: 'prepared', volumes: hidden, mounts, waits: {} };
    const waiting: AllocReport = { allocId: 'db', state: 'recovering', volumes, waits: { disk: 'no plugin' } };
    const error = { code: 'TIMEOUT' as const, message: 'too late', final: false };
    const undone: AllocReport = { allocId: 'old', state: 'releasing', volumes, waits: { disk: 'busy' }, error };
    answers['GET /v1/allocs'] = [prepared, covered, waiting, undone];
    expect((await cli('alloc', 'list')).stdout).to.equal(
      [
        'ALLOC  STATE       VOLUMES               TROUBLE',
        'web    prepared    team/data, team/disk',
        'log    prepared    team/data, team/disk  data: covered by a tmpfs',
        'db     recovering  team/data, team/disk  disk: no plugin',
        'old    releasing   team/data, team/disk  too late; disk: busy',
        '',
      ].join('\n'),
    );
    answers['GET /v1/allocs/web'] = prepared;
    answers['GET /v1/allocs/log'] = covered;
    answers['GET /v1/allocs/old'] = undone;
    expect((await cli('alloc', 'status', 'log')).stdout).to.match(/^trouble +data: covered by a tmpfs$/m);
    const details = (await cli('alloc', 'status', 'web')).stdout;
    expect(details)
      .to.match(/^state {2}prepared$/m)
      .and.to.match(
        /^data +team\/data +mounted +mounted +\/var\/a-b +read-write, single-node-writer, block-device +\/d\/csi\/1\/per-alloc\/2\/3$/m,
      );
    const old = (await cli('alloc', 'status', 'old')).stdout;
    expect(old)
      .to.match(/^state +releasing: too late$/m)
      .and.to.match(/^waits for +disk: busy$/m)
      .and.to.match(/^disk .* -$/m);
    expect((await cli('alloc', 'status', 'nix')).stderr).to.equal('there is none: see stagecraft alloc list\n');
    answers['GET /v1/allocs'] = [];
    expect((await cli('alloc', 'list')).stdout).to.equal(
      'there are no allocs: prepare one with stagecraft alloc prepare\n',
    );
  });

  it('M3 M15 mount list, stats and retry print their results', async () => {
    const mount = {
      state: 'published' as const,
      plugin: 'disk',
      csiId: 'vol-1',
      stagingPath: '/s',
      isStaged: false,
      parts: [],
    };
    const user = { allocId: 'web', state: 'published', readOnly: false, hostPath: '/p' } as const;
    const [one, two] = [
      { namespace: 'team', id: 'data' },
      { namespace: 'team', id: 'disk' },
    ] as const;
    const condition = { abnormal: true, message: 'a bad block' };
    const list: MountReport[] = [
      { volume: one, ...mount, users: [user, { ...user, allocId: 'log', readOnly: true }], condition },
      { volume: two, ...mount, state: 'staging', users: [{ ...user, state: 'wanted', message: 'no room' }] },
      { volume: two, ...mount, state: 'unpublishing', users: [{ ...user, state: 'leaving' }], underWay: 'a call' },
    ];
    answers['GET /v1/mounts'] = list;
    expect((await cli('mount', 'list')).stdout).to.equal(
      [
        'NAMESPACE  ID    PLUGIN  STATE         ALLOCS                TROUBLE',
        'team       data  disk    mounted       web, log (read-only)  a bad block',
        'team       disk  disk    staging       web (waiting)         no room',
        'team       disk  disk    unpublishing  web (leaving)         a call',
        '',
      ].join('\n'),
    );
    const stats: StatsReport = {
      volume: one,
      at: 0,
      usage: [
        { unit: 'bytes', total: '18446744073709551616', used: 4_096, available: 0 },
        { unit: 'inodes', total: 10, used: 4, available: 6 },
      ],
      condition,
    };
    answers['GET /v1/mounts/team/a%2Fb/stats'] = stats;
    expect((await cli('mount', 'stats', 'a/b', '--namespace', 'team')).stdout).to.equal(
      [
        'volume     team/data',
        'at         1970-01-01T00:00:00.000Z',
        'bytes      4Ki of 16384Pi used, 0 available',
        'inodes     4 of 10 used, 6 available',
        'condition  abnormal: a bad block',
        '',
      ].join('\n'),
    );
    answers['POST /v1/mounts/default/data/retry'] = {};
    expect((await cli('mount', 'retry', 'data')).stdout).to.equal(
      'volume default/data: failed calls and lost mounts on this node are retried\n',
    );
    answers['GET /v1/mounts'] = [];
    expect((await cli('mount', 'list')).stdout).to.equal('no volume is mounted on this node\n');
  });

  it('M3 the lists name the task of a plugin that has failed, is stopped or backs off as trouble', async () => {
    const mount = { state: 'published' as const, csiId: 'vol-1', isStaged: true, users: [], parts: [] };
    const plugins = ['disk', 'off', 'late', 'well', 'own'];
    answers['GET /v1/mounts'] = plugins.map((plugin) => ({
      ...{ volume: { namespace: 'team', id: plugin }, plugin, ...mount },
    })) satisfies MountReport[];
    const states = { disk: 'failed', off: 'stopped', late: 'backing-off', well: 'running' };
    answers['GET /v1/tasks'] = Object.entries(states).map(([id, state]) => ({ id, state, spec: { plugin: id } }));
    const [failed, stopped, late] = [
      'task disk has failed: see stagecraft task status disk, then start it with stagecraft task restart disk',
      'task off is stopped: start it with stagecraft task restart off',
      'task late is waiting to be started again: see stagecraft task status late',
    ];
    expect((await cli('mount', 'list')).stdout).to.equal(
      [
        'NAMESPACE  ID    PLUGIN  STATE    ALLOCS  TROUBLE',
        `team       disk  disk    mounted  -       ${failed}`,
        `team       off   off     mounted  -       ${stopped}`,
        `team       late  late    mounted  -       ${late}`,
        'team       well  well    mounted  -',
        'team       own   own     mounted  -',
        '',
      ].join('\n'),
    );
    const volumes: AllocReport['volumes'] = ['data', 'log'].map((name) => ({
      ...{ name, volume: { namespace: 'team', id: name }, taskPath: '/d', readOnly: false, mode: 'write' },
      ...{ state: 'mounted', step: 'mounted', plugin: 'disk', parts: [], ...block },
    }));
    const web: AllocReport = { allocId: 'web', state: 'prepared', volumes, waits: {} };
    answers['GET /v1/allocs'] = [web, { ...web, allocId: 'db', state: 'releasing', waits: { data: 'no plugin' } }];
    answers['GET /v1/allocs/web'] = web;
    expect((await cli('alloc', 'list')).stdout).to.equal(
      [
        'ALLOC  STATE      VOLUMES              TROUBLE',
        `web    prepared   team/data, team/log  ${failed}`,
        'db     releasing  team/data, team/log  data: no plugin',
        '',
      ].join('\n'),
    );
    expect((await cli('alloc', 'status', 'web')).stdout).to.match(new RegExp(`^trouble +${failed}$`, 'm'));
  });

  it('M6 orphaned mounts are listed, and one is unmounted', async () => {
    const orphan = { path: '/d/csi/1/staging/2', source: '0:39 /', fsType: 'tmpfs' };
    answers['GET /v1/orphaned-mounts'] = [orphan];
    answers['POST /v1/orphaned-mounts/clean'] = {};
    expect((await cli('mount', 'orphans')).stdout).to.equal(
      'FILE SYSTEM  SOURCE  LEFT BY  PATH\ntmpfs        0:39 /  -        /d/csi/1/staging/2\n',
    );
    expect((await cli('mount', 'clean', orphan.path)).stdout).to.equal('/d/csi/1/staging/2 is unmounted\n');
    expect(posted().map(({ body }) => body)).to.deep.equal([{ path: orphan.path }]);
    asked = [];
    const fromHere = relative(process.cwd(), orphan.path);
    expect((await cli('mount', 'clean', fromHere)).stdout).to.equal('/d/csi/1/staging/2 is unmounted\n');
    expect(posted().map(({ body }) => body)).to.deep.equal([{ path: orphan.path }]);
    answers['GET /v1/orphaned-mounts'] = [];
    expect((await cli('mount', 'orphans')).stdout).to.equal('there are no orphaned mounts\n');
  });

  it('the help of commands that wait says how long they wait by default', async () => {
    for (const [args, says] of [
      [['alloc', 'prepare'], 'an alloc that is not prepared by then is undone (default: as long as it takes)'],
      [['alloc', 'release'], 'the work goes on after that (default: as long as it takes)'],
      [['volume', 'create'], 'the work goes on after that (default: as long as it takes)'],
    ] as const)
      expect((await cli(...args, '--help')).stdout.replace(/\s+/g, ' ')).to.contain(says);
  });

  it('misuse prints one line, and sends no request', async () => {
    for (const [args, told] of [
      [['alloc', 'status'], /^error: missing required argument 'alloc'\n\(see stagecraft alloc list\)\n$/],
      [['alloc', 'prepare'], /^error: missing required argument 'alloc'\n$/],
      [['alloc', 'status', 'web', '--zzzzzz'], /^error: unknown option '--zzzzzz'\n$/],
      [['alloc', '--zzzzzz', 'list'], /^error: unknown option '--zzzzzz'\n\(options come after the command[^\n]+\n$/],
      [['alloc', 'prepare', 'web'], /^error: give at least one --volume, or --file\n$/],
      [['alloc', 'prepare', 'web', '--volume', 'data'], /^error: [^\n]+Give ID:PATH, or ID:PATH:ro[^\n]+\n$/],
      [
        ['alloc', 'prepare', 'web', '--volume', 'data:../x'],
        /^error: [^\n]+Give ID:PATH[^\n]+, with an absolute PATH[^\n]+\n$/,
      ],
      [['alloc', 'prepare', 'web', '--volume', ':/x'], /^error: [^\n]+Give ID:PATH[^\n]+\n$/],
      [
        ['alloc', 'prepare', 'web', '--volume', 'a:/b:RO'],
        /^error: [^\n]+Only :ro or :rw may follow the PATH, not ':RO'[^\n]+\n$/,
      ],
      [
        ['alloc', 'prepare', 'web', '--volume', 'data:/srv:rx'],
        /^error: [^\n]+Only :ro or :rw may follow the PATH, not ':rx'/,
      ],
      [['alloc', 'prepare', 'web', '--volume', 'a:/d:x:y'], /^error: [^\n]+For a PATH with a colon use --file\.\n$/],
      [
        ['alloc', 'prepare', 'web', '--volume', 'a:/b:ro:Rw'],
        /^error: [^\n]+Only :ro or :rw may follow the PATH, not ':ro:Rw'[^\n]+\n$/,
      ],
      [['alloc', 'prepare', 'web', '--file', 'f', '--volume', 'a:/b'], /^error: --file has the whole list[^\n]+\n$/],
      [['alloc', 'prepare', 'web', '--file', 'none.yaml'], /^error: can't read the spec in none\.yaml: [^\n]+\n$/],
      [['alloc', 'prepare', 'web', '--volume', 'a:/b', '--access-mode', 'x'], /^error: [^\n]+Allowed choices are/],
    ] as const) {
      const { code, stderr } = await cli(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).to.match(told);
    }
    expect(asked).to.deep.equal([]);
  });
});

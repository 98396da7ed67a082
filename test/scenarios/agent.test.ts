/** The agent as its operator sees it: processes, signals, exit codes, output. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { packageVersion } from '../../src/host/version.js';
import { lmdbStore } from '../../src/stores/index.js';
import {
  AgentProcess,
  complaintsIn,
  mainPath,
  makePlace,
  type Place,
  pluginPids,
  removePlace,
} from './agent-process.js';

function cli(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [mainPath, ...args], { encoding: 'utf8' });
}

describe('agent', () => {
  let place: Place;
  let agent: AgentProcess;

  it('A3 a wrong configuration ends it with 2 before anything starts', () => {
    const wrong = makePlace({ kind: 'node' });
    try {
      const { status, stderr } = cli('agent', '--config', wrong.configPath);
      expect(status).to.equal(2);
      expect(stderr).to.match(
        /agent\.yaml:\d+: tasks\[0\]\.kind: unknown key; allowed here: id, plugin, type, command/,
      );
      expect(() => statSync(wrong.dataDir)).to.throw(/ENOENT/);
    } finally {
      removePlace(wrong);
    }
  });

  it('A5 wrong usage with --json: one line of JSON on stderr, nothing on stdout; help stays help', () => {
    const wrong: [args: string[], message: RegExp][] = [
      [['plugin', 'lst'], /unknown command 'lst'/],
      [['volume', 'status'], /missing required argument 'id'/],
      [['volume', 'expand', 'data', 'many'], /many/],
      [['snapshot', 'create', 'only'], /give an id and a source volume for the snapshot/],
    ];
    for (const [args, message] of wrong) {
      const { status, stdout, stderr } = cli(...args, '--json');
      expect(status, args.join(' ')).to.equal(2);
      expect(stdout).to.equal('');
      const told = JSON.parse(stderr);
      expect(told).to.have.all.keys('code', 'message');
      expect(told.code).to.equal('INVALID_ARGUMENT');
      expect(told.message)
        .to.match(message)
        .and.to.not.match(/^error: |\n/);
    }
    const help = cli('volume', 'list', '--json', '--help');
    expect(help.status).to.equal(0);
    expect(help.stdout).to.include('--json');
    expect(help.stderr).to.equal('');
    expect(cli('plugin', 'lst').stderr).to.match(/^error: unknown command 'lst'$/m);
  });

  describe('one agent for tests that change nothing', () => {
    before(() => {
      place = makePlace();
      agent = new AgentProcess(place);
    });
    after(() => removePlace(place, agent));

    it('A9 a second agent on the same data is refused with the pid of the first', async () => {
      await agent.ready();
      const second = cli('agent', '--config', place.configPath);
      expect(second.status).to.equal(1);
      expect(second.stderr).to.include(`in use by the agent with pid ${agent.child.pid}`);
    });

    it('A5 plugin list and status are tables for people and JSON for programs', async () => {
      await agent.ready();
      const { info } = await agent.healthy();
      const list = cli('plugin', 'list', '--config', place.configPath);
      expect(list.status).to.equal(0);
      expect(list.stdout.split('\n')[0]).to.match(/^NAME +TYPE +STATE +DRIVER +VERSION +INSTANCES +DESCRIPTION$/);
      expect(list.stdout.split('\n')[1]).to.match(
        /^hostpath +csi-node +healthy +hostpath\.csi\.stagecraft +\d+\.\d+\.\d+ +1 +ready$/,
      );
      const [plugin] = JSON.parse(cli('plugin', 'list', '--json', '--config', place.configPath).stdout);
      expect(plugin).to.deep.include({ info, state: 'healthy', healthy: true, instances: 1 });
      const status = cli('plugin', 'status', 'hostpath', '--socket', place.socketPath);
      expect(status.stdout)
        .to.match(/^state +healthy: ready$/m)
        .and.to.match(/^node id +n1$/m);
    });

    it('A5 exit codes: 1 for a plugin that is not there, 2 for wrong usage, 3 where no agent answers', async () => {
      await agent.ready();
      const missing = cli('plugin', 'status', 'nobody', '--config', place.configPath);
      expect(missing.status).to.equal(1);
      expect(missing.stderr).to.include("no plugin 'nobody'");
      expect(cli('plugin', 'lst').status).to.equal(2);
      const unreachable = cli('plugin', 'list', '--socket', join(place.directory, 'none.sock'));
      expect(unreachable.status).to.equal(3);
      expect(unreachable.stderr).to.include('no agent answers');
    });

    it('A4 the API says how the store is, answers errors with their code, and is its owner’s only', async () => {
      await agent.ready();
      expect(statSync(place.socketPath).mode & 0o777).to.equal(0o600);
      const ask = (path: string): unknown =>
        JSON.parse(
          spawnSync(
            'node',
            [
              '-e',
              `require('http').get({socketPath:process.argv[1],path:process.argv[2]},r=>r.pipe(process.stdout))`,
              place.socketPath,
              path,
            ],
            { encoding: 'utf8' },
          ).stdout,
        );
      expect(ask('/v1/agent')).to.deep.include({ store: { kind: 'lmdb', available: true }, leads: true });
      expect(ask('/v1/plugins/csi-node/nobody')).to.include({ code: 'PLUGIN_NOT_FOUND' });
      expect(ask('/v1/nothing')).to.include({ code: 'NOT_FOUND' });
      expect(ask('/v1/plugins/csi-node/nobody?waitFor=healthy&timeoutMs=1')).to.include({ code: 'TIMEOUT' });
      expect(ask('/v1/plugins/csi-node/hostpath?waitFor=soon')).to.include({ code: 'INVALID_ARGUMENT' });
    });
  });

  describe('one agent for each test', () => {
    beforeEach(() => {
      place = makePlace();
      agent = new AgentProcess(place);
    });
    afterEach(() => removePlace(place, agent));

    it('A1 says where its data and its API are, and what becomes of its tasks', async () => {
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      const plain = agent.lines.map((line) =>
        line
          .replace(/^\d\d:\d\d:\d\d/, 'TIME')
          .replace(/pid \d+/, 'pid PID')
          .replace(/hostpath-\w{8}/, 'RUN')
          .replace(/:\d+\/\?token=[\w-]{32}$/, ':PORT/?token=TOKEN')
          .replaceAll(place.directory, 'DIR'),
      );
      expect(plain).to.deep.equal([
        `stagecraft agent ${packageVersion()} on node n1, pid PID`,
        '  conf  DIR/agent.yaml',
        '  data  DIR/data (embedded store in state/)',
        '  api   unix://DIR/data/agent.sock',
        '  page  http://127.0.0.1:PORT/?token=TOKEN',
        'TIME task hostpath: process started for RUN',
        'TIME task hostpath: RUN answers',
        'TIME plugin hostpath (csi-node): registered RUN',
        'TIME plugin hostpath (csi-node): on node n1 (topology.hostpath.csi.stagecraft/node=n1)',
        'TIME plugin hostpath (csi-node): healthy: ready',
      ]);
    });

    it('A2 the configuration of npm start makes the bundled driver healthy, with all data in one directory', async () => {
      const text = readFileSync(new URL('../../stagecraft.yaml', import.meta.url), 'utf8');
      const directory = join(place.directory, 'clone');
      mkdirSync(directory);
      const configPath = join(directory, 'stagecraft.yaml');
      writeFileSync(configPath, text);
      const dataDir = join(directory, '.stagecraft');
      const clone: Place = { directory, dataDir, configPath, socketPath: join(dataDir, 'agent.sock') };
      const started = new AgentProcess(clone);
      try {
        await started.line(/plugin hostpath \(csi-node\): healthy/);
        expect(cli('drain', '--config', configPath).status).to.equal(0);
        await started.exited;
        expect(readdirSync(directory).sort()).to.deep.equal(['.stagecraft', 'stagecraft.yaml']);
        expect(pluginPids(clone)).to.deep.equal([]);
      } finally {
        removePlace(clone, started);
      }
    });

    it('A1 ends by SIGTERM with 0 and leaves its plugin running; started again, it finds it', async () => {
      await agent.ready();
      await agent.healthy();
      const before = pluginPids(place);
      expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
      expect(agent.lines).to.include('stopping; plugin processes stay');
      expect(pluginPids(place)).to.deep.equal(before);
      agent = new AgentProcess(place);
      await agent.ready();
      await agent.healthy();
      expect(pluginPids(place)).to.deep.equal(before);
    });

    it('A1 a drain stops the plugin, then the agent, and leaves no process, socket or file of theirs', async () => {
      await agent.ready();
      await agent.healthy();
      const drained = cli('drain', '--config', place.configPath);
      expect([drained.status, complaintsIn(drained.stderr)]).to.deep.equal([0, '']);
      expect(await agent.exited).to.deep.equal({ code: 0, signal: null });
      expect(agent.lines.filter((line) => /task hostpath: stopped$/.test(line))).to.have.length(1);
      expect(pluginPids(place)).to.deep.equal([]);
      expect(() => statSync(place.socketPath)).to.throw(/ENOENT/);
    });

    it('R11 a record that can’t be read is named and left as it is, and the rest runs', async () => {
      await agent.ready();
      await agent.healthy();
      await agent.kill('SIGTERM');
      const address = 'plugins/n1/csi-node/broken';
      await damage(place, address);
      const before = await textOf(place, address);
      expect(before).to.equal('{ no JSON');
      agent = new AgentProcess(place);
      await agent.line(new RegExp(`${address} is out of service: its record can't be read`));
      await agent.healthy();
      await agent.kill('SIGTERM');
      expect(await textOf(place, address)).to.equal(before);
    });

    it('R11 the record of a configured task can’t be read: it is named, and the other tasks run', async () => {
      await agent.ready();
      await agent.healthy();
      await agent.kill('SIGTERM');
      await damage(place, 'task/n1/other');
      const command = ['stagecraft', 'driver', '--node-id', 'n1'];
      const tasks = ['other', 'hostpath'].map((id) => ({ id, type: 'node', command }));
      writeFileSync(place.configPath, stringify({ nodeId: 'n1', dataDir: place.dataDir, tasks }));
      agent = new AgentProcess(place);
      await agent.line(/task other can't be started: .*out of service/);
      await agent.healthy();
    });

    it('R11 the record of the root can’t be read: the agent says so, ends with 1, and holds nothing', async () => {
      await agent.ready();
      await agent.kill('SIGTERM');
      await damage(place, 'registry/n1');
      agent = new AgentProcess(place);
      expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
      expect(agent.lines.join()).to.include('registry/n1 is out of service');
      expect(await textOf(place, 'registry/n1')).to.equal('{ no JSON');
    });

    it('A1 the path of its API is taken: the agent says so, ends with 1, and lets go of its data', async () => {
      await agent.ready();
      await agent.kill('SIGTERM');
      mkdirSync(place.socketPath);
      agent = new AgentProcess(place);
      expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
      expect(agent.lines.at(-1)).to.include(place.socketPath);
      rmdirSync(place.socketPath);
      agent = new AgentProcess(place);
      await agent.ready();
    });

    it('A1 a client that is connected and silent does not hold up its end', async () => {
      await agent.ready();
      const silent = connect(place.socketPath);
      await once(silent, 'connect');
      silent.on('error', () => {}); // it is cut off
      expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
      silent.destroy();
    });

    it('A3, 34 SIGHUP takes over changed tasks, leaves others alone, and says what else needs a restart', async () => {
      await agent.ready();
      await agent.healthy();
      const [pid] = pluginPids(place);
      const driver = (id: string): object => ({ id, type: 'node', command: ['stagecraft', 'driver', '--node-id', id] });
      const first = { ...driver('n1'), id: 'hostpath' };
      const write = (tasks: object[], more = {}): void =>
        writeFileSync(
          place.configPath,
          stringify({
            ...{ nodeId: 'n1', dataDir: place.dataDir, inspector: { listen: '127.0.0.1:0' }, tasks },
            ...more,
          }),
        );
      write([first, driver('other')], { stats: { intervalMs: 70_000 } });
      agent.child.kill('SIGHUP');
      await agent.line(/changes of stats hold from the next start/);
      await agent.line(/plugin other \(csi-node\): healthy/);
      expect(pluginPids(place)).to.have.length(2).and.to.include(pid);
      const told = agent.lines.length;
      write([{ id: 5 }]);
      agent.child.kill('SIGHUP');
      expect(await agent.line(/the configuration stays as it was/)).to.contain('tasks[0].id');
      write([first]);
      agent.child.kill('SIGHUP');
      await agent.line(/task other: removed/, told);
      expect(pluginPids(place)).to.deep.equal([pid]);
      expect(await agent.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    });

    it('a task removed from the configuration is removed, also if stopped; its log and directory stay', async () => {
      await agent.ready();
      await agent.healthy();
      await agent.kill('SIGTERM');
      const task = { id: 'other', type: 'node', command: ['stagecraft', 'driver', '--node-id', 'n1'] };
      writeFileSync(place.configPath, stringify({ nodeId: 'n1', dataDir: place.dataDir, tasks: [task] }));
      agent = new AgentProcess(place);
      await agent.line(/task hostpath is no longer configured: removing it/);
      await agent.line(/task hostpath: removed/);
      await agent.line(/plugin other \(csi-node\): healthy/);
      expect(pluginPids(place)).to.have.length(1);
      const listed = (): string[] =>
        JSON.parse(cli('task', 'list', '--json', '--config', place.configPath).stdout).map(
          ({ id }: { id: string }) => id,
        );
      expect(listed()).to.deep.equal(['other']);
      expect(readdirSync(join(place.dataDir, 'tasks'))).to.include('hostpath');
      expect(readdirSync(join(place.dataDir, 'logs'))).to.include('hostpath.log');
      expect(cli('task', 'stop', 'other', '--config', place.configPath).status).to.equal(0);
      await agent.kill('SIGTERM');
      writeFileSync(place.configPath, stringify({ nodeId: 'n1', dataDir: place.dataDir, tasks: [] }));
      agent = new AgentProcess(place);
      await agent.line(/task other: removed/);
      expect(listed()).to.deep.equal([]);
    });
  });
});

/** Puts a record into the store that nothing can read. */
async function damage(place: Place, address: string): Promise<void> {
  const store = lmdbStore(join(place.dataDir, 'state'));
  await store.open();
  const expectedSeq = (await store.load(address))?.seq ?? 0;
  const [result] = await store.commit([
    { address, commitId: 'c', expectedSeq, epoch: 1_000, owner: 'o', text: '{ no JSON', journal: '{}' },
  ]);
  await store.close();
  expect(result).to.deep.equal({ status: 'done' });
}

async function textOf(place: Place, address: string): Promise<string | undefined> {
  const store = lmdbStore(join(place.dataDir, 'state'));
  await store.open();
  const record = await store.load(address);
  await store.close();
  return record?.text;
}

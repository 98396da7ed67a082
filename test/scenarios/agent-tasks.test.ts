/** Tasks as an operator sees them: a real agent with a driver that runs, one that fails and one that talks. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { until } from '../until.js';
import {
  AgentProcess,
  type Answer,
  answerOf,
  mainPath,
  makePlace,
  type Place,
  pluginPids,
  removePlace,
} from './agent-process.js';

const driver = {
  id: 'hostpath',
  type: 'node',
  command: ['stagecraft', 'driver', '--node-id', 'n1'],
  env: { TOKEN: 'a secret' },
};
const broken = {
  id: 'broken',
  type: 'node',
  command: ['/bin/sh', '-c', 'echo no license >&2; exit 3'],
  restart: { maxRestarts: 0 },
};
const foreign = { id: 'foreign', type: 'node', socket: '/nowhere/csi.sock', healthTimeoutMs: 600_000 };
const talker = {
  id: 'talker',
  type: 'controller',
  command: [process.execPath, '-e', "let n = 0; setInterval(() => console.log('line ' + (n += 1)), 10)"],
  healthTimeoutMs: 600_000,
};

describe('tasks as their operator sees them', () => {
  let place: Place;
  let agent: AgentProcess;

  const begin = async (...tasks: object[]): Promise<void> => {
    place = makePlace({}, { tasks, logs: { maxBytes: 2_000 } });
    agent = new AgentProcess(place);
    await agent.ready();
  };

  const cli = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [mainPath, ...args, '--config', place.configPath], { encoding: 'utf8' });

  /** The task says that it gives up before its last process is cleared away. */
  const hasGivenUp = async (): Promise<void> => {
    await agent.line(/task broken: failed/);
    await until(() => /^broken +node +failed/m.test(cli('task', 'list').stdout));
  };

  describe('one that runs and one that has failed', () => {
    before(async () => {
      await begin(driver, broken, foreign);
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      await hasGivenUp();
    });
    after(() => removePlace(place, agent));

    it('task list: a table with the reason of what failed, without the end of its log; JSON for programs', () => {
      const { status, stdout, stderr } = cli('task', 'list');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      const [head, ...rows] = stdout.trimEnd().split('\n');
      expect(head).to.match(/^ID +TYPE +STATE +HEALTH +PID +REASON$/);
      expect(rows.find((row) => row.startsWith('hostpath'))).to.match(/^hostpath +node +running +healthy +\d+$/);
      expect(rows.find((row) => row.startsWith('broken'))).to.match(/^broken +node +failed +- +- +\S.*: no license$/);
      expect(stdout).to.not.include('end of its log');
      const listed = JSON.parse(cli('task', 'list', '--json').stdout);
      expect(listed.map(({ id, state }: { id: string; state: string }) => [id, state])).to.have.deep.members([
        ['hostpath', 'running'],
        ['broken', 'failed'],
        ['foreign', 'waiting'],
      ]);
      expect(JSON.stringify(listed)).to.not.include('a secret');
    });

    it('plugin list says on stderr which tasks have failed: their plugins are missing there', () => {
      const { status, stdout, stderr } = cli('plugin', 'list', '--json');
      expect({ status, stderr }).to.deep.equal({
        status: 0,
        stderr:
          'task broken has failed: see stagecraft task status broken, then start it with stagecraft task restart broken\n',
      });
      expect(JSON.parse(stdout)).to.have.length(1);
    });

    it('task status: all of one task and the end of its log; values of its environment are not shown', () => {
      const healthy = cli('task', 'status', 'hostpath').stdout;
      for (const fact of [
        /^task +hostpath \(node\)$/m,
        /^state +running$/m,
        /^health +healthy: ready$/m,
        /^driver +hostpath\.csi\.stagecraft$/m,
        /^pid +\d+$/m,
        /^command +stagecraft driver --node-id n1$/m,
        /^environment +TOKEN \(values are not shown\)$/m,
        /^hostpath driver .* serves unix:/m,
      ]) {
        expect(healthy).to.match(fact);
      }
      expect(healthy).to.not.include('a secret');
      const failed = cli('task', 'status', 'broken').stdout;
      expect(failed).to.match(/^state +failed: \S/m);
      expect(failed).to.include(`log           ${join(place.dataDir, 'logs', 'broken.log')}`);
      expect(failed).to.match(/\n\n--- broken-\w+ \S+Z\nno license\n$/);
      expect(JSON.parse(cli('task', 'status', 'broken', '--json').stdout)).to.include({
        id: 'broken',
        state: 'failed',
      });
    });

    it('T1 one whose plugin somebody else runs: what it waits for, no restarts that are not ours, no log', () => {
      const { stdout } = cli('task', 'status', 'foreign');
      expect(stdout).to.match(/^state +waiting: for an answer at \/nowhere\/csi\.sock$/m);
      expect(stdout).to.not.match(/^(restarts|log|pid +\d)/m);
      expect(cli('task', 'logs', 'foreign')).to.deep.include({
        status: 1,
        stdout: '',
        stderr:
          'there is no log of task foreign here: Stagecraft did not start its plugin, look where it was started\n',
      });
    });

    it('T6 task status: its log can’t be read: all else is shown, and why in place of the log', () => {
      const log = join(place.dataDir, 'logs', 'broken.log');
      rmSync(log);
      symlinkSync('/dev/null', log);
      const { status, stdout, stderr } = cli('task', 'status', 'broken');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout).to.match(/^state +failed: \S/m);
      expect(stdout).to.match(/\n\n\(the log of task broken can't be read: .*no plain file\)\n$/);
    });
  });

  describe('one agent for each', () => {
    afterEach(() => removePlace(place, agent));

    it('task stop and restart: done when they say so, with the task as it is then for programs', async () => {
      await begin(driver);
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      const [first] = pluginPids(place);
      expect(cli('task', 'restart', 'hostpath')).to.include({
        status: 0,
        stdout: 'task hostpath is being restarted: see stagecraft task status hostpath\n',
      });
      await agent.line(/plugin hostpath \(csi-node\): healthy/, agent.lines.length);
      expect(pluginPids(place)).to.have.length(1).and.not.include(first);
      const before = agent.lines.length;
      const stopped = cli('task', 'stop', 'hostpath', '--force', '--json');
      expect(stopped.status).to.equal(0);
      expect(JSON.parse(stopped.stdout)).to.include({ id: 'hostpath', state: 'stopped' });
      expect(pluginPids(place)).to.deep.equal([]);
      await agent.line(/task hostpath: stopped/);
      expect(cli('task', 'remove', 'hostpath')).to.include({ status: 0, stderr: '' });
      expect(cli('task', 'list').stdout).to.match(/^there are no tasks/);
      // That it was deregistered says enough.
      expect(agent.lines.slice(before).join('\n')).to.include('deregistered').and.not.include('unhealthy');
    });

    it('a task that is not there, a wrong number, no agent: exit codes 1, 2 and 3, each with what to do', async () => {
      await begin();
      const { status, stderr } = cli('task', 'stop', 'nobody');
      expect({ status, stderr }).to.deep.equal({
        status: 1,
        stderr: "there is no task 'nobody': see stagecraft task list\n",
      });
      const forPrograms = cli('task', 'stop', 'nobody', '--json');
      expect(forPrograms).to.include({ status: 1, stdout: '' });
      expect(JSON.parse(forPrograms.stderr)).to.deep.equal({
        code: 'TASK_NOT_FOUND',
        message: "there is no task 'nobody': see stagecraft task list",
      });
      expect(cli('task', 'list').stdout).to.match(/^there are no tasks/);
      expect(cli('task', 'logs', 'nobody', '--lines', 'many').status).to.equal(2);
      const notFound = { status: 404, code: 'TASK_NOT_FOUND' };
      expect(await ask('GET', '/v1/tasks/nobody')).to.deep.equal(notFound);
      expect(await ask('GET', '/v1/tasks/nobody/logs?lines=3')).to.deep.equal(notFound);
      expect(await ask('POST', '/v1/tasks/nobody/restart')).to.deep.equal(notFound);
      expect(await ask('POST', '/v1/tasks/nobody/stop')).to.deep.equal(notFound);
      expect(await ask('POST', '/v1/tasks/nobody/remove')).to.deep.equal(notFound);
      const wrong = { status: 400, code: 'INVALID_ARGUMENT' };
      expect(await ask('POST', '/v1/tasks/nobody/stop', { force: 'yes' })).to.deep.equal(wrong);
      expect(await ask('POST', '/v1/tasks/nobody/stop', '{ no JSON')).to.deep.equal(wrong);
      await agent.kill('SIGTERM');
      expect(cli('task', 'list').status).to.equal(3);
    });

    const ask = (method: string, path: string, body?: object | string): Promise<Answer> =>
      answerOf(place.socketPath, method, path, body);

    describe('task logs', () => {
      let follower: ChildProcess | undefined;
      afterEach(() => {
        follower?.kill('SIGKILL');
        follower = undefined;
      });

      it('the last lines, as many as are asked for', async () => {
        await begin(talker);
        await agent.line(/task talker: process started/);
        const lines = cli('task', 'logs', 'talker', '--lines', '2').stdout;
        expect(lines).to.match(/^(line \d+|--- .*)\nline \d+\n$/);
        for (const lines of ['0', '10001', '99999999']) {
          expect(cli('task', 'logs', 'talker', '--lines', lines).status).to.equal(2);
        }
      });

      it('--follow goes on with what is written, also after the log was cut off, and ends with the agent', async () => {
        await begin(talker);
        await agent.line(/task talker: process started/);
        follower = spawn(
          process.execPath,
          [mainPath, 'task', 'logs', 'talker', '--follow', '--config', place.configPath],
          {
            stdio: ['ignore', 'pipe', 'pipe'],
          },
        );
        const exited = once(follower, 'exit');
        const seen: number[] = [];
        if (!follower.stdout) throw new Error('it has no output');
        for await (const line of createInterface({ input: follower.stdout })) {
          const [, number] = /^line (\d+)$/.exec(line) ?? [];
          if (number !== undefined) seen.push(Number(number));
          // Some 2,000 bytes are 200 lines: the log was cut off twice by then.
          if (seen.length === 500) agent.child.kill('SIGKILL');
        }
        expect((await exited)[0]).to.be.oneOf([1, 3]); // amid an answer, or before one
        const repeated = seen.slice(1).filter((number, index) => number <= (seen[index] ?? 0));
        expect(repeated).to.deep.equal([]);
        // Between copy and cut a line may be lost.
        expect(seen.length / ((seen.at(-1) ?? 0) - (seen[0] ?? 0) + 1)).to.be.above(0.9);
      });
    });

    it('an agent that is started again says which tasks it finds running', async () => {
      await begin(driver, broken);
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      await hasGivenUp();
      const [pid] = pluginPids(place);
      await agent.kill('SIGKILL');
      agent = new AgentProcess(place);
      await agent.line(new RegExp(`^ {2}task hostpath: running, pid ${pid}, found again$`));
      await agent.line(/^ {2}task broken: failed: \S/);
      await agent.kill('SIGKILL');
      for (const left of pluginPids(place)) process.kill(left, 'SIGKILL');
      agent = new AgentProcess(place);
      // How far it has come with the process that is gone, by the time it tells, is chance: never that it was found.
      expect(await agent.line(/^ {2}task hostpath: /)).to.not.include('found again');
      await agent.line(/task hostpath: process started|^ {2}task hostpath: (starting|waiting)/);
      await until(() => pluginPids(place).some((other) => other !== pid));
    });

    it('T2 an agent that is started with another definition of a task says why it restarts it', async () => {
      await begin(driver);
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      const [pid] = pluginPids(place);
      await agent.kill('SIGKILL');
      writeFileSync(place.configPath, readFileSync(place.configPath, 'utf8').replace('a secret', 'another'));
      agent = new AgentProcess(place);
      // The health of the plugin may be told before the task's own words.
      await agent.line(/ task hostpath: \S+ answers$/);
      const told = agent.lines.filter((line) => / task hostpath/.test(line)).map((line) => line.replace(/^\S+ /, ''));
      expect(told.map((line) => line.replace(/hostpath-\w+/, 'RUN'))).to.deep.equal([
        `  task hostpath: running, pid ${pid}, found again`,
        'task hostpath: restarting: its definition has changed',
        'task hostpath: process started for RUN',
        'task hostpath: RUN answers',
      ]);
      expect(agent.lines.join('\n')).to.not.include('no socket');
    });

    it('its data directory is removed: the agent reports it and exits with 1; a new directory stays', async () => {
      await begin();
      const { configPath, dataDir } = place;
      rmSync(dataDir, { recursive: true });
      const other = new AgentProcess(place);
      try {
        await other.ready();
        expect(await agent.exited).to.deep.equal({ code: 1, signal: null });
        expect(agent.lastWord).to.include(`the data directory ${dataDir} was removed or replaced`);
        expect(cli('task', 'list', '--config', configPath).status).to.equal(0);
        expect(readFileSync(join(dataDir, 'lock'), 'utf8').trim()).to.equal(String(other.child.pid));
      } finally {
        other.child.kill('SIGKILL');
      }
    });
  });
});

/** Commands for tasks: reasons of states, and next starts. */
import { expect } from 'chai';
import type { TaskReport } from '../../src/api/agent-routes.js';
import { StubAgent } from './stub-agent.js';

const restart = { maxRestarts: 5, windowMs: 60_000, backoff: { initialMs: 100, maxMs: 300_000 } };
const spec: TaskReport['spec'] = {
  id: 'disk',
  type: 'node',
  plugin: 'disk',
  command: ['disk'],
  env: [],
  healthTimeoutMs: 30_000,
  restart,
};
const panicked = 'the process exited with code 2; end of its log:';
const stacks = [
  'panic: no region',
  '',
  'goroutine 1 [running]:',
  '… 90 lines left out …',
  'main.main()',
  'exit status 2',
];

describe('A5 T6 tasks on the command line', () => {
  let agent: StubAgent;
  let task: Partial<TaskReport>;

  beforeEach(async () => {
    agent = await new StubAgent().start();
    const reason = [panicked, ...stacks].join('\n');
    task = { id: 'disk', state: 'backing-off', spec, reason, logPath: '/l' };
    agent.answers['GET /v1/tasks'] = () => [task];
    agent.answers['GET /v1/plugins'] = [];
    agent.answers['GET /v1/tasks/disk'] = () => task;
    agent.answers['GET /v1/tasks/disk/logs?lines=10'] = { text: 'the last ten\n', next: 0 };
  });
  afterEach(() => agent.remove());

  const row = async (): Promise<string> => (await agent.run(['task', 'list'])).stdout.split('\n')[1] ?? '';

  it('A5 T6 a task that backs off: the next start, and why a Go program ended', async () => {
    const why = 'the process exited with code 2: panic: no region';
    task = { ...task, nextStartAtMs: Date.now() + 3_600_000 };
    const [, seconds] =
      new RegExp(`^disk +node +backing-off +- +- +next start in (\\d+) s: ${why}$`).exec(await row()) ?? [];
    expect(Number(seconds)).to.be.within(3_500, 3_600);
    const { stderr } = await agent.run(['plugin', 'list']);
    expect(stderr).to.match(
      /task disk is waiting to be started again, next start in \d+ s: see stagecraft task status disk/,
    );
    task = { ...task, nextStartAtMs: 1 };
    expect(await row()).to.match(new RegExp(`next start now: ${why}$`));
  });

  it('A5 T10 the status of a task with a long log shows its first and last lines', async () => {
    const { stdout } = await agent.run(['task', 'status', 'disk']);
    expect(stdout.endsWith(`\n\n${stacks.join('\n')}\n`)).to.equal(true);
    task = { ...task, reason: `${panicked}\nno license` };
    expect((await agent.run(['task', 'status', 'disk'])).stdout).to.match(/\n\nthe last ten\n$/);
  });

  it('A5, 34.21 the status of a task names its plugin', async () => {
    task = { ...task, spec: { ...spec, plugin: 'nfs' } };
    expect((await agent.run(['task', 'status', 'disk'])).stdout).to.match(/^plugin +nfs$/m);
  });

  it('A5 T4 a task that ended too often says that the limit was reached', async () => {
    const limit = 'the limit of restarts is reached, it ended more than 5 times within 60000 ms';
    task = { ...task, state: 'failed', reason: `${limit}; the last time: ${task.reason}` };
    expect(await row()).to.match(
      new RegExp(`${limit}; the last time: the process exited with code 2: panic: no region$`),
    );
    expect((await agent.run(['task', 'status', 'disk'])).stdout).to.match(new RegExp(`^state +failed: ${limit};`, 'm'));
  });
});

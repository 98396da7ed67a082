/** The agent reads its configuration again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Agent, startAgent } from '../../src/agent/agent.js';
import { type AgentConfig, parseConfig } from '../../src/agent/config.js';
import { StagecraftError, type TaskOptions } from '../../src/index.js';

describe('a configuration that is read again', () => {
  let folder: string;
  let lines: string[];
  let agent: Agent;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stagecraft-reload-'));
    lines = [];
  });
  afterEach(async () => {
    await agent.stop({ release: true });
    rmSync(folder, { recursive: true });
  });

  const config = (...commands: string[]): AgentConfig => {
    const tasks = commands.map((command, n) => ({ id: `t${n}`, type: 'node', command: ['sleep', command] }));
    const given = { nodeId: 'n1', dataDir: join(folder, 'data'), inspector: { listen: false }, tasks };
    return parseConfig(JSON.stringify(given), join(folder, 'stagecraft.yaml'));
  };
  /** Starts of tasks that were asked for; those of `refused` fail. */
  const startsOf = (refused: string[]): string[] => {
    const { tasks } = agent.runtime;
    const started: string[] = [];
    const start = tasks.start.bind(tasks);
    tasks.start = async (task: TaskOptions): Promise<void> => {
      started.push(task.id);
      if (refused.includes(task.id)) throw new StagecraftError('PLUGIN_IN_USE', 'a volume is mounted');
      await start(task);
    };
    return started;
  };

  it('A3, 34 a task that was refused is tried again with the next reload, others are left alone', async () => {
    agent = await startAgent(config('600', '600'), (line) => lines.push(line));
    const refused = ['t0'];
    const started = startsOf(refused);
    await agent.reload(config('700', '700'));
    expect(lines.join('\n')).to.include("task t0 can't be started: a volume is mounted");
    refused.pop();
    await agent.reload(config('700', '700'));
    await agent.reload(config('700', '700'));
    expect(started).to.deep.equal(['t0', 't1', 't0']);
    expect(agent.runtime.tasks.status('t0').spec.command).to.deep.equal(['sleep', '700']);
  });
});

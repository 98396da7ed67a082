/** T1: what a task may be. Every fault is told with its path. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/index.js';
import { completeTask, type TaskOptions } from '../../src/tasks/spec.js';

const task: TaskOptions = { id: 'ebs', type: 'node', command: ['ebs-csi'] };
const socketOf = (bytes: number): string => `/${'s'.repeat(bytes - 1)}`;

function faultsOf(options: TaskOptions): string[] {
  try {
    completeTask(options);
    return [];
  } catch (error) {
    if (error instanceof StagecraftError && error.code === 'INVALID_ARGUMENT') return error.faults ?? [];
    throw error;
  }
}

describe('task spec', () => {
  for (const [title, options, paths] of [
    ['a NUL in an argument', { command: ['ebs-csi', 'a\0b'] }, ['command.1']],
    ['a NUL in a value of the environment', { env: { A: 'a\0b' } }, ['env.A']],
    ['a name of a variable that is empty', { env: { '': 'a' } }, ['env.']],
    ['a name of a variable with = or NUL', { env: { 'A=B': 'a', 'A\0': 'a' } }, ['env.A=B', 'env.A\0']],
    ['a name of a variable that is ours', { env: { STAGECRAFT_TOKEN: 't' } }, ['env.STAGECRAFT_TOKEN']],
    ['an endpoint that is no socket', { env: { CSI_ENDPOINT: 'tcp://x' } }, ['env.CSI_ENDPOINT']],
    ['an endpoint with a NUL', { env: { CSI_ENDPOINT: 'unix:///a\0' } }, ['env.CSI_ENDPOINT']],
    ['an endpoint too long', { env: { CSI_ENDPOINT: `unix://${socketOf(108)}` } }, ['env.CSI_ENDPOINT']],
    [
      'a first delay above the longest',
      { restart: { backoff: { initialMs: 2, maxMs: 1 } } },
      ['restart.backoff.initialMs'],
    ],
  ] satisfies [string, Partial<TaskOptions>, string[]][]) {
    it(`T1 ${title} is refused, with its path`, () => {
      expect(faultsOf({ ...task, ...options }).map((fault) => fault.split(': ')[0])).to.deep.equal(paths);
    });
  }

  it('T1 several faults are told at once; what just fits is taken', () => {
    expect(faultsOf({ ...task, command: ['\0'], env: { STAGECRAFT_X: '\0' } })).to.have.lengthOf(3);
    const env = { CSI_ENDPOINT: `unix://${socketOf(107)}` };
    expect(faultsOf({ ...task, env, restart: { backoff: { initialMs: 1, maxMs: 1 } } })).to.deep.equal([]);
  });
});

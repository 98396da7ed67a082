/** T1: what a task may be. Every fault is told with its path. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/index.js';
import { completeTask, type TaskOptions } from '../../src/tasks/spec.js';

const task: TaskOptions = { id: 'ebs', type: 'node', command: ['ebs-csi'] };
const theirs: Partial<TaskOptions> = { command: undefined, socket: '/run/ebs.sock' };
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
    ['a NUL in an argument', { command: ['ebs-csi', 'a\0b'] }, ['command[1]']],
    ['an unknown variable in an argument', { command: ['x', '${CSI_ENDPONT}'] }, ['command[1]']],
    ['a NUL in a value of the environment', { env: { A: 'a\0b' } }, ['env.A']],
    ['a name of a variable that is empty', { env: { '': 'a' } }, ['env.']],
    ['a name of a variable with = or NUL', { env: { 'A=B': 'a', 'A\0': 'a' } }, ['env.A=B', 'env.A\0']],
    ['a name of a variable that is ours', { env: { STAGECRAFT_TOKEN: 't' } }, ['env.STAGECRAFT_TOKEN']],
    ['an endpoint that is no socket', { env: { CSI_ENDPOINT: 'tcp://x' } }, ['env.CSI_ENDPOINT']],
    ['an endpoint with a NUL', { env: { CSI_ENDPOINT: 'unix:///a\0' } }, ['env.CSI_ENDPOINT']],
    ['an endpoint too long', { env: { CSI_ENDPOINT: `unix://${socketOf(108)}` } }, ['env.CSI_ENDPOINT']],
    ['neither a command nor a socket', { command: undefined }, ['command']],
    ['a command and a socket', { socket: '/run/ebs.sock' }, ['socket']],
    ['a socket that is relative', { ...theirs, socket: 'ebs.sock' }, ['socket']],
    ['a socket too long', { ...theirs, socket: socketOf(108) }, ['socket']],
    ['a socket with a NUL', { ...theirs, socket: '/a\0' }, ['socket']],
    ['an environment for a plugin of somebody else', { ...theirs, env: { A: 'a' } }, ['env']],
    ['a mountDir for a plugin of somebody else', { ...theirs, mountDir: '/csi' }, ['mountDir']],
    ['a mountDir that is relative', { mountDir: 'csi' }, ['mountDir']],
    ['a mountDir too long for a socket', { mountDir: socketOf(99) }, ['mountDir']],
    ['a mountDir beside an endpoint', { mountDir: '/csi', env: { CSI_ENDPOINT: 'unix:///a' } }, ['env.CSI_ENDPOINT']],
    ['a stagePublishBaseDir that is relative', { stagePublishBaseDir: 'csi' }, ['stagePublishBaseDir']],
    ['one under mountDir', { mountDir: '/csi', stagePublishBaseDir: '/csi/../csi/v' }, ['stagePublishBaseDir']],
    ['one that is mountDir', { mountDir: '/csi/', stagePublishBaseDir: '/csi' }, ['stagePublishBaseDir']],
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

  it('T1 variables of the environment and of the shell may stand in arguments', () => {
    const command = ['sh', '-c', 'x ${CSI_MODE} ${CSI_ENDPOINT} ${HOME}'];
    expect(completeTask({ ...task, command, env: { CSI_MODE: 'node' } })).to.deep.include({ command });
  });

  it('T1 paths beside each other are taken, also where they begin alike; without dots', () => {
    const places = { mountDir: '/csi/./sock', stagePublishBaseDir: '/csi/sockets/../..data' };
    expect(completeTask({ ...task, ...places })).to.include({
      mountDir: '/csi/sock',
      stagePublishBaseDir: '/csi/..data',
    });
    expect(completeTask({ ...task, ...theirs, stagePublishBaseDir: '/csi' })).to.include({ socket: '/run/ebs.sock' });
  });

  it('T1 several faults are told at once; what just fits is taken', () => {
    expect(faultsOf({ ...task, command: ['\0'], env: { STAGECRAFT_X: '\0' } })).to.have.lengthOf(3);
    const env = { CSI_ENDPOINT: `unix://${socketOf(107)}` };
    expect(faultsOf({ ...task, env, restart: { backoff: { initialMs: 1, maxMs: 1 } } })).to.deep.equal([]);
  });
});

/** Requests for help, and unknown commands. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { mainPath } from '../scenarios/agent-process.js';

const run = (line: string): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, [mainPath, ...line.split(' ')], { encoding: 'utf8' });

describe('A5 help', () => {
  it('A5 every way to ask for the help of one command shows that command', () => {
    for (const line of [
      'volume create --help',
      'help volume create',
      'volume help create',
      '--help volume create',
      'volume create -h',
    ])
      expect(run(line), line)
        .to.include({ status: 0, stderr: '' })
        .and.to.have.property('stdout')
        .that.matches(/^Usage: stagecraft volume create \[options\] \[id\]$/m);
    expect(run('help volume').stdout).to.match(/^Usage: stagecraft volume /);
    expect(run('help').stdout).to.match(/^Usage: stagecraft /);
    expect(run('volume --help').stdout).to.match(/^Usage: stagecraft volume /);
  });

  it('A5 an unknown command ends with 2 and a suggestion, also beside --help', () => {
    for (const line of [
      'volume creat',
      'volume creat --help',
      'volume creat -h',
      'help volume creat',
      '--help volume creat x',
    ])
      expect(run(line), line).to.deep.include({
        status: 2,
        stdout: '',
        stderr: "error: unknown command 'creat'\n(Did you mean create?)\n",
      });
    expect(run('volum --help')).to.deep.include({
      status: 2,
      stderr: "error: unknown command 'volum'\n(Did you mean volume?)\n",
    });
  });

  it('A5 an unknown command without a similar one: the error lists the commands', () => {
    expect(run('node frobnicate --help')).to.deep.include({
      status: 2,
      stderr: "error: unknown command 'frobnicate'\n(commands: list, status, fence, remove)\n",
    });
  });

  it('A5 a verb of another tool: the error names the command', () => {
    expect(run('get volumes')).to.deep.include({
      status: 2,
      stderr: "error: unknown command 'get'\n(the noun comes first: stagecraft volume list)\n",
    });
  });

  it('A5 help as an argument of a command is an ordinary argument', () => {
    expect(run('volume status help --socket /nosuch/agent.sock')).to.deep.include({ status: 3 });
  });
});

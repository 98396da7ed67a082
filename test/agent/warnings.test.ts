/** Warnings of Node must not appear: of what is deprecated or experimental, or of too many listeners. Also on Node 24: `npm run test:node24`. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import {
  AgentProcess,
  complaintsIn,
  mainPath,
  makePlace,
  type Place,
  removePlace,
} from '../scenarios/agent-process.js';

/** Arguments of Node with which a process dies of its first warning. */
const strictly = ['--import', 'data:text/javascript,process.on("warning", (warning) => { throw warning; })'];

const commands = [
  'plugin list',
  'task list',
  'volume create data --plugin hostpath --size 1Gi',
  'volume publish data n1',
  'volume list',
  'why volume data',
  'history volume data',
  'replay volume data',
  'events --from 0',
  'task logs hostpath',
  'volume unpublish data n1',
  'volume delete data',
  'drain',
];

describe('A2 an agent and its commands', () => {
  let place: Place;
  let agent: AgentProcess;

  before(async () => {
    place = makePlace({ type: 'monolith' });
    agent = new AgentProcess(place, [...strictly, mainPath, 'agent']);
    await agent.ready();
    await agent.healthy();
  });
  after(() => removePlace(place, agent));

  const said = (args: string[]) => {
    const words = [...strictly, mainPath, ...args, '--config', place.configPath];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    return { args, status, stderr: complaintsIn(stderr) };
  };

  it('A2 A5 from a first volume to a drain: Node warns of nothing', async () => {
    for (const command of commands) {
      const args = command.split(' ');
      expect(said(args)).to.deep.equal({ args, status: 0, stderr: '' });
    }
    expect(await agent.exited, agent.lines.join('\n')).to.deep.equal({ code: 0, signal: null });
  });
});

/** From starting an agent to its plugin healthy, against a node process that does nothing. */
import { execFileSync } from 'node:child_process';
import { AgentProcess, makePlace, removePlace } from '../scenarios/agent-process.js';
import type { Contender } from './measure.js';

const nothing: Contender = {
  name: 'node -e 0',
  async run() {
    execFileSync(process.execPath, ['-e', '0']);
    return 1;
  },
};

const fresh: Contender = {
  name: 'agent start to healthy plugin, nothing there yet',
  async run() {
    const place = makePlace();
    const agent = new AgentProcess(place);
    try {
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      return 1;
    } finally {
      removePlace(place, agent);
    }
  },
};

export const starts = [nothing, fresh];

/**
 * SIGKILL on the driver, the agent or both, at random moments, round after round on the same data.
 * `ROUNDS=200 SEED=7` for more of them; a failing run prints its seed.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRuntime } from '../../src/index.js';
import { seededRandom } from '../../src/testing/index.js';
import { AgentProcess, makePlace, type Place, pluginPids, removePlace } from './agent-process.js';

const rounds = Number(process.env.ROUNDS ?? 20);
const seed = Number(process.env.SEED ?? 20261121);

/** What a kill may come right after; a moment in words, for the report. */
const moments = {
  'at once': undefined,
  'as soon as the agent says anything': /./,
  'when its API listens': /^ {2}api /,
  'when a process was started': /process started|plugin hostpath \(csi-node\): (un)?healthy/,
  'when the plugin answers': /hostpath-\w+ answers|plugin hostpath \(csi-node\): healthy/,
  'when it is healthy': /plugin hostpath \(csi-node\): healthy/,
};

const victims = ['driver', 'agent', 'both'] as const;

describe(`T9 A8 ${rounds} rounds of SIGKILL on driver and agent, seed ${seed}`, function () {
  this.timeout(Math.max(120_000, rounds * 10_000));
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
  // The driver is to die often; only its pauses must stay short.
  const place = makePlace({ restart: { maxRestarts: 1_000_000, backoff: { initialMs: 10, maxMs: 100 } } });
  let agent: AgentProcess;

  before(() => {
    agent = new AgentProcess(place);
  });
  after(() => removePlace(place, agent));

  for (let round = 1; round <= rounds; round += 1) {
    const victim = pick(victims);
    const moment = pick(Object.keys(moments) as (keyof typeof moments)[]);
    const delayMs = Math.floor(random.next() * 120);

    it(`round ${round}: kills ${victim} ${moment} and ${delayMs} ms, and the plugin is healthy again`, async () => {
      const pattern = moments[moment];
      if (pattern) await agent.line(pattern);
      await new Promise((resolve) => setTimeout(resolve, delayMs)); // the moment itself, not a wait for something
      const doomed = victim === 'agent' ? [] : pluginPids(place);
      for (const pid of doomed) process.kill(pid, 'SIGKILL');
      if (victim !== 'driver') {
        await agent.kill('SIGKILL');
        agent = new AgentProcess(place);
      }
      await agent.ready();
      await anotherHealthy(agent, place, doomed);
      expect(pluginPids(place)).to.have.length(1);
    });
  }

  it('leaves every journal unbroken, replaying to the committed snapshot', async () => {
    await agent.kill('SIGKILL');
    const runtime = await createRuntime({ nodeId: 'n1', dataDir: place.dataDir });
    try {
      const { info } = await runtime.plugins.waitFor('csi-node', 'hostpath');
      const addresses = ['registry/n1', 'task/n1/hostpath', 'plugins/n1/csi-node/hostpath'];
      for (const address of [...addresses, `plugin/n1/csi-node/hostpath/${info.allocId}`]) {
        const { seq, snapshot } = await runtime.journal.replay(address);
        expect(seq, address).to.be.greaterThan(0);
        expect(snapshot, address).to.be.an('object');
      }
      const { snapshot } = await runtime.journal.replay(`plugin/n1/csi-node/hostpath/${info.allocId}`);
      expect(snapshot?.value).to.equal('healthy');
    } finally {
      await runtime.close();
    }
  });

  it('leaves no stray process, socket or file once it is drained', async () => {
    const runtime = await createRuntime({ nodeId: 'n1', dataDir: place.dataDir });
    await runtime.close({ release: true });
    expect(pluginPids(place)).to.deep.equal([]);
    expect(readdirSync(join(place.dataDir, 'plugins'))).to.deep.equal([]);
    const left = readdirSync(place.dataDir).filter((name) => name !== 'agent.sock'); // of the agent that was killed
    expect(left.sort()).to.deep.equal(['lock', 'logs', 'plugins', 'state', 'tasks']);
  });
});

/** Healthy, served by a process that was not killed. */
async function anotherHealthy(agent: AgentProcess, place: Place, doomed: number[]): Promise<void> {
  for (;;) {
    const seen = agent.lines.length;
    await agent.healthy();
    const living = pluginPids(place);
    if (living.length > 0 && !living.some((pid) => doomed.includes(pid))) return;
    // The agent has not noticed the death yet: its next line tells of it.
    await agent.line(/./, seen);
  }
}

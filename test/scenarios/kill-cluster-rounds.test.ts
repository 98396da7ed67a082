/**
 * Agents on one Redis are killed or frozen at random moments, round after round, while users ask for volumes on any of them.
 * `ROUNDS=200 SEED=7` for more of them; the title tells the seed.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../src/testing/seeded-random.js';
import type { Step } from '../../src/tools/fault-driver/step.js';
import { eventually } from '../until.js';
import type { Ask } from './kill-cluster-agent.js';
import { type ClusterAgent, ClusterScene, codeOf, lost, nodes, type Seen } from './kill-cluster-scene.js';
import { Scene } from './redis-scene.js';

const rounds = Number(process.env.ROUNDS ?? 2);
const seed = Number(process.env.SEED ?? 20261125);
const users = 8;
const longestPauseMs = 1_500;
/** Longer than the lease of the agent that works on volumes, shorter than that of a node. */
const longestFreezeMs = 9_000;

/** Agents with their controller plugins. */
const agents: Record<string, string[]> = { a: ['disk'], b: ['disk'], c: ['other'], d: [] };

const faults: Step[] = [
  { delayMs: 400 },
  { hang: 'before' },
  { hang: 'after' },
  { breakOff: 'after' },
  { code: 'ABORTED', text: 'busy' },
];
const rpcs = ['CreateVolume', 'DeleteVolume', 'ControllerPublishVolume', 'ControllerUnpublishVolume'] as const;

describe(`D5 ${rounds} rounds of SIGKILL and SIGSTOP among several agents, seed ${seed}`, () => {
  const random = seededRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  const servers = new Scene();
  const running = new Map<string, ClusterAgent>();
  const dataDirs = new Map<string, string>();
  const ending = new AbortController();
  /** By volume, what there is once all that was asked for is done: nothing, a volume, or where it is published. */
  const wishes = new Map<string, string>();
  const told: string[] = [];
  let cluster: ClusterScene;
  let living: Promise<unknown>;

  const start = async (nodeId: string): Promise<void> => {
    running.set(nodeId, await cluster.agent(nodeId, agents[nodeId] ?? [], dataDirs.get(nodeId)));
  };

  before(async () => {
    const { url } = await servers.lab.server();
    cluster = await ClusterScene.start({ url });
    for (const nodeId of Object.keys(agents)) {
      dataDirs.set(nodeId, join(servers.directory(), 'data'));
      await start(nodeId);
    }
    for (const node of nodes) await running.get('a')?.ask({ op: 'report', node });
    living = Promise.all(Array.from({ length: users }, (_, n) => live(`v${n}`)));
    living.catch(() => {}); // told at their end
  });
  after(async () => {
    ending.abort();
    await cluster?.end();
    await servers.clear();
  });

  async function live(id: string): Promise<void> {
    wishes.set(id, 'nothing');
    while (!ending.signal.aborted) {
      const wish = wishes.get(id) ?? '';
      const isOn = nodes.includes(wish);
      const next = wish === 'nothing' ? 'volume' : isOn ? 'volume' : random.next() < 0.3 ? 'nothing' : pick(nodes);
      await insist(askFor(id, { from: wish, to: next }));
      wishes.set(id, next);
    }
  }

  function askFor(id: string, { from, to }: { from: string; to: string }): Ask {
    if (from === 'nothing') return { op: 'create', id };
    if (to === 'nothing') return { op: 'delete', id };
    return nodes.includes(from) ? { op: 'unpublish', id, node: from } : { op: 'publish', id, node: to };
  }

  /** Asks any agent, and another one after its death, until it is done. */
  async function insist(ask: Ask): Promise<void> {
    let isRepeat = false;
    for (;;) {
      const asked = pick([...running.values()]);
      try {
        await asked.ask(ask);
        return;
      } catch (error) {
        const code = codeOf(error);
        told.push(`${asked.nodeId} ${JSON.stringify(ask)}: ${code} ${String(error)}`);
        if (code === 'VOLUME_NOT_FOUND' && ask.op === 'delete' && isRepeat) return;
        if (code !== lost && code !== 'RUNTIME_CLOSED') throw error;
        isRepeat = true;
        await pause(20); // as users do
      }
    }
  }

  for (let round = 1; round <= rounds; round += 1) {
    const nodeId = pick(Object.keys(agents));
    const how = pick(['killed', 'killed', 'frozen', 'ended in order']);
    const afterMs = Math.floor(random.next() * longestPauseMs);
    const forMs = Math.floor(random.next() * (how === 'frozen' ? longestFreezeMs : longestPauseMs));
    const faulty = [pick(rpcs), pick(rpcs)].map((rpc) => ({ rpc, step: pick(faults) }));
    it(`round ${round}: ${nodeId} ${how} after ${afterMs} ms, for ${forMs} ms`, async () => {
      const agent = running.get(nodeId);
      if (!agent) throw new Error(`${nodeId} does not run`);
      for (const { rpc, step } of faulty) cluster.driver.script(rpc, step);
      await pause(afterMs); // the moment itself, not a wait for something
      if (how === 'frozen') agent.freeze();
      else if (how === 'killed') await agent.kill();
      else agent.terminate();
      await pause(forMs);
      if (how === 'frozen') agent.thaw();
      else {
        await eventually(`${nodeId} has ended`, () => agent.isGone);
        await start(nodeId);
      }
    });
  }

  describe('after them', () => {
    before(async () => {
      cluster.driver.clear();
      cluster.driver.release();
      ending.abort();
      await living;
    });

    const looks = (seen: Seen | undefined): string | undefined => {
      if (!seen) return 'nothing';
      const [[node, state] = [], ...others] = Object.entries(seen.published);
      if (node === undefined) return seen.state === 'created' ? 'volume' : undefined;
      return others.length === 0 && state === 'published' ? node : undefined;
    };

    it('each user has what was answered, as any agent tells', async () => {
      for (const [id, wish] of wishes)
        for (const agent of running.values())
          await eventually(`${id} is ${wish}`, async () => looks(await agent.seen(id)) === wish).catch(
            async (cause: unknown) => {
              const seen = JSON.stringify(await agent.seen(id));
              throw new Error(`${String(cause)}, but ${seen}\n${told.join('\n')}`, { cause });
            },
          );
    });

    it('exactly one agent works on volumes', async () => {
      await eventually('one leads', async () => {
        const leads = await Promise.all([...running.values()].map((agent) => agent.ask({ op: 'leads' })));
        return leads.filter((one) => one === true).length === 1;
      });
    });

    it('no call was made that undoes one that might be under way, over all instances', () => cluster.judge());
  });
});

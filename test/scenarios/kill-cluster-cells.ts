/**
 * Cells of the fault matrix of several agents: who is struck, how, and when. The agent that works on volumes (owner), one
 * that makes its calls (callee), and one that is asked (asker).
 */
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { type ClusterAgent, ClusterScene, nodes } from './kill-cluster-scene.js';
import { eventually, lapseLeases, Scene, within } from './redis-scene.js';

export type Victim = 'owner' | 'callee' | 'asker';
export type How = 'killed' | 'frozen';

/** When a publish, or a claim, is struck. */
export const moments = [
  'asked and not read',
  'committed, and its call waits for the plugin',
  'its call is at the driver, made here',
  'its call is at the driver, made far',
  'the driver has answered, made here, nothing is committed',
  'the driver has answered, made far, nothing is committed',
  'committed, and its answer is lost',
  'the owner ends in order, its call is at the driver',
  'a claim waits',
] as const;
export type Moment = (typeof moments)[number];

export interface Cell {
  moment: Moment;
  victim: Victim;
  how: How;
}

export const titleOf = ({ moment, victim, how }: Cell): string => `D5 ${moment}: ${victim} ${how}`;

const hasCallee = (moment: Moment): boolean => moment.includes('far');

/** All cells in which there is somebody to strike. */
export const allCells: Cell[] = moments.flatMap((moment) =>
  (['owner', 'callee', 'asker'] as const)
    .filter((victim) => victim !== 'callee' || hasCallee(moment))
    .flatMap((victim) => (['killed', 'frozen'] as const).map((how) => ({ moment, victim, how }))),
);

/** Times at which another agent led after a SIGKILL of the owner, in ms. */
export const takeovers: number[] = [];

type Agents = Record<Victim | 'spare', ClusterAgent>;

export class CellRun {
  readonly #cell: Cell;
  readonly #cluster: ClusterScene;
  readonly #agents: Agents;
  readonly #redis: Redis;

  private constructor(cell: Cell, { cluster, agents, redis }: { cluster: ClusterScene; agents: Agents; redis: Redis }) {
    this.#cell = cell;
    this.#cluster = cluster;
    this.#agents = agents;
    this.#redis = redis;
  }

  static async play(cell: Cell): Promise<void> {
    const scene = new Scene();
    const server = await scene.lab.server();
    const cluster = await ClusterScene.start({ url: server.url });
    try {
      const owner = await cluster.agent('owner', [hasCallee(cell.moment) ? 'other' : 'disk']);
      expect(await owner.ask({ op: 'leads' })).to.equal(true);
      const [callee, spare, asker] = await Promise.all([
        cluster.agent('callee', ['disk']),
        // The order of instances is that of a hash: with this name it comes after the callee.
        cluster.agent('second', ['disk']),
        cluster.agent('asker', []),
      ]);
      for (const node of nodes) await owner.ask({ op: 'report', node });
      await asker.ask({ op: 'create', id: 'data' });
      const run = new CellRun(cell, { cluster, agents: { owner, callee, asker, spare }, redis: server.client() });
      await (cell.moment === 'a claim waits' ? run.#playClaim() : run.#playPublish());
      cluster.judge();
    } finally {
      await cluster.end();
      await scene.clear();
    }
  }

  async #playPublish(): Promise<void> {
    const { moment, victim, how } = this.#cell;
    const { driver } = this.#cluster;
    const { asker, spare } = this.#agents;
    const { published } = await this.#reach(moment);
    await this.#strike();
    await this.#relieve();
    if (victim === 'asker' && how === 'killed') await spare.ask({ op: 'publish', id: 'data', node: 'node-1' });
    else await within('the answer of the publish', published);
    expect(await spare.seen('data')).to.deep.include({ published: { 'node-1': 'published' } });
    // What undoes it waits for what may be under way.
    const last = asker.isGone ? spare : asker;
    await within('the unpublish', last.ask({ op: 'unpublish', id: 'data', node: 'node-1' }));
    await within('the deletion', spare.ask({ op: 'delete', id: 'data' }));
    expect(await spare.seen('data')).to.equal(undefined);
    const deletions = driver.calls().filter(({ rpc, end }) => rpc === 'DeleteVolume' && end?.code === 'OK');
    expect(deletions).to.have.length.above(0);
  }

  /** Brings the publish to the moment. @returns its answer */
  async #reach(moment: Moment): Promise<{ published: Promise<unknown> }> {
    const { driver } = this.#cluster;
    const { owner, callee, asker } = this.#agents;
    const ask = (): Promise<unknown> => asker.ask({ op: 'publish', id: 'data', node: 'node-1' });
    if (moment === 'asked and not read') {
      const before = await this.#lastText(owner);
      owner.freeze();
      const published = ask();
      await eventually('it is in the inbox', async () => (await this.#lastText(owner)) !== before);
      return { published };
    }
    if (moment === 'committed, and its call waits for the plugin') {
      driver.script('Probe', { answer: { ready: false } }, { times: 'always' });
      await eventually('the plugin is seen unwell', async () => {
        const refused = await owner.ask({ op: 'create', id: 'probe', timeoutMs: 300 }).catch(String);
        return String(refused).includes("can't be called");
      });
      const published = ask();
      await eventually('it is committed', async () => (await owner.seen('data'))?.state !== 'created');
      return { published };
    }
    driver.script('ControllerPublishVolume', { hang: 'before', goOn: true });
    const published = ask();
    const { number } = await driver.waitForCall('ControllerPublishVolume');
    if (moment.startsWith('the driver has answered')) {
      // Who made the call does not hear the answer, or the owner does not.
      (this.#cell.victim === 'callee' ? callee : owner).freeze();
      driver.release(number);
      await driver.waitForEnd(number);
    }
    if (moment === 'committed, and its answer is lost') {
      asker.freeze();
      driver.release(number);
      await eventually('it is committed', async () => (await owner.seen('data'))?.state === 'published');
      await this.#loseTexts(asker);
    }
    if (moment.startsWith('the owner ends in order')) owner.terminate();
    return { published };
  }

  /** Who is struck for a time wakes up once another one has taken over, or counts as away. */
  async #strike(): Promise<void> {
    const { victim, how, moment } = this.#cell;
    const isMeasured = moment === 'asked and not read';
    const struck = this.#agents[victim];
    const { spare, asker, owner } = this.#agents;
    if (how === 'killed') await struck.kill();
    else struck.freeze();
    if (victim !== 'owner' && owner.isFrozen) owner.thaw();
    if (victim !== 'asker' && asker.isFrozen) asker.thaw();
    if (victim !== 'owner') return;
    const beganMs = performance.now();
    // The time that has to pass is known: only where it is measured is it waited for.
    if (how === 'killed' && !isMeasured) await lapseLeases(this.#redis);
    await eventually('another agent leads', async () => {
      for (const other of [spare, this.#agents.callee, asker]) if (await other.ask({ op: 'leads' })) return true;
      return false;
    });
    if (isMeasured && how === 'killed') takeovers.push(performance.now() - beganMs);
  }

  /** Lets go on what hangs, and who is frozen: that one begins nothing (D7). */
  async #relieve(): Promise<void> {
    const { victim, how, moment } = this.#cell;
    const { driver } = this.#cluster;
    const struck = this.#agents[victim];
    driver.clear();
    // With its caller dead, the call itself goes on.
    if (victim === 'asker') driver.release();
    if (how !== 'frozen') return;
    if (victim === 'callee') await this.#repeated();
    if (victim === 'owner' && moment !== 'asked and not read') await this.#repeated();
    if (victim === 'asker') return struck.thaw();
    const before = this.#cluster.calls.length;
    struck.thaw();
    if (moment.startsWith('the owner ends')) return;
    if (victim === 'owner') await eventually('it stands by', async () => !(await struck.ask({ op: 'leads' })));
    if (moment !== 'asked and not read') expect(this.#cluster.calls).to.have.lengthOf(before);
  }

  /** Another agent has done it meanwhile. */
  async #repeated(): Promise<void> {
    await eventually('it is published', async () => (await this.#agents.spare.seen('data'))?.state === 'published');
  }

  async #playClaim(): Promise<void> {
    const { victim, how } = this.#cell;
    const { asker, spare } = this.#agents;
    const claim = { op: 'claim', id: 'data', node: 'node-1' } as const;
    await spare.ask({ ...claim, alloc: 'first' });
    const second = asker.ask({ ...claim, alloc: 'second' });
    const waiting = async (): Promise<number | undefined> => (await spare.seen('data'))?.waiting;
    await eventually('it waits', async () => (await waiting()) === 1);
    await this.#strike();
    if (victim === 'asker') await eventually('its place is given up', async () => (await waiting()) === 0, 60_000);
    if (how === 'frozen') this.#agents[victim].thaw();
    await spare.ask({ op: 'release', id: 'data', alloc: 'first', node: 'node-1' });
    if (victim === 'asker' && how === 'killed') return;
    expect(await within('the claim', second)).to.equal('taken');
  }

  /** Id of the last text in the inbox of an agent. */
  async #lastText(agent: ClusterAgent): Promise<string | undefined> {
    const [last] = await this.#redis.xrevrange(await this.#inboxOf(agent), '+', '-', 'COUNT', 1);
    return last?.[0];
  }

  async #loseTexts(agent: ClusterAgent): Promise<void> {
    await this.#redis.xtrim(await this.#inboxOf(agent), 'MAXLEN', 0);
  }

  async #inboxOf({ nodeId }: ClusterAgent): Promise<string> {
    const [key] = await this.#redis.keys(`*:x:${nodeId}/*`);
    if (key === undefined) throw new Error(`${nodeId} has no inbox`);
    return key;
  }
}

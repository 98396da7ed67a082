/**
 * Cells of the fault matrix of several agents: who is struck, how, when, and on which Redis. The agent that works on volumes
 * (owner), one that makes its calls (callee), one that is asked (asker), or the master of Redis.
 */
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { type How, type Topology, type TopologyName, topologies } from '../redis/topologies.js';
import { eventually, within } from '../until.js';
import type { Ask } from './kill-cluster-agent.js';
import { type ClusterAgent, ClusterScene, codeOf, nodes, type Seen } from './kill-cluster-scene.js';
import { lapseLeases, Scene } from './redis-scene.js';

type AgentVictim = 'owner' | 'callee' | 'asker';
type Victim = AgentVictim | 'master';

/** When a publish, or a claim, is struck. */
const moments = [
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
type Moment = (typeof moments)[number];

export interface Cell {
  moment: Moment;
  victim: Victim;
  how: How;
  on: TopologyName;
}

export const titleOf = ({ moment, victim, how, on }: Cell): string => `D5 ${moment}: ${victim} ${how}, ${on}`;

const hasCallee = (moment: Moment): boolean => moment.includes('far');

const hows = ['killed', 'frozen'] as const;
const places: TopologyName[] = ['on one server', 'under Sentinel', 'on a cluster'];

/** All cells in which there is somebody to strike. */
export const allCells: Cell[] = places.flatMap((on) =>
  moments.flatMap((moment) =>
    (['owner', 'callee', 'asker', 'master'] as const)
      .filter((victim) => victim !== 'callee' || hasCallee(moment))
      .flatMap((victim) => hows.map((how) => ({ moment, victim, how, on }))),
  ),
);

/** Times at which another agent led after a SIGKILL of the owner, in ms. */
export const takeovers: number[] = [];

/** Requests that were answered with STORE_UNAVAILABLE while the master was away: their users asked again. */
export const refused: string[] = [];

type Agents = Record<AgentVictim | 'spare', ClusterAgent>;
const publish = { op: 'publish', id: 'data', node: 'node-1' } as const;

interface Setting {
  cluster: ClusterScene;
  agents: Agents;
  redis: Topology;
}

export class CellRun {
  readonly #cell: Cell;
  readonly #cluster: ClusterScene;
  readonly #agents: Agents;
  readonly #redis: Topology;
  /** Of the masters at the start. */
  readonly #clients: Redis[];

  private constructor(cell: Cell, { cluster, agents, redis }: Setting) {
    this.#cell = cell;
    this.#cluster = cluster;
    this.#agents = agents;
    this.#redis = redis;
    this.#clients = redis.masters.map((master) => master.client());
  }

  static async play(cell: Cell): Promise<void> {
    const scene = new Scene();
    const redis = await topologies[cell.on](scene.lab, { isToBeStruck: cell.victim === 'master' });
    const cluster = await ClusterScene.start(redis.store);
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
      const run = new CellRun(cell, { cluster, agents: { owner, callee, asker, spare }, redis });
      await (cell.moment === 'a claim waits' ? run.#playClaim() : run.#playPublish());
      cluster.judge();
    } finally {
      await cluster.end();
      await scene.clear();
    }
  }

  /** Checks what the spare tells. A frozen master answers as one when it goes on, until its Sentinel has told it otherwise. */
  async #sees(check: (seen: Seen | undefined) => void): Promise<void> {
    const { spare } = this.#agents;
    const look = async (): Promise<void> => check(await spare.seen('data'));
    if (this.#cell.victim !== 'master') return look();
    const isSo = (): Promise<boolean> =>
      look().then(
        () => true,
        () => false,
      );
    await eventually('the spare sees it', isSo).catch(look);
  }

  async #playPublish(): Promise<void> {
    const { moment, victim, how } = this.#cell;
    const { driver } = this.#cluster;
    const { asker, spare } = this.#agents;
    const { published } = await this.#reach(moment);
    await this.#strike();
    await this.#relieve();
    if (victim === 'asker' && how === 'killed') await spare.ask(publish);
    else await this.#insist(asker, publish, published);
    await this.#sees((seen) => expect(seen).to.deep.include({ published: { 'node-1': 'published' } }));
    // What undoes it waits for what may be under way.
    const last = asker.isGone ? spare : asker;
    await this.#insist(last, { op: 'unpublish', id: 'data', node: 'node-1' });
    await this.#insist(spare, { op: 'delete', id: 'data' });
    await this.#sees((seen) => expect(seen).to.equal(undefined));
    const deletions = driver.calls().filter(({ rpc, end }) => rpc === 'DeleteVolume' && end?.code === 'OK');
    expect(deletions).to.have.length.above(0);
  }

  /** Brings the publish to the moment. @returns its answer */
  async #reach(moment: Moment): Promise<{ published: Promise<unknown> }> {
    const { driver } = this.#cluster;
    const { owner, callee, asker } = this.#agents;
    const ask = (): Promise<unknown> => asker.ask(publish);
    if (moment === 'asked and not read') {
      const before = await this.#lastText(owner);
      owner.freeze();
      const published = ask();
      await eventually('it is in the inbox', async () => (await this.#lastText(owner)) !== before);
      return { published };
    }
    if (moment === 'committed, and its call waits for the plugin') {
      driver.script('Probe', { answer: { ready: false } }, { times: 'always' });
      await eventually('the plugin is seen unwell everywhere', async () => {
        const wellAt = await owner.ask({ op: 'wellAt', plugin: 'disk' });
        return Array.isArray(wellAt) && wellAt.length === 0;
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
    if (victim === 'master') return this.#strikeMaster(how);
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
    if (how === 'killed' && !isMeasured) for (const client of this.#clients) await lapseLeases(client);
    await eventually('another agent leads', async () => {
      for (const other of [spare, this.#agents.callee, asker]) if (await other.ask({ op: 'leads' })) return true;
      return false;
    });
    if (isMeasured && how === 'killed') takeovers.push(performance.now() - beganMs);
  }

  /** The driver answers while there is no master, where that was killed; else later. */
  async #strikeMaster(how: How): Promise<void> {
    const { owner, callee, asker, spare } = this.#agents;
    const { driver } = this.#cluster;
    const recovered = await this.#redis.strikeMaster(how, await this.#nameAtStake());
    for (const agent of [owner, asker]) if (agent.isFrozen) agent.thaw();
    if (how === 'killed') driver.release();
    await recovered();
    driver.release();
    for (const agent of [callee, asker, spare])
      await eventually(`${agent.nodeId} reaches the store again`, () => agent.seen('data').catch(() => undefined));
  }

  /** Name of what hurts most at the moment, if it is lost. */
  async #nameAtStake(): Promise<string> {
    const { moment } = this.#cell;
    const { owner, asker } = this.#agents;
    if (moment === 'asked and not read' || moment.includes('made far')) return (await this.#inboxOf(owner)).name;
    if (moment === 'committed, and its answer is lost') return (await this.#inboxOf(asker)).name;
    return moment.startsWith('the owner ends') ? 'volumes/0' : 'volume/default/data';
  }

  /**
   * Resolves with the answer to a request. If that says that the store is away, as it may while a master is, it is asked again.
   */
  async #insist(agent: ClusterAgent, ask: Ask, asked = agent.ask(ask)): Promise<unknown> {
    for (let answer = asked, isRepeat = false; ; answer = agent.ask(ask), isRepeat = true) {
      try {
        return await within(`the answer to ${ask.op}`, answer);
      } catch (error) {
        const code = codeOf(error);
        if (isRepeat && ask.op === 'delete' && code === 'VOLUME_NOT_FOUND') return undefined;
        if (this.#cell.victim !== 'master' || code !== 'STORE_UNAVAILABLE') throw error;
        refused.push(`${ask.op} in ${titleOf(this.#cell)}`);
      }
    }
  }

  /** Lets go on what hangs, and who is frozen: that one begins nothing (D7). */
  async #relieve(): Promise<void> {
    const { victim, how, moment } = this.#cell;
    const { driver } = this.#cluster;
    driver.clear();
    if (victim === 'master') return;
    const struck = this.#agents[victim];
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
    const asked = { ...claim, alloc: 'second' };
    const second = asker.ask(asked);
    const waiting = async (): Promise<number | undefined> => (await spare.seen('data'))?.waiting;
    await eventually('it waits', async () => (await waiting()) === 1);
    await this.#strike();
    if (victim === 'asker') await eventually('its place is given up', async () => (await waiting()) === 0);
    if (victim !== 'master' && how === 'frozen') this.#agents[victim].thaw();
    await this.#insist(spare, { op: 'release', id: 'data', alloc: 'first', node: 'node-1' });
    if (victim === 'asker' && how === 'killed') return;
    expect(await this.#insist(asker, asked, second)).to.equal('taken');
  }

  /** Id of the last text in the inbox of an agent. */
  async #lastText(agent: ClusterAgent): Promise<string | undefined> {
    const { client, key } = await this.#inboxOf(agent);
    const [last] = await client.xrevrange(key, '+', '-', 'COUNT', 1);
    return last?.[0];
  }

  async #loseTexts(agent: ClusterAgent): Promise<void> {
    const { client, key } = await this.#inboxOf(agent);
    await client.xtrim(key, 'MAXLEN', 0);
  }

  /** @returns the key of its inbox, its name in the store, and a client of the master that has it */
  async #inboxOf({ nodeId }: ClusterAgent): Promise<{ client: Redis; key: string; name: string }> {
    for (const client of this.#clients) {
      const [key] = await client.keys(`*:x:${nodeId}/*`);
      if (key !== undefined) return { client, key, name: key.slice(key.indexOf(nodeId)) };
    }
    throw new Error(`${nodeId} has no inbox`);
  }
}

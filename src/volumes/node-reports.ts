/**
 * Brings what nodes report to the agent that leads, which alone may take it: an agent that stands by appends its report
 * to a topic of the store, and looks for it in what the leader commits.
 *
 * The leader reads the topic from when it began to look, and keeps no place in it: what nobody took is appended again, by
 * whoever reported it. So nothing old is taken for news, and a report that was lost with a leader reaches the next one.
 */
import type { NodePlugin } from '../../machines/node.js';
import { isSameData } from '../../machines/same-data.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { TopicRow } from '../engine/store.js';
import { eventOf, type Topics } from '../engine/topics.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeManager } from './node-manager.js';

export interface NodeReportsOptions {
  nodes: Pick<NodeManager, 'report' | 'status'>;
  topics: Pick<Topics, 'append' | 'follow'>;
  /** Whether this runtime leads now. */
  leads(): boolean;
  /** Rises with each start of this node's runtime. */
  epoch(): number;
  clock: Clock;
  logger: Logger;
}

interface Report {
  id: string;
  plugins: NodePlugin[];
}

const topic = 'node-reports';
const lookMs = 1_000;
/** So often it is looked for before it is appended again. */
const looks = 10;

export class NodeReports {
  readonly #options: NodeReportsOptions;
  readonly #stop = new AbortController();
  #sent = 0;

  constructor(options: NodeReportsOptions) {
    this.#options = options;
  }

  /** Takes what others report, whenever this runtime leads. */
  start(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when the report is committed, here or by the one that leads. @throws StagecraftError NOT_LEADER: it may be yet */
  async report(report: Report): Promise<void> {
    const { nodes, leads } = this.#options;
    if (leads()) return nodes.report(report);
    await this.#append(report);
    for (let look = 0; look < looks; look += 1) {
      await pause(this.#options.clock, lookMs, this.#stop.signal);
      this.#stop.signal.throwIfAborted();
      if (leads() || (await this.#isTaken(report))) break;
    }
    if (leads()) return nodes.report(report);
    if (!(await this.#isTaken(report)))
      throw new StagecraftError('NOT_LEADER', 'the agent that leads has not taken the report of this node yet');
  }

  async #append({ id, plugins }: Report): Promise<void> {
    const { topics, clock, epoch } = this.#options;
    this.#sent += 1;
    const text = JSON.stringify({ id, plugins, at: clock.now() });
    await topics.append(topic, { source: `node/${id}`, seq: epoch(), index: this.#sent, text });
  }

  async #isTaken({ id, plugins }: Report): Promise<boolean> {
    try {
      const { state, plugins: stored } = await this.#options.nodes.status(id);
      return state === 'ready' && isSameData(stored, plugins);
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'NODE_NOT_FOUND') return false;
      throw error;
    }
  }

  async #follow(): Promise<void> {
    const { topics, clock, logger } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const row of topics.follow(topic, 'now', signal)) await this.#take(row);
      } catch (error) {
        logger.debug({}, `what other nodes report can't be read now: ${messageOf(error)}`);
      }
      if (!signal.aborted) await pause(clock, lookMs, signal);
    }
  }

  /** What can't be taken here is appended again by whoever reported it. */
  async #take(row: TopicRow): Promise<void> {
    const { nodes, leads, logger } = this.#options;
    if (!leads()) return;
    const { id, plugins } = eventOf<Report>(row);
    await nodes.report({ id, plugins }).catch((error: unknown) => {
      logger.warn({ node: id }, `what the node reports can't be taken: ${messageOf(error)}`);
    });
  }
}

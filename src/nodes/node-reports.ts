/**
 * Brings what nodes report to the agent that leads, which alone may take it: an agent that stands by appends its report
 * to a topic of the store, and looks for it in what the leader commits.
 *
 * The leader reads the topic from when it began to look, and keeps no place in it: what nobody took is appended again, by
 * whoever reported it. So nothing old is taken for news, and a report that was lost with a leader reaches the next one.
 * One that is said again has the mark that it had: once it is heard, and somebody has called the node down since, its
 * repeat does not undo that.
 */

import { isSameData } from '../../machines/kit/same-data.js';
import { isHeard, type NodePlugin, type ReportMark } from '../../machines/node/node.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf, type Topics } from '../engine/topics/topics.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeManager } from './node-manager.js';

export interface NodeReportsOptions {
  nodes: Pick<NodeManager, 'hear' | 'hasHeard' | 'reported' | 'refuseUntakeable'>;
  topics: Pick<Topics, 'append' | 'follow'>;
  /** Whether this runtime leads now. */
  leads(): boolean;
  /** Rises with each start of this node's runtime. */
  epoch(): number;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
}

interface Report {
  id: string;
  plugins: NodePlugin[];
}

/** As it is in the topic. */
type Said = Report & { mark: ReportMark };

const topic = 'node-reports';
const lookMs = 1_000;
/** So often it is looked for before it is appended again. */
const looks = 10;

export class NodeReports {
  readonly #options: NodeReportsOptions;
  readonly #stop = new AbortController();
  #sent = 0;
  #number = 0;
  /** What is not known to be heard yet. */
  #open: Said | undefined;
  /** Whether the node was seen to be there since that was said. */
  #wasThere = false;
  /** By node: the last report of others that was taken here. A node that is removed forgets what it has heard. */
  readonly #taken = new Map<string, ReportMark>();

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

  /**
   * Resolves when the report is committed, here or by the one that leads.
   * @throws StagecraftError NODE_EXISTS; NOT_LEADER: it may be yet
   */
  async report(report: Report): Promise<void> {
    const { nodes, leads } = this.#options;
    const said = this.#said(report);
    if (!leads() && !(await this.#isTaken(said))) await this.#bring(said);
    if (leads()) await nodes.hear(report, said.mark);
    else if (!(await this.#isTaken(said))) {
      await nodes.refuseUntakeable(report);
      throw new StagecraftError('NOT_LEADER', 'the agent that leads has not taken the report of this node yet');
    }
    this.#open = undefined;
  }

  /** Resolves when it is taken, or was looked for long enough, or this runtime leads. */
  async #bring(said: Said): Promise<void> {
    const { clock, leads } = this.#options;
    const { signal } = this.#stop;
    await this.#append(said);
    for (let look = 0; look < looks; look += 1) {
      await pause(clock, lookMs, signal);
      signal.throwIfAborted();
      if (leads() || (await this.#isTaken(said))) return;
    }
  }

  /** Nothing is heard by one that was removed meanwhile: whoever did that has said what the node is since. */
  async #isTaken({ id, mark }: Said): Promise<boolean> {
    const { nodes } = this.#options;
    if (await nodes.hasHeard(id, mark)) return true;
    const isThere = (await nodes.reported(id)) !== undefined;
    this.#wasThere ||= isThere;
    return this.#wasThere && !isThere;
  }

  /** What is said again has the mark that it had. */
  #said(report: Report): Said {
    if (!this.#open || !isSameData(this.#open.plugins, report.plugins)) {
      this.#number += 1;
      this.#wasThere = false;
      this.#open = { ...report, mark: { epoch: this.#options.epoch(), number: this.#number } };
    }
    return this.#open;
  }

  async #append(said: Said): Promise<void> {
    const { topics, clock, epoch } = this.#options;
    this.#sent += 1;
    const text = JSON.stringify({ ...said, at: clock.now() });
    await topics.append(topic, { source: `node/${said.id}`, seq: epoch(), index: this.#sent, text });
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
  async #take(row: FollowedRow): Promise<void> {
    const { nodes, leads, troubles } = this.#options;
    if (!leads()) return;
    const { id, plugins, mark } = eventOf<Said>(row);
    const heard = this.#taken.get(id);
    if (heard && isHeard({ heard }, mark)) return;
    const subject = `what node ${id} reports`;
    try {
      await nodes.hear({ id, plugins }, mark);
      this.#taken.set(id, mark);
      troubles.over(subject);
    } catch (error) {
      const message = `what the node reports can't be taken: ${messageOf(error)}`;
      troubles.failed(subject, { subject, fields: { node: id }, message, cause: error });
    }
  }
}

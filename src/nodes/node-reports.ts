/**
 * Carries reports of standby agents to the leader, which alone may commit them: through a topic of the store.
 * The leader reads new rows only and keeps no cursor. The standby looks for its report in the leader's commits, and appends
 * it again until it is there; so a new leader gets it, too.
 * A repeat keeps its mark: it does not undo a later `down` of the node.
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
  leads(): boolean;
  /** Number that rises with each start of this node's runtime. */
  epoch(): number;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
}

interface Report {
  id: string;
  plugins: NodePlugin[];
}

type Said = Report & { mark: ReportMark };

const topic = 'node-reports';
const lookMs = 1_000;
/** Number of looks for a report until it is appended again. */
const looks = 10;

export class NodeReports {
  readonly #options: NodeReportsOptions;
  readonly #stop = new AbortController();
  #sent = 0;
  #number = 0;
  /** Report that the leader has not taken yet, as far as known. */
  #open: Said | undefined;
  /** Whether a record of the node existed at some time since that report. */
  #wasThere = false;
  /**
   * Mark of the last report of another agent that was taken here, by node. The record of a removed node does not keep
   * it.
   */
  readonly #taken = new Map<string, ReportMark>();

  constructor(options: NodeReportsOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stop.abort();
  }

  /**
   * Resolves once the report is committed, by this runtime or the leader.
   * @throws StagecraftError NODE_EXISTS; NOT_LEADER: not committed yet, call again
   */
  async report(report: Report): Promise<void> {
    const { nodes, leads } = this.#options;
    const said = this.#said(report);
    if (!leads() && !(await this.#isTaken(said))) await this.#bring(said);
    if (leads()) await nodes.hear(report, said.mark);
    else if (!(await this.#isTaken(said))) {
      await nodes.refuseUntakeable(report);
      throw new StagecraftError('NOT_LEADER', 'the leading agent has not accepted the report of this node yet');
    }
    this.#open = undefined;
  }

  /** Appends a report. Resolves once it is taken, after all looks for it, or when this runtime leads. */
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

  /** Whether the leader took a report. A node that was removed meanwhile counts, too: the removal came later. */
  async #isTaken({ id, mark }: Said): Promise<boolean> {
    const { nodes } = this.#options;
    if (await nodes.hasHeard(id, mark)) return true;
    const isThere = (await nodes.reported(id)) !== undefined;
    this.#wasThere ||= isThere;
    return this.#wasThere && !isThere;
  }

  /** Adds the mark to a report. A repeat keeps its mark. */
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
        logger.debug({}, `cannot read the reports of other nodes now: ${messageOf(error)}`);
      }
      if (!signal.aborted) await pause(clock, lookMs, signal);
    }
  }

  /** Takes one report. After a failure, the agent that reported it appends it again. */
  async #take(row: FollowedRow): Promise<void> {
    const { nodes, leads, troubles } = this.#options;
    if (!leads()) return;
    const { id, plugins, mark } = eventOf<Said>(row);
    const heard = this.#taken.get(id);
    if (heard && isHeard({ heard }, mark)) return;
    const subject = `the report of node ${id}`;
    try {
      await nodes.hear({ id, plugins }, mark);
      this.#taken.set(id, mark);
      troubles.over(subject);
    } catch (error) {
      const message = `cannot accept the report of the node: ${messageOf(error)}`;
      troubles.failed(subject, { subject, fields: { node: id }, message, cause: error });
    }
  }
}

/**
 * Brings the reports of this node's agent to the agent that works on nodes: here, or by a request, which is sent again until
 * it is answered. A repeat keeps its mark: it does not undo a later `down` of the node.
 */
import { z } from 'zod';
import { isSameData } from '../../machines/kit/same-data.js';
import { isHeard, type NodePlugin, type ReportMark } from '../../machines/node/node.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf } from '../errors.js';
import { checked } from '../requests/fields.js';
import type { NodeManager, NodeReport } from './node-manager.js';
import { reportSchema } from './node-report.js';

/** Has a method done by the agent that works on nodes. */
interface OwnerPort {
  serve(name: string, method: (args: unknown[]) => Promise<void>): void;
  run(
    name: string,
    args: unknown[],
    local: () => Promise<void>,
    wait: { onWait: ((reason: string | null) => void) | undefined },
  ): Promise<void>;
}

interface NodeReportsOptions {
  nodes: Pick<NodeManager, 'hear' | 'keepRefusal'>;
  /** Undefined: the store is of one process. */
  owner: OwnerPort | undefined;
  /** Number that rises with each start of this node's runtime. */
  epoch(): number;
  troubles: TroubleLog;
}

interface Report {
  id: string;
  plugins: NodePlugin[];
}

const method = 'reports.hear';
const argsSchema = z.tuple([reportSchema, z.strictObject({ epoch: z.int(), number: z.int() })]);

export class NodeReports {
  readonly #options: NodeReportsOptions;
  #number = 0;
  /** Report that is not known to be committed. */
  #open: (Report & { mark: ReportMark }) | undefined;
  /**
   * Mark of the last report of another agent that was accepted here, by node. The record of a removed node does not keep
   * it.
   */
  readonly #accepted = new Map<string, ReportMark>();

  constructor(options: NodeReportsOptions) {
    this.#options = options;
    options.owner?.serve(method, (args) => this.#accept(...checked(argsSchema, args, 'the report of the node')));
  }

  /**
   * Resolves once the report is committed.
   * @param onWait called with the reason why that takes long; null: it goes on
   * @throws StagecraftError NODE_EXISTS; NOT_LEADER, STORE_UNAVAILABLE: call again
   */
  async report(report: Report, onWait?: (reason: string | null) => void): Promise<void> {
    const { nodes, owner } = this.#options;
    const mark = this.#markOf(report);
    const local = (): Promise<void> => nodes.hear(report, mark);
    try {
      await (owner ? owner.run(method, [report, mark], local, { onWait }) : local());
    } catch (error) {
      nodes.keepRefusal(report.id, error);
      throw error;
    }
    nodes.keepRefusal(report.id, undefined);
    this.#open = undefined;
  }

  /** Returns the mark of a report: that of the last one, if this is a repeat of it. */
  #markOf(report: Report): ReportMark {
    if (!this.#open || !isSameData(this.#open.plugins, report.plugins)) {
      this.#number += 1;
      this.#open = { ...report, mark: { epoch: this.#options.epoch(), number: this.#number } };
    }
    return this.#open.mark;
  }

  /** Accepts the report of another agent. */
  async #accept(report: NodeReport, mark: ReportMark): Promise<void> {
    const { nodes, troubles } = this.#options;
    const { id } = report;
    const heard = this.#accepted.get(id);
    if (heard && isHeard({ heard }, mark)) return;
    const subject = `the report of node ${id}`;
    try {
      await nodes.hear(report, mark);
      this.#accepted.set(id, mark);
      troubles.over(subject);
    } catch (error) {
      const message = `cannot accept the report of the node: ${messageOf(error)}`;
      troubles.failed(subject, { subject, fields: { node: id }, message, cause: error });
      throw error;
    }
  }
}

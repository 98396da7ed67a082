/**
 * What a check is, and what can come out of it. The checks: checks/. What they work with: bench.ts. Who runs them: run.ts
 */
import type { RpcName } from '../csi/answers.js';
import type {
  ControllerServiceCapabilityRPCType,
  GroupControllerServiceCapabilityRPCType,
  NodeServiceCapabilityRPCType,
  PluginCapabilityServiceType,
  PluginCapabilityVolumeExpansionType,
} from '../csi/generated/plain.js';
import type { CheckContext } from './context.js';

/** A capability, by who tells it. */
export type Need =
  | `plugin/${PluginCapabilityServiceType}`
  | `expansion/${PluginCapabilityVolumeExpansionType}`
  | `controller/${ControllerServiceCapabilityRPCType}`
  | `group/${GroupControllerServiceCapabilityRPCType}`
  | `node/${NodeServiceCapabilityRPCType}`;

export type Outcome =
  | 'passed'
  | 'failed'
  /** Nothing that the specification forbids, but what callers stumble over. */
  | 'warning'
  /** It could not be found out; `why` says what stood in the way. */
  | 'blocked'
  /** The driver does not say that it can do this. */
  | 'not offered'
  /** Check not made, by request. */
  | 'skipped';

export interface Check {
  /** `<rpc>/<what>`, or `content/<what>`; stays the same. */
  readonly id: string;
  /** The one that is judged; its service must be there. */
  readonly rpc: RpcName;
  /** What the specification says, in one sentence. */
  readonly rule: string;
  /** All of them must be offered; of a list within, one. */
  readonly needs: readonly (Need | readonly Need[])[];
  /** Whether something is mounted on this host, which only root may do and see. */
  readonly mounts?: boolean;
  /** Returns if the rule is kept, else throws a {@link Verdict}. */
  run(bench: CheckContext): Promise<void>;
}

/** A call as it is told: secrets masked, long texts cut, sizes as text. */
export interface CallReport {
  rpc: RpcName;
  request: unknown;
  /** OK with what came, or the name of the status with the driver's text. */
  answer: string;
}

export interface CheckResult {
  id: string;
  rpc: string;
  rule: string;
  outcome: Outcome;
  /** Of all but `passed`: what was expected and what came, or what is missing. */
  why?: string;
  /** The call that decided. */
  call?: CallReport;
  durationMs: number;
}

/** Ends a check with anything but `passed`. */
export class Verdict extends Error {
  override readonly name = 'Verdict';
  readonly outcome: Exclude<Outcome, 'passed'>;
  readonly call: CallReport | undefined;

  constructor(outcome: Exclude<Outcome, 'passed'>, why: string, call?: CallReport) {
    super(why);
    this.outcome = outcome;
    this.call = call;
  }
}

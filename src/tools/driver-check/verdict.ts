/** Needs of a check, and its possible results. */
import type { RpcName } from '../../csi/answers.js';
import type {
  ControllerServiceCapabilityRPCType,
  GroupControllerServiceCapabilityRPCType,
  NodeServiceCapabilityRPCType,
  PluginCapabilityServiceType,
  PluginCapabilityVolumeExpansionType,
} from '../../csi/generated/plain.js';
import type { CallReport } from './ask.js';

/** Capability, with the side that reports it. */
export type Need =
  | `plugin/${PluginCapabilityServiceType}`
  | `expansion/${PluginCapabilityVolumeExpansionType}`
  | `controller/${ControllerServiceCapabilityRPCType}`
  | `group/${GroupControllerServiceCapabilityRPCType}`
  | `node/${NodeServiceCapabilityRPCType}`;

/** Requirements of a check on the driver and on this host. */
export interface CheckNeeds {
  /** RPC under test; the driver must have its service. */
  readonly rpc: RpcName;
  /** Capabilities that the driver must have: all of the list, one of each inner list. */
  readonly needs: readonly (Need | readonly Need[])[];
  /** Whether the check mounts on this host, which only root may do. */
  readonly mounts?: boolean;
}

export type Outcome =
  | 'passed'
  | 'failed'
  /** Allowed by the specification, and a likely problem for callers */
  | 'warning'
  /** Not decidable; `why` names the obstacle. */
  | 'blocked'
  /** The driver does not report the capability. */
  | 'not offered'
  /** Left out by option. */
  | 'skipped';

export interface CheckResult {
  id: string;
  rpc: string;
  rule: string;
  outcome: Outcome;
  /** Expected and actual answer, or what is missing. Absent for `passed`. */
  why?: string;
  /** Call that decided the result. */
  call?: CallReport;
  durationMs: number;
}

/** Thrown by a check for any result but `passed`. */
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

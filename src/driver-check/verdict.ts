/** What a check needs, and what can come out of it. */
import type { RpcName } from '../csi/answers.js';
import type {
  ControllerServiceCapabilityRPCType,
  GroupControllerServiceCapabilityRPCType,
  NodeServiceCapabilityRPCType,
  PluginCapabilityServiceType,
  PluginCapabilityVolumeExpansionType,
} from '../csi/generated/plain.js';

/** A capability, by who tells it. */
export type Need =
  | `plugin/${PluginCapabilityServiceType}`
  | `expansion/${PluginCapabilityVolumeExpansionType}`
  | `controller/${ControllerServiceCapabilityRPCType}`
  | `group/${GroupControllerServiceCapabilityRPCType}`
  | `node/${NodeServiceCapabilityRPCType}`;

/** What a check needs of a driver and of this host. */
export interface CheckNeeds {
  /** The RPC that is judged; its service must be there. */
  readonly rpc: RpcName;
  /** All of these must be offered; of an inner list, one. */
  readonly needs: readonly (Need | readonly Need[])[];
  /** Whether something is mounted on this host, which only root may do and see. */
  readonly mounts?: boolean;
}

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

/** A call as it is told: secrets masked, long texts cut, sizes as text. */
export interface CallReport {
  rpc: RpcName;
  request: unknown;
  /** OK with what came, or the name of the status with the driver's text. */
  answer: string;
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

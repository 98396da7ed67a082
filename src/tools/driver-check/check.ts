/** Definition of a check and its possible results. The checks: checks/. Their tools: context.ts. The run: run.ts */
import type { CheckContext } from './context.js';
import type { CallReport, CheckNeeds, Outcome } from './verdict.js';

export interface Check extends CheckNeeds {
  /** `<rpc>/<what>`, or `content/<what>`; stays the same. */
  readonly id: string;
  /** Rule of the specification, in one sentence. */
  readonly rule: string;
  /** Returns if the driver keeps the rule, else throws a {@link Verdict}. */
  run(bench: CheckContext): Promise<void>;
}

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

/**
 * What a check is, and what can come out of it. The checks: checks/. What they work with: bench.ts. Who runs them: run.ts
 */
import type { CheckContext } from './context.js';
import type { CallReport, CheckNeeds, Outcome } from './verdict.js';

export interface Check extends CheckNeeds {
  /** `<rpc>/<what>`, or `content/<what>`; stays the same. */
  readonly id: string;
  /** What the specification says, in one sentence. */
  readonly rule: string;
  /** Returns if the rule is kept, else throws a {@link Verdict}. */
  run(bench: CheckContext): Promise<void>;
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

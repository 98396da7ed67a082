/**
 * Reports the steps of volumes to their alloc in as few commits as possible: a step waits for the next commit of the
 * alloc, a second at most. A claim is reported once its volume is published, and before the volume is mounted; a
 * reason to wait is reported at once. Why: docs/decisions/0015-steps-of-an-alloc.md
 */
import type { NamedStep } from '../../machines/alloc/types.js';
import type { ReportedStep } from '../../machines/alloc/volume-steps.js';
import type { Clock } from '../engine/clock.js';
import type { EffectCall } from '../engine/effects/effects.js';

/** Longest wait of a step for the next commit. */
const longestMs = 1_000;

/** Reports on one volume. */
export interface VolumeProgress {
  step(step: Exclude<ReportedStep, Waiting>): void;
  /** Reports why the volume makes no progress, if that has changed; null: it does. */
  waits(reason: string | null): void;
  /** Reports which alloc has the claim, if that has changed. */
  refuse(reason: string): void;
}

type Waiting = { type: 'volume.waits' | 'claim.refused' };

const isClaim = ({ type }: NamedStep): boolean => type === 'claim.taken';

export class StepReport {
  readonly #run: Pick<EffectCall, 'send'>;
  readonly #clock: Clock;
  readonly #volumes = new Map<string, VolumeProgress>();
  #steps: NamedStep[] = [];
  #isDue = false;
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(run: Pick<EffectCall, 'send'>, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
  }

  /** @param name of the volume within the alloc */
  of(name: string): VolumeProgress {
    const volume = this.#volumes.get(name) ?? this.#begun(name);
    this.#volumes.set(name, volume);
    return volume;
  }

  #begun(name: string): VolumeProgress {
    let reported: string | null = null;
    const getsOn = (one: NamedStep): boolean => one.name === name && one.type === 'volume.waits' && one.reason === null;
    return {
      step: (step) => {
        reported = null;
        // A later step says, too, that the volume makes progress.
        this.#steps = this.#steps.filter((one) => !getsOn(one));
        this.#add({ name, ...step }, false);
        if (step.type === 'volume.published' && this.#steps.some(isClaim)) this.#send();
      },
      waits: (reason) => {
        if (reason === reported) return;
        reported = reason;
        this.#add({ name, type: 'volume.waits', reason }, reason !== null);
      },
      refuse: (reason) => {
        if (reason === reported) return;
        reported = reason;
        this.#add({ name, type: 'claim.refused', reason }, true);
      },
    };
  }

  /** Ends the report. @returns steps that are not committed yet, for the result of the run */
  rest(): NamedStep[] {
    this.#isOver = true;
    return this.#taken();
  }

  #add(step: NamedStep, isUrgent: boolean): void {
    if (this.#isOver) return;
    this.#steps.push(step);
    if (isUrgent && !this.#isDue) {
      this.#isDue = true;
      // Other volumes may reach their step in this turn, too.
      setImmediate(() => this.#send());
    }
    // A restart is no reason to commit.
    if (step.type !== 'restart') this.#cancel ??= this.#clock.after(longestMs, () => this.#send());
  }

  #send(): void {
    const steps = this.#taken();
    if (steps.length > 0) this.#run.send({ type: 'alloc.progress', steps });
  }

  #taken(): NamedStep[] {
    const steps = this.#steps;
    this.#steps = [];
    this.#isDue = false;
    this.#cancel?.();
    this.#cancel = undefined;
    return steps;
  }
}

/** Secrets of a history: rotated, missing, wrong or slow. Their values are found wherever they leak to. */
import type { SecretRef } from '../../machines/kit/csi-types.js';
import type { SecretsProvider } from '../../src/secrets/secrets.js';
import type { Timeline } from './timeline.js';

type SecretsTrouble = 'missing' | 'wrong' | 'slow' | 'rotated';

const slowMs = 3_000;

export class SimulatedSecrets implements SecretsProvider {
  trouble: SecretsTrouble | undefined;
  /** All that there ever were. */
  readonly values = ['tell-nobody-1', 'not-this-one'];
  readonly #timeline: Timeline;
  #version = 1;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  worsen(trouble: SecretsTrouble, forMs: number): void {
    if (trouble === 'rotated') {
      this.#version += 1;
      this.values.push(this.#value(this.#version));
      return;
    }
    this.trouble = trouble;
    this.#timeline.after(forMs, () => {
      this.trouble = undefined;
    });
  }

  /** The one before is still taken: calls that had it may be on their way. */
  areRight(secrets: Record<string, string>): boolean {
    const known = [this.#value(this.#version), this.#value(this.#version - 1)];
    return Object.values(secrets).every((value) => known.includes(value));
  }

  async resolve(refs: Record<string, SecretRef>): Promise<Record<string, string>> {
    if (this.trouble === 'slow') await new Promise<void>((resolve) => this.#timeline.after(slowMs, resolve));
    if (this.trouble === 'missing') throw new Error(`there is no ${Object.keys(refs).join(', ')}`);
    const value = this.trouble === 'wrong' ? 'not-this-one' : this.#value(this.#version);
    return Object.fromEntries(Object.keys(refs).map((key) => [key, value]));
  }

  #value(version: number): string {
    return `tell-nobody-${version}`;
  }
}

/** How the plugin of a history looks to runtimes: registered, answering, known; and when it was seen well. */
import type { PluginObservation, PluginPort } from '../../src/calls/plugin-port.js';
import type { MortalClock, Timeline } from './timeline.js';

type Trouble = 'dead' | 'unhealthy' | 'unknown' | 'deregistered';

const probeMs = 10_000;
const texts: Record<Trouble, string> = {
  dead: 'it does not answer',
  unhealthy: 'it says that it is not ready',
  unknown: '',
  deregistered: 'it is not registered',
};

export class PluginObservations {
  readonly #timeline: Timeline;
  readonly #capabilities: ReadonlySet<string>;
  readonly #watchers = new Set<() => void>();
  readonly #troubles = new Map<object, Trouble>();
  #wellAtMs: number;
  #endProbes: () => void;

  constructor(timeline: Timeline, capabilities: ReadonlySet<string>) {
    this.#timeline = timeline;
    this.#capabilities = capabilities;
    this.#wellAtMs = timeline.nowMs;
    this.#endProbes = timeline.after(probeMs, () => this.#probe());
  }

  port(life: { clock: MortalClock }, line: () => object): PluginPort {
    return {
      isKnown: () => true,
      observation: () => this.#observation(),
      client: async () => line(),
      lookAgain: () => {},
      watch: (_, changed) => {
        const tell = (): void => life.clock.whenAwake(changed);
        this.#watchers.add(tell);
        return () => this.#watchers.delete(tell);
      },
    };
  }

  /** @param ended called once it is over */
  worsen(trouble: Trouble, forMs: number, ended: () => void): void {
    const one = {};
    this.#troubles.set(one, trouble);
    this.#changed();
    this.#timeline.after(forMs, () => {
      this.#troubles.delete(one);
      ended();
      this.#probed();
    });
  }

  mend(): void {
    this.#troubles.clear();
    this.#probed();
  }

  end(): void {
    this.#endProbes();
  }

  #probe(): void {
    this.#endProbes = this.#timeline.after(probeMs, () => this.#probe());
    this.#probed();
  }

  #probed(): void {
    if (this.#troubles.size === 0) this.#wellAtMs = this.#timeline.nowMs;
    this.#changed();
  }

  #changed(): void {
    for (const tell of [...this.#watchers]) tell();
  }

  #observation(): PluginObservation {
    const [worst] = [...this.#troubles.values()].sort();
    const observation = {
      pluginCapabilities: new Set(['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE']),
      hasService: true,
      wellAtMs: this.#wellAtMs,
    };
    if (worst === undefined) return { ...observation, capabilities: this.#capabilities };
    if (worst === 'unknown') return observation;
    return { ...observation, capabilities: this.#capabilities, trouble: texts[worst] };
  }
}

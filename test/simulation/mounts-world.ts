/** All that is around the runtimes of a history of mounts: kernel, plugin, whoever has the volumes; and what befalls them. */
import type { PluginPort } from '../../src/calls/plugin-port.js';
import type { MountDirectories } from '../../src/mounts/mount-directories.js';
import { type MountPaths, mountPaths } from '../../src/mounts/paths.js';
import type { HistoryTranscript } from './history-transcript.js';
import { keyOf } from './mounts-allocs.js';
import { pluginName, SimulatedClaims } from './mounts-claims.js';
import { type NodeCaller, NodeDriver } from './mounts-driver.js';
import { SimulatedKernel } from './mounts-kernel.js';
import { allocIds, type MountsPlan, type MountsStep, type PlaceName } from './mounts-plan.js';
import { SimulatedPlugin } from './mounts-plugin.js';
import { PluginObservations } from './plugin-observations.js';
import type { MortalClock, Timeline } from './timeline.js';

const dataDir = '/var/lib/stagecraft';

interface MountsWorldOptions {
  plan: MountsPlan;
  timeline: Timeline;
  transcript: HistoryTranscript;
  /** Called before a publish for an alloc is done; `name`: its volume and the alloc. */
  publishing(caller: NodeCaller, name: string): void;
  /** Called as an alloc is said to have let go. */
  released(volume: string, allocId: string, isLast: boolean): void;
  /** Called as something is unmounted that the plugin was not asked to unmount. */
  disturbed(): void;
  /** Called as another process is behind the plugin, or it is well again. */
  back(): void;
}

type StepOf<Do extends MountsStep['do']> = Extract<MountsStep, { do: Do }>;
type WorldStep = StepOf<'spell' | 'plugin' | 'replace' | 'unreadable' | 'claims' | 'by-hand'>;

export class MountsWorld {
  readonly kernel = new SimulatedKernel();
  readonly plugin: SimulatedPlugin;
  readonly driver: NodeDriver;
  readonly claims: SimulatedClaims;
  readonly paths: MountPaths;
  readonly places: MountDirectories;
  readonly directories = new Set<string>();
  readonly #options: MountsWorldOptions;
  readonly #capabilities = new Set(['EXPAND_VOLUME', 'SINGLE_NODE_MULTI_WRITER', 'GET_VOLUME_STATS']);
  readonly #observations: PluginObservations;
  /** How many troubles keep the plugin's process away. */
  #deaths = 0;
  #isAtPeace = false;

  constructor(options: MountsWorldOptions) {
    const { plan, timeline, transcript, publishing, released } = options;
    const { seed, traits } = plan;
    this.#options = options;
    this.plugin = new SimulatedPlugin(traits, this.kernel);
    this.paths = mountPaths({ dataDir, socketRoot: dataDir });
    const names = new Map<string, string>();
    const users = new Map<string, string>();
    for (const volume of Object.keys(traits.capabilities)) {
      names.set(this.#pathOf({ volume }), `${volume} where it is staged`);
      for (const alloc of allocIds) {
        names.set(this.#pathOf({ volume, alloc }), `${volume} for ${alloc}`);
        users.set(this.#pathOf({ volume, alloc }), `${volume} ${alloc}`);
      }
    }
    this.driver = new NodeDriver({
      ...{ seed, timeline, traits, transcript },
      plugin: this.plugin,
      nameOf: (path) => names.get(path) ?? path,
      publishing: (caller, path) => publishing(caller, users.get(path) ?? ''),
    });
    this.#offer(traits.stages);
    this.#observations = new PluginObservations(timeline, this.#capabilities);
    this.claims = new SimulatedClaims({
      ...{ seed, timeline, transcript, released },
      capabilities: traits.capabilities,
    });
    this.places = this.#makePlaces();
  }

  /** The plugin as one runtime has it. */
  port(caller: NodeCaller & { clock: MortalClock }): PluginPort {
    return this.#observations.port(caller, () => this.driver.line(caller));
  }

  do(step: WorldStep): void {
    const { transcript } = this.#options;
    switch (step.do) {
      case 'spell':
        transcript.call(`spell: ${step.code}${step.works ? ', done all the same' : ''}, for ${step.forMs} ms`);
        this.driver.spell = step;
        this.#after(step.forMs, () => {
          if (this.driver.spell === step) this.driver.spell = undefined;
        });
        break;
      case 'plugin':
        this.#worsen(step);
        break;
      case 'replace':
        transcript.call(`another plugin takes its place${step.stages ? '' : ', which stages nothing'}`);
        this.#options.disturbed();
        this.#offer(step.stages);
        this.driver.replace();
        this.#back();
        break;
      case 'unreadable':
        transcript.call(`the mount table is not readable for ${step.forMs} ms`);
        this.kernel.isReadable = false;
        this.#after(step.forMs, () => {
          this.kernel.isReadable = true;
        });
        break;
      case 'claims':
        transcript.call(`claims are ${step.are} for ${step.forMs} ms`);
        this.claims.trouble = step.are;
        this.#after(step.forMs, () => {
          this.claims.trouble = undefined;
        });
        break;
      case 'by-hand':
        this.#byHand(step);
    }
  }

  /** The host goes down with all that runs on it, and nothing is mounted after that. @returns ends it */
  goDown(): () => void {
    const isBack = this.#kill();
    this.kernel.reboot();
    return isBack;
  }

  /** Nothing goes wrong any more. */
  makePeace(): void {
    this.#isAtPeace = true;
    this.driver.isWell = true;
    this.driver.isDead = false;
    this.driver.spell = undefined;
    this.claims.trouble = undefined;
    this.kernel.isReadable = true;
    this.#offer(this.#options.plan.traits.stages);
    this.#removeStrangers();
    this.#observations.mend();
  }

  end(): void {
    this.#observations.end();
  }

  #offer(stages: boolean): void {
    if (stages) this.#capabilities.add('STAGE_UNSTAGE_VOLUME');
    else this.#capabilities.delete('STAGE_UNSTAGE_VOLUME');
  }

  #worsen({ is, forMs }: StepOf<'plugin'>): void {
    this.#options.transcript.call(`the plugin is ${is} for ${forMs} ms`);
    const isBack = is === 'dead' ? this.#kill() : (): void => {};
    this.#observations.worsen(is, forMs, () => {
      isBack();
      this.#back();
    });
  }

  /** The plugin's process ends. @returns starts another one, unless something else keeps it away */
  #kill(): () => void {
    this.#options.disturbed();
    this.#deaths += 1;
    this.driver.isDead = true;
    this.driver.die();
    return () => {
      this.#deaths -= 1;
      if (this.#deaths === 0) this.driver.isDead = false;
    };
  }

  #back(): void {
    this.#options.transcript.call('the plugin is back');
    this.#options.back();
  }

  #byHand({ act, forMs, volume, alloc }: StepOf<'by-hand'>): void {
    const path = this.#pathOf(alloc === undefined ? { volume } : { volume, alloc });
    if (!this.kernel.isOfPlugin(path)) return;
    this.#options.transcript.call(`somebody does by hand: ${act} ${path}`);
    this.#options.disturbed();
    if (act !== 'cover') this.kernel.unmount(path);
    if (act === 'unmount') return;
    const { id } = this.kernel.mount(path, stranger, { ofPlugin: false });
    this.#after(forMs, () => this.kernel.remove(id));
  }

  /** What somebody has mounted by hand is unmounted. */
  #removeStrangers(): void {
    for (let isFound = true; isFound; ) {
      const strangers = this.kernel.table.entries.filter(({ fsType }) => fsType === stranger.fsType);
      isFound = strangers.some(({ id }) => this.kernel.remove(id) === undefined);
    }
  }

  #pathOf({ volume, alloc }: PlaceName): string {
    const key = keyOf(volume);
    return (alloc === undefined ? this.paths.staging(pluginName, key) : this.paths.target(pluginName, key, alloc)).path;
  }

  #after(ms: number, work: () => void): void {
    this.#options.timeline.after(ms, () => {
      if (!this.#isAtPeace) work();
    });
  }

  /** Directories are names only: what is mounted on them, the kernel knows. */
  #makePlaces(): MountDirectories {
    const { directories } = this;
    const make = async ({ path, parents }: Parameters<MountDirectories['makeStaging']>[0]): Promise<void> => {
      for (const one of parents) if (one.isTemporary) directories.add(one.path);
      directories.add(path);
    };
    const isEmpty = (path: string): boolean => ![...directories].some((other) => other.startsWith(`${path}/`));
    return {
      isFile: () => false,
      makeStaging: make,
      makeParent: make,
      remove: async ({ path, parents }) => {
        if (this.kernel.table.has(path)) return { path, why: 'something is mounted there' };
        directories.delete(path);
        for (const one of parents) if (one.isTemporary && isEmpty(one.path)) directories.delete(one.path);
        return undefined;
      },
    };
  }
}

/** What somebody mounts by hand. */
const stranger = { device: '0:39', root: '/', fsType: 'tmpfs', origin: 'tmpfs' };

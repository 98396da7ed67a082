/**
 * Compares the records of volumes with ListVolumes of their plugins, at intervals, and sends each volume that differs an
 * observation. The volume machine decides what to do about it. Plugins without LIST_VOLUMES are skipped.
 */

import { beliefOf } from '../../machines/volume/listing.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { PluginTarget } from '../calls/plugin-port.js';
import { otherDriver } from '../calls/plugin-refusals.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { pause } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { ListedPage } from './controller-port.js';
import { volumeIds } from './id-owners.js';
import type { OrphanedVolumes, PluginList } from './orphaned-volumes.js';
import { differs, type ListPorts, listAt, observationOf } from './volume-lists.js';

interface ReconcilerOptions extends ListPorts {
  engine: ActorSystem;
  /** Nodes that have reported this plugin, by their CSI node ids. */
  nodesOf(plugin: string): Promise<Map<string, string>>;
  /**
   * Whether the plugin's list on a node covers volumes with this home; default: it covers all volumes. @param node undefined:
   * this one
   */
  isAt?(plugin: string, home: string | null | undefined, node: string | undefined): boolean;
  /** Plugins with a controller on any agent. */
  plugins(): Iterable<string>;
  /** Nodes whose instances of a plugin list different volumes; default: all instances list the same. */
  homes?(plugin: string): Iterable<string>;
  /** Told of volumes that no record has. */
  orphans: Pick<OrphanedVolumes, 'seen'>;
  logger: Logger;
  troubles: TroubleLog;
  intervalMs: number;
}

export interface Reconciled {
  plugin: string;
  volumes: number;
  /** Volumes that differ from the plugin's list, as `namespace/id`. */
  differing: string[];
}

/** Plugin that could not be compared. */
interface Uncompared {
  plugin: string;
  why: string;
}

/** Entries that a list of a plugin has, and that are left out as CSI does not allow them. */
interface LeftOutEntries {
  plugin: string;
  /** Node of the instance that has the list. Absent: this node. */
  nodeId?: string;
  count: number;
  /** Fault of the first one. */
  why: string;
}

/** How far volumes that no record has could be found. */
export interface OrphanLook {
  /** Plugins whose lists could not be read. */
  unknown: Uncompared[];
  /** Absent: none. */
  leftOut?: LeftOutEntries[];
  /** Number of volumes whose records can't be read: they may be listed, so no others are found. Absent: none. */
  skipped?: number;
}

/** Record of one volume, read before the plugin was asked. */
interface Believed {
  address: string;
  context: VolumeContext;
}

/** Delay before a comparison on request: a plugin may refuse a call only for a moment. */
const soonMs = 1_000;
/** Shortest time between two comparisons on request. */
const betweenLooksMs = 60_000;

/** Comparison on request. `dueMs` is a time of the monotonic clock. */
interface Look {
  dueMs: number;
  isDone: boolean;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #closing = new Closing();
  readonly #looks = new Map<string, Look>();
  /** Plugins that a periodic round is comparing now. */
  readonly #inRound = new Set<string>();
  /** Entries that were left out of each list last. */
  readonly #leftOut = new Map<string, LeftOutEntries>();
  /** Number of volumes whose records could not be read last. */
  #unread = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#volumes = new ActorsOf(options.engine, volumeMachine);
  }

  start(): void {
    void this.#rounds();
  }

  stop(): void {
    this.#options.troubles.abandon(this);
    this.#closing.close();
  }

  /**
   * Compares now. @param plugin default: all plugins that have volumes
   * @throws StagecraftError NOT_LEADER; PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR, if a plugin was named
   */
  async run(plugin?: string): Promise<Reconciled[]> {
    this.#refuseIfNotOurs();
    const believed = await this.#believed();
    if (plugin !== undefined) return [await this.#compare(plugin, believed.get(plugin) ?? [])];
    const all = await Promise.all([...believed].map(([name, volumes]) => this.#compareOne(name, volumes)));
    return all.filter((one) => one !== undefined);
  }

  /**
   * Compares now, to learn of volumes that no record has. @param plugin default: all plugins with a controller
   * @returns what could not be read, and so is not among them
   */
  async lookForOrphans(plugin?: string): Promise<OrphanLook> {
    this.#refuseIfNotOurs();
    const believed = await this.#believed();
    const skipped = this.#unread;
    const plugins = plugin === undefined ? [...believed.keys()] : [plugin];
    const looks = plugins.map(async (name): Promise<Uncompared[]> => {
      try {
        await this.#compare(name, believed.get(name) ?? []);
        return [];
      } catch (error) {
        return [{ plugin: name, why: messageOf(error) }];
      }
    });
    const unknown = (await Promise.all(looks)).flat();
    const leftOut = [...this.#leftOut.values()].filter((one) => plugins.includes(one.plugin));
    return { unknown, ...(leftOut.length > 0 && { leftOut }), ...(skipped > 0 && { skipped }) };
  }

  /** @returns undefined if the comparison failed, which is logged */
  async #compareOne(plugin: string, volumes: Believed[]): Promise<Reconciled | undefined> {
    try {
      return await this.#compare(plugin, volumes);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#reportFailure(plugin, error);
      return undefined;
    }
  }

  /**
   * Compares soon, at most once a minute: the plugin refused a call, and an unknown attachment may be the cause. The request
   * is not stored: the next refusal makes it again.
   */
  lookSoon(plugin: string): void {
    const last = this.#looks.get(plugin);
    if (last?.isDone === false) return;
    const nowMs = this.#options.clock.monotonicMs();
    const dueMs = Math.max(nowMs + soonMs, (last?.dueMs ?? Number.NEGATIVE_INFINITY) + betweenLooksMs);
    const look = { dueMs, isDone: false };
    this.#looks.set(plugin, look);
    void this.#look(plugin, look, dueMs - nowMs);
  }

  async #look(plugin: string, look: Look, delayMs: number): Promise<void> {
    const { signal } = this.#closing;
    await pause(this.#options.clock, delayMs, signal);
    look.isDone = true;
    if (signal.aborted || this.#options.refusal()) return;
    await this.run(plugin).catch((error: unknown) => {
      if (!signal.aborted) this.#reportFailure(plugin, error);
    });
  }

  async #rounds(): Promise<void> {
    const { clock, intervalMs, troubles, refusal } = this.#options;
    const { signal } = this.#closing;
    for (;;) {
      await pause(clock, intervalMs, signal);
      if (signal.aborted) return;
      if (refusal()) {
        troubles.abandon(this);
        continue;
      }
      // The store may not answer. The next round tries again.
      try {
        await this.#round();
        troubles.over(this);
      } catch (error) {
        const message = `cannot compare volumes with the lists of their plugins: ${messageOf(error)}`;
        const subject = 'the comparison of volumes with their plugins';
        if (!signal.aborted) troubles.failed(this, { subject, message, cause: error });
      }
    }
  }

  /** Compares all plugins without waiting for them. Skips a plugin that has not answered the round before yet. */
  async #round(): Promise<void> {
    for (const [plugin, volumes] of await this.#believed()) {
      if (this.#inRound.has(plugin)) continue;
      this.#inRound.add(plugin);
      void this.#compareOne(plugin, volumes).finally(() => this.#inRound.delete(plugin));
    }
  }

  #reportFailure(plugin: string, error: unknown): void {
    const isNone = error instanceof StagecraftError && error.code === 'PLUGIN_LACKS';
    if (!isNone)
      this.#options.logger.info({ plugin }, `cannot compare the volumes of this plugin now: ${messageOf(error)}`);
  }

  /**
   * Reads the created volumes, by plugin; none of a plugin that has a controller, and no volumes. Leaves out deleted volumes:
   * their leftovers are recorded already.
   */
  async #believed(): Promise<Map<string, Believed[]>> {
    const byPlugin = new Map<string, Believed[]>([...this.#options.plugins()].map((plugin) => [plugin, []]));
    let unread = 0;
    const skipped = (): void => {
      unread += 1;
    };
    for await (const [address, { state, context }] of this.#volumes.all(skipped)) {
      const { spec, csi } = context;
      if (!spec || !csi || volumeStateOf(state, context) === 'deleted') continue;
      const volumes = byPlugin.get(spec.plugin) ?? [];
      volumes.push({ address, context });
      byPlugin.set(spec.plugin, volumes);
    }
    this.#unread = unread;
    return byPlugin;
  }

  /** Compares with the lists of all instances that the volumes have their homes at; with that of any, if they have none. */
  async #compare(plugin: string, believed: Believed[]): Promise<Reconciled> {
    const targets = new Map<string | undefined, PluginTarget>();
    const { homes = () => [] } = this.#options;
    const found = new Set([...believed.map(({ context }) => context.home), ...homes(plugin)]);
    for (const home of found.size > 0 ? found : [null]) {
      const target = { plugin, ...(home && { home }) };
      targets.set(this.#options.access.nodeFor(target), target);
    }
    const parts: Reconciled[] = [];
    for (const target of targets.values()) parts.push(await this.#compareAt(target, believed));
    const volumes = parts.reduce((sum, part) => sum + part.volumes, 0);
    return { plugin, volumes, differing: parts.flatMap(({ differing }) => differing) };
  }

  async #compareAt(target: PluginTarget, believed: Believed[]): Promise<Reconciled> {
    const { plugin } = target;
    const { listed, leftOut, withNodes, observation, node } = await listAt(this.#options, target, this.#closing.signal);
    this.#noteLeftOut({ plugin, node }, leftOut);
    const { isAt = () => true } = this.#options;
    // Skips volumes that another driver made: the present driver need not list them.
    const isMade = (driver: string | null | undefined): boolean =>
      otherDriver({ plugin, ...(driver && { driver }) }, observation) === undefined;
    const volumes = believed.filter(({ context: { home, driver } }) => isAt(plugin, home, node) && isMade(driver));
    const nodes = await this.#options.nodesOf(plugin);
    const differing: string[] = [];
    let failure: unknown;
    for (const { address, context } of volumes) {
      const seen = listed.get(context.csi?.id ?? '');
      // The volume may be one that was left out.
      if (!seen && leftOut) continue;
      try {
        const sighting = observationOf(context, seen, { nodes, withNodes });
        if (!differs(context, sighting)) continue;
        await this.#volumes.report(address, { type: 'volume.observed', believed: beliefOf(context), sighting });
        differing.push(`${context.key.namespace}/${context.key.id}`);
      } catch (error) {
        // Continues with the other volumes if a volume can't be asked, as it is in quarantine or its context is damaged.
        const isGone = error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND';
        if (!isGone) failure ??= error;
      }
    }
    const created = new Set(believed.map(({ context }) => context.csi?.id));
    // A volume whose record can't be read looks like one that no record has.
    if (this.#unread === 0)
      await this.#noteOrphans(
        { plugin, node },
        [...listed.keys()].filter((csiId) => !created.has(csiId)),
      );
    if (failure !== undefined) throw failure;
    return { plugin, volumes: volumes.length, differing };
  }

  /** Logs how many entries were left out of a list, once for each number. */
  #noteLeftOut(
    { plugin, node }: PluginList,
    { count, why }: NonNullable<ListedPage['leftOut']> = { count: 0, why: '' },
  ): void {
    const list = `${plugin}\n${node ?? ''}`;
    const before = this.#leftOut.get(list)?.count ?? 0;
    if (count === 0) this.#leftOut.delete(list);
    else this.#leftOut.set(list, { plugin, ...(node !== undefined && { nodeId: node }), count, why });
    if (count === before) return;
    const { logger } = this.#options;
    if (count === 0) logger.info({ plugin }, `plugin '${plugin}' lists volumes as CSI wants it again`);
    else
      logger.warn(
        { plugin, node },
        `plugin '${plugin}' lists volumes as CSI does not allow it: ${count} left out, the first one as ${why}. ` +
          'Meanwhile no volume counts as missing from its list: correct what these volumes have, or the driver',
      );
  }

  /**
   * Reads the records once more if the list has ids of no created volume: they may be of leftovers, or committed since.
   */
  async #noteOrphans(list: PluginList, listed: string[]): Promise<void> {
    const { plugin } = list;
    const known = new Set<string>();
    let isMaking = false;
    if (listed.length === 0) return this.#options.orphans.seen(list, [], false);
    for await (const [, view] of this.#volumes.all()) {
      if (view.context.spec?.plugin !== plugin) continue;
      for (const { csiId } of volumeIds.idsIn(view.context)) known.add(csiId);
      isMaking ||= view.context.csi === null && volumeStateOf(view.state, view.context) !== 'deleted';
    }
    const unlisted = listed.filter((csiId) => !known.has(csiId));
    this.#options.orphans.seen(list, unlisted, isMaking);
  }

  #refuseIfNotOurs(): void {
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
  }
}

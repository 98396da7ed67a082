/**
 * Compares at intervals what plugins say of their volumes with what is believed of them, and tells each volume that
 * differs; what becomes of that is its machine's to say. Only plugins that list volumes are asked.
 */

import { isSameData } from '../../machines/kit/same-data.js';
import { publicStateOf } from '../../machines/volume/publication.js';
import { beliefOf, seenIn } from '../../machines/volume/sightings.js';
import type { Sighting, VolumeContext } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { PublicationState } from '../../machines/volume/wishes.js';
import { otherDriver } from '../calls/other-driver.js';
import type { PluginAccess, PluginAnswer, PluginObservation } from '../calls/plugin-access.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { ControllerPort, ListedVolume } from './controller-port.js';
import { stateOf } from './volume-view.js';

export interface ReconcilerOptions {
  engine: ActorSystem;
  controller: ControllerPort;
  access: PluginAccess;
  /** By a plugin's own names for them, the nodes that have reported it. */
  nodesOf(plugin: string): Promise<Map<string, string>>;
  /** Whether what the plugin lists here is meant of a volume with this home, too; default: of all. */
  isHere?(plugin: string, home: string | null | undefined): boolean;
  /** Why this runtime is not the one to do it now; absent: it is. */
  refusal(): StagecraftError | undefined;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
  intervalMs: number;
}

/** What was compared, and what differed. */
export interface Reconciled {
  plugin: string;
  /** Volumes that were compared. */
  volumes: number;
  /** Those of which the plugin says something else: their ids, as `namespace/id`. */
  differing: string[];
}

/** What is believed of one volume, as it was before the plugin was asked. */
interface Believed {
  address: string;
  context: VolumeContext;
}

/** A listing whose token the plugin no longer knows is begun again so often. */
const listings = 3;
/** A plugin that can't be asked now is asked at the next interval. */
const waitMs = 10_000;
/** What is refused at once may be refused for a moment only. */
const soonMs = 1_000;
/** What a plugin offers that says where its volumes are. */
const listsNodes = ['LIST_VOLUMES_PUBLISHED_NODES', 'PUBLISH_UNPUBLISH_VOLUME'];
/** From one look that somebody asked for to the next. */
const betweenLooksMs = 60_000;

/** A look at a plugin that was asked for: when it is due, or was, by the monotonic clock. */
interface Look {
  dueMs: number;
  isDone: boolean;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #stop = new AbortController();
  /** By plugin: the last one. */
  readonly #looks = new Map<string, Look>();
  /** Plugins that a round is comparing. */
  readonly #inRound = new Set<string>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#volumes = new ActorsOf(options.engine, volumeMachine);
  }

  /** Begins the rounds. */
  start(): void {
    void this.#rounds();
  }

  stop(): void {
    this.#options.troubles.abandon(this);
    this.#stop.abort(new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed'));
  }

  /**
   * Compares now. @param plugin absent: all that have volumes
   * @throws StagecraftError PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR, for a plugin that was named; NOT_LEADER
   */
  async run(plugin?: string): Promise<Reconciled[]> {
    this.#refuseIfNotOurs();
    const believed = await this.#believed();
    if (plugin !== undefined) return [await this.#compare(plugin, believed.get(plugin) ?? [])];
    const all = await Promise.all([...believed].map(([name, volumes]) => this.#compareOne(name, volumes)));
    return all.filter((one) => one !== undefined);
  }

  /** @returns undefined where it could not be compared, which is told */
  async #compareOne(plugin: string, volumes: Believed[]): Promise<Reconciled | undefined> {
    try {
      return await this.#compare(plugin, volumes);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#tell(plugin, error);
      return undefined;
    }
  }

  /**
   * Compares soon, once a minute at most, as a plugin refuses what something unknown may be in the way of. Nothing is kept
   * of it: what is refused again asks again.
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
    const { signal } = this.#stop;
    await pause(this.#options.clock, delayMs, signal);
    look.isDone = true;
    if (signal.aborted || this.#options.refusal()) return;
    await this.run(plugin).catch((error: unknown) => {
      if (!signal.aborted) this.#tell(plugin, error);
    });
  }

  async #rounds(): Promise<void> {
    const { clock, intervalMs, troubles, refusal } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      await pause(clock, intervalMs, signal);
      if (signal.aborted) return;
      if (refusal()) {
        troubles.abandon(this);
        continue;
      }
      // The store may not answer: then it is done the next time.
      try {
        await this.#round();
        troubles.over(this);
      } catch (error) {
        const message = `volumes could not be compared with their plugins: ${messageOf(error)}`;
        const subject = 'the comparison of volumes with their plugins';
        if (!signal.aborted) troubles.failed(this, { subject, message, cause: error });
      }
    }
  }

  /** Waits for no plugin: one that takes longer than an interval is asked again once it has answered. */
  async #round(): Promise<void> {
    for (const [plugin, volumes] of await this.#believed()) {
      if (this.#inRound.has(plugin)) continue;
      this.#inRound.add(plugin);
      void this.#compareOne(plugin, volumes).finally(() => this.#inRound.delete(plugin));
    }
  }

  #tell(plugin: string, error: unknown): void {
    const isNone = error instanceof StagecraftError && error.code === 'PLUGIN_LACKS';
    if (!isNone) this.#options.logger.info({ plugin }, `its volumes could not be compared now: ${messageOf(error)}`);
  }

  /** The volumes that are made, by plugin; of those that are gone, what is left of them is on record. */
  async #believed(): Promise<Map<string, Believed[]>> {
    const byPlugin = new Map<string, Believed[]>();
    for await (const [address, { state, context }] of this.#volumes.all()) {
      const { spec, csi } = context;
      if (!spec || !csi || stateOf(state) === 'deleted') continue;
      const volumes = byPlugin.get(spec.plugin) ?? [];
      volumes.push({ address, context });
      byPlugin.set(spec.plugin, volumes);
    }
    return byPlugin;
  }

  async #compare(plugin: string, believed: Believed[]): Promise<Reconciled> {
    const { listed, withNodes, sight } = await this.#listed(plugin);
    const { isHere = () => true } = this.#options;
    // Skips volumes that another driver made: the present driver need not list them.
    const isMade = (driver: string | null | undefined): boolean =>
      otherDriver({ plugin, ...(driver && { driver }) }, sight) === undefined;
    const volumes = believed.filter(({ context: { home, driver } }) => isHere(plugin, home) && isMade(driver));
    const nodes = await this.#options.nodesOf(plugin);
    const differing: string[] = [];
    let failure: unknown;
    for (const { address, context } of volumes) {
      const seen = listed.get(context.csi?.id ?? '');
      const sighting = sightingOf(context, seen, { nodes, withNodes });
      if (!differs(context, sighting)) continue;
      try {
        await this.#volumes.ask(address, { type: 'volume.observed', believed: beliefOf(context), sighting });
        differing.push(`${context.key.namespace}/${context.key.id}`);
      } catch (error) {
        // One that can't be told, e.g. as it is in quarantine, keeps the others from nothing.
        const isGone = error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND';
        if (!isGone) failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return { plugin, volumes: volumes.length, differing };
  }

  /** @throws StagecraftError NOT_LEADER */
  #refuseIfNotOurs(): void {
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
  }

  /** All that the plugin lists, by its ids. */
  async #listed(
    plugin: string,
  ): Promise<{ listed: Map<string, ListedVolume>; withNodes: boolean; sight: PluginObservation }> {
    const { access, controller } = this.#options;
    const { signal } = this.#stop;
    const admitted = await access.enter(plugin, { signal, waitMs, waits: () => {} });
    let answer: PluginAnswer | undefined;
    try {
      this.#refuseIfNotOurs(); // it may have waited long
      const { capabilities } = admitted.sight;
      if (!capabilities.has('LIST_VOLUMES'))
        throw new StagecraftError(
          'PLUGIN_LACKS',
          `plugin '${plugin}' does not offer LIST_VOLUMES: it can't be compared with`,
        );
      const client = await admitted.client();
      // Where nothing is attached and detached, where a volume is means nothing: CSI has them offered together.
      const withNodes = listsNodes.every((one) => capabilities.has(one));
      for (let attempt = 1; ; attempt += 1) {
        try {
          const listed = new Map<string, ListedVolume>();
          for await (const volume of controller.listVolumes(client, { signal })) listed.set(volume.csiId, volume);
          answer = { grpcCode: 'OK' };
          return { listed, withNodes, sight: admitted.seen() };
        } catch (error) {
          const isStale = error instanceof StagecraftError && error.answerClass === 'start-over';
          if (!isStale || attempt === listings) throw error;
        }
      }
    } catch (error) {
      if (error instanceof StagecraftError) answer = { grpcCode: error.grpcCode };
      throw error;
    } finally {
      admitted.leave(answer);
    }
  }
}

/** @param withNodes whether the plugin says where its volumes are */
function sightingOf(
  { publications }: VolumeContext,
  seen: ListedVolume | undefined,
  { nodes, withNodes }: { nodes: Map<string, string>; withNodes: boolean },
): Sighting {
  if (!seen) return { isMissing: true };
  const sighting: Sighting = { isMissing: false, ...(seen.condition && { condition: seen.condition }) };
  // Nothing said of where a volume is does not say that it is nowhere.
  const attached = withNodes ? seen.publishedNodeIds : undefined;
  if (!attached) return sighting;
  const known = Object.values(publications).map(({ csiNodeId }) => csiNodeId);
  const strays = attached
    .filter((csiNodeId) => csiNodeId !== '' && !known.includes(csiNodeId))
    .map((csiNodeId) => ({ nodeId: nodes.get(csiNodeId) ?? csiNodeId, csiNodeId }));
  return { ...sighting, attached, strays };
}

/** Of a publication that is being made, its absence says nothing. */
const settled: ReadonlySet<PublicationState> = new Set(['published', 'pending-node-unpublish', 'pending-unpublish']);

/** Whether it says anything that is not believed. */
function differs(context: VolumeContext, sighting: Sighting): boolean {
  const { attached, strays = [] } = sighting;
  const seen = seenIn(context, sighting);
  if (!isSameData(seen, context.sighting ?? { isMissing: false })) return true;
  if (!attached) return false;
  const lost = Object.values(context.publications).some(
    (one) => settled.has(publicStateOf(one)) && !attached.includes(one.csiNodeId),
  );
  return lost || strays.length > (seen.heldOn?.length ?? 0);
}

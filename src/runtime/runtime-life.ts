/** The life of a runtime: the order in which its parts start, stop accepting requests, and stop. */
import { join } from 'node:path';
import { registryAddress, volumesPrefix } from '../../machines/kit/addresses.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind } from '../engine/effects/effects.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { DataDir } from '../host/data-dir.js';
import { countRecords } from '../stores/lmdb/lmdb-check.js';
import { isOpenHere } from '../stores/lmdb/open-paths.js';
import type { ControllerSide } from './controller-side.js';
import type { NodeSide } from './node-side.js';
import type { RuntimeOptions } from './options.js';
import type { OwnPresence, PluginSide } from './plugin-side.js';
import { drainAgain, RegistryActor, registryKind } from './registry-actor.js';

interface Living {
  options: RuntimeOptions;
  dataDir: DataDir;
  engine: Engine;
  pluginSide: PluginSide;
  controllerSide: ControllerSide;
  nodeSide: NodeSide;
  /** Undefined: the store is of one process. */
  cluster: Cluster | undefined;
  presence: OwnPresence;
  /** Undefined: the runtime is on its embedded store. */
  leftStore: LeftStore | undefined;
  clock: Clock;
  logger: Logger;
}

export class RuntimeLife {
  readonly #parts: Living;
  readonly #root: RegistryActor;
  /** Whether a close has asked for the release of all allocs and tasks. */
  #releases = false;
  /** How the root actor was drained, once it was. */
  #drained: 'kept' | 'released' | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: Living) {
    this.#parts = parts;
    const { options, dataDir, engine, pluginSide, nodeSide, clock } = parts;
    this.#root = new RegistryActor(engine, registryAddress(options.nodeId), clock);
    const kinds: ActorKind[] = [...pluginSide.kinds(nodeSide), ...nodeSide.kinds];
    // Read only when it runs: until then a close may still become one that releases.
    const drain = async (release: boolean): Promise<void> => {
      this.#drained = this.#releases || release ? 'released' : 'kept';
      if (this.#drained === 'released') await pluginSide.tasks.stopAll();
    };
    engine.host([registryKind({ dataDir, engine, restored: kinds, drain }), ...kinds]);
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Restores all actors, and resumes what was under way. @throws StagecraftError START_FAILED, NODE_IN_USE, … */
  async start(): Promise<void> {
    const { engine, pluginSide, controllerSide, nodeSide, cluster, presence, leftStore } = this.#parts;
    await engine.open();
    await this.#root.start().catch(async (error: unknown) => {
      // The reason of the failed start counts more than that of a failed stop.
      await engine.stop().catch(this.#tell);
      pluginSide.end();
      throw error;
    });
    await cluster?.start({ ...presence, noticed: (notice) => nodeSide.noticed(notice) });
    await controllerSide.start();
    await nodeSide.start();
    leftStore?.start();
    void engine.lost.then(async (reason) => {
      this.#refuse(reason);
      await controllerSide.stop().catch(this.#tell);
    });
  }

  /**
   * Stops everything; plugin processes run on, and their volumes stay mounted, unless they are released.
   * @throws StagecraftError DRAIN_FAILED, STORE_UNAVAILABLE, RUNTIME_CLOSED: it was closed without a release before
   */
  close({ release = false }: { release?: boolean } = {}): Promise<void> {
    if (release && this.#drained === 'kept') return Promise.reject(tooLate());
    this.#releases ||= release;
    this.#closing ??= this.#close(release);
    return this.#closing;
  }

  async #close(release: boolean): Promise<void> {
    const { dataDir, engine, pluginSide, controllerSide, nodeSide, cluster, leftStore } = this.#parts;
    // Released while the controller side still runs.
    const held = this.#releases ? await nodeSide.release().then(undefined, asFault) : undefined;
    this.#refuse();
    try {
      await controllerSide.stop().catch(this.#tell);
      await cluster?.stop();
      await this.#root
        .stop(release, () => pluginSide.tasks.list())
        .catch((error: unknown) => this.#withoutStore(error))
        .finally(() => engine.stop());
    } catch (error) {
      // Plugins could not be stopped because allocs were not released.
      throw held && error instanceof StagecraftError ? bothOf(held, error) : error;
    } finally {
      // A plugin that runs on may use the directory of mounts as it is now.
      if (this.#drained === 'released') await nodeSide.unshare().catch(this.#tell);
      pluginSide.end();
      await leftStore?.stop();
      dataDir.unlock();
    }
    if (held) throw unreleased(held);
  }

  /** Accepts no more requests. */
  #refuse(reason?: StagecraftError): void {
    const { pluginSide, controllerSide, nodeSide, cluster } = this.#parts;
    for (const part of [pluginSide, nodeSide, cluster, controllerSide]) part?.refuse(reason);
  }

  /** A stop that can't be committed is not begun. */
  #withoutStore(error: unknown): never {
    if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) throw error;
    this.#drained = this.#releases ? 'released' : 'kept';
    throw closedWithoutStore(error, this.#releases);
  }

  readonly #tell = (fault: unknown): void => {
    this.#parts.logger.error({}, `a step of the shutdown failed: ${messageOf(fault)}`);
  };
}

/** The error of a stop, with that of the release before it. */
const bothOf = (first: StagecraftError, then: StagecraftError): StagecraftError =>
  new StagecraftError(then.code, `${first.message}; ${then.message}`, {
    faults: [...(first.faults ?? [first.message]), ...(then.faults ?? [then.message])],
    cause: then,
  });

const asFault = (error: unknown): StagecraftError =>
  error instanceof StagecraftError ? error : new StagecraftError('DRAIN_FAILED', messageOf(error), { cause: error });

const unreleased = ({ code, message, faults = [message], cause }: StagecraftError): StagecraftError =>
  new StagecraftError(code, `${message}; ${drainAgain}`, { faults, cause });

const tooLate = (): StagecraftError =>
  new StagecraftError('RUNTIME_CLOSED', 'it was closed without releasing: create it again, then close it with release');

function closedWithoutStore({ address, outcome, cause }: StagecraftError, released: boolean): StagecraftError {
  const details = { ...(address && { address }), ...(outcome && { outcome }), cause };
  const why = `the store takes nothing now (${messageOf(cause)})`;
  const advice = 'plugin processes run on; start it again once the store answers';
  if (released)
    return new StagecraftError('DRAIN_FAILED', `nothing was stopped: ${why}; ${advice}, then drain`, details);
  return new StagecraftError('STORE_UNAVAILABLE', `closed with work under way: ${why}; ${advice}`, details);
}

/** Reads the embedded store of a runtime that has been given another one, beside its work. */
export class LeftStore {
  readonly #dataDir: string;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #stop = new AbortController();
  #reading: Promise<void> | undefined;

  /** @param dataDir locked by this process */
  constructor(dataDir: string, logger: Pick<Logger, 'warn'>) {
    this.#dataDir = dataDir;
    this.#logger = logger;
  }

  start(): void {
    const dataDir = this.#dataDir;
    const warn = (line: string): void => this.#logger.warn({ dataDir }, line);
    this.#reading = warnOfLeftStore(dataDir, { warn, signal: this.#stop.signal });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }
}

/**
 * Warns of an embedded store with volumes in it, or of one that can't be read. Changes nothing in that store. Resolves once
 * nothing reads there any more.
 * @param dataDir locked by this process
 * @param signal ends the reading, without a word
 */
export async function warnOfLeftStore(
  dataDir: string,
  { warn, signal }: { warn(line: string): void; signal: AbortSignal },
): Promise<void> {
  const path = join(dataDir, 'state');
  // The store that is configured may be just that one, or one around it.
  if (isOpenHere(path)) return;
  try {
    const volumes = await countRecords(path, { prefix: volumesPrefix, signal });
    if (volumes === 0) return;
    const kept = `${path} has ${volumes} volumes of the embedded store, which the store that is configured does not know`;
    warn(`${kept}: to go on with them, take store.redis out of the configuration; else move that directory away`);
  } catch (error) {
    if (signal.aborted) return;
    warn(`${path} is not used any more, as another store is configured, and can't be read: ${messageOf(error)}`);
  }
}

/**
 * Mounts that an agent at another place has made under the id of this node. They can't be seen from here, so nothing is called
 * for them, and nothing is reported as unmounted, until the controller side has given them up, as after a fence.
 * Why: docs/decisions/0035-mounts-of-a-replaced-agent.md
 */
import { addressParts, mountAddress, registryAddress } from '../../machines/kit/addresses.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { hasNoTarget } from '../../machines/mount/target.js';
import type { MountContext } from '../../machines/mount/types.js';
import { isStagingOwed } from '../../machines/mount/work.js';
import {
  type AgentPlace,
  describeFormer,
  type FormerMount,
  registryMachine,
} from '../../machines/registry/registry.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { StagecraftError } from '../errors.js';
import type { Concern, Question } from './volume-watch.js';

interface FormerMountsOptions {
  nodeId: string;
  place: AgentPlace;
  engine: Engine;
  clock: Clock;
  logger: Logger;
}

const intervalMs = 5_000;
const mostNamed = 5;

export class FormerMounts implements Concern {
  readonly #options: FormerMountsOptions;
  readonly #address: string;
  readonly #registry: ActorsOf<typeof registryMachine>;
  readonly #mounts: ActorsOf<typeof mountMachine>;

  constructor(options: FormerMountsOptions) {
    this.#options = options;
    this.#address = registryAddress(options.nodeId);
    this.#registry = new ActorsOf(options.engine, registryMachine);
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  /** Addresses of all mounts whose volumes are here, or may be: also of those whose records can't be read. */
  present(): string[] {
    const here = [...this.#mounts.views()].flatMap(([address, { context }]) => (mayBeHere(context) ? [address] : []));
    return [...new Set([...here, ...this.#quarantined()])];
  }

  /**
   * Commits the place of this agent, before any plugin is called.
   * @param mounts those that were present before this agent accepted requests
   */
  async place(mounts: string[]): Promise<void> {
    const { nodeId, place, logger } = this.#options;
    const known = this.#registry.peek(this.#address)?.context.place;
    if (!isSameData(known, place) || this.#all().length > 0)
      await this.#registry.report(this.#address, { type: 'registry.placed', place, mounts });
    const names = this.#all().map(([address]) => volumeName(keyOf(address)));
    if (names.length === 0) return;
    const named = names.slice(0, mostNamed).join(', ');
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
    const message = `node ${nodeId} had its agent at another place before, which may have these mounted still: ${named}${more}; see 'stagecraft why volume NAME' for each`;
    logger.warn({ nodeId }, message);
  }

  questions(): Question[] {
    return this.#all().map(([address]) => ({
      volume: keyOf(address),
      isUrgent: true,
      answered: (known, signal) => this.#answered(address, known ? known.isKept : false, signal),
    }));
  }

  /** Says who has the volume mounted, and what to do; undefined: nobody at another place. */
  why(key: VolumeKey): string | undefined {
    const { nodeId } = this.#options;
    const former = this.#former()[mountAddress(nodeId, key.namespace, key.id)];
    return former && describeFormer(nodeId, former);
  }

  /** @throws StagecraftError MOUNT_ELSEWHERE */
  refuse(key: VolumeKey): void {
    const why = this.why(key);
    const address = mountAddress(this.#options.nodeId, key.namespace, key.id);
    if (why !== undefined)
      throw new StagecraftError('MOUNT_ELSEWHERE', `${volumeName(key)}: ${why}`, { address, final: true });
  }

  /** Resolves once nobody at another place has the volume mounted, or at the signal. */
  async over(key: VolumeKey, signal: AbortSignal): Promise<void> {
    while (this.why(key) !== undefined && !signal.aborted) await pause(this.#options.clock, intervalMs, signal);
  }

  #quarantined(): string[] {
    const { engine } = this.#options;
    return engine.quarantined().flatMap(({ address }) => (address.startsWith(this.#mounts.prefix) ? [address] : []));
  }

  #former(): Record<string, FormerMount> {
    return this.#registry.peek(this.#address)?.context.former ?? {};
  }

  #all(): [address: string, mount: FormerMount][] {
    return Object.entries(this.#former());
  }

  /** @param isKept undefined: the controller side does not say */
  async #answered(address: string, isKept: boolean | undefined, signal: AbortSignal): Promise<void> {
    // Throws for a record that can't be read now, or is damaged: it may be that of a mount.
    const mount = await this.#mounts.read(address, signal);
    // An earlier answer has settled it, and the volume may be mounted here again.
    if (!(address in this.#former())) return;
    // Only the second commit is missing, perhaps: the volume may be claimed here again by now.
    if (mount && mayBeHere(mount.context)) {
      if (isKept === undefined)
        throw new Error(
          'look of the ClaimClient gives no isKept: update the agent that works on volumes, or that client',
        );
      if (isKept) return;
      await this.#mounts.report(address, { type: 'mount.given-up' });
    }
    await this.#registry.report(this.#address, { type: 'registry.former-mount-over', address });
  }
}

function keyOf(address: string): VolumeKey {
  const [, , namespace = '', id = ''] = addressParts(address);
  return { namespace, id };
}

const mayBeHere = (context: MountContext): boolean =>
  isStagingOwed(context) || context.users.some((user) => !hasNoTarget(user));

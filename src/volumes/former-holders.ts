/**
 * Says which nodes may still have a volume mounted by an agent at another place, which the present agent of that node has
 * replaced: whoever waits for the volume needs to know. Reads the records of those nodes.
 */
import { mountAddress, registryAddress } from '../../machines/kit/addresses.js';
import { describeFormer } from '../../machines/registry/former-mounts.js';
import { registryMachine } from '../../machines/registry/registry.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { unlessAborted } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { viewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';

/** Holder of a volume at another place. */
export interface FormerHolder {
  nodeId: string;
  /** Names the agent, and says what to do. */
  why: string;
}

interface FormerHoldersOptions {
  stored: Pick<ActorSystem, 'read'>;
  clock: Clock;
  /** Trouble with the store; undefined: none is known. */
  trouble(): Error | undefined;
}

/** Limit for the names: whoever waits is told of the rest. */
const namesMs = 1_000;

export class FormerHolders {
  readonly #options: FormerHoldersOptions;

  constructor(options: FormerHoldersOptions) {
    this.#options = options;
  }

  /** Names them, as far as the records of the nodes can be read soon. Never rejects. */
  async of(
    { key, claims, publications }: Pick<VolumeContext, 'key' | 'claims' | 'publications'>,
    signal?: AbortSignal,
  ): Promise<FormerHolder[]> {
    const { clock, trouble } = this.#options;
    if (trouble()) return [];
    const nodes = [...new Set([...claims.map(({ nodeId }) => nodeId), ...Object.keys(publications)])];
    const within = { clock, timeoutMs: namesMs, ends: [signal && abortedBy(signal)] };
    const find = async (nodeId: string): Promise<FormerHolder[]> => {
      const why = await withDeadline(within, (limit) => unlessAborted(limit, () => this.on(nodeId, key)));
      return why === undefined ? [] : [{ nodeId, why }];
    };
    return (await Promise.all(nodes.map((nodeId) => find(nodeId).catch(() => [])))).flat();
  }

  /**
   * Says who has it on this node; undefined: nobody at another place.
   * @throws StagecraftError STORE_UNAVAILABLE, VOLUME_IN_USE: the record of the node can't be read
   */
  async on(nodeId: string, { namespace, id }: VolumeKey): Promise<string | undefined> {
    const address = registryAddress(nodeId);
    const view = viewOf(registryMachine, address, await this.#options.stored.read(address));
    const mount = view?.context.former?.[mountAddress(nodeId, namespace, id)];
    return mount && describeFormer(nodeId, mount);
  }
}

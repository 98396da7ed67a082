/**
 * Says which nodes may still have a volume mounted by an agent at another place, which the present agent of that node has
 * replaced: whoever waits for the volume needs to know. Reads the records of those nodes.
 */
import { mountAddress, registryAddress } from '../../machines/kit/addresses.js';
import { describeFormer } from '../../machines/registry/former-mounts.js';
import { registryMachine } from '../../machines/registry/registry.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { viewOf } from '../engine/actors-of.js';

/** Holder of a volume at another place. */
export interface FormerHolder {
  nodeId: string;
  /** Names the agent, and says what to do. */
  why: string;
}

export class FormerHolders {
  readonly #stored: Pick<ActorSystem, 'read'>;

  constructor({ stored }: { stored: Pick<ActorSystem, 'read'> }) {
    this.#stored = stored;
  }

  /** @throws StagecraftError STORE_UNAVAILABLE, VOLUME_IN_USE: the record of a node can't be read */
  async of({
    key,
    claims,
    publications,
  }: Pick<VolumeContext, 'key' | 'claims' | 'publications'>): Promise<FormerHolder[]> {
    const nodes = new Set([...claims.map(({ nodeId }) => nodeId), ...Object.keys(publications)]);
    const found = await Promise.all(
      [...nodes].map(async (nodeId) => {
        const why = await this.on(nodeId, key);
        return why === undefined ? [] : [{ nodeId, why }];
      }),
    );
    return found.flat();
  }

  /** Undefined: nobody at another place has it on this node. @throws StagecraftError as `of` */
  async on(nodeId: string, { namespace, id }: VolumeKey): Promise<string | undefined> {
    const address = registryAddress(nodeId);
    const view = viewOf(registryMachine, address, await this.#stored.read(address));
    const mount = view?.context.former?.[mountAddress(nodeId, namespace, id)];
    return mount && describeFormer(nodeId, mount);
  }
}

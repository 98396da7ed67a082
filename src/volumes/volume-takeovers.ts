/**
 * What a plugin has is one volume here: two actors that have the same one know nothing of each other's publications, and
 * would let two nodes write to it, or take it from each other. Whoever takes one over looks first who has it.
 */
import { addressParts, volumesPrefix } from '../../machines/addresses.js';
import { nameOf } from '../../machines/volume-requests.js';
import type { VolumeContext, VolumeKey } from '../../machines/volume-types.js';
import { lockKey } from '../calls/volume-locks.js';
import type { ActorDoor } from '../engine/actor-door.js';
import type { Clock } from '../engine/clock.js';
import { pages } from '../engine/pages.js';
import { StagecraftError } from '../errors.js';
import { SoleHolders } from './sole-holders.js';
import { addressOf } from './volume-checks.js';
import { stateOf } from './volume-view.js';

/** What is to be taken over, under which key. */
export interface Takeover extends VolumeKey {
  plugin: string;
  csiId: string;
}

const pageSize = 512;

export class VolumeTakeovers {
  readonly #engine: ActorDoor;
  readonly #holders: SoleHolders;

  constructor(ports: { engine: ActorDoor; clock: Clock }) {
    this.#engine = ports.engine;
    this.#holders = new SoleHolders(ports);
  }

  /** Does what takes one over. @throws StagecraftError VOLUME_EXISTS naming who has it; what the work throws */
  async within(takeover: Takeover, work: () => Promise<void>): Promise<void> {
    const address = addressOf(takeover);
    const things = [lockKey(takeover.plugin, takeover.csiId)];
    const refusal = (_: string, holder: string): StagecraftError => held(takeover, holder);
    await this.#holders.within({ address, things, refusal }, async () => {
      const holder = await this.#holderOf(takeover);
      if (holder !== undefined) throw held(takeover, holder);
      await work();
    });
  }

  /** The address of another one that has it, or is to take it over. */
  async #holderOf(takeover: Takeover): Promise<string | undefined> {
    const own = addressOf(takeover);
    for await (const [address, view] of pages((after) =>
      this.#engine.page({ prefix: volumesPrefix, limit: pageSize, ...after }),
    )) {
      // The engine keeps contexts as the machines made them, but does not know their types.
      const isHeld =
        address !== own && stateOf(view.state) !== 'deleted' && has(view.context as VolumeContext, takeover);
      if (isHeld) return address;
    }
    return undefined;
  }
}

/** Also what it has made wrongly: that is deleted with it. */
const has = ({ spec, csi, creation }: VolumeContext, { plugin, csiId }: Takeover): boolean =>
  spec?.plugin === plugin && [csi?.id, creation.made?.id, spec.external?.csiId].includes(csiId);

function held({ plugin, csiId, ...key }: Takeover, holder: string): StagecraftError {
  const [, namespace = '', id = ''] = addressParts(holder);
  const message = `${nameOf(key)}: plugin '${plugin}' knows ${nameOf({ namespace, id })} as '${csiId}': use that one, or delete it first`;
  return new StagecraftError('VOLUME_EXISTS', message, { address: addressOf(key) });
}

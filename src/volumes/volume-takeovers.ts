/**
 * What a plugin has is one volume here: two actors that have the same one know nothing of each other's publications, and
 * would let two nodes write to it, or take it from each other. Whoever takes one over looks first who has it, and tells those
 * that may have made it without knowing.
 */
import { addressParts, volumesPrefix } from '../../machines/addresses.js';
import { hasMade, nameOf } from '../../machines/volume-requests.js';
import type { VolumeContext, VolumeKey } from '../../machines/volume-types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import type { Clock } from '../engine/clock.js';
import { pages } from '../engine/pages.js';
import { StagecraftError } from '../errors.js';
import { SoleHolders } from './sole-holders.js';
import { addressOf } from './volume-checks.js';
import { lockKey } from './volume-locks.js';
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

  /**
   * Does what takes one over. Volumes that may have made it, and were not told yet, are told first: it is none of theirs.
   * @throws StagecraftError VOLUME_EXISTS naming who has it; what the work throws
   */
  async within(takeover: Takeover, work: () => Promise<void>): Promise<void> {
    const address = addressOf(takeover);
    const things = [lockKey(takeover.plugin, takeover.csiId)];
    const refusal = (_: string, holder: string): StagecraftError => held(takeover, holder);
    await this.#holders.within({ address, things, refusal }, async () => {
      const undecided = await this.#undecided(takeover);
      await Promise.all(undecided.map((other) => this.#cede(other, takeover)));
      await work();
    });
  }

  /**
   * The addresses of others of the plugin of which it is not known what has been made for them.
   * @throws StagecraftError VOLUME_EXISTS where another one has it, or is to take it over
   */
  async #undecided(takeover: Takeover): Promise<string[]> {
    const own = addressOf(takeover);
    const undecided: string[] = [];
    for await (const [address, view] of pages((after) =>
      this.#engine.page({ prefix: volumesPrefix, limit: pageSize, ...after }),
    )) {
      if (address === own || stateOf(view.state) === 'deleted') continue;
      // The engine keeps contexts as the machines made them, but does not know their types.
      const context = view.context as VolumeContext;
      if (has(context, takeover)) throw held(takeover, address);
      if (context.spec?.plugin === takeover.plugin && mayHaveMade(context)) undecided.push(address);
    }
    return undecided;
  }

  async #cede(address: string, takeover: Takeover): Promise<void> {
    try {
      await this.#engine.ask(address, { type: 'volume.cede', csiId: takeover.csiId });
    } catch (error) {
      const { code } = error instanceof StagecraftError ? error : {};
      if (code === 'VOLUME_EXISTS') throw held(takeover, address);
      if (code !== 'VOLUME_NOT_FOUND') throw error;
    }
  }
}

/** Also what it has made wrongly: that is deleted with it. */
const has = (context: VolumeContext, { plugin, csiId }: Takeover): boolean =>
  context.spec?.plugin === plugin && (hasMade(context, csiId) || context.spec.external?.csiId === csiId);

/** Whether its plugin may have made something for it that it does not know of. */
const mayHaveMade = ({ spec, csi, creation, work, awaiting }: VolumeContext): boolean => {
  if (csi || spec?.external) return false;
  const isCalled = work?.kind === 'create' && work.isCalling && !awaiting;
  return isCalled || creation.inDoubt === true;
};

function held({ plugin, csiId, ...key }: Takeover, holder: string): StagecraftError {
  const [, namespace = '', id = ''] = addressParts(holder);
  const message = `${nameOf(key)}: plugin '${plugin}' knows ${nameOf({ namespace, id })} as '${csiId}': use that one, or delete it first`;
  return new StagecraftError('VOLUME_EXISTS', message, { address: addressOf(key) });
}

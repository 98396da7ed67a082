/**
 * The way of requests to volumes. What is committed may say already that one is refused: that is answered at once, and
 * costs no commit. Where something is still being asked of the volume, its mailbox decides. What is not refused is asked,
 * also where it seems to be so already: what undoes it may be on its way to the store, and another runtime may lead, which
 * only a commit can tell.
 */
import { refusalOf } from '../../machines/volume/requests.js';
import type { VolumeContext, VolumeKey, VolumeRequest } from '../../machines/volume/types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { StagecraftError } from '../errors.js';
import { addressOf } from './volume-checks.js';
import { stateOf } from './volume-view.js';

export class VolumeDoor {
  readonly #engine: Pick<ActorDoor, 'ask' | 'peek'>;
  /** By address: requests that are not answered yet. */
  readonly #underWay = new Map<string, number>();

  constructor(engine: Pick<ActorDoor, 'ask' | 'peek'>) {
    this.#engine = engine;
  }

  /** Resolves once it is committed. @throws StagecraftError why it is refused */
  async ask(key: VolumeKey, request: VolumeRequest, limit?: AbortSignal): Promise<void> {
    const address = addressOf(key);
    const before = this.#underWay.get(address) ?? 0;
    if (before === 0) this.#refuse(address, request);
    this.#underWay.set(address, before + 1);
    try {
      await this.#engine.ask(address, request, { signal: limit });
    } finally {
      const left = (this.#underWay.get(address) ?? 0) - 1;
      if (left > 0) this.#underWay.set(address, left);
      else this.#underWay.delete(address);
    }
  }

  /** @throws StagecraftError why what is committed refuses it */
  #refuse(address: string, request: VolumeRequest): void {
    const view = this.#engine.peek(address);
    if (!view || stateOf(view.state) === 'deleted') return;
    // The engine keeps contexts as the machines made them, but does not know their types.
    const refusal = refusalOf(view.context as VolumeContext, request);
    if (refusal) throw new StagecraftError(refusal.code, refusal.message, { address });
  }
}

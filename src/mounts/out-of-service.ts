/** Actors that take nothing, as they crashed too often: those that are told something one by one must not wait for them. */
import { StagecraftError } from '../errors.js';

/** To be handed to `catch`: swallows that an actor is out of service, which is told of where it became so. */
export function unlessOutOfService(error: unknown): undefined {
  if (error instanceof StagecraftError && error.code === 'ACTOR_QUARANTINED') return undefined;
  throw error;
}

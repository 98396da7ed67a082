import type { ActorSystem } from '../../src/engine/actor-system.js';

/** An engine without actors, but for what `parts` say: nothing is there, and every request is taken. */
export const actorSystem = (parts: Partial<ActorSystem>): ActorSystem => ({
  ask: async () => undefined,
  read: async () => undefined,
  page: async () => ({ rows: [] }),
  peek: () => undefined,
  has: () => false,
  *views() {},
  observe: () => () => {},
  storeTrouble: () => undefined,
  follow: () => {
    throw new Error('nobody follows');
  },
  ...parts,
});

import type { ActorSystem } from '../../src/engine/actor-system.js';

/** Returns an ActorSystem without actors that accepts every request; `parts` overrides methods. */
export const actorSystem = (parts: Partial<ActorSystem>): ActorSystem => ({
  ask: async () => undefined,
  read: async () => undefined,
  page: async () => ({ rows: [] }),
  peek: () => undefined,
  readNow: () => undefined,
  has: () => false,
  *views() {},
  observe: () => () => {},
  storeTrouble: () => undefined,
  follow: () => {
    throw new Error('nobody follows');
  },
  ...parts,
});

/** Routes that show actors: all at a glance, and everything about one. */
import type { FastifyInstance } from 'fastify';
import { addressParts } from '../../machines/kit/addresses.js';
import { actorRoutes as routes } from '../api/actor-routes.js';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import { detailOf, overviewOf } from './actor-answers.js';
import { serve } from './json-server.js';

interface ActorRoutes {
  /** Version of Stagecraft. */
  version: string;
  /** Whether events may be sent to actors by hand. Default: no. */
  allowSend?: boolean;
}

export function serveActors(server: FastifyInstance, runtime: Runtime, { version, allowSend }: ActorRoutes): void {
  serve(server, routes.overview, ({ gone }) => overviewOf(runtime, { version, at: Date.now(), gone }));
  serve(server, routes.inspect, async ({ params: { address } }) => {
    const actor = await runtime.actors.inspect(address);
    return { ...detailOf(actor, await orphansOf(runtime, address)), maySend: allowSend === true };
  });
  serve(server, routes.send, async ({ body: { address, event, by } }) => {
    if (!allowSend) {
      const message = 'sending requests by hand is off on this agent: it can be allowed with inspector.allowSend';
      throw new StagecraftError('FORBIDDEN', message);
    }
    return { answer: (await runtime.actors.send(address, event, { by })) ?? null };
  });
}

/** Mounts of a volume on this node that no record has: they may hold up its calls. */
async function orphansOf(runtime: Runtime, address: string): ReturnType<Runtime['mounts']['orphans']> {
  const [machine = '', ...parts] = addressParts(address);
  const [namespace, id] = parts.slice(-2);
  if ((machine !== 'volume' && machine !== 'mount') || namespace === undefined || id === undefined) return [];
  return runtime.mounts.orphans({ namespace, id });
}

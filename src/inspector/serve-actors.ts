/** Routes that show actors: all at a glance, and everything about one. */
import type { FastifyInstance } from 'fastify';
import type { Runtime } from '../runtime/runtime.js';
import { detailOf, overviewOf } from './actor-answers.js';
import type { ActorDetail, Overview } from './answers.js';

interface OfActor {
  Params: { '*': string };
}

/** @param version of Stagecraft */
export function serveActors(server: FastifyInstance, runtime: Runtime, { version }: { version: string }): void {
  server.get('/v1/overview', (): Promise<Overview> => overviewOf(runtime, { version, at: Date.now() }));
  server.get<OfActor>(
    '/v1/actors/*',
    async ({ params: { '*': address } }): Promise<ActorDetail> => detailOf(await runtime.actors.inspect(address)),
  );
}

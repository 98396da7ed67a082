/** Routes that show actors: all at a glance, and everything about one. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import { detailOf, overviewOf } from './actor-answers.js';
import type { ActorDetail, Overview } from './answers.js';

interface OfActor {
  Params: { '*': string };
}

export interface ActorRoutes {
  /** Version of Stagecraft. */
  version: string;
  /** Whether events may be sent to actors by hand. Default: no. */
  allowSend?: boolean;
}

const sendSchema = z.object({ address: z.string(), event: z.looseObject({ type: z.string() }), by: z.string() });

export function serveActors(server: FastifyInstance, runtime: Runtime, { version, allowSend }: ActorRoutes): void {
  server.get('/v1/overview', (): Promise<Overview> => overviewOf(runtime, { version, at: Date.now() }));
  server.get<OfActor>(
    '/v1/actors/*',
    async ({ params: { '*': address } }): Promise<ActorDetail> => ({
      ...detailOf(await runtime.actors.inspect(address)),
      maySend: allowSend === true,
    }),
  );
  server.post('/v1/actors/send', async ({ body }) => {
    if (!allowSend) {
      const message = 'sending events is off on this agent: it can be allowed with inspector.allowSend';
      throw new StagecraftError('FORBIDDEN', message);
    }
    const { data, error } = sendSchema.safeParse(body);
    if (!data) {
      const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`).join('; ');
      throw new StagecraftError('INVALID_ARGUMENT', `give an address, an event with its type, and by whom: ${faults}`);
    }
    return { answer: (await runtime.actors.send(data.address, data.event, { by: data.by })) ?? null };
  });
}

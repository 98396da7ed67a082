/** `stagecraft/client`: asks a running agent, with the types of its API. */
import type { z } from 'zod';
import { methodAndUrl, paths } from '../api/paths.js';
import type { ParamsOf, Route } from '../api/route.js';
import type { routes } from '../api/routes.js';
import type { RuntimeEvent } from '../runtime/event-topics.js';
import { AgentError } from './agent-error.js';
import { type AgentSocket, eventsIn, pieces, responseTo, type Sent, whole } from './exchange.js';

export interface ClientOptions {
  /** The agent's socket: `agent.sock` in its data directory. */
  socketPath?: string;
  /**
   * Instead of a socket: the link that `stagecraft inspect` prints. There are fewer requests there: those that read, and
   * the events.
   */
  url?: string;
  /** Changes errors before they are thrown, as to add advice. */
  explain?(error: AgentError): Error;
}

/** How a request is made, beside what it says. */
export interface CallOptions {
  /** Ends the wait. The agent may still do what was asked. */
  signal?: AbortSignal;
  /** How long the agent may stay silent, ms. Default: no limit. */
  idleTimeoutMs?: number;
}

/** A field of a request; none if nothing goes into it, and optional if nothing has to. */
type Field<TName extends string, T> = [keyof T] extends [never]
  ? unknown
  : string extends keyof T
    ? unknown
    : Partial<T> extends T
      ? { [Name in TName]?: T }
      : { [Name in TName]: T };

/** A request as callers give it: `params` of its path, `query` and `body`. */
type RequestTo<TRoute> =
  TRoute extends Route<infer TPath, infer TQuery, infer TBody>
    ? CallOptions & Field<'params', ParamsOf<TPath>> & Field<'query', z.input<TQuery>> & Field<'body', z.input<TBody>>
    : never;

type AnswerOf<TRoute> = TRoute extends Route<string, z.ZodType, z.ZodType, infer TAnswer> ? z.output<TAnswer> : never;

type Call<TRequest, TAnswer> =
  Partial<TRequest> extends TRequest ? (request?: TRequest) => TAnswer : (request: TRequest) => TAnswer;

type Calls<TRoutes> = { [Name in keyof TRoutes]: Call<RequestTo<TRoutes[Name]>, Promise<AnswerOf<TRoutes[Name]>>> };

type Routes = typeof routes;
type Streamed<TRoute, TPiece> = Call<RequestTo<TRoute>, AsyncIterable<TPiece>>;

/**
 * The requests of an agent, by subject: `client.volumes.get({ params: { namespace: 'default', id: 'data' } })`. What each
 * takes and answers: docs/http-api.md. All of them throw AgentError.
 */
export type Client = { [Group in Exclude<keyof Routes, 'actors' | 'events'>]: Calls<Routes[Group]> } & {
  actors: Calls<Omit<Routes['actors'], 'exportJournals'>> & {
    /** Text of a journal file, piece by piece. */
    exportJournals: Streamed<Routes['actors']['exportJournals'], string>;
  };
  events: {
    /** Events in their order. To go on after an interruption give the last event's id as `from`. */
    follow: Streamed<Routes['events']['follow'], RuntimeEvent>;
  };
};

interface AnyRequest extends CallOptions {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: object;
}

/** Makes a client. It connects with each request. @throws {TypeError} without a socket or a URL */
export function createClient(options: ClientOptions): Client {
  const target = targetOf(options);
  const { explain = (error) => error } = options;
  const thrown = (error: unknown): never => {
    throw error instanceof AgentError ? explain(error) : error;
  };

  async function json(path: string, request: AnyRequest): Promise<unknown> {
    const response = await responseTo(target, sentOf(path, request));
    const text = await whole(target.at, response, request.signal);
    if (response.headers['content-type']?.startsWith('text/')) return text;
    return text === '' ? undefined : JSON.parse(text);
  }

  async function* streamed(path: string, request: AnyRequest): AsyncGenerator<string, void> {
    try {
      const response = await responseTo(target, sentOf(path, request));
      yield* pieces(target.at, response, request.signal);
    } catch (error) {
      thrown(error);
    }
  }

  async function* followed(path: string, request: AnyRequest): AsyncGenerator<unknown, void> {
    for await (const data of eventsIn(streamed(path, request))) yield JSON.parse(data);
  }

  const { actors, events, ...others } = paths;
  const calls = (group: Record<string, string>): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, path]) => [
        name,
        (request: AnyRequest = {}) => json(path, request).catch(thrown),
      ]),
    );
  const client: object = {
    ...Object.fromEntries(Object.entries(others).map(([name, group]) => [name, calls(group)])),
    actors: {
      ...calls(actors),
      exportJournals: (request: AnyRequest = {}) => streamed(actors.exportJournals, request),
    },
    events: { follow: (request: AnyRequest = {}) => followed(events.follow, request) },
  };
  return client as Client;
}

function targetOf({ socketPath, url }: ClientOptions): AgentSocket {
  if (socketPath !== undefined) return { at: socketPath, options: { socketPath } };
  if (url === undefined) throw new TypeError('give the socketPath of an agent, or the url of its inspector');
  const { hostname, port, origin, searchParams } = new URL(url);
  const token = searchParams.get('token');
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  return { at: origin, options: { host: hostname.replace(/^\[(.*)\]$/, '$1'), port, headers } };
}

function sentOf(path: string, { params = {}, query = {}, body, signal, idleTimeoutMs }: AnyRequest): Sent {
  const { method, url } = methodAndUrl(path);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  const asked = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return { method, path: search.size === 0 ? asked : `${asked}?${search}`, body, signal, idleTimeoutMs };
}

/** How a driver is made wrong: one RPC of a right one is answered in another way, for all requests or for some. */
import type { Given } from '../../src/csi/codec.js';
import type { Rpcs } from '../../src/csi/generated/plain.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { type CsiHandlers, CsiStatus, type UnaryHandler, type UnaryRpc } from '../../src/csi/server.js';
import type { Outcome } from '../../src/tools/driver-check/verdict.js';
import type { RightState } from './right-driver.js';

/** A driver that breaks one rule. */
export interface Wrong {
  /** The check that has to find it. */
  id: string;
  what: string;
  breaks(right: CsiHandlers, state: RightState): CsiHandlers;
  /** Of that check; default `failed`. */
  outcome: Outcome;
  /** Other checks of the RPC for which the rule is a part of theirs, or stands in their way. */
  also: Record<string, Outcome>;
  timeoutMs: number;
}

type Details = Partial<Pick<Wrong, 'outcome' | 'also' | 'timeoutMs'>>;

export const wrong = (id: string, what: string, breaks: Wrong['breaks'], details: Details = {}): Wrong => ({
  id,
  what,
  breaks,
  outcome: 'failed',
  also: {},
  timeoutMs: 120_000,
  ...details,
});

type Request<Rpc extends UnaryRpc> = Rpcs[Rpc]['request'];
type Response<Rpc extends UnaryRpc> = Given<Rpcs[Rpc]['response']>;
type UnaryHandlers = { [Rpc in UnaryRpc]?: UnaryHandler<Rpc> };

/** One RPC by another handler, which may ask the right one. */
export function replaced<Rpc extends UnaryRpc>(
  right: UnaryHandlers,
  rpc: Rpc,
  by: (
    request: Request<Rpc>,
    next: (request: Request<Rpc>) => Promise<Response<Rpc>>,
  ) => Promise<Response<Rpc>> | Response<Rpc>,
): CsiHandlers {
  const handler = right[rpc];
  if (!handler) throw new TypeError(`the right driver has no ${rpc}`);
  const changed: UnaryHandler<Rpc> = async (request, call) => by(request, async (asked) => handler(asked, call));
  return { ...right, [rpc]: changed };
}

/** Some requests get this instead of the right answer. */
export const answers = <Rpc extends UnaryRpc>(
  id: string,
  rpc: Rpc,
  isHit: (request: Request<Rpc>, state: RightState) => boolean,
  answer: Exclude<GrpcCode, 'OK'> | Response<Rpc>,
  details?: Details,
): Wrong =>
  wrong(
    id,
    `${rpc} answers some requests with ${typeof answer === 'string' ? answer : 'OK'}`,
    (right, state) =>
      replaced(right, rpc, (request, next) => {
        if (!isHit(request, state)) return next(request);
        if (isCode(answer)) throw new CsiStatus(answer, 'wrong');
        return answer;
      }),
    details,
  );

/** Some requests are taken for others. */
export const mistakes = <Rpc extends UnaryRpc>(
  id: string,
  rpc: Rpc,
  mistake: (request: Request<Rpc>, state: RightState) => Request<Rpc>,
  details?: Details,
): Wrong =>
  wrong(
    id,
    `${rpc} takes some requests for others`,
    (right, state) => replaced(right, rpc, (request, next) => next(mistake(request, state))),
    details,
  );

/** The right answer is changed; `times` counts the calls, from 1. */
export const changes = <Rpc extends UnaryRpc>(
  id: string,
  rpc: Rpc,
  change: (answer: Response<Rpc>, request: Request<Rpc>, times: number, state: RightState) => Response<Rpc>,
  details?: Details,
): Wrong =>
  wrong(
    id,
    `${rpc} changes its answers`,
    (right, state) => {
      let times = 0;
      return replaced(right, rpc, async (request, next) => {
        const answer = await next(request);
        times += 1;
        return change(answer, request, times, state);
      });
    },
    details,
  );

/** Whoever repeats a request gets this. */
export const refusesRepeats = <Rpc extends UnaryRpc>(id: string, rpc: Rpc, details?: Details): Wrong =>
  wrong(
    id,
    `${rpc} refuses a repeated request`,
    (right) => {
      const seen = new Set<string>();
      return replaced(right, rpc, async (request, next) => {
        const text = JSON.stringify(request, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
        if (seen.has(text)) throw new CsiStatus('INTERNAL', 'again?');
        const answer = await next(request);
        seen.add(text);
        return answer;
      });
    },
    details,
  );

const isCode = (answer: unknown): answer is Exclude<GrpcCode, 'OK'> => typeof answer === 'string';

export const isUnknown = (id: string): boolean => id.endsWith('-unknown');

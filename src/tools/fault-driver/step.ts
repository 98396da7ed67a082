/**
 * Steps of a script: the fate of one call. Plain data, which can cross a process boundary. The order of its parts:
 * interposed.ts. Which call gets which step: call-book.ts
 */
import { z } from 'zod';
import type { RpcName } from '../../csi/answers.js';
import { type Given, requestCodec, responseCodec } from '../../csi/codec.js';
import { type Rpcs, rpcs } from '../../csi/generated/plain.js';
import { type GrpcCode, grpcCodes } from '../../csi/grpc-codes.js';
import { secretsIn } from '../../csi/secrets.js';
import type { StreamingRpc } from '../../csi/server.js';

/** Before the driver's work, or between the work and the answer. */
export type Moment = 'before' | 'after';

/** Parts may be combined. Whatever is left out behaves as in a good driver. */
export interface Step<Rpc extends RpcName = RpcName> {
  /** Waits this many milliseconds before anything else. */
  delayMs?: number;
  /** Freezes the whole process (SIGSTOP) until `thaw`. */
  stop?: Moment;
  /** Gives no answer until `release`, or until the caller leaves. */
  hang?: Moment;
  /** Breaks the connection of the call. */
  breakOff?: Moment;
  /** The process kills itself (SIGKILL). */
  die?: Moment;
  /** Answers with this code. Does not do the work, unless `work` is set. */
  code?: Exclude<GrpcCode, 'OK'>;
  /** Text of the status. */
  text?: string;
  /** Gives this answer; for a stream, the list of its messages. Does not do the work, unless `work` is set. */
  answer?: AnswerOf<Rpc>;
  /** Does the work although `code` or `answer` sets the answer. */
  work?: true;
  /** Continues after the caller has left or its deadline has passed. */
  goOn?: true;
  /** Until this call has ended, other changing calls on the same subjects are answered ABORTED and use no step. */
  holdsVolume?: true;
}

export type AnswerOf<Rpc extends RpcName> = Rpc extends StreamingRpc
  ? readonly Given<Rpcs[Rpc]['response']>[]
  : Given<Rpcs[Rpc]['response']>;

/** Calls of an RPC that get a step, and their number. */
export interface Use<Rpc extends RpcName = RpcName> {
  /** Number of calls; default 1. */
  times?: number | 'always';
  /** Only calls whose request has these values. Of messages and maps in it, only the given fields count. */
  where?: Given<Rpcs[Rpc]['request']>;
}

const longestTimerMs = 2 ** 31 - 1;
const moment = z.enum(['before', 'after']).optional();
const flag = z.literal(true).optional();
const errorCodes = grpcCodes.filter((code) => code !== 'OK');

const stepShape = z.strictObject({
  delayMs: z.number().min(0).max(longestTimerMs).optional(),
  stop: moment,
  hang: moment,
  breakOff: moment,
  die: moment,
  code: z.enum(errorCodes).optional(),
  text: z.string().optional(),
  answer: z.custom<object>((value) => typeof value === 'object' && value !== null, 'must be an object').optional(),
  work: flag,
  goOn: flag,
  holdsVolume: flag,
});

const useShape = z.strictObject({
  times: z.union([z.int().min(1), z.literal('always')]).default(1),
  where: z.custom<object>((value) => typeof value === 'object' && value !== null, 'must be an object').default({}),
});

/** Step that was checked. */
export type CheckedStep = z.infer<typeof stepShape>;
export type CheckedUse = z.infer<typeof useShape>;

/** Tells whether the driver does its own work in this step. */
export const doesWork = ({ code, answer, work }: CheckedStep): boolean =>
  work === true || (code === undefined && answer === undefined);

/** @throws TypeError listing the known names */
export function checkedRpc(rpc: string): RpcName {
  if (isRpc(rpc)) return rpc;
  throw new TypeError(`CSI has no RPC ${JSON.stringify(rpc)}, but: ${Object.keys(rpcs).join(', ')}`);
}

const isRpc = (rpc: string): rpc is RpcName => Object.hasOwn(rpcs, rpc);

/** @throws TypeError with the reason */
export function checkedStep(rpc: RpcName, step: unknown): CheckedStep {
  const parsed = stepShape.safeParse(step);
  if (!parsed.success) throw new TypeError(`this step of ${rpc} is invalid: ${faultsOf(parsed.error)}`);
  const fault = contradictionIn(rpc, parsed.data);
  if (fault) throw new TypeError(`this step of ${rpc} makes no sense: ${fault}`);
  for (const message of messagesOf(rpc, parsed.data)) responseCodec(rpc).encode(message);
  return parsed.data;
}

/** @throws TypeError with the reason */
export function checkedUse(rpc: RpcName, use: unknown): CheckedUse {
  const parsed = useShape.safeParse(use);
  if (!parsed.success) throw new TypeError(`this use of a step of ${rpc} is invalid: ${faultsOf(parsed.error)}`);
  const { times, where } = parsed.data;
  if (secretsIn(rpc, where).length > 0) throw new TypeError(`secrets are masked: ${rpc} can't be told apart by them`);
  const { encode, decode } = requestCodec(rpc);
  return { times, where: given(decode(encode(where)), where) };
}

/** Returns only the fields that were given; decoding has added default values. */
const given = (decoded: object, fields: object): object =>
  Object.fromEntries(
    Object.entries(decoded)
      .filter(([field]) => Object.hasOwn(fields, field))
      .map(([field, value]) => {
        const inner: unknown = Reflect.get(fields, field);
        return [field, isFields(value) && isFields(inner) ? given(value, inner) : value];
      }),
  );

/** Tells whether the value is a message or a map, not a list or bytes. */
export const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

/** Returns the answers of a step: all messages of a stream, else one. */
export const messagesOf = (rpc: RpcName, { answer }: CheckedStep): object[] =>
  answer === undefined ? [] : rpcs[rpc].streams && Array.isArray(answer) ? answer : [answer];

function contradictionIn(rpc: RpcName, step: CheckedStep): string | undefined {
  const { streams } = rpcs[rpc];
  const afterWork = (['stop', 'hang', 'breakOff', 'die'] as const).find((part) => step[part] === 'after');
  if (step.answer && streams !== Array.isArray(step.answer)) {
    return streams ? 'its answer is a list of messages' : 'its answer is one message, not a list';
  }
  if (step.answer && step.code && !streams) return `it can't answer both 'answer' and ${step.code}`;
  if (step.text !== undefined && !step.code) return `'text' goes with a 'code'`;
  if (step.work && !step.code && !step.answer) return `the work is done anyway: 'work' goes with 'code' or 'answer'`;
  if (afterWork && !doesWork(step) && !streams) return `${afterWork} after what? With 'work: true' the work is done`;
  if (streams && step.goOn) return `a stream can't go on when its reader has gone`;
  if (streams && step.answer && step.work) return `a stream's messages are either given or worked for`;
  return undefined;
}

const faultsOf = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ');

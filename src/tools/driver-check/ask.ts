/** Requests to a driver and its answers; both as text for people, with secrets masked and long texts cut. */
import type { AnswerClass, RpcName } from '../../csi/answers.js';
import type { Given } from '../../csi/codec.js';
import type { Rpcs } from '../../csi/generated/plain.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import { masked } from '../../csi/secrets.js';
import type { UnaryRpc } from '../../csi/server.js';

/** Call as shown to people: secrets masked, long texts cut, sizes as text. */
export interface CallReport {
  rpc: RpcName;
  request: unknown;
  /** OK with the answer, or the status name with the driver's text. */
  answer: string;
}

/** Service of a driver whose controller and node plugins run apart. */
export type Side = 'controller' | 'node';

export interface Answer<Rpc extends UnaryRpc> {
  code: GrpcCode;
  answerClass: AnswerClass;
  /** Present only with OK. */
  value?: Rpcs[Rpc]['response'];
  report: CallReport;
}

export interface CheckAskOptions {
  /** Default: the side of the RPC's service; for Identity, the controller. */
  side?: Side;
  /** Whether ABORTED counts as an answer instead of a reason to repeat the call. */
  takesAborted?: boolean;
}

export type Ask = <Rpc extends UnaryRpc>(
  rpc: Rpc,
  request: Given<Rpcs[Rpc]['request']>,
  options?: CheckAskOptions,
) => Promise<Answer<Rpc>>;

const longestText = 80;

/** Removes secrets from a text. */
type Hide = (text: string) => string;

export const tellCall = (rpc: RpcName, request: object, answer: string, hide: Hide): CallReport => ({
  rpc,
  request: plainly(masked(rpc, request), hide),
  answer,
});

export const callLine = ({ rpc, request, answer }: CallReport): string =>
  `${rpc} ${JSON.stringify(request)} → ${answer}`;

export const tellAnswer = (answer: object, hide: Hide): string => JSON.stringify(plainly(answer, hide));

/** Converts to JSON values. Removes secrets before a text is cut, since the cut may be within one. */
function plainly(value: unknown, hide: Hide): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return cut(hide(value));
  if (Array.isArray(value)) return value.map((item) => plainly(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => [hide(key), plainly(item, hide)]);
  return Object.fromEntries(entries);
}

const cut = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}… (${Buffer.byteLength(text)} bytes)` : text;

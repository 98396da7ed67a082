/** Requests and answers as text for people: secrets masked, long texts cut. */
import type { RpcName } from '../csi/answers.js';
import { masked } from '../csi/secrets.js';
import type { CallReport } from './check.js';

const longestText = 80;

export const tellCall = (rpc: RpcName, request: object, answer: string): CallReport => ({
  rpc,
  request: plainly(masked(rpc, request)),
  answer,
});

export const callLine = ({ rpc, request, answer }: CallReport): string =>
  `${rpc} ${JSON.stringify(request)} → ${answer}`;

export const tellAnswer = (answer: object): string => JSON.stringify(plainly(answer));

/** As JSON can hold it. */
function plainly(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string' && value.length > longestText)
    return `${value.slice(0, longestText)}… (${Buffer.byteLength(value)} bytes)`;
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]: [string, unknown]) => [key, plainly(item)]));
}

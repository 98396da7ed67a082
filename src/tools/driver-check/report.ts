/** Requests and answers as text for people: secrets masked, long texts cut. */
import type { RpcName } from '../../csi/answers.js';
import { masked } from '../../csi/secrets.js';
import type { CallReport } from './verdict.js';

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

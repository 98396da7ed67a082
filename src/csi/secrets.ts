/**
 * Secrets in requests: their fields, and masks for what is shown. The fields are those of csi.proto:
 * generated/plain.ts
 */
import { maskSecretsInCut } from '../host/mask-secrets.js';
import { messages, type Rpcs, rpcs } from './generated/plain.js';

/** Shorter values occur in any text. */
const leastLength = 3;

/** By the name of the request. */
const secretFieldsOf = new Map<string, string[]>(
  Object.entries(messages).map(([name, fields]) => [
    name,
    fields.flatMap((field) => ('isSecret' in field ? [field.name] : [])),
  ]),
);

const secretFields = (rpc: keyof Rpcs): string[] => secretFieldsOf.get(rpcs[rpc].request) ?? [];

/** Copies a request with the keys of its secret fields, but not their values. */
export function masked(rpc: keyof Rpcs, request: object): object {
  const secret = new Set(secretFields(rpc));
  return Object.fromEntries(
    Object.entries(request).map(([key, value]) => [key, secret.has(key) ? withoutValues(value) : value]),
  );
}

const withoutValues = (secrets: unknown): unknown =>
  typeof secrets === 'object' && secrets !== null
    ? Object.fromEntries(Object.keys(secrets).map((key) => [key, '***']))
    : '***';

/** Values of the secret fields of a request. */
export function secretsIn(rpc: keyof Rpcs, request: unknown): string[] {
  const maps = secretFields(rpc).map((name): unknown => Reflect.get(Object(request), name));
  return maps.flatMap((map) => Object.values(map ?? {}).filter((value) => typeof value === 'string'));
}

/** Masks all secrets in a text of the plugin, also one that the driver has cut off at the end of its text. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  maskSecretsInCut(text, secrets, leastLength);

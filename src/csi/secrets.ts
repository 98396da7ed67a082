/**
 * The secrets of requests: which fields hold them, and how they are kept out of what is shown. Which fields those are,
 * csi.proto says: generated/plain.ts.
 */
import { messages, type Rpcs, rpcs } from './generated/plain.js';

/** Shorter ones are in any text. */
const leastLength = 3;

/** By the name of the request. */
const secretFieldsOf = new Map<string, string[]>(
  Object.entries(messages).map(([name, fields]) => [
    name,
    fields.flatMap((field) => ('isSecret' in field ? [field.name] : [])),
  ]),
);

const secretFields = (rpc: keyof Rpcs): string[] => secretFieldsOf.get(rpcs[rpc].request) ?? [];

/** A copy of a request in which the fields that csi.proto marks as secret have their keys, but not their values. */
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

/** The values in the fields of a request that csi.proto marks as secret. */
export function secretsIn(rpc: keyof Rpcs, request: unknown): string[] {
  const maps = secretFields(rpc).map((name): unknown => Reflect.get(Object(request), name));
  return maps.flatMap((map) => Object.values(map ?? {}).filter((value) => typeof value === 'string'));
}

/** A text of the plugin's with each secret masked; longest first, else the tail of one that begins like another stays. */
export function withoutSecrets(text: string, secrets: string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .filter((form) => form.length >= leastLength)
    .sort((a, b) => b.length - a.length);
  return forms.reduce(
    withoutBeginning,
    forms.reduce((masked, form) => masked.replaceAll(form, '***'), text),
  );
}

/** How drivers repeat a secret: as it is, quoted, without its line end, or one line of it. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/);
  return [secret, ...lines].flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
}

/** Drivers cut their texts too, perhaps within a secret. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length, text.length); length >= leastLength; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
  }
  return text;
}

/**
 * Secrets in requests: their fields, and masks for what is shown. The fields are those of csi.proto:
 * generated/plain.ts
 */
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

/** Masks all secrets in a text of the plugin; the longest first, as one may begin with another. */
export function withoutSecrets(text: string, secrets: string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .filter((form) => form.length >= leastLength)
    .sort((a, b) => b.length - a.length);
  return forms.reduce(
    withoutBeginning,
    forms.reduce((masked, form) => masked.replaceAll(form, '***'), text),
  );
}

/** Forms in which drivers repeat a secret: as it is, quoted, without its line end, or one line of it. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/);
  return [secret, ...lines].flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
}

/** Masks a secret that the driver's own cut has shortened. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length, text.length); length >= leastLength; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
  }
  return text;
}

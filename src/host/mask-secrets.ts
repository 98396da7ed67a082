/** Masks secrets in texts that plugins print or answer. */

/**
 * Replaces every secret by `***`: as it is, quoted as in JSON, each of its lines alone, and encoded as base64, hex or in a URL.
 * @param leastLength shorter forms stay, since they occur in any text
 */
export function maskSecrets(text: string, secrets: readonly string[], leastLength: number): string {
  return formsOf(secrets, leastLength).reduce((masked, form) => masked.replaceAll(form, '***'), text);
}

/** Masks, like `maskSecrets`, and also a secret at the end that was cut off with the text. */
export function maskSecretsInCut(text: string, secrets: readonly string[], leastLength: number): string {
  const masked = maskSecrets(text, secrets, leastLength);
  return formsOf(secrets, leastLength).reduce((left, form) => withoutBeginning(left, form, leastLength), masked);
}

/** The longest first, as one may contain another. */
function formsOf(secrets: readonly string[], leastLength: number): string[] {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  const forms = [...new Set(parts)].flatMap((part) => [part, JSON.stringify(part).slice(1, -1), ...encodedForms(part)]);
  return [...new Set(forms)].filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length);
}

/** Shorter forms in base64 or hex would mask parts of other words. */
const leastEncodedLength = 8;

function encodedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const inUrl = encodeURIComponent(secret.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const dense = [hex, hex.toUpperCase(), ...base64Forms(bytes)].filter(({ length }) => length >= leastEncodedLength);
  return [inUrl, inUrl.replaceAll('%20', '+'), ...dense];
}

/** Characters of base64 that depend on what stands before, by the number of bytes before. */
const foreignBefore = [0, 2, 3];

/** Also within a longer text, such as `user:secret` of HTTP: its place there decides which characters it becomes. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64url');
  const within = foreignBefore.map((foreign, before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    return text.slice(foreign, Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [whole, ...within].flatMap((form) => [form, form.replaceAll('-', '+').replaceAll('_', '/')]);
}

function withoutBeginning(text: string, secret: string, leastLength: number): string {
  for (let length = Math.min(secret.length, text.length); length >= leastLength; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
  }
  return text;
}

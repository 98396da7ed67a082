/** Masks secrets in texts that plugins print or answer. */

/**
 * Replaces every secret by `***`: as it is, quoted as in JSON, and each of its lines alone.
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
  const forms = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  return [...new Set(forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]))]
    .filter(({ length }) => length >= leastLength)
    .sort((a, b) => b.length - a.length);
}

function withoutBeginning(text: string, secret: string, leastLength: number): string {
  for (let length = Math.min(secret.length, text.length); length >= leastLength; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
  }
  return text;
}

/** Makes the secrets provider that the configuration names. */
import type { SecretsProvider } from '../secrets/secrets.js';
import { secretsFrom } from '../secrets/secrets-providers.js';
import type { AgentConfig } from './config.js';

/** @returns options of `createRuntime`: no provider if none is configured */
export function secretsOf({ secrets }: Pick<AgentConfig, 'secrets'>): { secrets?: SecretsProvider } {
  if (!secrets) return {};
  const { directory, environment } = secrets;
  const env = typeof environment === 'string' ? { prefix: environment } : environment;
  return { secrets: secretsFrom({ ...(directory !== undefined && { directory }), env }) };
}

/** Secrets: fetched when a call is made, and held no longer than that. Built-in providers: secrets-providers.ts */
import type { SecretRef } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type { Clock } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';
import { messageOf, StagecraftError } from '../errors.js';

/** Option `secrets` of `createRuntime`. */
export interface SecretsProvider {
  /**
   * The values by the same keys. Rejects, naming all that are missing, where not all can be had: its message is shown, so
   * it must have no value in it.
   */
  resolve(refs: Record<string, SecretRef>, options?: { signal: AbortSignal }): Promise<Record<string, string>>;
  /**
   * What is wrong with the form of references, each as `key: why`; none where any of them may be resolved some day. Asked
   * before a volume or a snapshot is made, so that nothing is kept that is none. It must not look anything up, nor tell
   * what it was given: somebody may have taken that for the place of the value.
   */
  check?(refs: Record<string, SecretRef>): string[];
}

/**
 * Before anything of them is stored.
 * @param passed those that are stored already: the same again are taken, whatever the provider says by now
 * @throws StagecraftError INVALID_ARGUMENT with every fault, and no value
 */
export function checkSecretRefs(
  provider: SecretsProvider,
  refs: Record<string, SecretRef>,
  passed?: Record<string, SecretRef>,
): void {
  if (isSameData(refs, passed)) return;
  const faults = (provider.check?.(refs) ?? []).map((fault) => `secrets.${fault}`);
  if (faults.length === 0) return;
  const advice = 'give references to secrets, never values';
  throw new StagecraftError('INVALID_ARGUMENT', `secrets can't be taken: ${advice}:\n  ${faults.join('\n  ')}`, {
    faults,
  });
}

interface SecretsOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Limit of the provider; default, and at most, 10 s. */
  limitMs?: number | undefined;
}

const deadlineMs = 10_000;

/**
 * Secrets of a call, from a provider that may be slow or wrong.
 * @throws StagecraftError SECRETS_UNAVAILABLE: which are missing, or why none could be had; never a value
 */
export async function resolveSecrets(
  provider: SecretsProvider,
  refs: Record<string, SecretRef>,
  { clock, signal, limitMs = deadlineMs }: SecretsOptions,
): Promise<Record<string, string>> {
  const keys = Object.keys(refs);
  if (keys.length === 0) return {};
  signal.throwIfAborted();
  try {
    const limits = { clock, timeoutMs: Math.min(limitMs, deadlineMs), ends: [signal] };
    const values = await answerWithin(limits, async (limit) => provider.resolve(refs, { signal: limit }));
    const missing = keys.filter((key) => typeof values?.[key] !== 'string');
    if (missing.length > 0) throw new Error(`the provider has no value for ${missing.join(', ')}`);
    return Object.fromEntries(keys.map((key) => [key, values[key] ?? '']));
  } catch (error) {
    // Without the error as its cause: a provider may put a secret into it.
    throw new StagecraftError('SECRETS_UNAVAILABLE', `cannot resolve secrets: ${messageOf(error)}`);
  }
}

/**
 * Refuses early: calls would wait for secrets that may never come.
 * @throws StagecraftError SECRETS_UNAVAILABLE: which are missing
 */
export async function refuseWithoutSecrets(
  provider: SecretsProvider,
  refs: Record<string, SecretRef>,
  { clock, signal, timeoutMs }: { clock: Clock; signal?: AbortSignal | undefined; timeoutMs?: number | undefined },
): Promise<void> {
  if (Object.keys(refs).length === 0) return;
  try {
    await resolveSecrets(provider, refs, {
      clock,
      signal: signal ?? new AbortController().signal,
      limitMs: timeoutMs,
    });
  } catch (error) {
    if (!(error instanceof StagecraftError) || error.code !== 'SECRETS_UNAVAILABLE') throw error;
    throw new StagecraftError(
      error.code,
      `${error.message}. Nothing was stored: provide them, or use --wait (in a program: wait: true)`,
    );
  }
}

/** Without a provider only an empty set of references can be resolved. */
export const noSecrets: SecretsProvider = {
  // Kinds of later providers are not known; a value without a colon is of no kind.
  check: (refs) =>
    Object.entries(refs)
      .filter(([, ref]) => typeof ref === 'string' && !/^[a-z][a-z0-9+.-]*:./i.test(ref))
      .map(([key]) => `${key}: its reference must be file:<name>, env:<name>, or what a provider of your own takes`),
  resolve: async (refs) => {
    const keys = Object.keys(refs).join(', ');
    throw new Error(
      `no secrets provider is configured for ${keys}: set 'secrets' in the configuration of the agent (in a program: createRuntime({ secrets }))`,
    );
  },
};

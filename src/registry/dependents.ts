/**
 * The port that knows what uses a plugin, e.g. mounted volumes, and how it is asked: it is somebody else's, so it may
 * throw, hang or answer nonsense. Who asks decides what that means.
 */
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { Clock } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';
import { messageOf, StagecraftError } from '../errors.js';

/**
 * Names what depends on a plugin instance, in words for people, e.g. `volume default/data`.
 * The signal is aborted when the answer is no longer waited for, after 30 s at the latest.
 */
export type Dependents = (plugin: PluginInfo, options: { signal: AbortSignal }) => Promise<string[]>;

interface AskOptions {
  clock: Clock;
  /** Ends the wait early. */
  signal: AbortSignal;
}

const timeoutMs = 30_000;

/**
 * Lists the users of these instances, sorted, each once.
 * @throws StagecraftError DEPENDENTS_UNKNOWN with the reason if the users of some are unknown after 30 s; the
 *   signal's reason
 */
export async function askDependents(
  dependents: Dependents,
  plugins: PluginInfo[],
  { clock, signal }: AskOptions,
): Promise<string[]> {
  signal.throwIfAborted();
  try {
    const named = await answerWithin({ clock, timeoutMs, ends: [signal] }, (limit) =>
      Promise.all(plugins.map((plugin) => ask(dependents, plugin, limit))),
    );
    return [...new Set(named.flat())].sort();
  } catch (error) {
    signal.throwIfAborted();
    const names = plugins.map(({ type, name, allocId }) => `${type} '${name}' (${allocId})`).join(' and ');
    throw new StagecraftError(
      'DEPENDENTS_UNKNOWN',
      `what depends on ${names} can't be told: ${messageOf(error)}; fix the dependents function of createRuntime`,
      { cause: error },
    );
  }
}

async function ask(dependents: Dependents, plugin: PluginInfo, signal: AbortSignal): Promise<string[]> {
  const answer: unknown = await dependents(structuredClone(plugin), { signal });
  if (!Array.isArray(answer)) throw new Error('the answer must be an array of names');
  // A copy made by index: a list with holes has entries that are no strings either.
  return Array.from(answer, (name: unknown) => {
    if (typeof name !== 'string' || name === '') throw new Error('each entry of the answer must be a name');
    return name;
  });
}

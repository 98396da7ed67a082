/** Sends many commits in few calls, and reads their answers. */

import type { Commit, CommitResult } from '../../engine/store.js';
import { commitCall, commitResults } from './redis-commit-script.js';
import { bucketOf, type RedisKeys } from './redis-keys.js';
import { NotSentError } from './redis-link.js';
import type { RedisCall } from './redis-script.js';
import { isUndone, type RedisServers } from './redis-servers.js';

/** Items of one script call: the server does nothing else while a script runs. */
const stepSize = 64;

/** Some of the items, by their indexes among all, and the call that writes them. */
interface Step {
  places: number[];
  call: RedisCall;
}

/**
 * Sends items in calls and resolves in the order given. Items that were certainly not begun are refused, and leave
 * the others unharmed.
 * @throws {Error} if nothing could be sent, or the outcome of some items is unknown
 */
export async function commitAll(servers: RedisServers, keys: RedisKeys, items: Commit[]): Promise<CommitResult[]> {
  const steps = stepsOf(items, keys, servers.shareCalls);
  const answers = await sendSteps(servers, steps, items);
  const failure = answers.find((answer) => answer instanceof Error && !isUndone(answer));
  if (failure !== undefined) throw failure;
  if (answers.length > 0 && answers.every((answer) => answer instanceof NotSentError)) throw answers[0];
  const results: CommitResult[] = [];
  for (const [i, { places }] of steps.entries()) {
    const some = resultsOf(answers[i], places.length);
    for (const [j, place] of places.entries()) results[place] = some[j] ?? missing(place);
  }
  return results;
}

function resultsOf(answer: unknown, count: number): CommitResult[] {
  if (!isUndone(answer)) return commitResults(answer);
  return Array.from({ length: count }, () => ({ status: 'refused', reason: answer.message }));
}

function missing(place: number): never {
  throw new Error(`Redis answered nothing for commit ${place}.`);
}

/** Sends calls for one address one after the other if one of them must be repeated: their order must not change. */
async function sendSteps(servers: RedisServers, steps: Step[], items: Commit[]): Promise<unknown[]> {
  const isDistinct = new Set(items.map(({ address }) => address)).size === items.length;
  if (isDistinct) return servers.send(callsOf(steps), true);
  const answers: unknown[] = [];
  for (const step of steps) answers.push(...(await servers.send(callsOf([step]), true)));
  return answers;
}

function callsOf(steps: Step[]): RedisCall[] {
  return steps.map(({ call }) => call);
}

function stepsOf(items: Commit[], keys: RedisKeys, shareCalls: boolean): Step[] {
  const byBucket = new Map<number, number[]>();
  for (const [place, { address }] of items.entries()) {
    const bucket = bucketOf(address);
    const places = byBucket.get(bucket);
    if (places === undefined) byBucket.set(bucket, [place]);
    else places.push(place);
  }
  const groups = shareCalls ? [[...byBucket.values()].flat()] : [...byBucket.values()];
  return groups.flatMap((group) =>
    slices(group, stepSize).map((places) => {
      const some = places.flatMap((place) => items[place] ?? []);
      return { places, call: commitCall(keys, some) };
    }),
  );
}

export function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

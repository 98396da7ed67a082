/** What must be the same whenever an orderly system has come to rest, however it got there. */
import type { Past } from './judgement.js';
import type { World } from './world.js';

/** As text, so that it can be compared and read. */
export function outcomeOf(world: World, pasts: Map<string, Past>): string {
  const actors = [...pasts].map(([address, { judged }]) => [address, judged.at(-1)?.record.snapshot]);
  const told = [...pasts].map(([address, { judged }]) => [
    address,
    judged.flatMap(({ events }) => events.map(({ event: { at, ...event } }) => JSON.stringify(event))).sort(),
  ]);
  const answers = world.askings.map(({ n, attempts }) => [`r${n}`, attempts.at(-1)?.value ?? attempts.at(-1)?.code]);
  return JSON.stringify({ actors, told, answers }, inOrder, 1);
}

/** Keys in order: which one came first is no matter. */
function inOrder(_: string, value: unknown): unknown {
  if (!(value instanceof Object) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

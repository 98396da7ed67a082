/** What is killed in each round, when, and which program comes up after an agent: drawn from a seed. Who does it: kill-scene.ts */
import { seededRandom } from '../../src/testing/index.js';

/** In which order they die. `store` is its server, which comes up again on the same port and files. */
export type Victim = 'driver' | 'agent' | 'driver, then agent' | 'agent, then driver' | 'store';

/** `follower` is an agent as the command line runs it, with followers of all events in its process. */
export type Program = 'stagecraft agent' | 'follower';

export interface Strike {
  victim: Victim;
  /** A line of the agent's output since the strike before; absent: none is waited for. */
  moment?: keyof typeof moments;
  /** After that moment. */
  delayMs: number;
  /** What runs after an agent that dies. */
  successor: Program;
}

/** What a kill may come right after. However a plugin comes back, the agent's last word is that it is healthy. */
export const moments = {
  'the agent says anything': /./,
  'its API listens': /^ {2}api |healthy/,
  'a process was started': /process started|healthy/,
  'the plugin answers': /hostpath-\w+ answers|healthy/,
  'the plugin is registered': /registered|healthy/,
  'the plugin is healthy': /healthy/,
};

const longestDelayMs = 120;

/** The strikes of each round: one, or a second within what the first has set off. */
export function plans(seed: number, rounds: number, victims: readonly Victim[]): Strike[][] {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
  const strike = (before: Strike | undefined): Strike => {
    const isFurther = before !== undefined && before.victim !== 'store'; // of a store that dies, no line tells
    return {
      victim: pick(victims),
      ...(isFurther ? { moment: pick(Object.keys(moments) as (keyof typeof moments)[]) } : {}),
      delayMs: Math.floor(random.next() * longestDelayMs),
      successor: pick(['stagecraft agent', 'follower']),
    };
  };
  return Array.from({ length: rounds }, () => {
    const first = strike(undefined);
    return random.next() < 0.5 ? [first] : [first, strike(first)];
  });
}

export const inWords = (strikes: Strike[]): string =>
  strikes
    .map(({ victim, moment, delayMs, successor }) => {
      const when = moment ? `when ${moment}, and ` : '';
      return `${victim} ${when}after ${delayMs} ms${victim.includes('agent') ? ` (next a ${successor})` : ''}`;
    })
    .join('; ');

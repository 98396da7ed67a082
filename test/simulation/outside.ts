/**
 * What effects do outside, and how long that takes: told by address, id and input alone, so the same in every life; for
 * some of wild kinds, which are not compared, by the attempt too.
 */
import type { Effect, EffectCall } from '../../src/engine/effects/effects.js';
import { chance } from './dice.js';
import type { Life } from './life.js';
import { lastTick, unfit } from './orderly-machine.js';
import { isAtMostOnce, isOrderly } from './system.js';

const durationsMs = [0, 0, 10, 60, 250];
const shortDeadlineMs = 30;

export function effectsOf(life: Life): Record<'task' | 'loop', Effect> {
  const { system } = life.world;
  const { seed } = system;
  const deadlineMs = (input: unknown): number => (isHasty(seed, input) ? shortDeadlineMs : 120_000);
  return {
    task: {
      run: (call) => life.living(() => task(life, call)),
      deadlineMs,
      ...(isAtMostOnce(system) && { atMostOnce: true }),
    },
    loop: { run: (call) => life.living(() => loop(life, call)), deadlineMs: 'loop' },
  };
}

/** Whether an effect is given little time. */
const isHasty = (seed: number, input: unknown): boolean => chance(seed, JSON.stringify(input), 'deadline') < 0.15;

async function task(life: Life, call: EffectCall): Promise<unknown> {
  const { system } = life.world;
  const words = wordsOf(life, call);
  const run = life.began(call);
  // Where runs are compared it is clear whether the time is enough: a process that stands still loses some of it.
  const isHopeless = isOrderly(system) && isHasty(system.seed, call.input);
  const choice = isHopeless ? durationsMs.length - 1 : Math.floor(chance(...words, 'duration') * durationsMs.length);
  const durationMs = durationsMs[choice] ?? 0;
  const isDeaf = chance(...words, 'deaf') < 0.5;
  await pause(life, durationMs / 2, isDeaf ? undefined : call.signal);
  life.pass({ of: 'effect', at: run.number, moment: 'before' });
  await life.clock.awake();
  if (!isOrderly(system) && chance(...words, 'news') < 0.3) call.send({ type: 'later', n: 77, ...spoilt(life, words) });
  await pause(life, durationMs / 2, isDeaf ? undefined : call.signal);
  life.pass({ of: 'effect', at: run.number, moment: 'after' });
  await life.clock.awake();
  run.end();
  // A job succeeds at its third attempt at the latest; else it would never end.
  const { attempt } = { attempt: 1, ...(call.input instanceof Object ? call.input : {}) };
  if (chance(...words, 'failure') < 0.35 && attempt < 3) throw new Error(`${call.id} failed`);
  if (isOrderly(system) && isUnfit(system.seed, call)) return unfit;
  return `${call.id} of ${JSON.stringify(call.input)}`;
}

/** Sends some news, then waits for the end of its state, or comes to an end itself. */
async function loop(life: Life, call: EffectCall): Promise<void> {
  const { system } = life.world;
  const words = wordsOf(life, call);
  const run = life.began(call);
  for (let tick = 1; tick <= lastTick && !call.signal.aborted; tick += 1) {
    await pause(life, Math.floor(chance(...words, tick) * 40), call.signal);
    life.pass({ of: 'effect', at: run.number, moment: tick === 1 ? 'before' : 'after' });
    await life.clock.awake();
    call.send({ type: isOrderly(system) ? 'tick' : 'later', tick, ...spoilt(life, [...words, tick]) });
  }
  if (!isOrderly(system) && chance(...words, 'end') < 0.3) {
    run.end();
    if (chance(...words, 'failure') < 0.5) throw new Error(`${call.id} broke off`);
    return;
  }
  await pause(life, Number.POSITIVE_INFINITY, call.signal);
  run.end();
}

/**
 * Whether the machine crashes at what this attempt gives: twice at most in an actor's life, so that together with
 * three requests that crash it they are not too many.
 */
function isUnfit(seed: number, { id, input, attempt }: EffectCall): boolean {
  const isFirst = id === 'task0' && input instanceof Object && 'job' in input && input.job === 'r0';
  return isFirst && attempt < 3 && chance(seed, 'unfit') < 0.5;
}

/** News may crash a machine too; what told it goes on. */
function spoilt({ world: { system } }: Life, words: (string | number)[]): { crashes?: true } {
  return !isOrderly(system) && chance(...words, 'spoilt') < 0.15 ? { crashes: true } : {};
}

function wordsOf({ world: { system } }: Life, { address, id, input, attempt }: EffectCall): (string | number)[] {
  const words = [system.seed, address, id, JSON.stringify(input)];
  return isOrderly(system) || chance(...words, 'steady') < 0.6 ? words : [...words, attempt];
}

/** Rejects as soon as it is called off. */
function pause(life: Life, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const callOff = (): void => life.clock.whenAwake(() => reject(new Error('called off')));
    if (signal?.aborted) return callOff();
    signal?.addEventListener('abort', callOff, { once: true });
    if (ms !== Number.POSITIVE_INFINITY) life.clock.after(ms, resolve);
  });
}

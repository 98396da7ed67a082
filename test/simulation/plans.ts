/** All that can go wrong in a run that is known to pass so many boundaries: each cut once, and a choice of the rest. */

import type { StoreMethod } from '../support/faulty-store.js';
import { chance } from './dice.js';
import type { Boundary, LifePlan, Mood, Plan } from './plan.js';

/** What a run passed that nothing happened to. */
export interface Passed {
  storeCalls: number;
  effects: number;
}

const long = 10 ** 9;
const short = 15_000;
const moments = ['before', 'after'] as const;

export function plansOf(seed: number, passed: Passed): Plan[] {
  const boundaries = boundariesOf(passed);
  const pick = <T>(items: readonly T[], ...words: (string | number)[]): T[] => {
    const item = items[Math.floor(chance(seed, ...words) * items.length)];
    return item === undefined ? [] : [item];
  };
  const some = (count: number, kind: string): Boundary[] =>
    Array.from({ length: count }, (_, at) => pick(boundaries, kind, at)).flat();
  return [
    ...boundaries.map((at) => plan(`dies ${nameOf(at)}`, [{ end: { at, how: 'dies' } }])),
    ...some(6, 'twice').map((at, n) =>
      plan(`dies twice, ${nameOf(at)} and in the next life`, diesAgain(seed, at, n, passed)),
    ),
    ...some(4, 'stops').map((at) => plan(`stops ${nameOf(at)}`, [{ end: { at, how: 'stops' } }])),
    ...some(6, 'fails').map((at) =>
      plan(`a call fails ${nameOf(at)}`, [oneCall(at.at, { answer: 'fails', moment: at.moment })]),
    ),
    ...some(8, 'outage').map((at, n) => outagePlan(seed, at, n)),
    ...some(2, 'lie').map((at) =>
      plan(`refused from call ${at.at} on, which is a lie`, [
        { outages: [{ from: at.at, to: at.at + 5, moods: [lie], methods: ['commit'] }] },
      ]),
    ),
    ...some(3, 'outage, then death').map((at, n) => outageAndDeath(seed, at, { n, passed })),
    ...some(6, 'freeze').map((at, n) => freezePlan(seed, at, n)),
  ];
}

const plan = (name: string, lives: LifePlan[], leaseTtlMs = long): Plan => ({ name, lives, leaseTtlMs });

const nameOf = ({ of, at, moment }: Boundary): string => `${moment} ${of} ${at}`;

function boundariesOf({ storeCalls, effects }: Passed): Boundary[] {
  const places = (of: Boundary['of'], count: number): Boundary[] =>
    Array.from({ length: count }, (_, at) => moments.map((moment) => ({ of, at: at + 1, moment }))).flat();
  return [...places('store', storeCalls), ...places('effect', effects)];
}

/** Early in its second life: that has the rest to do only. */
function diesAgain(seed: number, at: Boundary, n: number, { storeCalls }: Passed): LifePlan[] {
  const again = 1 + Math.floor(chance(seed, 'again', n) ** 2 * storeCalls);
  const moment = chance(seed, 'again', n, 'moment') < 0.5 ? 'before' : 'after';
  return [{ end: { at, how: 'dies' } }, { end: { at: { of: 'store', at: again, moment }, how: 'dies' } }];
}

const oneCall = (at: number, mood: Mood): LifePlan => ({ outages: [{ from: at, to: at, moods: [mood] }] });

const moods: Mood[] = [
  { answer: 'fails', moment: 'before' },
  { answer: 'fails', moment: 'after' },
  { answer: 'late', fails: true, delayMs: 3_000 },
  { answer: 'late', fails: false, delayMs: 3_000 },
  { answer: 'late', fails: false, delayMs: 30_000 },
  { answer: 'never', isDone: false },
  { answer: 'never', isDone: true },
  { answer: 'refused', isDone: false },
];
/** `refused`, though it was written. */
const lie: Mood = { answer: 'refused', isDone: true };
const methods: StoreMethod[] = ['commit', 'settle', 'appendTopic'];

function outageOf(seed: number, from: number, n: number): LifePlan {
  const length = Math.floor(chance(seed, n, 'length') * 10);
  const first = Math.floor(chance(seed, n, 'mood') * moods.length);
  const count = 1 + Math.floor(chance(seed, n, 'moods') * moods.length);
  const method = methods[Math.floor(chance(seed, n, 'method') * 2 * methods.length)];
  const chosen = [...moods, ...moods].slice(first, first + count);
  return { outages: [{ from, to: from + length, moods: chosen, ...(method ? { methods: [method] } : {}) }] };
}

function outagePlan(seed: number, { at }: Boundary, n: number): Plan {
  return plan(`an outage from call ${at} on`, [outageOf(seed, at, n)]);
}

function outageAndDeath(seed: number, at: Boundary, { n, passed }: { n: number; passed: Passed }): Plan {
  const from = Math.max(1, Math.floor(chance(seed, 'from', n) * passed.storeCalls));
  return plan(`an outage from call ${from} on, and death ${nameOf(at)}`, [
    { ...outageOf(seed, from, n), end: { at, how: 'dies' } },
  ]);
}

const fates = ['it is taken over', 'its lease lapses', 'its successor dies'] as const;

/** Half of them with a call on their lips: that is made after the thaw. */
function freezePlan(seed: number, boundary: Boundary, n: number): Plan {
  const at: Boundary = n % 2 === 0 && boundary.of === 'store' ? { ...boundary, moment: 'before' } : boundary;
  const until = fates[Math.floor(chance(seed, 'fate', n) * fates.length)] ?? 'it is taken over';
  return plan(`stands still ${nameOf(at)} until ${until}`, [{ freeze: { at, until } }], short);
}

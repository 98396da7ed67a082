/** Random systems: small, so that each can be cut everywhere, and together of all shapes. */
import fc, { type Arbitrary } from 'fast-check';
import type { Deed, Move, OrderlyKind, OrderlyStep, Request, System, WildKind, WildState } from './system.js';

const delayMs = fc.constantFrom(0, 5, 20, 100, 400);
const actor = fc.nat(4);
const eventType = fc.constantFrom('a' as const, 'b' as const, 'c' as const);

const deed: Arbitrary<Deed> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('send' as const, 'send' as const, 'begin' as const), to: actor }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('emit' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('answer' as const, 'answer' as const, 'refuse' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('raise' as const), delayMs, named: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
);
const deeds = fc.array(deed, { maxLength: 3 });
const resultDeeds = fc.array(
  fc.oneof({ weight: 9, arbitrary: deed }, { weight: 1, arbitrary: fc.record({ do: fc.constant('throw' as const) }) }),
  { maxLength: 2 },
);

const moveWith = (of: Arbitrary<Deed[]>): Arbitrary<Move> =>
  fc.record({
    target: fc.option(fc.nat(3), { freq: 4, nil: undefined }),
    reenter: fc.boolean(),
    guard: fc.option(fc.constantFrom('even' as const, 'lucky' as const), { freq: 2, nil: undefined }),
    deeds: of,
  });
const move = moveWith(deeds);
const resultMove = moveWith(resultDeeds);

const wildState: Arbitrary<WildState> = fc.record({
  invoke: fc.option(
    fc.record({
      src: fc.constantFrom('task' as const, 'task' as const, 'loop' as const),
      done: resultMove,
      error: resultMove,
    }),
    { freq: 2, nil: undefined },
  ),
  timers: fc.array(
    fc.record({
      delay: fc.oneof<Arbitrary<number | 'byContext' | 'byRandom'>[]>(
        delayMs,
        fc.constantFrom('byContext' as const, 'byRandom' as const),
      ),
      move,
    }),
    { maxLength: 2 },
  ),
  on: fc.uniqueArray(fc.record({ type: fc.oneof(eventType, fc.constant('later' as const)), move }), {
    selector: ({ type }) => type,
    maxLength: 4,
  }),
  always: fc.option(move, { freq: 2, nil: undefined }).map((one) => (one?.guard ? one : undefined)),
  entry: fc.array(deed, { maxLength: 1 }),
  exit: fc.array(deed, { maxLength: 1 }),
  end: fc.integer({ min: 0, max: 23 }).map((die) => (die === 23 ? 'final' : die > 20 ? 'absent' : undefined)),
});

const region = fc.array(wildState, { minLength: 1, maxLength: 4 });
const wildKind: Arbitrary<WildKind> = fc.record({
  style: fc.constant('wild' as const),
  regions: fc.oneof(
    { weight: 2, arbitrary: fc.array(region, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(region, { minLength: 2, maxLength: 2 }) },
  ),
  begins: fc.integer({ min: 0, max: 5 }).map((die) => die > 0),
});

const orderlyStep: Arbitrary<OrderlyStep> = fc.record({
  does: fc.constantFrom('task' as const, 'task' as const, 'wait' as const, 'loop' as const, 'both' as const),
  delay: fc.oneof<Arbitrary<number | 'byRandom' | 'byJob'>[]>(
    delayMs,
    fc.constantFrom('byRandom' as const, 'byJob' as const),
  ),
  sends: fc.array(actor, { maxLength: 1 }),
  begins: fc.array(actor, { maxLength: 1 }),
  emits: fc.nat(2),
});
const orderlyKind: Arbitrary<OrderlyKind> = fc.record({
  style: fc.constant('orderly' as const),
  steps: fc.array(orderlyStep, { minLength: 1, maxLength: 3 }),
  isBrief: fc.integer({ min: 0, max: 3 }).map((die) => die === 3),
});

const request: Arbitrary<Request> = fc.record({
  // Some come when a machine that crashes has done so too often.
  atMs: fc.oneof(
    { weight: 2, arbitrary: fc.nat(60).map((tens) => tens * 10) },
    { weight: 1, arbitrary: fc.nat(16).map((halves) => halves * 500) },
  ),
  to: actor,
  type: eventType,
  hops: fc.nat(2),
  crashes: fc.integer({ min: 0, max: 11 }).map((die) => die === 11),
  repeats: fc.integer({ min: 0, max: 3 }).map((die) => die < 3),
});

const around = {
  seed: fc.nat(),
  actors: fc.array(actor, { minLength: 2, maxLength: 4 }),
  latencyMs: fc.constantFrom(0, 0, 5, 40),
};

const wild: Arbitrary<System> = fc.record({
  ...around,
  kinds: fc.array(wildKind, { minLength: 1, maxLength: 3 }),
  requests: fc.array(request, { minLength: 3, maxLength: 6 }),
});

const orderly: Arbitrary<System> = fc.record({
  ...around,
  kinds: fc.array(orderlyKind, { minLength: 1, maxLength: 3 }),
  // Who gives up asking may have been heard or not: such runs end in more than one way.
  requests: fc.array(
    request.map((one) => ({ ...one, repeats: true })),
    { minLength: 2, maxLength: 4 },
  ),
});

export const systems: Arbitrary<System> = fc.oneof({ weight: 3, arbitrary: wild }, { weight: 2, arbitrary: orderly });

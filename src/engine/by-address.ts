/** Orders listings by address, the order in which stores list. */

export const byAddress =
  <T>(addressOf: (one: T) => string) =>
  (one: T, other: T): number =>
    addressOf(one) < addressOf(other) ? -1 : 1;

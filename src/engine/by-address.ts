/** The order in which lists are given: that of addresses, as stores list them. */

/** Compares two by their addresses. */
export const byAddress =
  <T>(addressOf: (one: T) => string) =>
  (one: T, other: T): number =>
    addressOf(one) < addressOf(other) ? -1 : 1;

/**
 * Limits of calls that another agent makes. Once a call was declared (`EffectCall.sent`), it is begun within `startMs` or never:
 * so what undoes it knows how long to wait. No clocks are compared: the store dates each message, and its reader bounds the age.
 */

/** Longest time from the declaration of a call to its beginning at the plugin. */
export const startMs = 5_000;

/**
 * Limits of calls that another agent makes. Once a call was declared (`EffectCall.sent`), it is begun within `startMs` or never:
 * so what undoes it knows how long to wait. No clocks are compared: the sender tells the time before the message was posted, a
 * post is done within its limit or never, and the reader bounds the time since (docs/decisions/0023-any-agent-takes-requests.md).
 */
import { putWithinMs } from '../engine/store.js';

/** Longest time from the declaration of a call to its beginning at the plugin. */
export const startMs = 8_000;
/** Longest time before the post and after the arrival, together. */
export const mostAgeMs = startMs - putWithinMs;

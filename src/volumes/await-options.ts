/** How long callers wait for what they asked for. */

/** How long the result is waited for; default: until it is there. What is given up is the wait, never the request. */
export interface AwaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

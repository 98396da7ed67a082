/** Stops this thread, as SIGSTOP or a paused host does: nothing is heard meanwhile, and time goes on. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

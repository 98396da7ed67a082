/** How a process is asked to end: one signal ends it in order, another one at once. */

/** npm and the terminal both hand the same Ctrl-C on: what comes this soon after the first is the first. */
const sameSignalMs = 500;

/**
 * Resolves at the first SIGTERM or SIGINT, also one that comes while nobody awaits it yet. A second one ends the
 * process by its default action: at once, without waiting for a write under way as `process.exit` would.
 */
export function firstSignal(): Promise<void> {
  let askedAtMs: number | undefined;
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        askedAtMs ??= performance.now();
        resolve();
        if (performance.now() - askedAtMs < sameSignalMs) return;
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      });
    }
  });
}

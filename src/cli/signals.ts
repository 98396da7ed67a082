/** Signals that end a process: the first asks for an orderly end, the second ends the process at once. */

/** Window in which signals count as one: npm and the terminal both deliver the same Ctrl-C. */
const sameSignalMs = 500;

/**
 * Resolves at the first SIGTERM or SIGINT, even if the signal comes before anybody awaits it. A second signal ends the
 * process by the default action, at once: `process.exit` would wait for a write under way.
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

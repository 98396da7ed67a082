/**
 * Shares runs of `work` among callers; one run at a time. A call during a run waits for the next run, so its result
 * never comes from a run that began before the call.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    if (next) return next;
    next = last.then(() => {
      next = undefined;
      return work();
    });
    last = next.catch(() => {}); // every caller hears of the failure
    return next;
  };
}

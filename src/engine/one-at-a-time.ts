/**
 * Work that is done once for all who ask for it meanwhile, one time after the other. Who asks while it is done gets
 * the answer of the next time: never one that began before they asked.
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
    last = next.catch(() => {}); // told to who asked
    return next;
  };
}

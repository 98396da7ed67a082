/**
 * Gives back the memory that the start of an agent has used. V8 keeps its young generation as large as the start has made
 * it, 30 to 60 MB, until a full collection, and an idle agent comes to none.
 */
import { getHeapStatistics } from 'node:v8';

/** Limit: a collection of a larger heap, with very many actors, takes long and gives back little of the whole. */
const mostHeapBytes = 64 * 2 ** 20;

/** Time in which an agent has started its plugins. */
const afterMs = 10_000;

/** Gives back memory once, some seconds from now. Does not keep the process alive. */
export function giveBackMemorySoon(): void {
  setTimeout(() => void giveBackMemory(), afterMs).unref();
}

/** Collects all garbage, which blocks the process for up to some hundred milliseconds. Does nothing if the heap is large. */
export async function giveBackMemory(): Promise<void> {
  if (getHeapStatistics().used_heap_size > mostHeapBytes) return;
  try {
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    await session.post('HeapProfiler.collectGarbage').finally(() => session.disconnect());
  } catch {
    // A Node that was built without its inspector: the memory stays as it is.
  }
}

/**
 * Keeps the name of who asks, such as a person who sends a request by hand, until the journals of the actors that are
 * asked: the methods between the two know nothing of it. The engine leaves this context at each ask, so that nothing that it
 * does later is done in somebody's name.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const asker = new AsyncLocalStorage<string>();

/** Runs the work: what it asks of actors is journaled with this name. */
export const askedBy = <T>(by: string, work: () => T): T => asker.run(by, work);

/** Name in which this runs; undefined: a program's request. */
export const whoAsks = (): string | undefined => asker.getStore();

/** Runs the work in nobody's name. */
export const inNobodysName = <T>(work: () => T): T => asker.exit(work);

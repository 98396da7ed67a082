/**
 * Keeps the name of a person from the request that they send by hand to the journals of the actors that it asks: the
 * methods between the two know nothing of it. The engine leaves this context at each ask, so that nothing that it does later
 * is done in somebody's name.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const person = new AsyncLocalStorage<string>();

/** Runs the work: what it asks of actors is journaled with this name. */
export const askedBy = <T>(by: string, work: () => T): T => person.run(by, work);

/** Name of the person in whose request this runs; undefined: a program's. */
export const whoAsks = (): string | undefined => person.getStore();

/** Runs the work in nobody's name. */
export const inNobodysName = <T>(work: () => T): T => person.exit(work);

/** Methods that the agent that owns volumes does, whichever agent they are called on. */
import type { Cluster } from './cluster.js';
import type { RequestOptions } from './request-client.js';

/** Does the requests of this agent, here or elsewhere. */
export type OwnerPort = Pick<Cluster, 'serve' | 'run' | 'readElsewhere'>;

/**
 * Sets in the options of a method what holds at the agent that does it.
 * @param also `onWait`: the method reports what it waits for; `askedOn`: it depends on the node where it was called
 */
export type Limits = <O extends RequestOptions>(options: O, also?: 'onWait' | 'askedOn') => O;

/**
 * Passes on the arguments of a method, its options through `limits`. They are sent in this order, which agents of other
 * versions read. An argument that is left out does not compile.
 */
type Passing<A extends unknown[]> = (args: A, limits: Limits) => A & { length: Required<A>['length'] };

/** Makes methods of a `T` for callers on this agent, each with its name in messages, which agents of other versions know. */
interface Forwarded<T> {
  /** A method that the owner does. */
  asked<A extends unknown[], R>(name: string, local: Method<T, A, R>, passing: Passing<A>): (...args: A) => Promise<R>;
  /** A method that reads here; if only the owner can read what is stored, that one is asked. */
  read<A extends unknown[], R>(name: string, local: Method<T, A, R>): (...args: A) => Promise<R>;
}

type Method<T, A extends unknown[], R> = (this: T, ...args: A) => Promise<R>;

/** Forwards methods of an object, and serves them for other agents. @param title names the object in messages */
export function forwarded<T>(target: T, title: string, owner: OwnerPort): Forwarded<T> {
  return {
    asked: (name, local, passing) => {
      const method = `${title}.${name}`;
      owner.serve(method, (args, { signal, from, onWait }) => {
        const own = { onWait, askedOn: nodeOf(from) };
        const limits: Limits = (options, also) => ({ ...options, signal, ...(also && { [also]: own[also] }) });
        return local.apply(target, passing(received(args), limits));
      });
      return (...args) => {
        let wait: RequestOptions = {};
        const sent = passing(args, (options) => {
          const { signal, onWait, timeoutMs }: RequestOptions = { ...options };
          wait = { signal, onWait, timeoutMs: isLimit(timeoutMs) ? timeoutMs : undefined };
          return { ...options, signal: undefined, onWait: undefined };
        });
        const here = (timeoutMs: number | undefined) =>
          local.apply(target, timeoutMs === undefined ? args : passing(args, (options) => ({ ...options, timeoutMs })));
        return owner.run(method, sent, here, wait);
      };
    },
    read: (name, local) => {
      const method = `${title}.${name}`;
      owner.serve(method, (args) => local.apply(target, received(args)));
      return async (...args) => {
        try {
          return await local.apply(target, args);
        } catch (why) {
          return owner.readElsewhere(method, args, why);
        }
      };
    },
  };
}

/** The arguments of a method, as another agent has sent them: the method checks them. In a message, undefined is null. */
const received = <A extends unknown[]>(args: unknown[]): A => args.map((arg) => arg ?? undefined) as A;

/** The node of an inbox. */
const nodeOf = (inbox: string): string => inbox.slice(0, inbox.lastIndexOf('/'));

/** Whether a caller of the library has given a limit. The method refuses any other value. */
const isLimit = (timeoutMs: unknown): timeoutMs is number => typeof timeoutMs === 'number' && timeoutMs > 0;

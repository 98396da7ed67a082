/** Objects whose methods go to the agent that works on volumes, whichever agent they are called on. */

import type { Cluster } from './cluster.js';
import type { RequestOptions } from './request-client.js';

/** Methods to forward, each with the place of its options among the arguments; undefined: it has none. */
export type Forwarded = Readonly<Record<string, number | undefined>>;

type Options = RequestOptions & Record<string, unknown>;
type AnyMethod = (...args: unknown[]) => Promise<unknown>;

export interface ForwardedMethods {
  methods: Forwarded;
  /** Methods that read here; if only the agent that works on volumes can read what is stored, that one is asked. */
  reads: readonly string[];
}

/**
 * Makes an object with the same methods, and serves them for other agents. Methods that are not named stay local: they read.
 * @param name names the object in messages
 * @param cluster undefined: all methods are local
 */
export function forwarded<T extends object>(
  target: T,
  name: string,
  { methods, reads }: ForwardedMethods,
  cluster: Cluster | undefined,
): T {
  if (!cluster) return target;
  for (const method of reads) cluster.serve(`${name}.${method}`, (args) => methodOf(target, method)(...args));
  for (const [method, place] of Object.entries(methods))
    cluster.serve(`${name}.${method}`, (args, { signal, from, onWait }) => {
      // In a message, undefined is null.
      const given = args.map((arg) => arg ?? undefined);
      const more = {
        ...(waits.has(name) && { onWait }),
        ...(depends.has(`${name}.${method}`) && { askedOn: nodeOf(from) }),
      };
      if (place !== undefined) given[place] = { ...Object(args[place]), signal, ...more };
      return methodOf(target, method)(...given);
    });
  return new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (typeof key === 'string' && reads.includes(key))
        return (...args: unknown[]) =>
          methodOf(target, key)(...args).catch((why: unknown) => cluster.readElsewhere(`${name}.${key}`, args, why));
      if (typeof key !== 'string' || !Object.hasOwn(methods, key)) return value.bind(target);
      return (...args: unknown[]) => {
        const place = methods[key];
        const { signal, onWait, ...options }: Options = place === undefined ? {} : Object(args[place]);
        const sent = [...args];
        if (place !== undefined && args[place] !== undefined) sent[place] = options;
        const local = (timeoutMs: number | undefined): Promise<unknown> => {
          const given = [...args];
          if (place !== undefined && timeoutMs !== undefined) given[place] = { ...Object(args[place]), timeoutMs };
          return methodOf(target, key)(...given);
        };
        return cluster.run(`${name}.${key}`, sent, local, { signal, onWait, timeoutMs: timeoutIn(options) });
      };
    },
  });
}

/** Objects whose methods report what they wait for. */
const waits: ReadonlySet<string> = new Set(['claims']);

/** Methods whose work depends on the node where they are asked for. */
const depends: ReadonlySet<string> = new Set(['volumes.create']);

/** The node of an inbox. */
const nodeOf = (inbox: string): string => inbox.slice(0, inbox.lastIndexOf('/'));

const timeoutIn = ({ timeoutMs }: { timeoutMs?: unknown }): number | undefined =>
  typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : undefined;

const methodOf = (target: object, name: string): AnyMethod => {
  const method: unknown = Reflect.get(target, name, target);
  if (typeof method !== 'function') throw new TypeError(`there is no method ${name}`);
  // A method may throw before it returns its promise.
  return async (...args) => method.apply(target, args);
};

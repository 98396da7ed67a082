/** What commands about one volume or one snapshot have in common: its name, its spec, how long they wait; and lists by pages. */
import { type Command, CommanderError } from 'commander';
import { secondsIn } from './arguments.js';
import { askAgent } from './client.js';
import { type LookOptions, look, lookAt, socketOf, tell } from './connection.js';

export interface InNamespace {
  namespace: string;
}

export interface Awaited {
  /** Milliseconds. */
  timeout?: number;
  wait?: boolean;
}

/** Options of a command that is about one of them. */
export const inNamespace = (command: Command, what: string): Command =>
  command.option('--namespace <name>', `the namespace of the ${what}`, 'default');

/** Of one that waits for what it asks for. @param limit what the option is, where that is not the wait alone */
export const awaited = (command: Command, limit = 'how long to wait; what is asked for goes on after that'): Command =>
  command.option('--timeout <seconds>', `${limit} (default: as long as it takes)`, secondsIn);

/** Of one that may wait for what does not come by itself. @param what such things, for its help */
export const waiting = (command: Command, what = "secrets that can't be resolved"): Command =>
  command.option('--wait', `wait also for what somebody has to change first: ${what} (default: refused)`);

export function within({ timeout, wait }: Awaited): string {
  const query = new URLSearchParams({
    ...(timeout !== undefined && { timeoutMs: String(timeout) }),
    ...(wait && { wait: 'true' }),
  });
  return query.size === 0 ? '' : `?${query}`;
}

export const nameOf = (id: string, { namespace }: InNamespace): string => `${namespace}/${id}`;

export const pathBelow = (base: string, id: string, { namespace }: InNamespace): string =>
  `${base}/${encodeURIComponent(namespace)}/${encodeURIComponent(id)}`;

/** What of a volume or a snapshot says that something has failed, or waits for its time. */
interface Troubled {
  error?: object;
  expansion?: { message?: string };
  modification?: { message?: string };
  publications?: Record<string, { message?: string }>;
  leftovers?: unknown[];
}

const isTroubled = ({ error, expansion, modification, publications = {}, leftovers = [] }: Troubled): boolean =>
  error !== undefined ||
  leftovers.length > 0 ||
  [expansion, modification, ...Object.values(publications)].some((piece) => piece?.message !== undefined);

/** What both may be asked for; `done`: what has come of it. */
const requests = {
  retry: {
    description: 'try again what has failed, what waits for its time, and what a forced deletion has left',
    done: (before: Troubled) =>
      isTroubled(before) ? 'is tried again' : 'has nothing to be tried again: nothing failed',
  },
  acknowledge: {
    description: 'forget a deleted one, whose leftovers were seen to',
    done: () => 'is forgotten',
  },
};

/** Gives a command of volumes or snapshots those that ask for what both may be asked for. */
export function addRequests(
  add: (usage: string, description: string) => Command,
  { base, name }: { base: string; name: string },
): void {
  for (const [request, { description, done }] of Object.entries(requests)) {
    const command = lookAt(add(`${request} <id>`, description));
    if (request === 'retry') accepting(command);
    command.action(async (id: string, options: LookOptions & InNamespace & Accepting) => {
      const socketPath = socketOf(options);
      const path = pathBelow(base, id, options);
      const before = await look<Troubled>(socketPath, path);
      await askAgent(socketPath, 'POST', `${path}/${request}`, acceptanceIn(options));
      tell(options, `${name} ${nameOf(id, options)} ${done(before)}`);
    });
  }
}

/** Of a retry. */
export interface Accepting {
  acceptDriver?: string;
}

/** Gives a retry the option that accepts another driver. */
export const accepting = (command: Command): Command =>
  command.option('--accept-driver <name>', 'the driver of this name has taken over what another one made: call it');

export const acceptanceIn = ({ acceptDriver }: Accepting): { body?: Accepting } =>
  acceptDriver === undefined ? {} : { body: { acceptDriver } };

/** Of an option that takes `key=value` any number of times. */
export const pairs = (option: string, given: string[]): Record<string, string> =>
  Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw misuse(`${option} takes key=value`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );

export const misuse = (message: string): CommanderError => new CommanderError(2, 'usage', `error: ${message}`);

/** All pages of a list. @param filters those that are absent are left out */
export async function listAll<T>(
  socketPath: string,
  path: string,
  filters: Record<string, string | undefined>,
): Promise<T[]> {
  const given = Object.entries({ ...filters, limit: '1000' });
  const query = new URLSearchParams(
    given.flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, value]])),
  );
  const all: T[] = [];
  for (;;) {
    const { items, next } = await look<{ items: T[]; next?: string }>(socketPath, `${path}?${query}`);
    all.push(...items);
    if (next === undefined) return all;
    query.set('after', next);
  }
}

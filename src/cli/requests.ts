/** Shared parts of the commands for volumes, snapshots and allocs: options, names in paths, retries, paged lists. */
import type { Command } from 'commander';
import type { Client } from '../client/client.js';
import { secondsIn } from './arguments.js';
import { type LookOptions, lookAt, lookAtAgent, soon } from './connection.js';
import { tell } from './output.js';

export interface InNamespace {
  namespace: string;
}

export interface Awaited {
  /** Milliseconds. */
  timeout?: number;
  wait?: boolean;
}

/** Adds `--namespace`. @param what the kind of resource, for the help */
export const inNamespace = (command: Command, what: string): Command =>
  command.option('--namespace <name>', `the namespace of the ${what}`, 'default');

/** Adds `--timeout`. @param limit what the option limits, for the help */
export const awaited = (command: Command, limit = 'how long to wait; the work goes on after that'): Command =>
  command.option('--timeout <seconds>', `${limit} (default: as long as it takes)`, secondsIn);

/** Adds `--wait`. @param what the conditions that only a person can change, for the help */
export const waiting = (command: Command, what = "secrets that can't be resolved"): Command =>
  command.option('--wait', `also wait for problems that somebody must fix first: ${what} (default: fail)`);

/** Query of a request that may take long. */
export const within = ({ timeout, wait }: Awaited): { timeoutMs?: number; wait?: boolean } => ({
  ...(timeout !== undefined && { timeoutMs: timeout }),
  ...(wait && { wait }),
});

export const nameInNamespace = (id: string, { namespace }: InNamespace): string => `${namespace}/${id}`;

/** Key of a volume or a snapshot. */
export interface Key {
  namespace: string;
  id: string;
}

export const keyInNamespace = (id: string, { namespace }: InNamespace): Key => ({ namespace, id });

/** Fields of a volume or a snapshot that show a failure, or a call that waits for its next attempt. */
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

interface Repeatable {
  /** Name of the kind in messages. */
  name: string;
  of(agent: Client): {
    get(request: { params: Key; idleTimeoutMs: number }): Promise<Troubled>;
    retry(request: { params: Key; body?: Accepting }): Promise<void>;
    acknowledge(request: { params: Key }): Promise<void>;
  };
}

/** Requests that volumes and snapshots share. `done` says what came of the request, for the output. */
const requests = {
  retry: {
    description: 'retry now: failed calls, calls that wait for their next attempt, leftovers of a forced deletion',
    done: (before: Troubled) => (isTroubled(before) ? 'is retried' : 'has nothing to retry: nothing failed'),
  },
  acknowledge: {
    description: 'forget the leftovers of a forced deletion, once they are cleaned up by hand',
    done: () => 'is forgotten',
  },
};

/** Adds the shared requests as subcommands. */
export function addRequests(add: (usage: string, description: string) => Command, { of, name }: Repeatable): void {
  for (const [request, { description, done }] of Object.entries(requests)) {
    const command = lookAt(add(`${request} <id>`, description));
    if (request === 'retry') accepting(command);
    command.action(async (id: string, options: LookOptions & InNamespace & Accepting) => {
      const requestsTo = of(await lookAtAgent(options));
      const params = keyInNamespace(id, options);
      const before = await requestsTo.get({ params, ...soon });
      if (request === 'retry') await requestsTo.retry({ params, ...acceptanceIn(options) });
      else await requestsTo.acknowledge({ params });
      tell(options, `${name} ${nameInNamespace(id, options)} ${done(before)}`);
    });
  }
}

/** Options of a retry. */
export interface Accepting {
  acceptDriver?: string;
}

/** Adds `--accept-driver`. */
export const accepting = (command: Command): Command =>
  command.option('--accept-driver <name>', 'call the driver of this name, though another driver made it');

export const acceptanceIn = ({ acceptDriver }: Accepting): { body?: Accepting } =>
  acceptDriver === undefined ? {} : { body: { acceptDriver } };

/** Reads all pages of a list. @param filters undefined ones are left out */
export async function listAll<T>(
  page: (query: Record<string, unknown>) => Promise<{ items: T[]; next?: string; skipped?: number }>,
  filters: Record<string, string | undefined>,
): Promise<{ all: T[]; skipped: number }> {
  const all: T[] = [];
  let skipped = 0;
  for (let after: string | undefined; ; ) {
    const read = await page({ ...filters, limit: 1_000, after });
    all.push(...read.items);
    skipped += read.skipped ?? 0;
    if (read.next === undefined) return { all, skipped };
    after = read.next;
  }
}

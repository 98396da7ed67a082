/**
 * Metrics of a runtime in the format of Prometheus, and the answers to those who watch many agents. What each means:
 * docs/metrics.md
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';

/** Upper ends of the buckets of calls, in seconds. */
const callBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export interface MetricsOptions {
  /** Records that viewers have lost so far. Default: 0. */
  feedDropped?(): number;
}

/**
 * A registry of its own for each runtime. Gauges are read when it is scraped; nothing is sampled in between. Call it once
 * per runtime.
 */
export function runtimeMetrics(
  runtime: Pick<Runtime, 'stats' | 'store' | 'leadership'>,
  { feedDropped = () => 0 }: MetricsOptions = {},
): Registry {
  const registry = new Registry();
  const registers = [registry];
  const counts = onceInATurn(() => runtime.stats.counts());
  const calls = new Histogram({
    name: 'stagecraft_csi_call_duration_seconds',
    help: 'Time of a call to a plugin until its answer',
    labelNames: ['plugin', 'method', 'code'],
    buckets: callBuckets,
    registers,
  });
  runtime.stats.onCall(({ plugin, rpc, code, tookMs }) => calls.observe({ plugin, method: rpc, code }, tookMs / 1_000));
  new Gauge({
    name: 'stagecraft_actors',
    help: 'Actors in memory, by machine and outermost state',
    labelNames: ['machine', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { machine, state, count } of counts().actors) this.set({ machine, state }, count);
    },
  });
  new Counter({
    name: 'stagecraft_messages_total',
    help: 'Messages that other agents on the same store have sent, by what became of them',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const { outcome, count } of counts().messages) this.inc({ outcome }, count);
    },
  });
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(value());
      },
    });
  };
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  };
  gauge('stagecraft_mailbox_messages', 'Messages that wait in mailboxes', () => counts().queued);
  gauge('stagecraft_effects', 'Effects that committed states ask for', () => counts().effects);
  gauge('stagecraft_actors_quarantined', 'Actors out of service', () => counts().quarantined);
  gauge('stagecraft_store_available', '1 while the store answers, and takes writes', () =>
    Number(runtime.store.available),
  );
  gauge('stagecraft_leader', '1 while this runtime works on volumes and nodes', () =>
    Number(runtime.leadership.isOurs),
  );
  counter('stagecraft_commits_total', 'Commits of actors', () => counts().commits);
  counter('stagecraft_actor_crashes_total', 'Steps in which a machine threw', () => counts().crashes);
  counter('stagecraft_call_retries_total', 'Failed calls to plugins that are made again', () => counts().retries);
  counter('stagecraft_feed_dropped_total', 'Records that slow viewers of the live feed lost', feedDropped);
  return registry;
}

/** Remembers a value until the turn of the event loop is over: one scrape reads it several times. */
function onceInATurn<T extends object>(read: () => T): () => T {
  let known: T | undefined;
  return () => {
    if (!known)
      setImmediate(() => {
        known = undefined;
      });
    known ??= read();
    return known;
  };
}

interface WatchAnswers {
  metrics(asked: { reply: { type(contentType: string): unknown } }): Promise<string>;
  health(): { status: string };
  ready(): { status: string };
}

/** Answers about this agent to those who watch many: its metrics, whether it lives, and whether it is ready. */
export const watchAnswers = (runtime: Pick<Runtime, 'store'>, registry: Registry): WatchAnswers => ({
  metrics: ({ reply }) => {
    reply.type(registry.contentType);
    return registry.metrics();
  },
  // The process answers, and no more than that.
  health: () => ({ status: 'ok' }),
  ready: () => {
    const { available, since } = runtime.store;
    if (available) return { status: 'ok' };
    const message = `the store does not answer, or takes no writes, since ${new Date(since ?? 0).toISOString()}`;
    throw new StagecraftError('STORE_UNAVAILABLE', message);
  },
});

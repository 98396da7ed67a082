/**
 * Part of this agent in the election of the one that works on volumes, snapshots and nodes: its engine for them, and its
 * terms. The lease is asked for again and again; who may take part: docs/decisions/0010-one-engine-per-lease.md
 */
import { isClusterOwned } from '../../machines/kit/addresses.js';
import type { PluginPort } from '../calls/plugin-port.js';
import type { Inbox } from '../engine/delivery/inbox.js';
import { Engine } from '../engine/engine.js';
import type { EngineOptions } from '../engine/engine-parts.js';
import { ElectedEngine } from '../engine/lease/elected-engine.js';
import { StoredViews } from '../engine/storage/stored-views.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import type { Topics } from '../engine/topics/topics.js';
import { StagecraftError } from '../errors.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import { keepTelling, type Leadership, leadershipOf, type Term, tellElected } from './leadership.js';
import type { RuntimeOptions } from './options.js';

/** Ports and limits that all engines of a runtime share. */
export type EnginePorts = Pick<EngineOptions, 'store' | 'clock' | 'random' | 'logger' | 'policy' | 'feed'> & {
  troubles: TroubleLog;
};

interface ElectionOptions {
  runtime: RuntimeOptions;
  ports: EnginePorts;
  lease: Pick<EngineOptions['lease'], 'owner' | 'holder' | 'reads'>;
  /** Topics of the node's engine, which outlives every term. */
  topics: Topics;
  /** Inbox of the actors of this node. */
  node: Inbox;
  /** Where requests of other agents reach this one. Undefined: the store is of one process. */
  inbox: string | undefined;
  /** Plugins of this node: an agent without a controller plugin that can be called lets others lead. */
  plugins: Pick<PluginRegistry, 'registered'>;
  /** Plugins as their controller calls see them. */
  port: Pick<PluginPort, 'observation'>;
}

/** Told of the terms of this agent. */
interface TermObserver {
  /** Prepares a term: the lease is granted, and no work has begun. Must not reject. */
  prepare(): Promise<void>;
  began(): void;
  /** The term is over other than by a stop: another agent goes on. */
  ended(): void;
}

/** Name of the lease: a single one for all volumes. */
const leaseName = 'volumes/0';
/** Time from the owner's last sign of life to the moment when another agent may own volumes. */
const ownerLeaseTtlMs = 6_000;
/** Pauses between requests for the lease: agents without healthy controllers, which may be many, ask less often. */
const retryMs = { able: 250, unable: 1_000 };

export class Election {
  readonly engine: ElectedEngine;
  readonly leadership: Leadership;
  readonly #options: ElectionOptions;
  readonly #observers: TermObserver[] = [];
  #term: Term | undefined;
  /** Whether the agent that leads has missed its renewals for half of the lease's time. */
  #isLeaderSilent = false;

  constructor(options: ElectionOptions) {
    this.#options = options;
    const { runtime, topics, inbox } = options;
    const { clock, random, logger, troubles, store } = options.ports;
    this.engine = new ElectedEngine({
      ...{ topics, clock, random, logger, troubles },
      engine: () => this.#engineOfTerm(),
      stored: new StoredViews({
        ...{ store, clock, logger },
        readerOf: (address) => this.engine.engine.readerOf(address),
        unreadable,
      }),
      never: runtime.cluster?.own === 'never' ? neverOwns() : undefined,
      retryMs: () => (inbox === undefined || this.#canCall() ? retryMs.able : retryMs.unable),
      prepare: async () => void (await Promise.all(this.#observers.map((one) => one.prepare()))),
      elected: (term) => this.#elected(term),
      resigned: () => {
        for (const one of this.#observers) one.ended();
      },
    });
    this.leadership = leadershipOf(this.engine, () => this.#isLeaderSilent);
  }

  /** The term in which this runtime leads; undefined: it does not. */
  get term(): Term | undefined {
    return this.leadership.isOurs ? this.#term : undefined;
  }

  /** Epoch of the last term of this runtime; 0: it had none. */
  get lastEpoch(): number {
    return this.#term?.epoch ?? 0;
  }

  observe(observer: TermObserver): void {
    this.#observers.push(observer);
  }

  #elected({ epoch, tookOver, ended }: { epoch: number; tookOver: boolean; ended: AbortSignal }): void {
    const { runtime, topics, inbox } = this.#options;
    const { clock, logger, store } = this.#options.ports;
    // An agent that leads from its start has nothing new to log.
    logger[tookOver ? 'info' : 'debug']({ epoch }, 'this agent leads: it works on volumes and nodes from here on');
    const at = clock.now();
    this.#term = { sinceMs: at, epoch };
    for (const one of this.#observers) one.began();
    const event = { at, nodeId: runtime.nodeId, leader: this.#holder, epoch, ...(inbox !== undefined && { inbox }) };
    void tellElected(topics, { lease: leaseName, event });
    if (inbox !== undefined) void keepTelling({ store, clock }, { lease: leaseName, event }, ended);
  }

  #engineOfTerm(): Engine {
    const { ports, topics, lease, node, plugins, inbox } = this.#options;
    const { owner, reads } = lease;
    return new Engine({
      ...{ ...ports, topics, elsewhere: node },
      lease: {
        ...{ ...(owner !== undefined && { owner }), name: leaseName, holder: this.#holder, ttlMs: ownerLeaseTtlMs },
        ...{ ...(reads && { reads }), standsBy: true, covers: isClusterOwned, wants: () => this.#canCall() },
        inUse: (by, isSilent, tooOld) => {
          this.#isLeaderSilent = isSilent;
          return notLeader(by, { isSilent, isForwarded: inbox !== undefined, tooOld });
        },
        wanted: () => {
          if (plugins.registered('csi-controller').length === 0) this.engine.yield(yielding());
        },
      },
    });
  }

  get #holder(): string {
    const { runtime, lease } = this.#options;
    return `node ${runtime.nodeId}, ${lease.holder}`;
  }

  #canCall(): boolean {
    const { plugins, port } = this.#options;
    return plugins.registered('csi-controller').some(({ name }) => port.observation(name).trouble === undefined);
  }
}

interface Refused {
  isSilent: boolean;
  /** Whether requests made here go to the leader. */
  isForwarded: boolean;
  /** Why this agent can't take over. */
  tooOld: StagecraftError | undefined;
}

function notLeader(holder: string, { isSilent, isForwarded, tooOld }: Refused): StagecraftError {
  const half = Math.ceil(ownerLeaseTtlMs / 2_000);
  if (isSilent) {
    const next = `${tooOld ? `an agent that is not older than it` : 'another'} takes over once its lease lapses, within ${half} s`;
    const message = `the agent that works on volumes (${holder}) has been silent for more than ${half} s; ${next}`;
    return new StagecraftError('NOT_LEADER', isForwarded ? message : `${message}: ask again then`, { cause: tooOld });
  }
  const advice = isForwarded ? 'requests made here go there' : 'ask that agent';
  const until = `this one takes over when that one stops, or has been silent for ${ownerLeaseTtlMs / 1_000} s`;
  const then = tooOld?.message ?? until;
  return new StagecraftError('NOT_LEADER', `${holder}, works on volumes: ${advice}; ${then}`, { cause: tooOld });
}

function unreadable(address: string, why: string): StagecraftError {
  const message = `only the agent that leads can read ${address} (${why}): ask that one, or update this one`;
  return new StagecraftError('NOT_LEADER', message, { address });
}

const neverOwns = (): StagecraftError =>
  new StagecraftError('NOT_LEADER', 'no agent is known that works on volumes: this one never does (cluster.own)');

const yielding = (): StagecraftError =>
  new StagecraftError(
    'NOT_LEADER',
    'this agent has no controller plugins: another one that has takes over the work on volumes, within seconds',
  );

/**
 * Services of an engine for its actors: writes their commits, and after those starts effects and timers, delivers
 * messages and informs observers. The actor decides on the order: actor.ts
 */
import { defaultBackoff } from '../../../machines/kit/backoff.js';
import { messageOf, StagecraftError } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import type { Deliveries, Redelivery } from '../delivery/deliveries.js';
import type { EffectGate } from '../effects/effect-gate.js';
import type { EffectRunner } from '../effects/effect-runner.js';
import type { ActorKind, AskedCall, Effect } from '../effects/effects.js';
import { allRecipients, doubtOf, effectIn, isCompensated, undoneBy } from '../effects/in-doubt-calls.js';
import type { Feed } from '../feed.js';
import type { LeaseKeeper } from '../lease/lease-keeper.js';
import type { Logger } from '../logger.js';
import type { Random } from '../random.js';
import { storeRetryMs, storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Store } from '../store.js';
import type { TimerHeap } from '../timer-heap.js';
import type { ActorHost, CommitNotice } from './actor-ports.js';
import { dueInMs, entryIn, type LiveEffect } from './actor-record.js';
import type { Actors } from './actors.js';
import type { Committer } from './committer.js';

interface EngineParts {
  /** Id of this run, which begins the ids of its commits. */
  incarnation: string;
  store: Store;
  clock: Clock;
  random: Random;
  logger: Logger;
  troubles: TroubleLog;
  timers: TimerHeap;
  committer: Committer;
  effects: EffectRunner;
  gate: EffectGate;
  deliveries: Deliveries;
  redelivery: Redelivery;
  leases: LeaseKeeper;
  observers: Set<(notice: CommitNotice) => void>;
  feed: Feed;
  actors(): Actors;
  /** Whether the lease allows to write an address. */
  covers(address: string): boolean;
  fence(reason: StagecraftError): void;
  /** Called when the store seems to have lost writes. */
  suspect(reason: string): void;
  /** Aborted when the engine stops. */
  stopped: AbortSignal;
}

interface Uncertain {
  /** Moment when they have ended at the latest, on the monotonic clock. */
  untilMs: number;
  /** See InDoubtCall. */
  recipients: object[] | undefined;
}

export function actorHost(parts: EngineParts): ActorHost {
  const { store, clock, random, logger, troubles, timers, committer, effects, gate, leases, stopped } = parts;
  /** Calls that nobody waits for and that may still be under way, by address and name. */
  const uncertain = new Map<string, Uncertain>();
  let commits = 0;

  const effectOf = (address: string, { src }: LiveEffect): Effect | undefined => kindOf(address).effects[src];

  const kindOf = (address: string): ActorKind => parts.actors().kindOf(address).kind;

  const placeOf = (address: string, doubt: string): string => `${address} ${doubt}`;

  /** Time until no such call can be under way. */
  const certainInMs = (place: string): number => {
    const leftMs = (uncertain.get(place)?.untilMs ?? 0) - clock.monotonicMs();
    if (leftMs <= 0) uncertain.delete(place);
    return Math.max(leftMs, 0);
  };

  /**
   * Forgets calls whose recipients have ended.
   * @returns whether a later question may forget more before their time is over
   */
  const endDoubts = async (address: string, asked: AskedCall): Promise<boolean> => {
    const kind = kindOf(address);
    let isWorthAsking = false;
    for (const doubt of undoneBy(kind, asked)) {
      const place = placeOf(address, doubt);
      const { recipient } = kind.effects[effectIn(doubt)] ?? {};
      const calls = certainInMs(place) > 0 ? uncertain.get(place) : undefined;
      if (!recipient || !calls?.recipients) continue;
      const ended = await Promise.allSettled(calls.recipients.map((one) => recipient.hasEnded(one)));
      const answers = ended.map((end) => (end.status === 'fulfilled' ? end.value : false));
      // Further calls may have been added meanwhile.
      const isCurrent = uncertain.get(place) === calls;
      if (isCurrent && answers.every((hasEnded) => hasEnded)) uncertain.delete(place);
      else if (!isCurrent || !answers.includes(undefined)) isWorthAsking = true;
    }
    return isWorthAsking;
  };

  /** Remembers a call as in doubt: an abort ends only our side of it. */
  const mayGoOn = (address: string, doubt: string, { untilMs, recipients }: Uncertain): void => {
    if (untilMs === Number.POSITIVE_INFINITY || !isCompensated(kindOf(address).effects, effectIn(doubt))) return;
    const place = placeOf(address, doubt);
    const before = certainInMs(place) > 0 ? uncertain.get(place) : undefined;
    uncertain.set(place, {
      untilMs: Math.max(untilMs, before?.untilMs ?? 0),
      recipients: before ? allRecipients(before.recipients, recipients) : recipients,
    });
    timers.after(untilMs - clock.monotonicMs(), () => certainInMs(place)); // forgets it
  };

  const host: ActorHost = {
    feed: parts.feed,
    stamp: () => ({ at: clock.now(), random: random.next() }),
    claim: () => {
      commits += 1;
      const { name: lease, epoch, owner } = leases.lease;
      return { commitId: `${parts.incarnation}.${commits}`, lease, epoch, owner };
    },
    holdsLease: () => leases.held,
    epoch: () => leases.lease.epoch,
    confirmsLease: () => leases.confirmed(),
    raiseLease: (above) => leases.raise(above),
    commit: (commit, answered) => committer.submit(commit, answered),
    load: async (address, failed) => {
      const task = {};
      for (;;) {
        try {
          const record = await store.load(address);
          troubles.over(task);
          return record;
        } catch (error) {
          if (stopped.aborted) {
            troubles.abandon(task);
            return undefined;
          }
          failed(error);
          const message = `the store can't say what it holds of an actor: ${messageOf(error)}`;
          troubles.failed(task, { subject: storeSubject, fields: { address }, message, cause: error });
          await pause(clock, storeRetryMs, stopped);
        }
      }
    },
    after: (delayMs, callback) => {
      timers.after(delayMs, callback);
    },
    doubt: (address, doubts) => {
      for (const [doubt, { lastsMs, recipients }] of Object.entries(doubts))
        mayGoOn(address, doubt, { untilMs: leases.sinceMs + lastsMs, recipients });
    },
    isUnderWay: (address, doubt) => certainInMs(placeOf(address, doubt)) > 0,
    startEffect: (address, asked, recovered) => {
      const effect = effectOf(address, asked);
      const run = effects.prepare({
        address,
        live: asked,
        effect,
        recovered,
        clearInMs: (call) => {
          if (uncertain.size === 0) return 0;
          return Math.max(0, ...undoneBy(kindOf(address), call).map((doubt) => certainInMs(placeOf(address, doubt))));
        },
        endDoubts: (call) => endDoubts(address, call),
      });
      const { notBeforeMs = 0 } = asked;
      // After the clock was set back, no wait gets longer than the longest pause.
      const delayMs = Math.min(notBeforeMs - clock.now(), defaultBackoff.maxMs);
      gate.admit(run, { recovered, delayMs, start: () => effects.begin(run) });
      return run;
    },
    cancelEffect: (run, reason) => {
      gate.withdraw(run);
      if (run.deadline && (!run.isOver || run.isInDoubt) && run.effect?.makesCall !== false) {
        const recipients = run.recipient && [run.recipient];
        mayGoOn(run.address, doubtOf(kindOf(run.address), run.live), { untilMs: run.deadline.dueAtMs, recipients });
      }
      effects.cancel(run, reason);
    },
    startTimer: (address, timer) => {
      const { id, seq, event } = timer;
      return timers.after(dueInMs(timer, clock.now()), () =>
        parts.actors().post(address, { kind: 'timer', id, seq, event }),
      );
    },
    cancelTimer: (timer) => timers.cancel(timer),
    deliver: (address, seq, outbox, events) => parts.deliveries.deliver(address, seq, outbox, events),
    owed: (address) => parts.deliveries.owed(address),
    // Deliveries know the outboxes of this engine only.
    mayRepeat: (sender) => !parts.covers(sender) || parts.deliveries.mayRepeat(sender),
    entry: async (address, seq) => {
      try {
        const [row] = await store.readJournal(address, seq, 1);
        return row?.seq === seq ? entryIn(row) : undefined;
      } catch {
        return undefined; // told to observers only: the next commit tells them more
      }
    },
    forget: (address, below) =>
      store.trimJournal(address, below).then(
        () => true,
        (error: unknown) => {
          // Repeated with the next entries to be removed.
          logger.debug({ address, below }, `the store can't forget journal entries now: ${messageOf(error)}`);
          return false;
        },
      ),
    notify: (notice) => {
      const { address, seq, entry, state } = notice;
      if (entry.kind === 'crash') {
        logger.error({ address, seq, code: 'ACTOR_CRASHED' }, `actor crashed: ${entry.error}`);
      } else if (entry.kind === 'rolled-back') {
        logger.error({ address, seq, code: 'STORE_ROLLED_BACK' }, `written again: ${entry.error}`);
      } else {
        logger.debug({ address, seq, state, event: entry.event?.type ?? entry.kind }, 'transition');
      }
      for (const observer of parts.observers) {
        try {
          observer(notice);
        } catch (error) {
          logger.error({ address, seq }, `an observer threw: ${messageOf(error)}`);
        }
      }
    },
    fenced: (address, epoch) => {
      const ours = leases.lease;
      const why = `${ours.name} was taken over (epoch ${epoch}, ours is ${ours.epoch})`;
      parts.fence(new StagecraftError('FENCED', why, { address }));
    },
    redeliver: (address) => parts.redelivery.insistOn(address),
    suspect: (reason) => parts.suspect(reason),
    quarantined: (address, reason) => {
      parts.feed.actor(address, 'quarantined', { reason });
      logger.error({ address, code: 'ACTOR_QUARANTINED' }, `actor quarantined: ${reason}`);
    },
    rested: (actor) => parts.actors().rested(actor),
  };
  return host;
}

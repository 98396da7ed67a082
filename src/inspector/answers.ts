/** What the API tells of actors: the same for the page, the command line and the typed client. Times: ms since the epoch. */
import type { StateValue } from 'xstate';
import type { PartView } from '../../machines/kit/parts.js';
import type { JournalEntry, LiveEffect, LiveTimer, Outbox } from '../engine/actor/actor-record.js';
import type { FeedRecord } from '../engine/feed.js';
import type { HistoryLine } from '../journal/history.js';
import type { CourseEnd } from '../journal/what-if.js';
import type { FeedLine } from './feed-lines.js';

/**
 * How an actor is, in one word. `working`: a call is under way. `waiting`: for a time, a plugin or another actor.
 * `in-doubt`: something may have happened, and nobody knows yet. `failed`: stays so until somebody acts.
 */
export type Health = 'healthy' | 'working' | 'waiting' | 'in-doubt' | 'failed' | 'gone' | 'unknown';

/** An actor at a glance. */
export interface ActorSummary {
  address: string;
  /** Id of its machine, which is also the first part of its address. */
  machine: string;
  /** Path of its state: `pending-publish.calling`. */
  state: string;
  health: Health;
  /** Why, in a few words: `publish to worker-1 was refused`. */
  why: string;
  /** Seq of its last commit. */
  seq: number;
  /** Moment of its last commit, if known. */
  at?: number;
}

/** One thing that is not as it was asked for. */
export interface Trouble {
  /** The actor. */
  address: string;
  /** What is wrong, as a sentence. */
  what: string;
  /** What is known of the reason. */
  why?: string;
  /** Whether it goes on by itself, or needs a person. */
  needs: 'a-person' | 'nothing';
  /** What a person has to do, and a command to copy, if there is one. */
  todo?: string;
  command?: string;
  since?: number;
  /** Moment of the next attempt. */
  dueAtMs?: number;
}

/** Answer of `GET /v1/overview`. Rows as columns: item i of each belongs to the same actor. */
export interface Overview {
  at: number;
  nodeId: string;
  version: string;
  actors: {
    address: string[];
    machine: string[];
    state: string[];
    health: Health[];
    why: string[];
    seq: number[];
    at: (number | null)[];
  };
  trouble: Trouble[];
}

/** What an actor waits for. */
export interface Wait {
  /** As a sentence. */
  what: string;
  since?: number;
  /** Address of the actor that is in the way. */
  on?: string;
  dueAtMs?: number;
}

/** An effect of an actor's present state. */
export interface EffectInFlight extends LiveEffect {
  /** Name of the CSI call that it makes, if it makes one. */
  rpc?: string;
  /** When its request went out. Absent: not sent yet. */
  sentAtMs?: number;
}

/** A part of an actor, and how it is. */
export interface PartSummary extends PartView {
  health: Health;
}

/** Answer of `GET /v1/actors/ADDRESS`. */
export interface ActorDetail extends ActorSummary {
  /** Version of its machine. */
  version: string;
  value: StateValue;
  context: object;
  parts: PartSummary[];
  effects: EffectInFlight[];
  timers: LiveTimer[];
  /** Moment of the next timer or attempt. */
  nextDueAtMs?: number;
  /** Whether events may be sent to it by hand here. */
  maySend?: boolean;
  /** Types of the events that it accepts now from outside. */
  accepts: string[];
  /** Messages that it has still to apply. */
  unread: number;
  waits: Wait[];
  trouble: Trouble[];
  /** Why it is out of service, if it is. */
  quarantined?: string;
}

/** Answer of `GET /v1/history/ADDRESS`: lines in their order. `before`: give it to get the page before, if there is one. */
export interface HistoryPage {
  address: string;
  lines: HistoryLine[];
  before?: number;
}

/**
 * Answer of `GET /v1/journal/ADDRESS`: entries in their order. `before` and `after`: give them to get the page before or after
 * this one, if there is one.
 */
export interface JournalPage {
  address: string;
  entries: JournalEntry[];
  /** Seq of the oldest and the newest entry that is kept. */
  first: number;
  last: number;
  before?: number;
  after?: number;
}

/** Answer of `GET /v1/moments/ADDRESS?from=N`: replayed steps in their order. */
export interface MomentPage extends Omit<JournalPage, 'entries'> {
  moments: MomentAnswer[];
}

/** One replayed step: answer of `GET /v1/moments/ADDRESS?seq=N`. */
export interface MomentAnswer {
  address: string;
  seq: number;
  entry: JournalEntry;
  line: HistoryLine;
  health: Health;
  why: string;
  /** State and context after the step; absent: deleted. */
  snapshot?: { value: StateValue; context: object };
  parts: PartSummary[];
  effects: LiveEffect[];
  timers: LiveTimer[];
  messages: Outbox['messages'];
  events: object[];
  answer?: unknown;
  /** Stack of the error that the machine threw at this step, now as then. */
  thrown?: string;
}

export type { Edit } from '../journal/what-if.js';

/** Answer of `POST /v1/what-if`: the other course of events, from the first edit on. */
export interface WhatIf {
  address: string;
  moments: MomentAnswer[];
  /** First entry of the journal that the machine no longer asks for: the other course ends before it. */
  endedAt?: CourseEnd;
  /** True if there were more moments than `limit`. */
  isCut?: true;
}

/** Messages of the feed over WebSocket, as JSON: first one `hello`, then batches. */
export type FeedMessage =
  | { type: 'hello'; nodeId: string; version: string; at: number }
  /** Records in order, how many were dropped before them, and the actors that they have changed, as they are now. */
  | {
      type: 'batch';
      records: FeedRecord[];
      /** A sentence for each input of an actor among the records. */
      lines: FeedLine[];
      dropped: number;
      /** `trouble`: what is wrong with it now; absent: nothing. */
      changed: (ActorSummary & { trouble?: Trouble })[];
      gone: string[];
    };

/** `runtime.journal` and `runtime.actors`: records and journals of all actors, whichever engine has them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEventObject } from 'xstate';
import { z } from 'zod';
import { acceptedBy, type RequestByHand } from '../../machines/accepted-events.js';
import { shownPathOf } from '../../machines/catalog.js';
import {
  addressParts,
  clusterOwnedPrefixes,
  isClusterOwned,
  nodeOwnedPrefix,
  registryAddress,
} from '../../machines/kit/addresses.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { JournalEntry, UnreadableEntry } from '../engine/actor/actor-record.js';
import type { QuarantinedActor } from '../engine/actor/actors.js';
import type { ActorInspection, ActorPage, ActorSystem, ActorView } from '../engine/actor-system.js';
import { askedBy } from '../engine/asked-by.js';
import { type Clock, systemClock } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import { Journals } from '../engine/journals.js';
import type { ElectedEngine } from '../engine/lease/elected-engine.js';
import { asData } from '../engine/machine/data.js';
import type { Moment, Replayed } from '../engine/machine/replay.js';
import type { Store } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import { openDataDir } from '../host/data-dir.js';
import { type Shown, shown } from '../host/shown.js';
import { packageVersion } from '../host/version.js';
import { journalLines } from '../journal/export-journal.js';
import { machineAt } from '../journal/journal-file.js';
import { checked } from '../requests/fields.js';
import { lmdbStore } from '../stores/lmdb/lmdb.js';
import type { FormerHolder, FormerHolders } from '../volumes/node-records.js';

/**
 * Journals of the actors of this node, of volumes and nodes, and of deleted actors as long as they are kept.
 * @throws StagecraftError ACTOR_NOT_FOUND, JOURNAL_BROKEN, STORE_UNAVAILABLE
 */
export interface Journal {
  /** Journal entries of the actor at this address, oldest first. */
  entries(address: string, options?: { from?: number; to?: number }): AsyncIterable<Shown<JournalEntry>>;
  /** Seqs of the oldest and the newest entry that is kept. */
  range(address: string): Promise<{ first: number; last: number }>;
  /** State of the actor after entry `to`, rebuilt from its journal; no effect runs. */
  replay(address: string, options?: { to?: number }): Promise<Shown<Replayed>>;
  /**
   * The same step by step: each entry, the state after it, and what it asked for. Leaves out steps whose state can't be
   * known: their beginning was forgotten, or they are of another version of the machine.
   */
  moments(address: string, options?: { from?: number; to?: number }): AsyncIterable<Shown<Moment>>;
  /**
   * Lines of a file that `openJournal` reads, each with its line break, without secrets. The format: docs/journals.md
   * @param addresses default: all actors that this runtime can see, in memory or not, and deleted ones while their journals are kept
   */
  export(addresses?: readonly string[]): AsyncIterable<string>;
}

export interface ActorControl {
  /** Actors of this node, and of volumes and nodes those in memory here, by address. */
  list(): ActorStatus[];
  /**
   * An actor as it is now: state, context, effects and timers. Where another agent leads, volumes and nodes are told as
   * the store has them, without effects and timers.
   * @throws {StagecraftError} ACTOR_NOT_FOUND, STORE_UNAVAILABLE, INVALID_ARGUMENT
   */
  inspect(address: string): Promise<Shown<InspectedActor>>;
  /**
   * Sends an actor a request by hand, such as `volume.retry`: by the method of the runtime that programs use, with all of
   * its checks. The journal keeps who sent it. Resolves with the result of that method, or with TIMEOUT after ten seconds:
   * the work goes on. Events between actors, effects and timers are refused.
   * @throws {StagecraftError} INVALID_ARGUMENT, ACTOR_NOT_FOUND, ACTOR_QUARANTINED, NOT_LEADER, STORE_UNAVAILABLE, or what
   *   the method throws
   */
  send(address: string, event: AnyEventObject, sender: { by: string }): Promise<unknown>;
  /**
   * All actors that this runtime can see, in memory or not, in pages: those of this node, volumes, snapshots and nodes. They
   * are as the runtime has them, which may be secret: let people see only what `shown` makes of them.
   * `skipped`: those whose records can't be read.
   * @throws {StagecraftError} STORE_UNAVAILABLE
   */
  pages(): AsyncIterable<Pick<ActorPage, 'rows' | 'skipped'>>;
  /**
   * Actors out of service: they crashed too often, or their record can't be read. Their records are left as they are.
   */
  quarantined(): QuarantinedActor[];
  /**
   * Takes an actor back into service: messages owed to it are delivered, its timers and effects go on. Does nothing
   * if it is in service.
   * @throws StagecraftError ACTOR_QUARANTINED if its record still can't be read; ACTOR_NOT_FOUND; NOT_LEADER
   */
  release(address: string): Promise<void>;
}

/** An actor as it is now, without secrets. */
export interface InspectedActor extends ActorInspection {
  address: string;
  /** Nodes where an agent at another place may have the volume mounted still. Absent: none is known. */
  elsewhere?: FormerHolder[];
}

export interface ActorStatus extends Pick<ActorView, 'seq' | 'state'> {
  address: string;
  /** Path of the state, as people see it: `pending-publish.calling`. */
  path: string;
}

/** Engines that run actors here now: that of the elected one only while this runtime is sure to lead. */
export const actorEngines = (own: Engine, elected: ElectedEngine): Engine[] =>
  elected.uncertainty ? [own] : [own, elected.engine];

/**
 * Sends the request that a person named by its type. Resolves with the result of the method.
 * @throws {StagecraftError} INVALID_ARGUMENT with every fault, and what the method throws
 */
export type SendByHand = (type: RequestByHand, address: string, event: AnyEventObject) => Promise<unknown>;

interface ActorControlPorts {
  /** Engine of the actors of this node. */
  own: Engine;
  /** Engine of the actors that belong to no node. */
  elected: ElectedEngine;
  sendByHand: SendByHand;
  former: Pick<FormerHolders, 'of' | 'on'>;
}

/** @param node this node */
export function actorControl(node: string, { own, elected, sendByHand, former }: ActorControlPorts): ActorControl {
  const all = (): Engine[] => actorEngines(own, elected);
  return {
    list: () =>
      all().flatMap((engine) =>
        [...engine.views('')].map(([address, { seq, state, context }]) => {
          const path = shownPathOf(address, state, context);
          return { address, seq, state, path };
        }),
      ),
    inspect: async (address) => {
      const known = checkedAddress(address);
      const found = await (isClusterOwned(known) ? elected : own).inspect(known);
      if (found) {
        const elsewhere = await elsewhereOf(former, known, found.context);
        return shown(asData({ ...found, address: known, ...(elsewhere.length > 0 && { elsewhere }) }));
      }
      throw new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${known}: see stagecraft actor list`, {
        address: known,
      });
    },
    send: async (address, event, sender) => {
      const known = checkedAddress(address);
      const sent = checked(sentSchema, event, 'the event');
      const { by } = checked(senderSchema, sender, 'the sender');
      const engine = isClusterOwned(known) ? elected.leader() : own;
      const actor = await engine.inspect(known);
      if (!actor) throw new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${known}`, { address: known });
      const request = acceptedIn(known, actor, sent.type);
      return askedBy(by, () => sendByHand(request, known, sent));
    },
    pages: async function* () {
      // Other nodes have records of their own in the same store.
      const registry = registryAddress(node);
      const view = await own.read(registry);
      if (view) yield { rows: [[registry, view]] };
      for (const prefix of own.prefixes) yield* pagesOf(own, nodeOwnedPrefix(prefix.slice(0, -1), node));
      for (const prefix of clusterOwnedPrefixes) yield* pagesOf(elected, prefix);
    },
    quarantined: () => all().flatMap((engine) => engine.quarantined()),
    release: async (address) => {
      const known = checkedAddress(address);
      return (isClusterOwned(known) ? elected.leader() : own).release(known);
    },
  };
}

const sentSchema = z.looseObject({ type: z.string().min(1) });
const senderSchema = z.strictObject({ by: z.string().min(1).max(256) });

/** @throws StagecraftError INVALID_ARGUMENT if it is no request that people may send the actor now */
function acceptedIn(address: string, { state }: ActorInspection, type: string): RequestByHand {
  const accepted = acceptedBy(address, state);
  const request = accepted.find((one) => one === type);
  if (request !== undefined) return request;
  const can = accepted.length > 0 ? `people may send it ${accepted.join(', ')}` : 'people may send it nothing';
  const message = `${address} takes no '${type}' by hand in state ${JSON.stringify(state)}: ${can}`;
  throw new StagecraftError('INVALID_ARGUMENT', message, { address });
}

const pageLimit = 1_000;

async function* pagesOf(system: Pick<ActorSystem, 'page'>, prefix: string): AsyncGenerator<ActorPage, void> {
  for (let after: string | undefined; ; ) {
    const page = await system.page({ prefix, limit: pageLimit, ...(after !== undefined && { after }) });
    yield page;
    if (page.next === undefined) return;
    after = page.next;
  }
}

const seqSchema = z.int().min(1).optional();
const replaySchema = z.strictObject({ to: seqSchema });
const rangeSchema = z.strictObject({ from: seqSchema, to: seqSchema });
const addressSchema = z.string().min(1, 'must not be empty');
const addressesSchema = z.array(addressSchema);

/** @throws StagecraftError INVALID_ARGUMENT */
const checkedAddress = (address: unknown): string => checked(addressSchema, address, 'the address');

const noJournal = (address: string): StagecraftError =>
  new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}, nor a journal of one`, { address });

interface JournalOptions {
  clock: Pick<Clock, 'now'>;
  /** Addresses of all actors that have a journal. */
  all(): AsyncIterable<string>;
}

export function journalOf(own: Engine, elected: ElectedEngine, clock: JournalOptions['clock']): Journal {
  // Journals can be read whoever leads.
  const engineOf = (address: string): Engine => (isClusterOwned(address) ? elected.engine : own);
  return journalIn((address) => engineOf(address).journals, {
    clock,
    all: async function* () {
      for (const prefix of own.prefixes) yield* own.journals.addresses(prefix);
      for (const prefix of clusterOwnedPrefixes) yield* elected.engine.journals.addresses(prefix);
    },
    isPresent: (address) => engineOf(address).has(address),
  });
}

/** @param journalsOf where the journal of an actor is */
function journalIn(
  journalsOf: (address: string) => Journals,
  { clock, all, isPresent }: JournalOptions & { isPresent(address: string): boolean },
): Journal {
  const demand = async (address: string): Promise<Journals> => {
    const journals = journalsOf(address);
    if (isPresent(address)) return journals;
    for await (const _ of journals.entries(address)) return journals;
    throw noJournal(address);
  };
  async function* entries(
    address: string,
    from?: number,
    skipped?: (entry: UnreadableEntry) => void,
  ): AsyncGenerator<JournalEntry, void> {
    yield* (await demand(address)).entries(address, from, skipped);
  }
  async function* moments(address: string, from?: number, to?: number): AsyncGenerator<Shown<Moment>, void> {
    for await (const moment of (await demand(address)).moments(address, from, to)) yield shown(moment);
  }
  return {
    entries: (address, options = {}) => {
      const known = checkedAddress(address);
      const { from, to } = checked(rangeSchema, options, 'the options');
      return upTo(entries(known, from), to);
    },
    range: async (address) => {
      const known = checkedAddress(address);
      const range = await journalsOf(known).range(known);
      if (range) return range;
      throw noJournal(known);
    },
    replay: async (address, options = {}) => {
      const known = checkedAddress(address);
      const { to } = checked(replaySchema, options, 'the options');
      return shown(await (await demand(known)).replay(known, to));
    },
    moments: (address, options = {}) => {
      const known = checkedAddress(address);
      const { from, to } = checked(rangeSchema, options, 'the options');
      return moments(known, from, to);
    },
    export: (addresses) =>
      journalLines({
        addresses: addresses === undefined ? all() : checked(addressesSchema, addresses, 'the addresses'),
        // A listed actor is there, even if none of its entries can be read.
        entries: (address, skipped) =>
          upTo(addresses ? entries(address, 1, skipped) : journalsOf(address).entries(address, 1, skipped)),
        at: clock.now(),
        stagecraft: packageVersion(),
      }),
  };
}

async function* upTo(
  entries: AsyncIterable<JournalEntry>,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Shown<JournalEntry>, void> {
  for await (const entry of entries) {
    if (entry.seq > to) return;
    yield shown(entry);
  }
}

/** Nodes where the volume, or the volume of the mount, may be mounted by an agent at another place. */
async function elsewhereOf(
  former: ActorControlPorts['former'],
  address: string,
  context: object,
): Promise<FormerHolder[]> {
  const [machine, nodeId = '', namespace = '', id = ''] = addressParts(address);
  if (machine === 'volume') return former.of(context as VolumeContext);
  // A record that can't be read now says nothing: the actor itself is what was asked for.
  const why = machine === 'mount' && (await former.on(nodeId, { namespace, id }).catch(() => undefined));
  return why ? [{ nodeId, why }] : [];
}

export interface StoredJournal extends Journal {
  close(): Promise<void>;
}

/**
 * Opens a data directory to read its journals only: no actor is brought up, and nothing is written into its store.
 * @throws {StagecraftError} INVALID_ARGUMENT if there is no embedded store; DATA_DIR_LOCKED while a runtime has it;
 *   DATA_DIR_UNUSABLE
 */
export async function openStoredJournal(path: string): Promise<StoredJournal> {
  if (!existsSync(join(path, 'state', 'data.mdb')))
    throw new StagecraftError('INVALID_ARGUMENT', `${path} has no embedded store: name the data directory of an agent`);
  const dataDir = openDataDir(path, 'unchanged');
  const journal = await openJournalIn(lmdbStore(join(dataDir.path, 'state'))).catch((error: unknown) => {
    dataDir.unlock();
    throw error;
  });
  return {
    ...journal,
    close: async () => {
      await journal.close();
      dataDir.unlock();
    },
  };
}

/** Opens a store to read its journals only: no lease is taken, and no actor is brought up. */
export async function openJournalIn(store: Store): Promise<StoredJournal> {
  await store.open();
  // An export and a replay tell of such entries themselves.
  const journals = new Journals({ store, machineOf: machineAt, seqOf: () => undefined, unreadable: () => {} });
  return {
    ...journalIn(() => journals, { clock: systemClock, isPresent: () => false, all: () => journals.addresses('') }),
    close: () => store.close(),
  };
}

/** Processes on one store, on a simulated clock: each has an engine of its own, and competes for one lease that they share. */
import { Engine } from '../../src/engine/engine.js';
import { ElectedEngine } from '../../src/engine/lease/elected-engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import { SharedStore } from '../../src/engine/storage/shared-store.js';
import { StoredViews } from '../../src/engine/storage/stored-views.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import type { Store } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/index.js';
import { type ControlledStore, keptOpen } from '../support/faulty-store.js';
import { deskKind } from './desk.js';
import { Lab, leaseTtlMs } from './lab.js';
import { type ManualEffect, manualEffect } from './manual-effect.js';
import { workerKind } from './worker.js';

const isShared = (address: string): boolean => address.startsWith('desk/shared/') || address.startsWith('worker/');

export interface Side {
  own: Engine;
  elected: ElectedEngine;
  store: ControlledStore;
  work: ManualEffect;
  resigned: StagecraftError[];
  elections: number[];
}

interface SideOptions {
  desk?: typeof deskKind;
  /** Wraps the store. */
  through?: (store: Store) => Store;
  /** Level that it reads; default: not compared. */
  level?: number;
}

export class Sides {
  readonly lab = new Lab();
  /** Names of the sides that should lead, if they can. */
  readonly fit = new Set<string>();
  /** Prepares each term. */
  prepare: () => Promise<void> = async () => {};
  #seeds = 0;

  async side(name: string, { desk = deskKind, through, level }: SideOptions = {}): Promise<Side> {
    const store = this.lab.store(through);
    const shared = new SharedStore(keptOpen(store));
    const { clock } = this.lab;
    const work = manualEffect(60_000);
    const kinds = [desk, workerKind({ work })];
    this.#seeds += 1;
    const seed = this.#seeds;
    const ports = { clock, random: seededRandom(seed), logger: silentLogger };
    const own: Engine = new Engine({
      ...ports,
      store: shared.handle(),
      lease: { name: `node/${name}`, holder: name, ttlMs: leaseTtlMs, covers: (address) => !isShared(address) },
    }).host(kinds);
    const handle = shared.handle();
    const resigned: StagecraftError[] = [];
    const elections: number[] = [];
    const inUse = (holder: string): StagecraftError => new StagecraftError('NOT_LEADER', `${holder} leads`);
    const elected: ElectedEngine = new ElectedEngine({
      engine: () =>
        new Engine({
          ...ports,
          store: handle,
          lease: {
            ...{ name: 'shared/0', holder: name, ttlMs: leaseTtlMs, covers: isShared, inUse },
            ...(level !== undefined && { reads: { level, version: `0.${level}.0` }, standsBy: true }),
            wants: () => this.fit.has(name),
            wanted: () => {
              if (!this.fit.has(name)) elected.yield(new StagecraftError('NOT_LEADER', 'another one is to lead'));
            },
          },
          topics: own.topics,
          elsewhere: own,
        }),
      prefixes: ['desk/shared/', 'worker/'],
      stored: new StoredViews({
        ...{ store: handle, clock, logger: silentLogger, unreadable: inUse },
        readerOf: (address) => own.readerOf(address),
      }),
      topics: own.topics,
      clock,
      random: seededRandom(seed),
      logger: silentLogger,
      troubles: new TroubleLog({ clock, logger: silentLogger }),
      prepare: () => this.prepare(),
      elected: ({ epoch }) => void elections.push(epoch),
      resigned: (reason) => resigned.push(reason),
    }).host(kinds);
    own.connect(elected);
    await own.open();
    await own.restore([`desk/${name}/`]);
    await elected.start();
    return { own, elected, store, work, resigned, elections };
  }

  async stop({ elected }: Pick<Side, 'elected'>): Promise<void> {
    const stopped = elected.stop();
    await this.lab.clock.advance(10_000);
    await stopped;
  }
}

export const leads = ({ elected }: Side): boolean => elected.refusal === undefined;

/** Reads what an actor has noted, as a request to it. */
export const notes = (side: Side, address: string): Promise<unknown> =>
  (isShared(address) ? side.elected : side.own).ask(address, { type: 'read' });

/** The stores that histories run on, and what a sudden end of the process means to each. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/engine/store.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { keptOpen } from '../support/faulty-store.js';
import { redis } from './redis-subject.js';

export interface Subject {
  /** The store of a new process; not open. */
  connect(): Store;
  /** All processes have died. */
  crash(): Promise<void>;
  /** Leases end with the processes; else they lapse. */
  losesLeases: boolean;
  dispose(): Promise<void>;
}

export interface SubjectKind {
  name: string;
  /** Its leases lapse by our time. */
  keepsTime: boolean;
  make(monotonicMs: () => number): Promise<Subject>;
}

export const memory: SubjectKind = {
  name: 'memory',
  keepsTime: true,
  async make(monotonicMs) {
    const store = memoryStore({ monotonicMs });
    const close = (): Promise<void> => store.close();
    return { connect: () => keptOpen(store), crash: close, losesLeases: true, dispose: close };
  },
};

/** No power fails here: what is in memory is as good as on disk, and a hundred times faster. */
const fastest = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Calls of one process share an environment: a crash leaves its files to a new one. */
export const lmdb: SubjectKind = {
  name: 'lmdb',
  keepsTime: true,
  async make(monotonicMs) {
    const path = await mkdtemp(join(fastest, 'stagecraft-simulation-'));
    let store = lmdbStore(path, { monotonicMs });
    return {
      connect: () => keptOpen(store),
      async crash() {
        await store.close(); // the same process can't open the files twice
        store = lmdbStore(path, { monotonicMs });
      },
      losesLeases: true,
      async dispose() {
        await store.close();
        await rm(path, { recursive: true });
      },
    };
  },
};

export const subjectKinds: SubjectKind[] = [memory, lmdb, redis];

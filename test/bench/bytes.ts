/** What one step writes, as text: the record that takes the place of the one before, and the journal entry that stays. */
import type { AnyStateMachine } from 'xstate';
import { systemClock } from '../../dist/src/engine/clock.js';
import type { Effect } from '../../dist/src/engine/effects/effects.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import type { Commit, Store } from '../../dist/src/engine/store.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { busy, plain } from './machines.js';

/** A multiple of how often an entry holds the whole state. */
const steps = 1_000;

const work: Effect = { deadlineMs: 'loop', run: async () => undefined };

function counted(written: (commit: Commit) => void): Store {
  const store = memoryStore();
  const commit = store.commit.bind(store);
  store.commit = (items) => {
    items.forEach(written);
    return commit(items);
  };
  return store;
}

async function bytesOf(machine: AnyStateMachine): Promise<{ record: number; journal: number }> {
  const sum = { record: 0, journal: 0 };
  const engine = new Engine({
    store: counted(({ text, journal }) => {
      sum.record += Buffer.byteLength(text);
      sum.journal += Buffer.byteLength(journal);
    }),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
  }).host([{ machine, effects: { work }, begin: () => ({}) }]);
  await engine.open();
  for (let step = 0; step < steps; step += 1) await engine.ask(`${machine.id}/1`, { type: 'next' });
  await engine.stop();
  return { record: sum.record / steps, journal: sum.journal / steps };
}

export async function reportBytes(): Promise<void> {
  console.log('\nbytes of a step');
  for (const machine of [plain, busy]) {
    const { record, journal } = await bytesOf(machine);
    const figures = `record ${Math.round(record)} B, journal entry ${Math.round(journal)} B`;
    console.log(`  ${`${machine.id} machine`.padEnd(52)} ${figures}`);
  }
}

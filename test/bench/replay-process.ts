/** Contenders of replay.ts, each in a process of its own. */
import { type ActorScope, type AnyEventObject, type AnyMachineSnapshot, createActor, createMachine } from 'xstate';
import type { JournalEntry } from '../../dist/src/engine/actor/actor-record.js';
import { HostedMachine } from '../../dist/src/engine/machine/hosted-machine.js';
import { Replay } from '../../dist/src/engine/machine/replay.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { lendContenders } from './apart.js';
import { plain } from './machines.js';
import { journalled } from './replay-journal.js';

const steps = 100_000;

let made: Promise<JournalEntry[]> | undefined;

/** Entries of one journal, made once. */
async function entriesOf(): Promise<JournalEntry[]> {
  const { engine, address } = await journalled(memoryStore(), steps);
  const entries: JournalEntry[] = [];
  for await (const entry of engine.journals.entries(address)) entries.push(entry);
  await engine.stop();
  return entries;
}

const known = (): Promise<JournalEntry[]> => {
  made ??= entriesOf();
  return made;
};

const ignore = (): void => {};

function reusedScope(): ActorScope<AnyMachineSnapshot, AnyEventObject> {
  const self = createActor(createMachine({}));
  const silent = { logger: ignore, defer: ignore, emit: ignore, stopChild: ignore, actionExecutor: ignore };
  return { self, id: 'bench', sessionId: 'bench', system: self.system, ...silent };
}

function replayed(entries: Iterable<JournalEntry>): void {
  const past = new Replay(HostedMachine.of(plain));
  for (const entry of entries) past.apply(entry);
  if (past.state.seq !== steps) throw new Error(`replayed to ${past.state.seq} instead of ${steps}`);
}

/** Milliseconds of the work alone: the journal is made before it. */
async function timed(
  prepare: () => Promise<JournalEntry[]>,
  work: (entries: JournalEntry[]) => void,
): Promise<{ units: number; ms: number }> {
  const entries = await prepare();
  globalThis.gc?.();
  const start = performance.now();
  work(entries);
  return { units: steps, ms: performance.now() - start };
}

let texts: string[] | undefined;

lendContenders([
  {
    name: 'bare transition',
    run: () =>
      timed(known, (entries) => {
        const scope = reusedScope();
        let snapshot = plain.getInitialSnapshot(scope, undefined);
        for (const { event, at, random } of entries)
          if (event) snapshot = plain.transition(snapshot, { type: 'next', at, random }, scope);
      }),
  },
  { name: 'replay of entries in memory', run: () => timed(known, replayed) },
  {
    name: 'replay of entries as text',
    async run() {
      const entries = await known();
      const lines = texts ?? entries.map((entry) => JSON.stringify(entry));
      texts = lines;
      return timed(known, () => replayed(lines.map((line): JournalEntry => JSON.parse(line))));
    },
  },
]);

/** Measures the past: replayed steps against XState's bare transition, and any moment of a long journal. */
import { rm } from 'node:fs/promises';
import { apart } from './apart.js';
import { byTurns, median, report } from './measure.js';
import { longJournal } from './replay-journal.js';

const momentsLookedAt = 25;

async function reportSteps(): Promise<void> {
  const names = ['bare transition', 'replay of entries in memory', 'replay of entries as text'];
  const contenders = names.map((name) => apart(name, new URL('replay-process.ts', import.meta.url)));
  try {
    report('replayed steps, a plain machine', 'steps/s', await byTurns(contenders));
  } finally {
    for (const contender of contenders) contender.stop();
  }
}

/** Moments of random seqs in an LMDB store, against those within the first kept state's reach. */
async function reportMoments(): Promise<void> {
  const entries = Number(process.env.ENTRIES ?? 1_000_000);
  const { engine, address, directory } = await longJournal(entries);
  try {
    const timed = async (seq: number): Promise<number> => {
      const start = performance.now();
      const { seq: found } = await engine.journals.replay(address, seq);
      if (found !== seq) throw new Error(`replayed to ${found} instead of ${seq}`);
      return performance.now() - start;
    };
    const early: number[] = [];
    const anywhere: number[] = [];
    for (let round = 0; round < momentsLookedAt; round += 1) {
      early.push(await timed(1 + Math.floor(Math.random() * 400)));
      anywhere.push(await timed(1 + Math.floor(Math.random() * entries)));
    }
    const first = median(early);
    console.log(`\nany moment of a journal of ${entries.toLocaleString('en')} entries, LMDB`);
    console.log(`  among the first 400                ${first.toFixed(2).padStart(8)} ms`);
    const ratio = median(anywhere) / first;
    console.log(
      `  anywhere                           ${median(anywhere).toFixed(2).padStart(8)} ms, ${ratio.toFixed(2)} of that`,
    );
    console.log(
      `  anywhere, the slowest              ${Math.max(...anywhere)
        .toFixed(2)
        .padStart(8)} ms`,
    );
  } finally {
    await engine.stop();
    await rm(directory, { recursive: true });
  }
}

export async function reportReplay(): Promise<void> {
  await reportSteps();
  await reportMoments();
}

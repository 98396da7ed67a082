/** The engine's own replay, held against what was committed at every seq. */
import { isDeepStrictEqual } from 'node:util';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { replay } from '../../src/engine/machine/replay.js';
import { type HostedSystem, kindOf } from './hosted-system.js';
import type { Past } from './judgement.js';
import { plain } from './step.js';
import { addressesOf } from './system.js';

export async function replayFaults(hosted: HostedSystem, pasts: Map<string, Past>): Promise<string[]> {
  const faults: string[] = [];
  for (const [actor, address] of addressesOf(hosted.system).entries()) {
    const machine = new HostedMachine(kindOf(hosted, actor).machine);
    const judged = pasts.get(address)?.judged ?? [];
    const entries = judged.map(({ entry }) => entry);
    for (const { entry, record } of judged) {
      const { seq, snapshot } = await replay(machine, oneByOne(entries), entry.seq);
      if (seq === entry.seq && isDeepStrictEqual(plain(snapshot), record.snapshot)) continue;
      faults.push(`a replay of ${address} to seq ${entry.seq} comes to ${JSON.stringify(snapshot)} at ${seq}`);
    }
  }
  return faults;
}

async function* oneByOne(entries: JournalEntry[]): AsyncGenerator<JournalEntry> {
  yield* entries;
}

/**
 * Process of lmdb-full-disk.test.ts, which reads what LMDB prints to its stderr: writes to a full disk for an hour of its own
 * clock, then makes room. Prints what it saw as JSON. Usage: lmdb-full-disk.ts <directory on a small disk>
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommitResult } from '../../src/engine/store.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';

const directory = process.argv[2] ?? '';
let nowMs = 0;
// lmdb-js prints errors by itself too; those are dropped by quiet-lmdb.ts.
console.error = () => {};
const store = lmdbStore(join(directory, 'state'), { monotonicMs: () => nowMs });
await store.open();
const text = 'x'.repeat(20_000);
let acknowledged = 0;
const commit = async (): Promise<CommitResult | undefined> => {
  const [result] = await store.commit([plainCommit(`actor/${acknowledged}`, 0, { text })]);
  if (result?.status === 'done') acknowledged += 1;
  return result;
};
const filler = join(directory, 'filler');
try {
  for (;;) writeFileSync(filler, Buffer.alloc(64 * 1024), { flag: 'a' });
} catch {
  // The disk is full.
}
const reasons = new Set<string>();
/** Commits with an unknown outcome, and commits that were not tried. */
let [failed, refused] = [0, 0];
for (; nowMs < 3_600_000; nowMs += 1_000) {
  const result = await commit().catch((error: Error) => error);
  if (result instanceof Error) {
    failed += 1;
    reasons.add(result.message);
  } else if (result?.status === 'refused') {
    refused += 1;
    reasons.add(result.reason);
  }
}
const before = acknowledged;
rmSync(filler);
const afterRoom = (await commit())?.status;
const kept = (await store.list({ prefix: 'actor/', limit: 1_000 })).rows.length;
await store.close();
process.stdout.write(JSON.stringify({ reasons: [...reasons], failed, refused, before, afterRoom, kept, acknowledged }));

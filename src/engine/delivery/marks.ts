/** Marks of applied messages: the last one of each sender, in the record of the receiver. Pure. */

/** Place of a message, and when it was applied, in milliseconds since the epoch; absent in records of older versions. */
type Mark = [seq: number, index: number, atMs?: number];

export type Marks = Record<string, Mark>;

/**
 * Leaves out each mark that is older than `keptMs`, if its sender can't repeat a message any more. A mark without a time
 * is as old as this call.
 */
export function neededMarks(
  marks: Marks,
  { atMs, keptMs, mayRepeat }: { atMs: number; keptMs: number; mayRepeat(sender: string): boolean },
): Marks {
  const needed: Marks = {};
  let hasChanged = false;
  for (const [sender, mark] of Object.entries(marks)) {
    const [seq, index, appliedAtMs] = mark;
    if (appliedAtMs !== undefined && atMs - appliedAtMs > keptMs && !mayRepeat(sender)) hasChanged = true;
    else if (appliedAtMs !== undefined) needed[sender] = mark;
    else {
      needed[sender] = [seq, index, atMs];
      hasChanged = true;
    }
  }
  return hasChanged ? needed : marks;
}

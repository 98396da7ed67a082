/** Says what became of the steps before the first one that a history shows. Pure. */

/**
 * @param shown seq of the oldest step of the whole history
 * @param first seq of the oldest entry of the journal
 * @returns undefined if no step is missing
 */
export function olderSteps(shown: number, first: number): string | undefined {
  const told = [
    ...(first > 1 ? [`${stepsText(1, first - 1)} not kept any more (retention.journalEntries)`] : []),
    ...(shown > first
      ? [`${stepsText(first, shown - 1)} kept, but this version can't replay them: see stagecraft journal export`]
      : []),
  ];
  return told.length > 0 ? told.join('; ') : undefined;
}

const stepsText = (from: number, to: number): string => (from === to ? `step ${to} is` : `steps ${from} to ${to} are`);

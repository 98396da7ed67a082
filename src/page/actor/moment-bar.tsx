/** Says which moment is shown, unless it is the present, and leads back. */
import { Copy } from '../common/copy.js';
import { datedMomentOf, shortDuration } from '../data/time.js';
import { describeEdits } from './edits.js';
import { Glyph } from './glyphs.js';
import type { ActorPlace } from './place.js';
import type { ShownMoment } from './shown.js';
import type { WhatIfState } from './use-what-if.js';

interface MomentBarProps {
  place: ActorPlace;
  kept: number | undefined;
  shown: ShownMoment;
  other: ShownMoment | undefined;
  whatIf: WhatIfState;
  lastSeq: number;
  toPresent: () => void;
}

export function MomentBar({ place, kept, shown, other, whatIf, lastSeq, toPresent }: MomentBarProps) {
  if (whatIf.answer) {
    const { edits, answer } = whatIf;
    const fixture = {
      address: answer.address,
      edits,
      entries: answer.moments.map(({ entry }) => entry),
      ...(answer.endedAt && { endedAt: answer.endedAt }),
    };
    return (
      <div class="moment-bar" role="status">
        <Glyph name="fork" />
        <b>What if</b>
        <span>{describeEdits(edits)}? Later answers are those that really came. Nothing is sent to the actor.</span>
        <span class="grow" />
        <Copy text={JSON.stringify(fixture, null, 2)} name="Copy as fixture" isNamed />
        <button type="button" class="button" aria-pressed={whatIf.isAdding} onClick={whatIf.add}>
          Another change
        </button>
        <button type="button" class="button" onClick={whatIf.end}>
          End what-if
        </button>
      </div>
    );
  }
  if (place.seq === undefined) return null;
  const at = shown.at ?? 0;
  const apart = place.b !== undefined && other?.at !== undefined;
  return (
    <div class="moment-bar" role="status">
      <Glyph name="clock" />
      <b>
        {place.b === undefined ? `Step ${place.seq} of ${lastSeq}` : `Comparing step ${place.seq} with step ${place.b}`}
      </b>
      <span>
        {datedMomentOf(at)}
        {apart && ` and ${datedMomentOf(other.at ?? 0)}, ${shortDuration(Math.abs((other.at ?? 0) - at))} apart`}
        {place.b === undefined &&
          (kept === undefined ? ', rebuilt from the journal: no effect runs' : ': choose the step to compare it with')}
      </span>
      <span class="grow" />
      <button type="button" class="button" onClick={toPresent}>
        Back to now <kbd>l</kbd>
      </button>
    </div>
  );
}

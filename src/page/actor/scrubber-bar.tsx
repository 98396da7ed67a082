/** The scrubber at the foot of an actor: its steps in a row; to move it turns the page into the past. */
import { useRef } from 'preact/hooks';
import type { HistoryLine } from '../../journal/history.js';
import { HealthIcon } from '../common/health.js';
import { healthOfTone } from '../common/tones.js';
import { datedMomentOf, shortDuration } from '../data/time.js';
import { stepText } from './edits.js';
import { Glyph } from './glyphs.js';
import type { ActorPlace } from './place.js';
import { indexAt, markedSteps, markOf, pausesOf, percentOf } from './scrubber.js';
import './scrubber.css';

interface Branch {
  /** Steps of the other course, with the one that is shown. */
  seqs: number[];
  chosen: number;
  choose: (seq: number) => void;
}

interface ScrubberProps {
  lines: readonly HistoryLine[];
  place: ActorPlace;
  isPlaying: boolean;
  isComparing: boolean;
  branch: Branch | undefined;
  onChoose: (seq: number) => void;
  onStep: (by: 1 | -1) => void;
  onFirst: () => void;
  onPresent: () => void;
  onPlay: () => void;
  onCompare: () => void;
  onWhatIf: () => void;
}

export function ScrubberBar(props: ScrubberProps) {
  const { lines, place, isPlaying, isComparing, branch, onStep, onFirst, onPresent, onPlay } = props;
  const isEmpty = lines.length === 0;
  return (
    <section class={`scrubber${branch ? ' has-branch' : ''}`} aria-label="Time">
      <div class="time-buttons">
        <TimeButton name="First step" keys="Home" glyph="first" onClick={onFirst} isOff={isEmpty} />
        <TimeButton name="Step back" keys="[" glyph="previous" onClick={() => onStep(-1)} isOff={isEmpty} />
        <button
          type="button"
          class="play"
          aria-label={isPlaying ? 'Pause' : 'Play'}
          title="Play, pause  Space"
          onClick={onPlay}
          disabled={lines.length < 2}
        >
          <Glyph name={isPlaying ? 'pause' : 'play'} />
        </button>
        <TimeButton
          name="Step forward"
          keys="]"
          glyph="next"
          onClick={() => onStep(1)}
          isOff={place.seq === undefined}
        />
        <TimeButton name="Back to now" keys="l" glyph="last" onClick={onPresent} isOff={place.seq === undefined} />
      </div>
      <Track {...props} />
      <div class="time-buttons">
        <button
          type="button"
          class="button"
          aria-pressed={isComparing}
          title="Compare  c"
          onClick={props.onCompare}
          disabled={lines.length < 2}
        >
          <Glyph name="compare" />
          <span>Compare</span>
        </button>
        <button
          type="button"
          class="button"
          aria-pressed={branch !== undefined}
          title="What if  w"
          onClick={props.onWhatIf}
          disabled={isEmpty}
        >
          <Glyph name="fork" />
          <span>What if…</span>
        </button>
      </div>
    </section>
  );
}

interface TimeButtonProps {
  name: string;
  keys: string;
  glyph: 'first' | 'previous' | 'next' | 'last';
  onClick: () => void;
  isOff: boolean;
}

const TimeButton = ({ name, keys, glyph, onClick, isOff }: TimeButtonProps) => (
  <button
    type="button"
    class={`icon-button ${glyph}`}
    aria-label={name}
    title={`${name}  ${keys}`}
    onClick={onClick}
    disabled={isOff}
  >
    <Glyph name={glyph} />
  </button>
);

function Track({ lines, place, branch, onChoose, onStep, onFirst, onPresent }: ScrubberProps) {
  const track = useRef<HTMLDivElement>(null);
  const count = lines.length;
  const last = count - 1;
  const indexOf = (seq: number | undefined): number =>
    seq === undefined
      ? last
      : Math.max(
          0,
          lines.findLastIndex((line) => line.seq <= seq),
        );
  const at = indexOf(place.seq);
  const other = place.b === undefined ? undefined : indexOf(place.b);
  const percent = percentOf(at, count);
  const chooseAt = (event: PointerEvent): void => {
    const box = track.current?.getBoundingClientRect();
    const line = box && lines[indexAt((100 * (event.clientX - box.left)) / box.width, count)];
    if (line && line.seq !== place.seq) onChoose(line.seq);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = { ArrowLeft: () => onStep(-1), ArrowRight: () => onStep(1), Home: onFirst, End: onPresent }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const line = lines[at];
  return (
    <div
      class="track"
      ref={track}
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={lines[0]?.seq ?? 0}
      aria-valuemax={lines[last]?.seq ?? 0}
      aria-valuenow={line?.seq ?? 0}
      aria-valuetext={line ? `Step ${line.seq}, ${datedMomentOf(line.at)}` : 'No steps'}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        track.current?.setPointerCapture(event.pointerId);
        chooseAt(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && chooseAt(event)}
    >
      <i class="base" />
      <i class="passed" style={{ width: `${percent}%` }} />
      {other !== undefined && (
        <i class="range" style={{ left: `${percent}%`, width: `${percentOf(other, count) - percent}%` }} />
      )}
      {pausesOf(lines).map(({ percent: left, ms }) => (
        <span key={left} class="pause" style={{ left: `${left}%` }}>
          {shortDuration(ms)}
        </span>
      ))}
      {markedSteps(lines).map((index) => (
        <Mark
          key={index}
          line={lines[index] as HistoryLine}
          percent={percentOf(index, count)}
          isChosen={index === at || index === other}
        />
      ))}
      {other !== undefined && (
        <>
          <b class="flag" style={{ left: `${percent}%` }}>
            A
          </b>
          <b class="flag" style={{ left: `${percentOf(other, count)}%` }}>
            B
          </b>
        </>
      )}
      {branch && <BranchTrack {...{ branch, lines, indexOf }} />}
    </div>
  );
}

function Mark({ line, percent, isChosen }: { line: HistoryLine; percent: number; isChosen: boolean }) {
  const mark = markOf(line);
  const health = healthOfTone[line.tone];
  return (
    <i
      class={`mark ${mark}${isChosen ? ' is-chosen' : ''}`}
      style={{ left: `${percent}%` }}
      title={`${line.seq}  ${line.what}`}
    >
      {health && <HealthIcon health={health} size={13} />}
    </i>
  );
}

interface BranchTrackProps {
  branch: Branch;
  lines: readonly HistoryLine[];
  indexOf: (seq: number) => number;
}

/** The other course of events, dashed, below the real one. */
function BranchTrack({ branch: { seqs, chosen, choose }, lines, indexOf }: BranchTrackProps) {
  const [first = 1] = seqs;
  const begin = indexOf(Math.ceil(first) - 1);
  const step = 97.6 / Math.max(1, lines.length - 1);
  const placeAt = (index: number): number => Math.min(98.8, percentOf(begin, lines.length) + step * (index + 1));
  const left = percentOf(begin, lines.length);
  return (
    <div class="branch" style={{ left: `${left}%`, width: `${placeAt(seqs.length - 1) - left}%` }}>
      {seqs.map((seq, index) => (
        <button
          type="button"
          key={seq}
          class={`mark${seq === chosen ? ' is-chosen' : ''}`}
          style={{ left: `${(100 * (placeAt(index) - left)) / Math.max(0.001, placeAt(seqs.length - 1) - left)}%` }}
          aria-label={`Step ${stepText(seq)} of the other course`}
          onPointerDown={(event) => event.stopPropagation()}
          onClick={() => choose(seq)}
        />
      ))}
    </div>
  );
}

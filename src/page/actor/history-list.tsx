/** History of an actor, newest first: a row per step; long runs of failed attempts are one row that opens. */
import { useState } from 'preact/hooks';
import type { HistoryLine } from '../../journal/history.js';
import { HealthIcon } from '../common/health.js';
import { healthOfTone } from '../common/tones.js';
import { TookBar } from '../common/took-bar.js';
import { datedMomentOf, dayOf, momentOf, shortDuration } from '../data/time.js';
import { Glyph, glyphOf } from './glyphs.js';
import { type AttemptGroup, historyRows, reasonOf } from './history-rows.js';

interface HistoryProps {
  lines: readonly HistoryLine[];
  /** Step that is shown; undefined: the present. */
  seq: number | undefined;
  onChoose: (seq: number) => void;
}

export function HistoryList({ lines, seq, onChoose }: HistoryProps) {
  const [opened, open] = useState<ReadonlySet<number>>(new Set());
  const last = lines.at(-1)?.seq;
  const longest = Math.max(1, ...lines.map(({ tookMs = 0 }) => tookMs));
  const row = (line: HistoryLine) => (
    <HistoryRow
      key={line.seq}
      {...{ line, longest, onChoose }}
      isChosen={line.seq === (seq ?? last)}
      isFuture={seq !== undefined && line.seq > seq}
    />
  );
  let day = dayOf(Date.now());
  /** Names the day of the rows below it, where that is another one than above. */
  const dayRow = (newest: HistoryLine | undefined) => {
    if (!newest || dayOf(newest.at) === day) return null;
    day = dayOf(newest.at);
    return (
      <li key={day} class="day" role="presentation">
        {day}
      </li>
    );
  };
  return (
    <>
      <div class="history-head" aria-hidden="true">
        <span>When</span>
        <span class="end">Step</span>
        <span />
        <span>What</span>
        <span>State before → after</span>
        <span>From</span>
        <span class="end">Took</span>
      </div>
      <ol class="history">
        {historyRows(lines)
          .toReversed()
          .flatMap((item) => {
            const day = dayRow('line' in item ? item.line : item.group.lines.at(-1));
            if ('line' in item) return [day, row(item.line)];
            const { group } = item;
            const first = group.lines[0]?.seq ?? 0;
            const isOpen = opened.has(first) || group.lines.some((line) => line.seq === seq);
            const toggle = (): void => open(toggled(opened, first));
            return [
              day,
              <GroupRow key={`group ${first}`} {...{ group, isOpen, toggle }} />,
              ...(isOpen ? group.lines.toReversed().map(row) : []),
            ];
          })}
      </ol>
    </>
  );
}

function toggled(set: ReadonlySet<number>, item: number): Set<number> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

interface RowProps {
  line: HistoryLine;
  longest: number;
  isChosen: boolean;
  isFuture: boolean;
  onChoose: (seq: number) => void;
}

function HistoryRow({ line, longest, isChosen, isFuture, onChoose }: RowProps) {
  const { seq, at, from, tone, tookMs } = line;
  return (
    <li class={`${isChosen ? 'is-chosen' : ''}${isFuture ? ' is-future' : ''}`} data-seq={seq}>
      <button type="button" class="row" aria-current={isChosen ? 'step' : undefined} onClick={() => onChoose(seq)}>
        <time title={datedMomentOf(at)}>{momentOf(at)}</time>
        <span class="seq end">{seq}</span>
        <ToneIcon line={line} />
        <What line={line} />
        <States line={line} />
        <span class="from">{from}</span>
        <span class="took end">
          {tookMs !== undefined && (
            <>
              <TookBar health={healthOfTone[tone] ?? 'unknown'} share={tookMs / longest} most={44} />
              {shortDuration(tookMs)}
            </>
          )}
        </span>
      </button>
    </li>
  );
}

export function ToneIcon({ line: { tone, from } }: { line: HistoryLine }) {
  const health = healthOfTone[tone];
  return (
    <span class="tone">
      {health ? <HealthIcon health={health} size={15} /> : <Glyph name={glyphOf(from)} size={14} />}
    </span>
  );
}

export function What({ line }: { line: HistoryLine }) {
  const { what, attempt, tone, message, nextAttemptAtMs, at } = line;
  return (
    <span class="what">
      <b>{sentence(what)}</b>
      {attempt !== undefined && (attempt > 1 || tone !== 'done') && <span class="attempt">attempt {attempt}</span>}
      {message && <span class="quiet">{reasonOf(line)}</span>}
      {nextAttemptAtMs !== undefined && <span class="next">next attempt in {shortDuration(nextAttemptAtMs - at)}</span>}
    </span>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** State before and after: of the parts that changed, else of the actor itself. */
export function States({ line: { parts, before, after } }: { line: HistoryLine }) {
  if (parts.length > 0)
    return (
      <span class="states">
        {parts.map(({ id, before: was, after: is }) => (
          <span key={id}>
            <em>{id.slice(id.indexOf('/') + 1)}</em> {was && `${was} → `}
            <b>{is ?? 'removed'}</b>
          </span>
        ))}
      </span>
    );
  if (before === after) return <span class="states quiet">no change of state</span>;
  return (
    <span class="states">
      <span>
        {before && `${before} → `}
        <b>{after ?? 'deleted'}</b>
      </span>
    </span>
  );
}

function GroupRow({ group, isOpen, toggle }: { group: AttemptGroup; isOpen: boolean; toggle: () => void }) {
  const { lines, rpc, attempts, codes } = group;
  const [first, last] = [lines[0], lines.at(-1)];
  return (
    <li class="attempts">
      <button type="button" class="row" aria-expanded={isOpen} onClick={toggle}>
        <time>{first && momentOf(first.at)}</time>
        <span class="seq end" />
        <span class={`tone${isOpen ? ' is-open' : ''}`}>
          <Glyph name="open" size={12} />
        </span>
        <span class="what">
          <b>
            {rpc}: {attempts} more failed attempts
          </b>
          <span class="quiet">{codes.map(([code, count]) => `${code} × ${count}`).join(', ')}</span>
        </span>
        <span class="states quiet">
          steps {first?.seq} to {last?.seq}
        </span>
        <span class="from" />
        <span class="took end">{first && last && shortDuration(last.at - first.at)}</span>
      </button>
    </li>
  );
}

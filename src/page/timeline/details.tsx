/** Below the lanes: the chosen step in full, and all calls as a list. */
import type { HistoryLine } from '../../journal/history.js';
import { States, ToneIcon, What } from '../actor/history-list.js';
import { reasonOf } from '../actor/history-rows.js';
import { HealthIcon } from '../common/health.js';
import { TookBar } from '../common/took-bar.js';
import { datedMomentOf, momentOf, shortDuration } from '../data/time.js';
import { hrefOf, placeAtMoment } from '../router.js';
import { type callsIn, isSameStep, type StepPoint } from './model.js';

export function StepDetail({ line, address }: { line: HistoryLine; address: string }) {
  const { seq, at, tookMs, nextAttemptAtMs, from } = line;
  return (
    <section class="card step-detail" aria-label={`Step ${seq}`}>
      <div class="card-head">
        <ToneIcon line={line} />
        <What line={line} />
        <span class="grow" />
        <a class="button" href={hrefOf(placeAtMoment(address, seq))}>
          Open this moment
        </a>
      </div>
      <dl>
        <Item name="When">{datedMomentOf(at)}</Item>
        <Item name="Step">{seq}</Item>
        <Item name="From">{from}</Item>
        {tookMs !== undefined && <Item name="Took">{shortDuration(tookMs)}</Item>}
        {nextAttemptAtMs !== undefined && (
          <Item name="Next attempt">
            {momentOf(nextAttemptAtMs)}, {shortDuration(nextAttemptAtMs - at)} later
          </Item>
        )}
        <Item name="State">
          <States line={line} />
        </Item>
      </dl>
    </section>
  );
}

const Item = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

interface CallListProps {
  calls: ReturnType<typeof callsIn>;
  step: StepPoint | undefined;
  onChoose: (step: StepPoint) => void;
}

export function CallList({ calls, step, onChoose }: CallListProps) {
  const longest = Math.max(1, ...calls.map(({ from, to }) => to - from));
  return (
    <section class="card call-list" aria-label="Calls">
      <div class="card-head">
        <h2>
          Calls <span class="count">{calls.length}</span>
        </h2>
        <span class="quiet">
          choose a bar or a row; <kbd>←</kbd> <kbd>→</kbd> step, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> fits
        </span>
      </div>
      {calls.length === 0 && <p class="card-empty">No call was made in the steps that are kept.</p>}
      <ol>
        {calls.toReversed().map((call) => (
          <li key={`${call.address} ${call.seq} ${call.from}`}>
            <button
              type="button"
              aria-current={isSameStep(call, step) ? 'step' : undefined}
              onClick={() => onChoose(call)}
            >
              <time title={datedMomentOf(call.from)}>{momentOf(call.from)}</time>
              <HealthIcon health={call.health} size={15} />
              <b>{call.text}</b>
              <span class="quiet">attempt {call.attempt ?? 1}</span>
              <code>{call.code ?? 'under way'}</code>
              <span class="quiet message">{reasonOf({ ...call, rpc: call.text }) || call.plugin}</span>
              <span class="took">
                <TookBar health={call.health} share={(call.to - call.from) / longest} most={60} />
                {shortDuration(call.to - call.from)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

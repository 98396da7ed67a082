/** Forms for changes of an actor's past (what-if), and the other course of events beside the real one. */
import { useEffect, useState } from 'preact/hooks';
import type { Edit, WhatIf } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import { momentOf } from '../data/time.js';
import { type EditKind, editKinds, editOf, stepText } from './edits.js';
import { States, ToneIcon, What } from './history-list.js';
import './what-if.css';

interface WhatIfFormProps {
  line: HistoryLine;
  /** The event of the step, if it has one. */
  event: object | undefined;
  /** Types of events that the actor takes after the step. */
  types: readonly string[];
  /** Events of the past, by type: a new one begins as the last of its type was. */
  examples: () => Promise<ReadonlyMap<string, object>>;
  /** Why the change was refused. */
  error: string | undefined;
  onTry: (edit: Edit) => void;
  onClose: () => void;
}

export function WhatIfForm({ line, event, types, examples, error, onTry, onClose }: WhatIfFormProps) {
  const [kind, setKind] = useState<EditKind>('insert');
  const [type, setType] = useState(types[0] ?? '');
  const [known, learn] = useState<ReadonlyMap<string, object>>(new Map());
  const [typed, setTyped] = useState<string | undefined>();
  const offered = kind === 'edit' ? (event ?? {}) : { ...known.get(type), type };
  const text = typed ?? JSON.stringify(offered, null, 2);
  useEffect(() => {
    examples().then(learn, (reason: unknown) => setFault(reason instanceof Error ? reason.message : String(reason)));
  }, []);
  const [fault, setFault] = useState<string | undefined>();
  const { seq } = line;
  const choose = (next: EditKind): void => {
    setKind(next);
    setTyped(undefined);
    setFault(undefined);
  };
  const submit = (submitted: Event): void => {
    submitted.preventDefault();
    const edit = editOf(kind, seq, text);
    setFault('fault' in edit ? edit.fault : undefined);
    if (!('fault' in edit)) onTry(edit);
  };
  return (
    <form class="what-if-form" onSubmit={submit}>
      <div class="card-head">
        <h2>What if, at step {seq}?</h2>
        <span class="grow" />
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
      <fieldset>
        <legend class="unseen">Change</legend>
        {(Object.keys(editKinds) as EditKind[]).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="kind"
              checked={kind === one}
              disabled={one === 'edit' && !event}
              onChange={() => choose(one)}
            />
            {editKinds[one]}
          </label>
        ))}
      </fieldset>
      {kind === 'insert' && (
        <label class="edit-field">
          <span>Event</span>
          <input
            list="what-if-types"
            value={type}
            onInput={({ currentTarget: { value } }) => {
              setType(value);
              setTyped(undefined);
            }}
          />
          <datalist id="what-if-types">
            {types.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </label>
      )}
      {kind !== 'drop' && (
        <label class="edit-field">
          <span>As JSON</span>
          <textarea
            rows={6}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget: { value } }) => setTyped(value)}
          />
        </label>
      )}
      {(fault ?? error) && (
        <p class="fault" role="alert">
          {fault ?? error}
        </p>
      )}
      <p class="note">
        The later steps are fed again as long as the machine waits for them. Nothing is sent to the actor, and nothing
        is kept.
      </p>
      <button type="submit" class="button is-main">
        See where it leads
      </button>
    </form>
  );
}

interface SideBySideProps {
  lines: readonly HistoryLine[];
  whatIf: WhatIf;
  chosen: number;
  onChoose: (seq: number) => void;
}

/** The real course from the first change on, and the other one. */
export function SideBySide({ lines, whatIf: { moments, endedAt }, chosen, onChoose }: SideBySideProps) {
  const first = Math.ceil(moments[0]?.seq ?? 1);
  return (
    <div class="side-by-side">
      <section aria-label="What happened">
        <h3>What happened</h3>
        <ol class="history">
          {lines
            .filter(({ seq }) => seq >= first - 1)
            .map((line) => (
              <Course
                key={line.seq}
                line={line}
                isChosen={false}
                isUnasked={endedAt !== undefined && line.seq === endedAt.seq}
              />
            ))}
        </ol>
      </section>
      <section aria-label="What if">
        <h3>What if</h3>
        <ol class="history">
          <li class="same">steps up to {first - 1} as they were</li>
          {moments.map(({ line }) => (
            <Course key={line.seq} line={line} isChosen={line.seq === chosen} onChoose={() => onChoose(line.seq)} />
          ))}
          {endedAt && (
            <li class="same">
              It ends here: step {endedAt.seq} is no longer asked for. {endedAt.why}
            </li>
          )}
        </ol>
      </section>
    </div>
  );
}

interface CourseProps {
  line: HistoryLine;
  isChosen: boolean;
  isUnasked?: boolean;
  onChoose?: () => void;
}

function Course({ line, isChosen, isUnasked = false, onChoose }: CourseProps) {
  return (
    <li class={isChosen ? 'is-chosen' : ''}>
      <button
        type="button"
        class="row"
        onClick={onChoose}
        disabled={!onChoose}
        aria-current={isChosen ? 'step' : undefined}
      >
        <time>{momentOf(line.at)}</time>
        <span class="seq end">{stepText(line.seq)}</span>
        <ToneIcon line={line} />
        <span>
          <What line={line} />
          <States line={line} />
          {isUnasked && <span class="next">no longer asked for</span>}
        </span>
      </button>
    </li>
  );
}

/** Beside the chart: what the actor knows and what has changed, what is in flight, and which events it accepts. */
import { useMemo, useState } from 'preact/hooks';
import type { ActorDetail } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import type { Api } from './actor-model.js';
import { stepText } from './edits.js';
import { differences } from './facts.js';
import { FactsTree } from './facts-tree.js';
import { What } from './history-list.js';
import { InFlight } from './in-flight.js';
import { SendDialog } from './send-dialog.js';

interface FactsCardProps {
  title: 'Facts' | 'Difference';
  /** Context that is shown, and the one that it is compared with. */
  is: object | undefined;
  was: object | undefined;
  /** Heading of the difference: `changed by step 6`, `differ, A → B`. */
  changed: string;
  /** The actor as it is now, if the present is shown. */
  present: ActorDetail | undefined;
  /** The step that led to what is shown, if it is in the past. */
  line: HistoryLine | undefined;
  accepts: readonly string[];
  api: Api;
}

export function FactsCard({ title, is, was, changed, present, line, accepts, api }: FactsCardProps) {
  const [isAccepts, showAccepts] = useState(false);
  const [sent, send] = useState<string | undefined>();
  const changes = useMemo(() => (was === undefined ? new Map() : differences(was, is)), [was, is]);
  return (
    <section class="card facts-card" aria-label={title}>
      <div class="card-head">
        <div class="tabs" role="tablist">
          <button type="button" role="tab" aria-selected={!isAccepts} onClick={() => showAccepts(false)}>
            {title}
          </button>
          <button type="button" role="tab" aria-selected={isAccepts} onClick={() => showAccepts(true)}>
            Accepts {accepts.length}
          </button>
        </div>
        <span class="grow" />
        <span class="quiet">{was !== undefined && `${changes.size} ${changed}`}</span>
      </div>
      {isAccepts ? (
        <div class="accepts">
          <ul>
            {accepts.map((type) => (
              <li key={type}>
                <code>{type}</code>
                {present?.maySend && (
                  <button type="button" class="button" onClick={() => send(type)}>
                    Send…
                  </button>
                )}
              </li>
            ))}
          </ul>
          {present && !present.maySend && (
            <p class="note">
              Sending is off on this agent. It can be allowed with <code>inspector.allowSend</code>.
            </p>
          )}
          {present && sent !== undefined && (
            <SendDialog detail={present} type={sent} api={api} onClose={() => send(undefined)} />
          )}
        </div>
      ) : (
        <>
          {present && <InFlight detail={present} />}
          {line && !present && (
            <div class="step-line">
              <h3>Step {stepText(line.seq)}</h3>
              <What line={line} />
            </div>
          )}
          <FactsTree value={is} changes={changes} />
        </>
      )}
    </section>
  );
}

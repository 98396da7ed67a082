/** Effects and timers of an actor's present state, with countdowns. */
import type { ActorDetail, EffectInFlight } from '../../api/actor-routes.js';
import { HealthIcon } from '../common/health.js';
import { useNow } from '../common/use-now.js';
import { shortDuration } from '../data/time.js';

export function InFlight({ detail: { effects, timers, waits, unread, parts } }: { detail: ActorDetail }) {
  const now = useNow();
  const attempts = parts.flatMap(({ id, nextAttemptAtMs }) =>
    nextAttemptAtMs === undefined ? [] : [{ id, dueAtMs: nextAttemptAtMs }],
  );
  const listed = new Set(attempts.map(({ dueAtMs }) => dueAtMs));
  const others = timers.filter(({ dueAtMs }) => !listed.has(dueAtMs));
  if (effects.length + timers.length + waits.length + attempts.length + unread === 0) return null;
  return (
    <section class="in-flight" aria-label="In flight">
      <h3>In flight</h3>
      <ul>
        {effects.map((effect) => (
          <Effect key={`${effect.id} ${effect.seq}`} {...{ effect, now }} />
        ))}
        {waits
          .filter(({ dueAtMs }) => dueAtMs === undefined)
          .map(({ what, on }) => (
            <li key={what}>
              <HealthIcon health="waiting" size={15} />
              <span>
                {what}
                {on && (
                  <small>
                    <a href={`#/a/${on}`}>{on}</a>
                  </small>
                )}
              </span>
            </li>
          ))}
        {attempts.map(({ id, dueAtMs }) => (
          <Due key={id} what="Next attempt" of={id.slice(id.indexOf('/') + 1)} {...{ dueAtMs, now }} />
        ))}
        {others.map(({ id, seq, dueAtMs }) => (
          <Due key={`${id} ${seq}`} what="Timer" of={`${timerName(id)} · since step ${seq}`} {...{ dueAtMs, now }} />
        ))}
        {unread > 0 && (
          <li>
            <HealthIcon health="working" size={15} />
            <span>
              {unread === 1 ? 'One message is still to be applied' : `${unread} messages are still to be applied`}
            </span>
          </li>
        )}
      </ul>
    </section>
  );
}

/** Name of a delay: `untilDue` of `xstate.after.untilDue.volume.pending-publish.backing-off`. */
const timerName = (id: string): string => id.replace(/^xstate\.after\./, '').split('.')[0] ?? id;

function Effect({ effect, now }: { effect: EffectInFlight; now: number }) {
  const { src, rpc, seq, attempt = 1, input, sentAtMs, notBeforeMs = 0 } = effect;
  const { plugin, csiNodeId, timeoutMs } = input instanceof Object ? (input as Record<string, unknown>) : {};
  const isCall = rpc !== undefined;
  const state = notBeforeMs > now ? 'waiting' : isCall ? 'working' : 'healthy';
  const about = [
    isCall ? `call to ${typeof plugin === 'string' ? plugin : 'the plugin'}` : 'runs as long as this state lasts',
    `since step ${seq}`,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(isCall && sentAtMs === undefined ? ['not sent yet'] : []),
  ];
  const limit =
    sentAtMs !== undefined && typeof timeoutMs === 'number' ? { from: sentAtMs, to: sentAtMs + timeoutMs } : undefined;
  return (
    <li>
      <HealthIcon health={state} size={15} />
      <span>
        <b>{rpc ?? src}</b> {typeof csiNodeId === 'string' && `to ${csiNodeId}`}
        <small>{about.join(' · ')}</small>
      </span>
      {limit ? (
        <span class="due">
          <b>{leftText(limit.to, now)}</b>
          <small>until it is given up</small>
        </span>
      ) : (
        sentAtMs !== undefined && <span class="due">{shortDuration(now - sentAtMs)}</span>
      )}
      {limit && <i class="progress" style={{ '--done': Math.min(1, (now - limit.from) / (limit.to - limit.from)) }} />}
    </li>
  );
}

function Due({ what, of, dueAtMs, now }: { what: string; of: string; dueAtMs: number; now: number }) {
  return (
    <li>
      <HealthIcon health="waiting" size={15} />
      <span>
        <b>{what}</b>
        <small>{of}</small>
      </span>
      <span class="due">
        <b>{leftText(dueAtMs, now)}</b>
      </span>
    </li>
  );
}

const minute = 60_000;

/** Time until a moment: `0.9 s`, `9:32`, or `due`. */
export function leftText(dueAtMs: number, now: number): string {
  const ms = dueAtMs - now;
  if (ms <= 0) return 'due';
  if (ms < minute) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const pad = (count: number): string => String(count).padStart(2, '0');
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}

/** The seven ways an actor can be: each with a word, a colour and a shape of its own. */
import type { JSX } from 'preact';
import type { Health } from '../../api/actor-routes.js';

export const healthWords: Record<Health, string> = {
  healthy: 'Healthy',
  working: 'Working',
  waiting: 'Waiting',
  'in-doubt': 'In doubt',
  failed: 'Failed',
  gone: 'Gone',
  unknown: 'Unknown',
};

const shapes: Record<Health, JSX.Element> = {
  healthy: (
    <>
      <circle cx="8" cy="8" r="6.5" class="fill" />
      <path d="M5 8.3 7.1 10.4 11.2 6" class="cut" />
    </>
  ),
  working: (
    <>
      <circle cx="8" cy="8" r="5.8" class="stroke faint" />
      <path d="M8 2.2A5.8 5.8 0 0 1 13.8 8" class="stroke turning" />
      <circle cx="8" cy="8" r="2" class="fill" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="5.8" class="stroke" />
      <path d="M8 4.8V8L10.2 9.6" class="stroke" />
    </>
  ),
  'in-doubt': (
    <>
      <path d="M8 1 15 8 8 15 1 8Z" class="tint stroke" />
      <path d="M6.4 6.6a1.6 1.6 0 1 1 2.3 1.4c-.5.3-.7.6-.7 1.1" class="stroke" />
      <circle cx="8" cy="11.1" r=".9" class="fill" />
    </>
  ),
  failed: (
    <>
      <path d="M5 1.2H11L14.8 5V11L11 14.8H5L1.2 11V5Z" class="fill" />
      <path d="M8 4.4V8.8" class="cut" />
      <circle cx="8" cy="11.2" r="1" class="cut-fill" />
    </>
  ),
  gone: (
    <>
      <circle cx="8" cy="8" r="5.8" class="stroke" />
      <path d="M5.3 8H10.7" class="stroke" />
    </>
  ),
  unknown: (
    <>
      <circle cx="8" cy="8" r="5.8" class="stroke dotted" />
      <path d="M6.5 6.6a1.5 1.5 0 1 1 2.1 1.3c-.5.3-.6.5-.6.9" class="stroke" />
      <circle cx="8" cy="11" r=".8" class="fill" />
    </>
  ),
};

/** @param name for those who do not see it; absent: words beside it say the same */
export function HealthIcon({ health, size = 16, name }: { health: Health; size?: number; name?: string }) {
  const said = name === undefined ? { 'aria-hidden': true } : { role: 'img' as const, 'aria-label': name };
  return (
    <svg class={`health-icon health-${health}`} width={size} height={size} viewBox="0 0 16 16" {...said}>
      {shapes[health]}
    </svg>
  );
}

export function HealthBadge({ health, text = healthWords[health] }: { health: Health; text?: string }) {
  return (
    <span class={`badge health-${health}`}>
      <HealthIcon health={health} size={14} />
      <span>{text}</span>
    </span>
  );
}

/** Keys of the actor view. They are off while a field has the focus or a dialog is open. */
import { useEffect, useRef } from 'preact/hooks';

export interface ActorKeys {
  step: (by: 1 | -1) => void;
  toFirst: () => unknown;
  toPresent: () => void;
  togglePlay: () => void;
  compare: () => void;
  whatIf: () => void;
  copyLink: () => void;
  /** Leaves the past; undefined in the present. */
  leave: (() => void) | undefined;
}

export function useActorKeys(keys: ActorKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      const act = actionOf(event, latest.current);
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

function actionOf({ key, target }: KeyboardEvent, keys: ActorKeys): (() => unknown) | undefined {
  const actions: Record<string, (() => unknown) | undefined> = {
    '[': () => keys.step(-1),
    ']': () => keys.step(1),
    ArrowLeft: () => keys.step(-1),
    ArrowRight: () => keys.step(1),
    Home: keys.toFirst,
    l: keys.toPresent,
    c: keys.compare,
    w: keys.whatIf,
    y: keys.copyLink,
    Escape: keys.leave,
    // A button with the focus is pressed by the space bar.
    ...(!(target instanceof HTMLButtonElement) && { ' ': keys.togglePlay }),
  };
  return actions[key];
}

const isBusy = (target: EventTarget | null): boolean =>
  (target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')) ||
  document.querySelector('[aria-modal="true"]') !== null;

/** Keys of the page. A field with the focus keeps all keys but Ctrl K; Escape leaves it. A dialog keeps all of them. */
import { useLayoutEffect, useRef } from 'preact/hooks';

type Handler = (event: KeyboardEvent) => void;
/** By key, or by two keys after each other: `g o`. */
type Keys = Record<string, Handler | undefined>;

const secondKeyMs = 1_500;

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Says whether the key presses the button or the link that has the focus. */
const isPress = ({ key, target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  ((key === 'Enter' && target.matches('a, button')) || (key === ' ' && target.matches('button')));

/** Listens to keys while the component is there. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Before the next key can come: effects after the paint would be late for somebody who types fast. Once: the first of two
  // keys must not be forgotten when the page is painted between them.
  useLayoutEffect(() => {
    let before: { key: string; at: number } | undefined;
    const listen = (event: KeyboardEvent): void => {
      const isPalette = event.key === 'k' && (event.ctrlKey || event.metaKey);
      const name = isPalette ? 'Ctrl k' : event.key;
      if (event.defaultPrevented || isPress(event) || document.querySelector('dialog[open]')) return;
      if (!isPalette && (event.ctrlKey || event.metaKey || event.altKey)) return;
      if (isField(event.target) && !isPalette) {
        if (name === 'Escape') event.target.blur();
        return;
      }
      const pair = before && event.timeStamp - before.at < secondKeyMs ? `${before.key} ${name}` : '';
      before = { key: name, at: event.timeStamp };
      const handler = latest.current[pair] ?? latest.current[name];
      if (!handler) return;
      event.preventDefault();
      handler(event);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

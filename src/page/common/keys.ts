/** Keys of the page. Single letters do nothing while a field has the focus. */
import { useLayoutEffect } from 'preact/hooks';

type Handler = (event: KeyboardEvent) => void;
/** By key, or by two keys after each other: `g o`. */
export type Keys = Record<string, Handler>;

const secondKeyMs = 800;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens to keys while the component is there. */
export function useKeys(keys: Keys): void {
  // Before the next key can come: effects after the paint would be late for somebody who types fast.
  useLayoutEffect(() => {
    let before: { key: string; at: number } | undefined;
    const listen = (event: KeyboardEvent): void => {
      const isPalette = event.key === 'k' && (event.ctrlKey || event.metaKey);
      const name = isPalette ? 'Ctrl k' : event.key;
      if (!isPalette && (event.ctrlKey || event.metaKey || event.altKey)) return;
      if (isField(event.target) && name !== 'Escape' && !isPalette) return;
      const pair = before && event.timeStamp - before.at < secondKeyMs ? `${before.key} ${name}` : '';
      before = { key: name, at: event.timeStamp };
      const handler = keys[pair] ?? keys[name];
      if (!handler) return;
      event.preventDefault();
      handler(event);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
}

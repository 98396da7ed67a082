/** The present, for countdowns: one timer for all that are in the document. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const stepMs = 200;
const now = signal(Date.now());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Draws the component again five times a second. @returns milliseconds since the epoch */
export function useNow(): number {
  useEffect(() => {
    users += 1;
    timer ??= setInterval(() => {
      now.value = Date.now();
    }, stepMs);
    return () => {
      users -= 1;
      if (users > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now.value;
}

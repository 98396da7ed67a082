/** For effects that have nothing to do but to last until their state is left. */
import { onAbort } from '../../abort.js';

export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });

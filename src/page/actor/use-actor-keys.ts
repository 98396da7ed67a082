/** Keys of the actor view. */
import { useKeys } from '../common/keys.js';

interface ActorKeys {
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

export const useActorKeys = (keys: ActorKeys): void =>
  useKeys({
    '[': () => keys.step(-1),
    ']': () => keys.step(1),
    ArrowLeft: () => keys.step(-1),
    ArrowRight: () => keys.step(1),
    Home: keys.toFirst,
    l: keys.toPresent,
    c: keys.compare,
    w: keys.whatIf,
    y: keys.copyLink,
    ' ': keys.togglePlay,
    Escape: keys.leave,
  });

/** Reads one moment of an actor while a component shows it. */
import { useEffect, useState } from 'preact/hooks';
import type { MomentAnswer } from '../../api/actor-routes.js';
import type { ActorModel } from './actor-model.js';

interface ReadMoment {
  moment?: MomentAnswer;
  error?: Error;
}

/** The moment before stays until the next one is there. @param seq none is read without it */
export function useMoment(model: ActorModel, seq: number | undefined): ReadMoment {
  const [read, set] = useState<ReadMoment>({});
  useEffect(() => {
    let isCurrent = true;
    if (seq === undefined) set({});
    else {
      model.moment(seq).then(
        (moment) => isCurrent && set({ moment }),
        (error: unknown) => isCurrent && set({ error: error instanceof Error ? error : new Error(String(error)) }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [model, seq]);
  return seq === undefined ? {} : read;
}

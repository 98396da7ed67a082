/** The other course of events that somebody tries out: forgotten when it is closed. */
import { useComputed, useSignal } from '@preact/signals';
import type { Edit, MomentAnswer, WhatIf } from '../../api/actor-routes.js';
import type { ActorModel } from './actor-model.js';
import { isChanged } from './edits.js';

export interface WhatIfState {
  isOpen: boolean;
  answer: WhatIf | undefined;
  moment: MomentAnswer | undefined;
  error: string | undefined;
  edits: readonly Edit[];
  open: () => void;
  /** A further change is made to the other course. */
  isAdding: boolean;
  add: () => void;
  tryEdit: (edit: Edit) => void;
  choose: (seq: number) => void;
  end: () => void;
}

export function useWhatIf(model: ActorModel): WhatIfState {
  const isOpen = useSignal(false);
  const answer = useSignal<WhatIf | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const edits = useSignal<readonly Edit[]>([]);
  const isAdding = useSignal(false);
  const seq = useSignal<number | undefined>(undefined);
  const moment = useComputed(() => answer.value?.moments.find((one) => one.seq === seq.value));
  const clear = (open: boolean): void => {
    isOpen.value = open;
    answer.value = undefined;
    error.value = undefined;
    edits.value = [];
    isAdding.value = false;
  };
  return {
    ...{ isOpen: isOpen.value, answer: answer.value, moment: moment.value, error: error.value, edits: edits.value },
    isAdding: isAdding.value,
    add: () => {
      isAdding.value = true;
    },
    open: () => clear(true),
    end: () => clear(false),
    choose: (chosenSeq) => {
      seq.value = chosenSeq;
    },
    tryEdit: (edit) => {
      const all = [...edits.value, edit];
      model.whatIf(all).then(
        (found) => {
          const moments = found.moments.filter((one) => isChanged(all, one.seq));
          const [first] = moments;
          if (!first) {
            error.value = found.endedAt?.why ?? 'The other course has no step.';
            return;
          }
          edits.value = all;
          isAdding.value = false;
          error.value = undefined;
          seq.value = first.seq;
          answer.value = { ...found, moments };
        },
        (reason: unknown) => {
          error.value = reason instanceof Error ? reason.message : String(reason);
        },
      );
    },
  };
}

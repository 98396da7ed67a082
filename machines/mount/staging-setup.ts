/** Data, events, conditions and actions of a staging. Its states: staging.ts */
import { assign, setup } from 'xstate';
import type { Tries } from '../kit/csi-types.js';
import type { PhaseMeta } from '../kit/parts.js';
import type { StateWords } from '../kit/state-words.js';
import type { AppearedMount, KernelMount } from './kernel-mount.js';

export interface StagingData {
  /** Number of the staging; rises with each later one. */
  number: number;
  /**
   * Mount at the staging path once the volume was staged. Kept until the next stage or unstage. Absent: none, as with
   * plugins that stage elsewhere.
   */
  found?: KernelMount | undefined;
  /** Mount that the path shows since a stage with an unknown answer. */
  appeared?: AppearedMount | undefined;
  /** Failed attempts to stage. Kept when a dead staging is unstaged, so that pauses grow. */
  tries?: Tries | undefined;
  /** Failed attempts to unstage. */
  unstageTries?: Tries | undefined;
}

interface Staged {
  number: number;
  found?: KernelMount | undefined;
}

/** Outcomes of a call about the staging. */
export type StagingOutcome =
  | ({ type: 'stage.done' } & Staged)
  /** The plugin does not stage. */
  | ({ type: 'stage.not-needed' } & Staged)
  /** The call may have taken effect, or may still. */
  | { type: 'stage.unknown'; tries: Tries }
  /** The plugin would refuse the same again. */
  | { type: 'stage.refused'; tries: Tries }
  /** No call was made. */
  | { type: 'stage.not-sent'; tries: Tries }
  /** The runtime ended while the call was under way: no attempt, but it may have taken effect. */
  | { type: 'stage.interrupted' }
  | { type: 'unstage.done'; number: number }
  | { type: 'unstage.unknown'; tries: Tries }
  | { type: 'unstage.not-sent'; tries: Tries }
  | { type: 'unstage.interrupted' };

/** Needs, requests and observations. */
export type StagingChange =
  // Present needs of the targets.
  | { type: 'stage.wanted' }
  /** No target has the volume, or may have it. */
  | { type: 'unstage.wanted' }
  | { type: 'targets.may-remain' }
  /** No target uses the volume, and no message is owed. */
  | { type: 'users.gone' }
  // Requests.
  | { type: 'retry' }
  | { type: 'hasten' }
  | { type: 'runtime.started' }
  // Observations of the kernel. `isMended`: the mount is repaired without a request.
  | { type: 'seen-missing'; isMended: boolean }
  | { type: 'seen-dead'; isMended: boolean }
  /** The dead mount was unmounted, replaced, or mounted again. */
  | { type: 'seen-dead-gone' }
  /** A publish found that the volume is not staged. */
  | { type: 'publish.found-unstaged' }
  | { type: 'mount-appeared'; mount: AppearedMount }
  /** The call was not made: it waits, or is made anew. */
  | { type: 'call.not-made' };

export type StagingEvent = StagingChange | StagingOutcome;

interface Taken {
  context: StagingData;
  event: StagingEvent;
}

const triesIn = ({ event }: Taken): Tries | undefined => ('tries' in event ? event.tries : undefined);
const now = (tries: Tries | undefined): Tries | undefined => tries && { ...tries, notBeforeMs: 0 };

const nothing = { found: undefined, appeared: undefined, tries: undefined, unstageTries: undefined };

/** Conditions and actions of the chart (staging.ts). */
export const stagingSetup = setup({
  types: {} as {
    context: StagingData;
    events: StagingEvent;
    input: StagingData;
    meta: PhaseMeta<never, 'stage' | 'unstage'> & StateWords;
  },
  guards: {
    isRepairedAtOnce: ({ event }) => 'isMended' in event && event.isMended,
  },
  actions: {
    /** Nothing is left of what was tried, or seen. */
    reset: assign(nothing),
    keepStaged: assign(({ event }) =>
      'number' in event ? { ...nothing, number: event.number, found: 'found' in event ? event.found : undefined } : {},
    ),
    /** The plugin may have taken the dead mount for staged. */
    keepStagedDead: assign(({ event }) => ('number' in event ? { ...nothing, number: event.number } : {})),
    /** Forgets earlier observations: they say nothing about the next staging. */
    keepUnstaged: assign(({ event }) =>
      'number' in event ? { number: event.number, found: undefined, appeared: undefined, unstageTries: undefined } : {},
    ),
    keepAppeared: assign(({ event }) => (event.type === 'mount-appeared' ? { appeared: event.mount } : {})),
    /** Another mount may be there since. */
    forgetFound: assign({ found: undefined }),
    count: assign((taken) => ({ tries: triesIn(taken) })),
    countUnstage: assign((taken) => ({ unstageTries: triesIn(taken) })),
    restart: assign({ tries: undefined, unstageTries: undefined }),
    hastenUnstage: assign(({ context }) => ({ unstageTries: now(context.unstageTries) })),
    hastenAll: assign(({ context }) => ({ tries: now(context.tries), unstageTries: now(context.unstageTries) })),
  },
});

import { Chart, isIn, type Part } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import { stagingSetup } from './staging-setup.js';

/** Found dead: recovered at once, or only once somebody asks. */
const whenDead = (within: '' | '.stage-under-way' = '') => [
  { guard: 'isRepairedAtOnce' as const, target: `#staging.dead${within}` as const },
  { target: `#staging.found-dead${within}` as const },
];

/** Four states of the work to stage the volume. `busy`: events while its call is under way, or waits. */
const stageWork = <
  const TOutcomes extends object,
  const TIdle extends object,
  const TBusy extends object,
  const TWaiting extends object,
>(
  outcomes: TOutcomes,
  idle: TIdle,
  busy: TBusy,
  waiting: TWaiting,
) => {
  const work = workStates({
    call: 'NodeStageVolume',
    restart: 'restart' as const,
    outcomes,
    calling: busy,
    waiting: { ...busy, ...waiting },
  });
  const pausing = { 'runtime.started': { target: 'due' as const, actions: 'hastenAll' as const } };
  return {
    ...work,
    due: { on: { ...work.due.on, ...idle } },
    'backing-off': { on: { ...work['backing-off'].on, ...pausing, ...idle } },
  };
};

/** Four states of the work to unstage the volume. */
const unstageWork = <
  const TOutcomes extends object,
  const TIdle extends object,
  const TWithin extends Record<'due' | 'calling' | 'waiting-for-plugin' | 'backing-off', object>,
>(
  outcomes: TOutcomes,
  idle: TIdle,
  within: TWithin,
) => {
  const work = workStates({
    call: 'NodeUnstageVolume',
    restart: 'restart' as const,
    outcomes,
    calling: within.calling as TWithin['calling'],
    waiting: within['waiting-for-plugin'] as TWithin['waiting-for-plugin'],
  });
  const pausing = {
    hasten: { target: 'due' as const, actions: 'hastenUnstage' as const },
    'runtime.started': { target: 'due' as const, actions: 'hastenAll' as const },
  };
  return {
    ...work,
    due: { on: { ...work.due.on, ...idle, ...(within.due as TWithin['due']) } },
    'backing-off': {
      on: { ...work['backing-off'].on, ...pausing, ...idle, ...(within['backing-off'] as TWithin['backing-off']) },
    },
  };
};

/** Transitions to the same step of the same work, once more is known of the path. */
const same = <const TType extends string, const TState extends string>(...ways: [type: TType, state: TState][]) => {
  const of = <const TInner extends string>(inner: TInner) =>
    Object.fromEntries(ways.map(([type, state]) => [type, `#staging.${state}.${inner}`])) as Record<
      TType,
      `#staging.${TState}.${TInner}`
    >;
  return {
    due: of('due'),
    calling: of('calling'),
    'waiting-for-plugin': of('waiting-for-plugin'),
    'backing-off': of('backing-off'),
  };
};

export const stagingMachine = stagingSetup.createMachine({
  id: 'staging',
  version: '1',
  context: ({ input }) => input,
  initial: 'not-staged',
  on: {
    // Sent after each event of the mount: most states have nothing to do.
    'stage.wanted': {},
    'unstage.wanted': {},
    'targets.may-remain': {},
    // Sent to all parts of the mount at once, or after a reading of the mount table that may be out of date by now.
    retry: { actions: 'restart' },
    hasten: { actions: 'hastenUnstage' },
    'runtime.started': { actions: 'hastenAll' },
    'seen-missing': {},
    'seen-dead': {},
    'seen-dead-gone': {},
    'publish.found-unstaged': {},
    'mount-appeared': { actions: 'keepAppeared' },
  },
  states: {
    /** Nothing is staged, and nobody needs the volume. */
    'not-staged': {
      on: {
        'stage.wanted': '#staging.pending-stage.due',
        'seen-dead': whenDead(),
        'users.gone': { actions: 'reset' },
      },
    },
    /** Needed; no call was sent that may have staged the volume. */
    'pending-stage': {
      initial: 'due',
      states: stageWork(
        {
          'stage.done': { target: '#staging.staged', actions: 'keepStaged' },
          'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
          'stage.unknown': { target: '#staging.in-doubt.backing-off', actions: ['forgetFound', 'count'] },
          'stage.interrupted': { target: '#staging.in-doubt.due', actions: 'forgetFound' },
          'stage.refused': { target: 'backing-off', actions: ['forgetFound', 'count'] },
          'stage.not-sent': { target: 'backing-off', actions: 'count' },
        },
        {
          'unstage.wanted': '#staging.not-staged',
          'targets.may-remain': '#staging.not-staged',
          'users.gone': { target: '#staging.not-staged', actions: 'reset' },
          'seen-dead': whenDead(),
        },
        { 'seen-dead': whenDead('.stage-under-way') },
        { 'users.gone': { target: '#staging.not-staged', actions: 'reset' } },
      ),
    },
    /** Staged by the plugin, as the kernel showed. */
    staged: {
      on: {
        'unstage.wanted': '#staging.pending-unstage.due',
        'seen-missing': [{ guard: 'isRepairedAtOnce', target: 'in-doubt' }, { target: 'missing' }],
        'seen-dead': whenDead(),
        'publish.found-unstaged': 'in-doubt',
      },
    },
    /** The plugin does not stage. */
    'not-needed': {
      on: {
        'publish.found-unstaged': 'in-doubt',
        'users.gone': { target: 'not-staged', actions: 'reset' },
      },
    },
    /** May be staged, or otherwise than before: staged again before use, unstaged before it is given up. */
    'in-doubt': {
      initial: 'waiting-for-users',
      states: {
        /** Not needed now, but a target may be left. */
        'waiting-for-users': {
          on: {
            'stage.wanted': '#staging.in-doubt.due',
            'unstage.wanted': '#staging.unstage-in-doubt.due',
            'seen-dead': whenDead(),
          },
        },
        ...stageWork(
          {
            'stage.done': { target: '#staging.staged', actions: 'keepStaged' },
            'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
            'stage.unknown': { target: 'backing-off', actions: ['forgetFound', 'count'] },
            'stage.interrupted': { target: 'due', actions: 'forgetFound' },
            'stage.refused': { target: 'backing-off', actions: ['forgetFound', 'count'] },
            'stage.not-sent': { target: 'backing-off', actions: 'count' },
          },
          {
            'targets.may-remain': 'waiting-for-users',
            'unstage.wanted': '#staging.unstage-in-doubt.due',
            'seen-dead': whenDead(),
          },
          { 'seen-dead': whenDead('.stage-under-way') },
          {},
        ),
      },
    },
    /** Gone from the mount table, which is only reported: staged again for whoever asks. */
    missing: {
      initial: 'waiting-for-request',
      states: {
        'waiting-for-request': {
          on: {
            'stage.wanted': '#staging.missing.due',
            'unstage.wanted': '#staging.unstage-in-doubt.due',
            'seen-dead': '#staging.found-dead',
          },
        },
        ...stageWork(
          {
            'stage.done': { target: '#staging.staged', actions: 'keepStaged' },
            'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
            'stage.unknown': { target: 'backing-off', actions: ['forgetFound', 'count'] },
            'stage.interrupted': { target: 'due', actions: 'forgetFound' },
            'stage.refused': { target: 'backing-off', actions: ['forgetFound', 'count'] },
            'stage.not-sent': { target: 'backing-off', actions: 'count' },
          },
          {
            'targets.may-remain': 'waiting-for-request',
            'unstage.wanted': '#staging.unstage-in-doubt.due',
            'seen-dead': '#staging.found-dead',
          },
          { 'seen-dead': '#staging.found-dead.stage-under-way' },
          {},
        ),
      },
    },
    /** The file system does not answer, which is only reported: recovered for whoever asks. */
    'found-dead': {
      initial: 'waiting-for-targets',
      states: {
        /** Each target that may be bound from the dead mount is unpublished first. */
        'waiting-for-targets': {
          on: { 'unstage.wanted': '#staging.clearing-dead.due', 'seen-dead-gone': '#staging.missing' },
        },
        /** A call to stage has not ended yet. */
        'stage-under-way': {
          tags: 'has-turn',
          on: {
            'seen-dead-gone': '#staging.missing.calling',
            'call.waits': {},
            'turn.lost': 'waiting-for-targets',
            'stage.done': { target: 'waiting-for-targets', actions: 'keepStagedDead' },
            'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
            'stage.unknown': { target: 'waiting-for-targets', actions: ['forgetFound', 'count'] },
            'stage.interrupted': { target: 'waiting-for-targets', actions: 'forgetFound' },
            'stage.refused': { target: 'waiting-for-targets', actions: ['forgetFound', 'count'] },
            'stage.not-sent': { target: 'waiting-for-targets', actions: 'count' },
          },
        },
      },
    },
    /** The file system does not answer: the volume is unstaged, then staged again. */
    dead: {
      initial: 'waiting-for-targets',
      states: {
        /** Each target that may be bound from the dead mount is unpublished first. */
        'waiting-for-targets': {
          on: { 'unstage.wanted': '#staging.clearing-dead.due', 'seen-dead-gone': '#staging.in-doubt' },
        },
        /** A call to stage has not ended yet. */
        'stage-under-way': {
          tags: 'has-turn',
          on: {
            'seen-dead-gone': '#staging.in-doubt.calling',
            'call.waits': {},
            'turn.lost': 'waiting-for-targets',
            'stage.done': { target: 'waiting-for-targets', actions: 'keepStagedDead' },
            'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
            'stage.unknown': { target: 'waiting-for-targets', actions: ['forgetFound', 'count'] },
            'stage.interrupted': { target: 'waiting-for-targets', actions: 'forgetFound' },
            'stage.refused': { target: 'waiting-for-targets', actions: ['forgetFound', 'count'] },
            'stage.not-sent': { target: 'waiting-for-targets', actions: 'count' },
          },
        },
      },
    },
    /** Dead, and nothing is bound from the mount any more. */
    'clearing-dead': {
      initial: 'due',
      states: unstageWork(
        {
          'unstage.done': { target: '#staging.not-staged', actions: 'keepUnstaged' },
          'unstage.unknown': { target: 'backing-off', actions: 'countUnstage' },
          'unstage.interrupted': 'due',
          'unstage.not-sent': { target: 'backing-off', actions: 'countUnstage' },
        },
        { 'targets.may-remain': '#staging.dead' },
        same(['seen-dead-gone', 'unstage-in-doubt']),
      ),
    },
    /** No target is left; the volume is staged for certain. */
    'pending-unstage': {
      initial: 'due',
      states: unstageWork(
        {
          'unstage.done': { target: '#staging.not-staged', actions: 'keepUnstaged' },
          'unstage.unknown': { target: '#staging.unstage-in-doubt.backing-off', actions: 'countUnstage' },
          'unstage.interrupted': '#staging.unstage-in-doubt.due',
          'unstage.not-sent': { target: 'backing-off', actions: 'countUnstage' },
        },
        { 'stage.wanted': '#staging.staged', 'targets.may-remain': '#staging.staged' },
        same(['seen-missing', 'unstage-in-doubt'], ['seen-dead', 'clearing-dead']),
      ),
    },
    /** No target is left; the volume may be staged. */
    'unstage-in-doubt': {
      initial: 'due',
      states: unstageWork(
        {
          'unstage.done': { target: '#staging.not-staged', actions: 'keepUnstaged' },
          'unstage.unknown': { target: 'backing-off', actions: 'countUnstage' },
          'unstage.interrupted': 'due',
          'unstage.not-sent': { target: 'backing-off', actions: 'countUnstage' },
        },
        { 'stage.wanted': '#staging.in-doubt.due', 'targets.may-remain': '#staging.in-doubt' },
        same(['seen-dead', 'clearing-dead']),
      ),
    },
  },
});

/** Staging of a volume: its data, and the path of its state. */
export type Staging = Part<typeof stagingMachine>;

export const stagingChart = new Chart(stagingMachine);

/** Whether the volume is staged for certain. */
export const isStaged = (staging: Staging): boolean => isIn(staging, 'staged') || isIn(staging, 'pending-unstage');

/** Whether a mount that may be there does not answer. */
export const isDead = (staging: Staging): boolean =>
  isIn(staging, 'dead') || isIn(staging, 'found-dead') || isIn(staging, 'clearing-dead');

/** Whether the volume may be staged, without certainty. */
export const isInDoubt = (staging: Staging): boolean =>
  isDead(staging) || isIn(staging, 'in-doubt') || isIn(staging, 'missing') || isIn(staging, 'unstage-in-doubt');

import { Chart, type Part } from '../kit/parts.js';
import { repeated } from '../kit/state-words.js';
import { stagingSetup } from './staging-setup.js';

/** Found dead: recovered at once, or only once somebody asks. */
const whenDead = [
  { guard: 'isRepairedAtOnce' as const, target: '#staging.dead' as const },
  { target: '#staging.found-dead' as const },
];

/** Outcomes of a call to stage while the volume may be staged already, or otherwise than before. */
const stageInDoubt = {
  'stage.done': { target: '#staging.staged', actions: 'keepStaged' },
  'stage.not-needed': { target: '#staging.not-needed', actions: 'keepStaged' },
  'stage.unknown': { actions: ['forgetFound', 'count'] },
  'stage.interrupted': { actions: 'forgetFound' },
  'stage.refused': { actions: ['forgetFound', 'count'] },
  'stage.not-sent': { actions: 'count' },
} as const;

/** The same while the file system does not answer: the plugin may have taken the dead mount for staged. */
const stageEnds = { ...stageInDoubt, 'stage.done': { actions: 'keepStagedDead' } } as const;

const unstageInDoubt = {
  'unstage.done': { target: '#staging.not-staged', actions: 'keepUnstaged' },
  'unstage.unknown': { actions: 'countUnstage' },
  'unstage.interrupted': {},
  'unstage.not-sent': { actions: 'countUnstage' },
} as const;

/** The mount tells the wish of the targets only while no call about the staging is in progress: its outcome comes first. */
export const stagingMachine = stagingSetup.createMachine({
  id: 'staging',
  version: '2',
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
    'call.not-made': {},
  },
  states: {
    /** Nothing is staged, and nobody needs the volume. */
    'not-staged': {
      meta: { health: 'gone', words: 'not staged' },
      on: { 'stage.wanted': 'pending-stage', 'seen-dead': whenDead, 'users.gone': { actions: 'reset' } },
    },
    /** Needed; no call was sent before that may have staged the volume. */
    'pending-stage': {
      meta: {
        call: 'stage',
        words: { waiting: 'to be staged', calling: 'being staged', restsAfter: 'stage not done' },
      },
      on: {
        'unstage.wanted': 'not-staged',
        'targets.may-remain': 'not-staged',
        'users.gone': { target: 'not-staged', actions: 'reset' },
        'seen-dead': whenDead,
        'stage.done': { target: 'staged', actions: 'keepStaged' },
        'stage.not-needed': { target: 'not-needed', actions: 'keepStaged' },
        'stage.unknown': { target: 'in-doubt', actions: ['forgetFound', 'count'] },
        'stage.interrupted': { target: 'in-doubt', actions: 'forgetFound' },
        'stage.refused': { actions: ['forgetFound', 'count'] },
        'stage.not-sent': { actions: 'count' },
      },
    },
    /** Staged by the plugin, as the kernel showed. */
    staged: {
      meta: { health: 'healthy', words: '' },
      on: {
        'unstage.wanted': 'pending-unstage',
        'seen-missing': [{ guard: 'isRepairedAtOnce', target: 'in-doubt' }, { target: 'missing' }],
        'seen-dead': whenDead,
        'publish.found-unstaged': 'in-doubt',
      },
    },
    /** The plugin does not stage. */
    'not-needed': {
      meta: { health: 'healthy', words: '' },
      on: { 'publish.found-unstaged': 'in-doubt', 'users.gone': { target: 'not-staged', actions: 'reset' } },
    },
    /** May be staged, or otherwise than before: staged again before use, unstaged before it is given up. */
    'in-doubt': {
      meta: {
        call: 'stage',
        health: 'in-doubt',
        words: {
          ...repeated('stage in doubt'),
          unneeded: { health: 'in-doubt', words: 'stage in doubt, no alloc needs it now' },
        },
      },
      on: { ...stageInDoubt, 'unstage.wanted': 'unstage-in-doubt', 'seen-dead': whenDead },
    },
    /** Gone from the mount table, which is only reported: staged again for whoever asks. */
    missing: {
      meta: {
        call: 'stage',
        words: {
          waiting: 'not there any more',
          calling: 'not there any more, being staged again',
          restsAfter: 'not there any more, could not be staged again',
          unneeded: { health: 'failed', words: 'not there any more, staged again on request' },
        },
      },
      on: { ...stageInDoubt, 'unstage.wanted': 'unstage-in-doubt', 'seen-dead': 'found-dead' },
    },
    /** The file system does not answer, which is only reported: recovered for whoever asks, once no target is left. */
    'found-dead': {
      meta: { health: 'failed', words: 'its file system does not answer, recovered on request' },
      on: { ...stageEnds, 'unstage.wanted': 'clearing-dead', 'seen-dead-gone': 'missing' },
    },
    /** The file system does not answer: once no target is left, the volume is unstaged, then staged again. */
    dead: {
      meta: { health: 'waiting', words: 'its file system does not answer, its targets are unmounted first' },
      on: { ...stageEnds, 'unstage.wanted': 'clearing-dead', 'seen-dead-gone': 'in-doubt' },
    },
    /** Dead, and nothing is bound from the mount any more. */
    'clearing-dead': {
      meta: {
        call: 'unstage',
        words: {
          waiting: 'its file system does not answer',
          calling: 'its file system does not answer, being unstaged',
          restsAfter: 'its file system does not answer, not unstaged yet',
        },
      },
      on: { ...unstageInDoubt, 'targets.may-remain': 'dead', 'seen-dead-gone': 'unstage-in-doubt' },
    },
    /** No target is left; the volume is staged for certain. */
    'pending-unstage': {
      meta: {
        call: 'unstage',
        words: { waiting: 'to be unstaged', calling: 'being unstaged', restsAfter: 'not unstaged yet' },
      },
      on: {
        ...unstageInDoubt,
        'unstage.unknown': { target: 'unstage-in-doubt', actions: 'countUnstage' },
        'unstage.interrupted': 'unstage-in-doubt',
        'stage.wanted': 'staged',
        'targets.may-remain': 'staged',
        'seen-missing': 'unstage-in-doubt',
        'seen-dead': 'clearing-dead',
      },
    },
    /** No target is left; the volume may be staged. */
    'unstage-in-doubt': {
      meta: { call: 'unstage', health: 'in-doubt', words: repeated('unstage in doubt') },
      on: {
        ...unstageInDoubt,
        'stage.wanted': 'in-doubt',
        'targets.may-remain': 'in-doubt',
        'seen-dead': 'clearing-dead',
      },
    },
  },
});

/** Staging of a volume: its data, and its phase. */
export type Staging = Part<typeof stagingMachine>;

export const stagingChart = new Chart(stagingMachine);

/** Whether the volume is staged for certain. */
export const isStaged = (staging: Staging): boolean => staging.at === 'staged' || staging.at === 'pending-unstage';

/** Whether a mount that may be there does not answer. */
export const isDead = (staging: Staging): boolean =>
  staging.at === 'dead' || staging.at === 'found-dead' || staging.at === 'clearing-dead';

/** Whether the volume may be staged, without certainty. */
export const isStagingInDoubt = (staging: Staging): boolean =>
  isDead(staging) || staging.at === 'in-doubt' || staging.at === 'missing' || staging.at === 'unstage-in-doubt';

/** Outcomes of calls, in each phase in which the call can be under way: the phase takes all of them, and no others. */
import { expect } from 'chai';
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { idTaken } from '../../../machines/kit/call.js';
import type { CallFailure } from '../../../machines/kit/csi-types.js';
import { expansionMachine, modificationMachine } from '../../../machines/volume/change.js';
import { isLeaving, lifecycleMachine } from '../../../machines/volume/lifecycle.js';
import { publicationMachine } from '../../../machines/volume/publication.js';
import type { VolumeContext, WorkKind } from '../../../machines/volume/types.js';
import { callsIn } from '../part-calls.js';
import { isLeaf, pathOf, statesOf } from '../states-of.js';
import { lost, refused, wish } from './publication-table.js';
import { awaiting, calling, contextOf, failedBefore, nowMs, stepped } from './situations.js';

interface Kind {
  /** Begin of the names of its outcomes. */
  outcomes: string;
  /** Effect that makes the call. */
  effect: string;
  /** Answers of the plugin. */
  answers: (object | null)[];
}

const made = { id: 'vol-1', context: {}, accessibleTopology: [] };
const madeOtherwise = { ...made, fault: refused };
const kinds: Record<WorkKind, Kind> = {
  create: {
    outcomes: 'create',
    effect: 'createVolume',
    answers: [made, { ...made, isFound: true }, madeOtherwise, { ...madeOtherwise, lacksSource: true }],
  },
  remove: { outcomes: 'delete', effect: 'removeUnproven', answers: [null] },
  delete: { outcomes: 'delete', effect: 'deleteVolume', answers: [null] },
  publish: { outcomes: 'publish', effect: 'controllerPublish', answers: [{ publishContext: {} }] },
  unpublish: { outcomes: 'unpublish', effect: 'controllerUnpublish', answers: [null] },
  expand: { outcomes: 'change', effect: 'controllerExpand', answers: [{ nodeExpansionRequired: true }] },
  modify: { outcomes: 'change', effect: 'controllerModify', answers: [null] },
};
const families = ['create', 'delete', 'publish', 'unpublish', 'change'];

const failures: CallFailure[] = [
  ...[lost, refused, { ...refused, code: idTaken } as const],
  ...(['no-room', 'not-so', 'busy'] as const).flatMap((answerClass) => [
    { ...lost, answerClass },
    { ...refused, answerClass },
  ]),
];

const notSent = failures.map((failure) => ({ status: 'not-sent', failure }));

/** Ends of an effect: with these outputs, or an error. */
const endsOf = (effect: string, outputs: object[]): AnyEventObject[] => [
  ...outputs.map((output) => ({ type: `xstate.done.actor.${effect}`, output })),
  ...['INTERRUPTED', 'CALL_FAILED'].map((code) => ({
    type: `xstate.error.actor.${effect}`,
    error: { code, message: 'it has ended' },
  })),
];

/** All ways in which a call of this kind ends, or turns out not to be made. */
const endsOfCall = ({ effect, answers }: Kind): AnyEventObject[] =>
  endsOf(effect, [
    ...answers.map((answer) => ({ status: 'done', answer })),
    ...failures.map((failure) => ({ status: 'failed', failure })),
    ...[...notSent, { status: 'must-wait', ...awaiting }, { status: 'call-again' }],
  ]);
const endsOfWait = endsOf('admission', [...notSent, { status: 'admitted' }]);

const charts: [machine: AnyStateMachine, record: (part: never) => Partial<VolumeContext>][] = [
  [publicationMachine, (a) => ({ publications: { a } })],
  [lifecycleMachine, (lifecycle) => ({ lifecycle })],
  [expansionMachine, (expansion) => ({ expansion })],
  [modificationMachine, (modification) => ({ modification })],
];

/** Volumes in this phase, with this call under way: at its first attempt, and at the last one of a forced deletion. */
function volumesIn(at: string, kind: WorkKind, record: (part: never) => Partial<VolumeContext>): VolumeContext[] {
  const nodeId = kind === 'publish' || kind === 'unpublish' ? 'a' : undefined;
  const own = kind === 'modify' || kind === 'expand' ? { wish: {}, next: { wish: {}, ifFailed: {} } } : {};
  return [{}, failedBefore(2)].flatMap((tries) => {
    const context = contextOf({
      ...record({ ...(nodeId && { ...wish, number: 1 }), ...own, ...tries, at } as never),
      work: calling(kind, nodeId),
    });
    const { lifecycle } = context;
    const forced = { ...lifecycle, ...(nodeId && { at: 'emptying' as const }), force: true as const };
    return isLeaving(forced) ? [context, { ...context, lifecycle: forced }] : [context];
  });
}

describe('outcomes of the calls of a volume', () => {
  for (const [machine, record] of charts) {
    const calls = callsIn(machine);

    it(`V4 ${machine.id}: a phase takes outcomes of calls that can be under way in it, and no others`, () => {
      let taking = 0;
      for (const state of statesOf(machine).filter(isLeaf)) {
        const types = state.flatMap(({ transitions }) => [...transitions.keys()]);
        const taken = new Set(types.flatMap((type) => families.filter((family) => type.startsWith(`${family}.`))));
        const outcomes = (calls.get(pathOf(state)) ?? []).map((kind) => kinds[kind as WorkKind].outcomes);
        expect(taken, pathOf(state)).to.deep.equal(new Set(outcomes));
        taking += taken.size;
      }
      expect(taking).to.be.greaterThan(1);
    });

    it(`V8 V13 ${machine.id}: a phase takes every end of a call that can be under way in it, or of its wait`, () => {
      let ended = 0;
      const ends = (volume: VolumeContext, end: AnyEventObject): void => {
        const { lifecycle, publications, work } = volume;
        const way = JSON.stringify({ lifecycle, publications, work, end });
        expect(() => stepped(volume, { ...end, at: nowMs, random: 0.5 }), way).to.not.throw();
        ended += 1;
      };
      for (const [at, own] of calls)
        for (const kind of own as WorkKind[])
          for (const volume of volumesIn(at, kind, record)) {
            for (const end of endsOfCall(kinds[kind])) ends(volume, end);
            for (const end of endsOfWait) ends({ ...volume, awaiting }, end);
          }
      expect(ended).to.be.greaterThan(20);
    });
  }
});

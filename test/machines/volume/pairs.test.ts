/**
 * Where each event leads from each phase of the parts of a volume, and what becomes of the data, held as texts:
 * publication-pairs.txt, lifecycle-pairs.txt, change-pairs.txt. `UPDATE=1` writes them. A chart refuses all other events: it
 * throws. `under way`: a call is, that may take effect.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import type { CapacityRange } from '../../../machines/kit/csi-types.js';
import {
  type ChangeData,
  type ChangeEvent,
  expansionChart,
  expansionMachine,
} from '../../../machines/volume/change.js';
import { lifecycleChart, lifecycleMachine } from '../../../machines/volume/lifecycle.js';
import type { LifecycleData, LifecycleEvent } from '../../../machines/volume/lifecycle-setup.js';
import { type Publication, publicationChart, publicationMachine } from '../../../machines/volume/publication.js';
import type { PublicationData, PublicationEvent } from '../../../machines/volume/publication-setup.js';
import { type Case, holdsAsText, meeting, missedWays, type Names, type Step, textOf, typesOf } from '../pairs.js';
import {
  again,
  earlier,
  lost,
  cases as publicationCases,
  names as publicationNames,
  refused,
} from './publication-table.js';

const failed = { failure: lost, tries: again };
const forGood = { failure: refused, tries: again };
const made = { id: 'vol-1', context: {}, accessibleTopology: [] };
const madeOtherwise = { madeOtherwise: made };

/** Record that a case meets, if it says nothing else. */
const lifecycleRecord: LifecycleData = { tries: earlier, failure: lost, round: 4, unproven: 1 };

const none = { underWay: undefined };

const lifecycleCases = meeting<LifecycleEvent, LifecycleData>(lifecycleRecord, [
  ['create', { type: 'create' }],
  ['create, was forced', { type: 'create' }, { force: true }],
  ['delete', { type: 'delete', force: false, ...none }],
  ['delete, create under way', { type: 'delete', force: false, underWay: 'create' }],
  ['delete, remove under way', { type: 'delete', force: false, underWay: 'remove' }],
  ['delete, made otherwise', { type: 'delete', force: false, ...none }, madeOtherwise],
  ['delete with force', { type: 'delete', force: true, ...none }],
  ['delete with force, create under way', { type: 'delete', force: true, underWay: 'create' }],
  ['delete with force, remove under way', { type: 'delete', force: true, underWay: 'remove' }],
  ['delete with force, again', { type: 'delete', force: true, ...none }, { force: true }],
  ['forget', { type: 'forget', force: false, ...none }],
  ['forget, create under way', { type: 'forget', force: false, underWay: 'create' }],
  ['forget with force', { type: 'forget', force: true, ...none }],
  ['retry', { type: 'retry' }],
  ['leftovers.delete', { type: 'leftovers.delete' }],
  ['leftovers.find', { type: 'leftovers.find' }],
  ['leftovers.detach', { type: 'leftovers.detach' }],
  ['publications.gone', { type: 'publications.gone' }],
  ['publications.found', { type: 'publications.found' }],
  ['call.not-made', { type: 'call.not-made' }],
  ['create.done', { type: 'create.done' }],
  ['create.not-as-asked', { type: 'create.not-as-asked', failure: refused, made }],
  ['create.unproven', { type: 'create.unproven', made }],
  ['create.unproven, only interrupted before', { type: 'create.unproven', made }, { tries: undefined }],
  ['create.refused', { type: 'create.refused', ...forGood }],
  ['create.refused, made otherwise', { type: 'create.refused', ...forGood }, madeOtherwise],
  ['create.made-nothing', { type: 'create.made-nothing', ...forGood }],
  ['create.made-nothing, made otherwise', { type: 'create.made-nothing', ...forGood }, madeOtherwise],
  ['create.no-room', { type: 'create.no-room', ...failed }],
  ['create.not-sent', { type: 'create.not-sent', ...failed }],
  ['create.unknown', { type: 'create.unknown', ...failed }],
  ['create.interrupted', { type: 'create.interrupted' }],
  ['create.given-up', { type: 'create.given-up' }],
  ['delete.done', { type: 'delete.done', failure: refused }, madeOtherwise],
  ['delete.done, third time', { type: 'delete.done', failure: refused }, { ...madeOtherwise, unproven: 3 }],
  ['delete.refused', { type: 'delete.refused', ...forGood }],
  ['delete.failed', { type: 'delete.failed', ...failed }],
  ['delete.interrupted', { type: 'delete.interrupted' }],
  ['delete.given-up', { type: 'delete.given-up' }],
]);

const ofBytes = (requiredBytes: string): CapacityRange => ({ requiredBytes });
const wishes = {
  ...{ first: ofBytes('1'), next: ofBytes('2'), nextIfFailed: ofBytes('3') },
  ...{ refusedBefore: ofBytes('4'), asked: ofBytes('5'), askedIfFailed: ofBytes('6') },
};
const change: ChangeData<CapacityRange> = {
  ...{ wish: wishes.first, next: { wish: wishes.next, ifFailed: wishes.nextIfFailed } },
  ...{ refused: { wish: wishes.refusedBefore, failure: refused }, tries: earlier, failure: lost },
};
const asked = { type: 'asked', wish: wishes.asked, ifFailed: wishes.askedIfFailed } as const;

const changeCases = meeting<ChangeEvent<CapacityRange>, ChangeData<CapacityRange>>(change, [
  ['asked', { ...asked, isUnderWay: false }],
  ['asked, under way', { ...asked, isUnderWay: true }],
  ['retry', { type: 'retry' }],
  ['hasten', { type: 'hasten' }],
  ['call.not-made', { type: 'call.not-made' }],
  ['change.done', { type: 'change.done' }],
  ['change.refused', { type: 'change.refused', failure: refused }],
  ['change.failed', { type: 'change.failed', ...failed }],
  ['change.interrupted', { type: 'change.interrupted' }],
]);

/** The text says all, each event of the chart is in it, and where guards decide, each way. */
function holds<TEvent extends { type: string }, TData extends object>(
  name: string,
  machine: AnyStateMachine,
  step: Step<TEvent, TData>,
  cases: Case<TEvent, TData>[],
  names: Names,
): void {
  holdsAsText(new URL(`${name}-pairs.txt`, import.meta.url), textOf(machine, step, cases, names));
  expect(new Set(cases.map(([, { type }]) => type))).to.deep.equal(new Set(typesOf(machine)));
  expect(missedWays(machine, cases)).to.deep.equal([]);
}

const values: Names = { lost, refused, earlier, again };

describe('where events lead in the parts of a volume', () => {
  it('V5 V8 a publication', () => {
    const step: Step<PublicationEvent, PublicationData> = (part, event) => publicationChart.step(part as never, event);
    holds('publication', publicationMachine, step, publicationCases, publicationNames);
  });

  it('V20 a list that is no news gives back the very same publication: the volume knows it by that', () => {
    const phases = ['in-doubt', 'published', 'pending-node-unpublish', 'pending-unpublish'] as const;
    const lists = publicationCases.filter(([, { type }]) => type === 'listed-as-detached');
    for (const at of phases)
      for (const [name, event, data] of lists) {
        const before = { ...data, at } as Publication;
        const after = publicationChart.step(before, event);
        expect(after === before, `${at}: ${name}`).to.equal(isDeepStrictEqual(after, before));
      }
  });

  it('V4 V13 the lifecycle: creation and deletion', () => {
    const step: Step<LifecycleEvent, LifecycleData> = (part, event) => lifecycleChart.step(part as never, event);
    holds('lifecycle', lifecycleMachine, step, lifecycleCases, { ...values, made });
  });

  it('V12 a change: expansion or modification', () => {
    const step: Step<ChangeEvent<CapacityRange>, ChangeData<CapacityRange>> = (part, event) =>
      expansionChart.step(part as never, event);
    holds('change', expansionMachine, step, changeCases, { ...values, ...wishes });
  });
});

/**
 * Where each event leads from each state of the lifecycle and of a change, held as texts: lifecycle-pairs.txt, change-pairs.txt.
 * `UPDATE=1` writes them. `stays`: nothing changes; `stays, with other data`: the state is the same. The chart refuses all other
 * events: it throws.
 */
import { expect } from 'chai';
import type { CallFailure, CapacityRange, Tries } from '../../../machines/kit/csi-types.js';
import {
  type ChangeData,
  type ChangeEvent,
  expansionChart,
  expansionMachine,
} from '../../../machines/volume/change.js';
import {
  type LifecycleData,
  type LifecycleEvent,
  lifecycleChart,
  lifecycleMachine,
} from '../../../machines/volume/lifecycle.js';
import { type Case, holdsAsText, type Step, textOf, typesOf } from '../pairs.js';

const lost: CallFailure = { code: 'CSI_ERROR', message: 'lost', final: false };
const refused: CallFailure = { ...lost, message: 'refused', final: true };
const earlier: Tries = { count: 1, notBeforeMs: 50, sinceMs: 0, failure: lost };
const failed = { failure: lost, tries: { ...earlier, count: 2 } };
const forGood = { failure: refused, tries: { ...earlier, count: 2 } };
const made = { id: 'vol-1', context: {}, accessibleTopology: [] };

const lifecycleCases: Case<LifecycleEvent, LifecycleData>[] = [
  ['create', { type: 'create' }],
  ['delete', { type: 'delete', force: false }],
  ['delete with force', { type: 'delete', force: true }],
  ['delete, made otherwise', { type: 'delete', force: false }, { madeOtherwise: made }],
  ['delete with force again', { type: 'delete', force: true }, { force: true }],
  ['forget', { type: 'forget', force: false }],
  ['retry', { type: 'retry' }],
  ['leftovers.delete', { type: 'leftovers.delete' }],
  ['leftovers.find', { type: 'leftovers.find' }],
  ['leftovers.detach', { type: 'leftovers.detach' }],
  ['publications.gone', { type: 'publications.gone' }],
  ['publications.gone, tried before', { type: 'publications.gone' }, { tries: earlier }],
  ['publications.found', { type: 'publications.found' }],
  ['turn.given', { type: 'turn.given' }],
  ['turn.lost', { type: 'turn.lost' }],
  ['call.waits', { type: 'call.waits' }],
  ['create.done', { type: 'create.done' }],
  ['create.not-as-asked', { type: 'create.not-as-asked', failure: refused, made }],
  ['create.unproven', { type: 'create.unproven', made }],
  ['create.refused', { type: 'create.refused', ...forGood }],
  ['create.refused, made otherwise', { type: 'create.refused', ...forGood }, { madeOtherwise: made }],
  ['create.made-nothing', { type: 'create.made-nothing', ...forGood }],
  ['create.made-nothing, made otherwise', { type: 'create.made-nothing', ...forGood }, { madeOtherwise: made }],
  ['create.no-room', { type: 'create.no-room', ...failed }],
  ['create.no-room, made otherwise', { type: 'create.no-room', ...failed }, { madeOtherwise: made }],
  ['create.not-sent', { type: 'create.not-sent', ...failed }],
  ['create.unknown', { type: 'create.unknown', ...failed }],
  ['create.interrupted', { type: 'create.interrupted' }],
  ['create.given-up', { type: 'create.given-up' }],
  ['remove.done', { type: 'remove.done', failure: refused }],
  ['remove.done, third time', { type: 'remove.done', failure: refused }, { round: 4, unproven: 3 }],
  ['delete.done', { type: 'delete.done' }],
  ['delete.refused', { type: 'delete.refused', ...forGood }],
  ['delete.failed', { type: 'delete.failed', ...failed }],
  ['delete.interrupted', { type: 'delete.interrupted' }],
  ['delete.given-up', { type: 'delete.given-up' }],
];

const changeCases: Case<ChangeEvent<CapacityRange>, Partial<ChangeData<CapacityRange>>>[] = [
  ['asked', { type: 'asked', wish: { requiredBytes: '2' }, ifFailed: { requiredBytes: '3' } }],
  ['retry', { type: 'retry' }, { tries: earlier }],
  ['hasten', { type: 'hasten' }, { tries: earlier }],
  ['turn.given', { type: 'turn.given' }],
  ['turn.lost', { type: 'turn.lost' }],
  ['call.waits', { type: 'call.waits' }],
  ['change.done', { type: 'change.done' }],
  ['change.refused', { type: 'change.refused', failure: refused }],
  ['change.failed', { type: 'change.failed', ...failed }],
  ['change.interrupted', { type: 'change.interrupted' }],
];

describe('where events lead in the parts of a volume', () => {
  it('V4 V13 the lifecycle: creation and deletion', () => {
    const step: Step<LifecycleEvent, LifecycleData> = (part, event) => lifecycleChart.step(part as never, event);
    holdsAsText(new URL('lifecycle-pairs.txt', import.meta.url), textOf(lifecycleMachine, step, lifecycleCases));
    const known = lifecycleCases.map(([, { type }]) => type);
    expect(known).to.include.members(typesOf(lifecycleMachine));
  });

  it('V12 a change: expansion or modification', () => {
    const step: Step<ChangeEvent<CapacityRange>, Partial<ChangeData<CapacityRange>>> = (part, event) =>
      expansionChart.step({ wish: { requiredBytes: '1' }, ...part } as never, event);
    const cases = changeCases.map(([name, event, data]): (typeof changeCases)[number] => [
      name,
      event,
      { wish: { requiredBytes: '1' }, ...data },
    ]);
    holdsAsText(new URL('change-pairs.txt', import.meta.url), textOf(expansionMachine, step, cases));
    expect(changeCases.map(([, { type }]) => type)).to.include.members(typesOf(expansionMachine));
  });
});

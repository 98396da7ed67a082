/** Calls of the phases of a part, as its chart says them, and the effects by which its owner makes them. */
import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import type { PartView } from '../../machines/kit/parts.js';
import { expansionMachine, modificationMachine } from '../../machines/volume/change.js';
import { lifecycleMachine } from '../../machines/volume/lifecycle.js';
import { publicationMachine } from '../../machines/volume/publication.js';
import { isLeaf, metaOf, pathOf, statesOf } from './states-of.js';

const charts: AnyStateMachine[] = [...[lifecycleMachine, publicationMachine, expansionMachine, modificationMachine]];

/** Calls that may be under way in a phase that wants another one, or none: they have to end before it goes on. */
const takenOver: Record<string, string> = {
  'publication pending-node-unpublish': 'publish',
  'publication pending-unpublish': 'publish',
  'lifecycle emptying': 'create',
  'lifecycle letting-go': 'create',
  'lifecycle pending-delete': 'remove',
};

/** Kinds of calls that may be under way in each phase, by its path. */
export const callsIn = (machine: AnyStateMachine): Map<string, string[]> =>
  new Map(
    statesOf(machine)
      .filter(isLeaf)
      .map((state) => {
        const { call } = metaOf(state);
        const other = takenOver[`${machine.id} ${pathOf(state)}`];
        return [pathOf(state), [call, other].filter((kind) => kind !== undefined)];
      }),
  );

const calls = new Map(charts.map((machine) => [machine.id, callsIn(machine)]));

/** Kind of a call: `publish` of the effect `controllerPublish`, and of NodePublishVolume. */
const kindOf = (call: string): string => call.replace(/^controller|^node|Volume$|Unproven$/gi, '').toLowerCase();

/** @returns how many parts said so: each that is `calling` says what the effect of its owner calls */
export function checkCalls(parts: readonly PartView[], effect: string): number {
  const calling = parts.filter(({ at }) => at.endsWith('.calling'));
  for (const { chart, at } of calling) {
    const own = calls.get(chart);
    const kinds = own?.get(at) ?? own?.get(at.replace(/\.calling$/, '')) ?? [];
    expect(kinds.map(kindOf), `${chart} ${at}`).to.include(kindOf(effect));
  }
  return calling.length;
}

/** The call that a part says it makes, and the effect by which its owner makes it. */
import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import type { PartView } from '../../machines/kit/parts.js';
import { expansionMachine, modificationMachine } from '../../machines/volume/change.js';
import { lifecycleMachine } from '../../machines/volume/lifecycle.js';
import { publicationMachine } from '../../machines/volume/publication.js';
import { pathOf, statesOf } from './states-of.js';

const charts: AnyStateMachine[] = [...[lifecycleMachine, publicationMachine, expansionMachine, modificationMachine]];

/** By chart and state. */
const calls = new Map(
  charts.flatMap((machine) =>
    statesOf(machine).flatMap((state): [string, string][] =>
      state[0]?.meta?.call ? [[`${machine.id} ${pathOf(state)}`, state[0].meta.call]] : [],
    ),
  ),
);

/** `controllerPublish` makes ControllerPublishVolume. */
const callOf = (effect: string): string =>
  `${effect.charAt(0).toUpperCase()}${effect.slice(1).replace(/Volume$/, '')}Volume`;

/** @returns how many parts said so: each that is `calling` says what the effect of its owner calls */
export function checkCalls(parts: readonly PartView[], effect: string): number {
  const calling = parts.filter(({ at }) => at.endsWith('.calling'));
  for (const { chart, at } of calling) expect(calls.get(`${chart} ${at}`), `${chart} ${at}`).to.equal(callOf(effect));
  return calling.length;
}

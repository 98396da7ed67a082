/** A system as machines: made once, hosted in every run of it. */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';
import { orderlyMachine } from './orderly-machine.js';
import { addressOf, isOrderly, kindIndex, type Request, type System, topicOf } from './system.js';
import { wildMachine } from './wild-machine.js';

export interface HostedSystem {
  system: System;
  machines: { machine: AnyStateMachine; begin: (() => object) | undefined }[];
}

export function hosted(system: System): HostedSystem {
  const peers = (actor: number): string => addressOf(system, actor);
  const machines = system.kinds.map((kind, at) =>
    kind.style === 'wild'
      ? { machine: unboundOnce(wildMachine(`k${at}`, kind, peers)), begin: kind.begins ? () => ({}) : undefined }
      : { machine: unboundOnce(orderlyMachine(`k${at}`, kind, peers)), begin: () => ({}) },
  );
  return { system, machines };
}

/** Every life would make its own copy without logic for invokes, which costs more than many a life: here it is the same. */
function unboundOnce(machine: AnyStateMachine): AnyStateMachine {
  const actors = Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, undefined]));
  const unbound = machine.provide({ actors });
  unbound.provide = () => unbound;
  return unbound;
}

export const kindsOf = ({ machines }: HostedSystem, effects: Record<string, Effect>): ActorKind[] =>
  machines.map(({ machine, begin }) => ({ machine, effects, topic: topicOf, ...(begin ? { begin } : {}) }));

export const kindOf = ({ system, machines }: HostedSystem, actor: number): HostedSystem['machines'][number] => {
  const kind = machines[kindIndex(system, actor)];
  if (!kind) throw new Error(`no kind for the actor ${actor}`);
  return kind;
};

/** What a client sends; `n` names the request, whatever it was sent under. */
export function eventOf({ type, hops, crashes }: Request, system: System, n: number): AnyEventObject {
  const marks = crashes ? { crashes } : {};
  return isOrderly(system) ? { type: 'job', id: `r${n}`, hops, ...marks } : { type, n, hops, ...marks };
}

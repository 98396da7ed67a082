/** Makes what the API tells of an actor's past, of replayed moments: the same for a live journal and an exported file. */

import type { MomentAnswer } from '../api/actor-routes.js';
import type { Moment } from '../engine/machine/replay.js';
import { History } from '../journal/history.js';
import { machineOf } from './actor-answers.js';
import { conditionOf, partSummaries } from './health.js';

/** Makes the answers of one actor, moment after moment: each line is told with the state before. */
export class MomentAnswers {
  readonly #address: string;
  readonly #history: History;

  constructor(address: string) {
    this.#address = address;
    this.#history = new History(address);
  }

  answerOf(moment: Moment): MomentAnswer {
    const { seq, entry, snapshot, effects, timers, messages, events, answer, thrown } = moment;
    const machine = machineOf(this.#address);
    const { health, why } = conditionOf(machine, snapshot?.value, snapshot?.context ?? {});
    return {
      address: this.#address,
      ...{ seq, entry, line: this.#history.lineOf(moment), health, why },
      ...(snapshot && { snapshot: { value: snapshot.value, context: snapshot.context } }),
      parts: snapshot ? partSummaries(machine, snapshot.context) : [],
      ...{ effects, timers, messages, events },
      ...(answer !== undefined && { answer }),
      ...(thrown && { thrown: stackOf(thrown) }),
    };
  }
}

/** Stack of an error, and of the one that caused it. */
const stackOf = ({ stack, message, cause }: Error): string =>
  [stack ?? message, ...(cause instanceof Error ? [`caused by ${stackOf(cause)}`] : [])].join('\n');

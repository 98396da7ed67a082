/** Steps of one actor that share a commit, each built on the one before: all of them are written, or none is. */
import type { Encoded } from '../store.js';
import { encodeOutbox, type Outbox } from './actor-record.js';
import { isRepeated, type Message } from './message.js';
import { stepActor } from './step.js';
import type { ActorDefinition, Stamp, StepResult } from './step-result.js';

export interface Steps {
  /** Steps before the last one, oldest first. */
  earlier: readonly StepResult[];
  last: StepResult;
  /** What all of them owe, and its texts. */
  outbox: { owed: Outbox; text: Encoded; events: readonly Encoded[] } | undefined;
}

/** Messages that wait for an actor, oldest first. */
interface Waiting {
  /** Returns the next message without taking it; undefined: there is none that may share a commit. */
  readonly first: Message | undefined;
  take(): void;
}

/**
 * Takes waiting messages into the commit of a step, as long as each is an ordinary step of a living actor. What is left
 * waits for the commit.
 */
export function stepsFrom(definition: ActorDefinition, first: StepResult, waiting: Waiting, stamp: () => Stamp): Steps {
  const { mostSteps } = definition.policy;
  const earlier: StepResult[] = [];
  let last = first;
  while (earlier.length + 1 < mostSteps && isOrdinary(last)) {
    const message = waiting.first;
    // The answer to a repeat has to wait for the commit.
    if (!message || isRepeated(last.next.record, message)) break;
    const step = tried(() => stepActor(definition, last.next, message, stamp()));
    if (!step) break;
    waiting.take();
    earlier.push(last);
    last = step;
  }
  return { earlier, last, outbox: outboxOf([...earlier, last]) };
}

export const allSteps = ({ earlier, last }: Steps): StepResult[] => [...earlier, last];

/** Tells whether the next step may build on this one before it is committed. */
const isOrdinary = ({ message, entry, next }: StepResult): boolean =>
  message.kind !== 'engine' && entry.kind !== 'crash' && next.record.snapshot !== undefined;

/** Returns undefined for a step that throws: its message is next after the commit, and throws then, too. */
function tried<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function outboxOf(steps: readonly StepResult[]): Steps['outbox'] {
  const [first, ...others] = steps.filter(({ outbox }) => outbox);
  if (!first?.outbox) return undefined;
  const { outbox: text, events } = first.written;
  if (others.length === 0 && first === steps.at(-1) && text !== undefined && events)
    return { owed: first.outbox, text, events };
  const owed: Outbox = { messages: [], events: [] };
  for (const { entry, outbox } of [first, ...others]) {
    // Each keeps the place of its own step.
    outbox?.messages.forEach((message, at) => {
      owed.messages.push({ ...message, of: message.of ?? [entry.seq, at] });
    });
    outbox?.events.forEach((event, at) => {
      owed.events.push({ ...event, of: event.of ?? [entry.seq, at] });
    });
  }
  const { outbox, events: texts } = encodeOutbox(owed);
  return { owed, text: outbox, events: texts };
}

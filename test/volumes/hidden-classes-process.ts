/**
 * Steps many volumes from nothing to published, and prints how many hidden classes V8 has for each kind of object after each
 * step. A process of its own: what other tests have made changes how V8 makes classes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { volumeMachine } from '../../machines/volume/volume.js';
import { emptyRecord } from '../../src/engine/actor/actor-record.js';
import type { Message } from '../../src/engine/actor/message.js';
import { defaultPolicy } from '../../src/engine/actor/policy.js';
import { stepActor } from '../../src/engine/actor/step.js';
import type { ActorDefinition, ActorState, StepResult } from '../../src/engine/actor/step-result.js';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';

const volumes = 1_000;
/** Until V8 has seen which types of values the properties hold. */
const warmUp = 200;

setFlagsFromString('--allow-natives-syntax');
const haveSameMap: (one: object, other: object) => boolean = runInThisContext(
  '(one, other) => %HaveSameMap(one, other)',
);

function classesOf(objects: object[]): number {
  const found: object[] = [];
  for (const one of objects) if (!found.some((known) => haveSameMap(known, one))) found.push(one);
  return found.length;
}

const effect = (compensates?: string[]): Effect => ({
  sentDeadlineMs: 1_000,
  atMostOnce: true,
  ...(compensates && { compensates }),
  run: async () => undefined,
});

const kind: ActorKind = {
  machine: volumeMachine,
  onDemand: true,
  begin: (address, seq) => ({ namespace: 'default', id: address.slice('volume/default/'.length), seq }),
  topic: () => 'volumes',
  effects: {
    createVolume: effect(),
    controllerPublish: effect(['controllerUnpublish']),
    controllerUnpublish: effect(['controllerPublish']),
  },
};

const ignore = (): void => {};

const asked = (event: { type: string; [key: string]: unknown }): Message => ({
  kind: 'request',
  event,
  resolve: ignore,
  reject: ignore,
});

const done = (id: string, { record: { effects } }: ActorState, answer: object): Message => ({
  kind: 'effect',
  id,
  seq: effects.find((one) => one.id === id)?.seq ?? 0,
  says: 'result',
  sentAtMs: 1,
  event: { type: `xstate.done.actor.${id}`, output: { status: 'done', answer }, actorId: id },
});

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' };

/** The four steps of a volume from nothing to published. */
function published(nth: number): StepResult[] {
  const id = `volume-${nth}`;
  const definition: ActorDefinition = {
    address: `volume/default/${id}`,
    kind,
    machine: HostedMachine.of(volumeMachine),
    policy: defaultPolicy,
  };
  const spec = {
    ...{ plugin: 'disk', capacity: {}, capabilities: [capability], parameters: {}, mutableParameters: {} },
    ...{ secrets: {}, topology: { requisite: [], preferred: [] } },
  };
  const messages: ((state: ActorState) => Message)[] = [
    () => asked({ type: 'volume.create', spec, uid: `uid-${nth}`, name: `sc-${nth}`, driver: 'disk.example' }),
    (state) => done('createVolume', state, { id: `vol-${nth}`, context: {}, accessibleTopology: [] }),
    () => asked({ type: 'volume.publish', nodeId: 'node-1', csiNodeId: 'csi-1', readOnly: false }),
    (state) => done('controllerPublish', state, { publishContext: { device: `/dev/${nth}` } }),
  ];
  const steps: StepResult[] = [];
  let state: ActorState = { seq: 0, snapshot: undefined, record: emptyRecord(definition.machine) };
  for (const messageAfter of messages) {
    const step = stepActor(definition, state, messageAfter(state), { at: 1_000 + nth, random: 0.5 });
    if (!step) throw new Error('there is no volume');
    state = step.next;
    steps.push(step);
  }
  return steps;
}

const parts: Record<string, (step: StepResult) => object | null | undefined> = {
  contexts: ({ next }) => next.snapshot?.context,
  lifecycles: ({ next }) => next.snapshot?.context.lifecycle,
  publications: ({ next }) => next.snapshot?.context.publications['node-1'],
  'pieces of work': ({ next }) => next.snapshot?.context.work,
  records: ({ next }) => next.record,
  effects: ({ next }) => next.record.effects[0],
  'inputs of effects': ({ next }) => next.record.effects[0]?.input as object | undefined,
  'journal entries': ({ entry }) => entry,
  sources: ({ entry }) => entry.source,
  events: ({ outbox }) => outbox?.events[0]?.event,
};

for (let nth = 0; nth < warmUp; nth += 1) published(nth);
const all = Array.from({ length: volumes }, (_, nth) => published(nth));
const state = all.at(-1)?.at(-1)?.next.snapshot?.value;
if (state !== 'published') throw new Error(`a volume is ${JSON.stringify(state)}, not published`);
const counts = Object.entries(parts).map(([name, partOf]) => [
  name,
  [0, 1, 2, 3].map((at) => classesOf(all.map((steps) => steps[at]).flatMap((step) => (step && partOf(step)) ?? []))),
]);
console.log(JSON.stringify(Object.fromEntries(counts)));

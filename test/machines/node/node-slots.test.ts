/** The slots of a node: what each request is answered, and which slots are reserved after it. */
import { expect } from 'chai';
import { type AnyActorRef, createActor } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { type NodeEvent, type NodePlugin, nodeMachine } from '../../../machines/node/node.js';

const limited = (maxVolumes: number): NodePlugin => ({ name: 'disk', nodeId: 'csi-a', maxVolumes });
const unlimited: NodePlugin = { name: 'disk', nodeId: 'csi-a' };
const reserve = (volume: string, reservation = volume): NodeEvent => ({
  ...{ type: 'node.reserve-slot', plugin: 'disk' },
  ...{ volume, reservation },
});
const add = (volume: string, reservation = volume): NodeEvent => ({
  ...{ type: 'node.add-slot', plugin: 'disk' },
  ...{ volume, reservation },
});
const release = (volume: string, reservation = volume): NodeEvent => ({
  ...{ type: 'node.release-slots', plugin: 'disk' },
  slots: [{ volume, reservation }],
});
const isCounted = (number = 0): NodeEvent => ({ type: 'node.slots-counted', plugin: 'disk', number });
const report = (...plugins: NodePlugin[]): NodeEvent => ({ type: 'node.report', plugins });

/** The answer to the last event, and the reservations after it. */
function after(...events: NodeEvent[]): { answer: unknown; reserved: string[] } {
  let answer: unknown;
  const machine = nodeMachine.provide({
    actions: {
      answer: (_, params: AnswerParams) => {
        answer = 'error' in params ? params.error.code : params.value;
      },
    },
  });
  const actor: AnyActorRef = createActor(machine, { input: { id: 'a' } });
  actor.start();
  for (const event of events) {
    answer = undefined;
    actor.send({ ...event, at: 1, random: 0.5 });
  }
  const { slots } = actor.getSnapshot().context;
  return {
    answer,
    reserved: slots.disk?.reserved.map(({ reservation }: { reservation: string }) => reservation) ?? [],
  };
}

describe('the slots of a node', () => {
  const table: [name: string, events: NodeEvent[], answer: unknown, reserved: string[]][] = [
    ['no limit: none is needed', [report(unlimited), reserve('v1')], { status: 'not-limited' }, []],
    ['not counted yet: none is given', [report(limited(2)), reserve('v1')], { status: 'not-counted', number: 0 }, []],
    ['counted: one is given', [report(limited(1)), isCounted(), reserve('v1')], { status: 'reserved' }, ['v1']],
    [
      'the last one is given once',
      [report(limited(1)), isCounted(), reserve('v1'), reserve('v2')],
      'NODE_FULL',
      ['v1'],
    ],
    [
      'the same request again changes nothing',
      [report(limited(1)), isCounted(), reserve('v1'), reserve('v1')],
      { status: 'reserved' },
      ['v1'],
    ],
    [
      'another request of a volume that has one is given one, and takes no more room',
      [report(limited(2)), isCounted(), reserve('v1', 'r1'), reserve('v1', 'r2'), reserve('v2')],
      { status: 'reserved' },
      ['r1', 'r2', 'v2'],
    ],
    [
      'a volume keeps its slot until its last request has released it',
      [report(limited(1)), isCounted(), reserve('v1', 'r1'), reserve('v1', 'r2'), release('v1', 'r1'), reserve('v2')],
      'NODE_FULL',
      ['r2'],
    ],
    [
      'released: the next one has it',
      [report(limited(1)), isCounted(), reserve('v1'), release('v1'), reserve('v2')],
      { status: 'reserved' },
      ['v2'],
    ],
    [
      'a release that comes late does not end a later reservation',
      [
        report(limited(1)),
        isCounted(),
        reserve('v1', 'r1'),
        release('v1', 'r1'),
        reserve('v1', 'r2'),
        release('v1', 'r1'),
      ],
      undefined,
      ['r2'],
    ],
    [
      'what was there is counted beyond the limit, and then nothing is given',
      [report(limited(1)), add('v1'), add('v2'), isCounted(), reserve('v3')],
      'NODE_FULL',
      ['v1', 'v2'],
    ],
    [
      'the limit ends, and comes back: all are counted again',
      [report(limited(2)), isCounted(), reserve('v1'), report(unlimited), report(limited(2)), reserve('v2')],
      { status: 'not-counted', number: 1 },
      [],
    ],
    [
      'a count of before that says nothing',
      [report(limited(2)), isCounted(), report(unlimited), report(limited(2)), isCounted(0), reserve('v2')],
      { status: 'not-counted', number: 1 },
      [],
    ],
    [
      'another limit: those that have a slot keep it',
      [report(limited(1)), isCounted(), reserve('v1'), report(limited(2)), reserve('v2')],
      { status: 'reserved' },
      ['v1', 'v2'],
    ],
    [
      'the plugin is away for a while: the same',
      [report(limited(1)), isCounted(), reserve('v1'), report(), report(limited(1)), reserve('v2')],
      'NODE_FULL',
      ['v1'],
    ],
    [
      'down: none is given, and those that there are stay reserved',
      [report(limited(2)), isCounted(), reserve('v1'), { type: 'node.down' }, reserve('v2')],
      'NODE_NOT_READY',
      ['v1'],
    ],
    [
      'down: a slot is released all the same',
      [report(limited(2)), isCounted(), reserve('v1'), { type: 'node.down' }, release('v1')],
      undefined,
      [],
    ],
    [
      'being removed: none is given',
      [report(limited(2)), isCounted(), { type: 'node.remove' }, reserve('v2')],
      'NODE_NOT_READY',
      [],
    ],
    ['not there: none is given', [reserve('v1')], 'NODE_NOT_FOUND', []],
  ];
  for (const [name, events, answer, reserved] of table)
    it(`V18 ${name}`, () => expect(after(...events)).to.deep.equal({ answer, reserved }));
});

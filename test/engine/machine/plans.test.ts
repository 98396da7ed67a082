/**
 * Runs every machine of this project, and those of the crash harness, at random by plan and by XState: each step must
 * look the same. Shows changes in XState on which plans depend.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import * as machines from '../../../machines/index.js';
import { systems } from '../../simulation/arbitraries.js';
import { chance } from '../../simulation/dice.js';
import { hosted } from '../../simulation/hosted-system.js';
import { type Die, type Plausible, plausible } from '../plausible.js';
import { type Outcome, Rivals } from '../rivals.js';

const histories = 40;
/** Number of runs for machines that need many runs to reach every state. */
const most = 3_000;
const steps = 120;

/** Events unknown to machines, and events that XState treats specially. */
const strange = [
  'none',
  '*',
  '',
  'a.b',
  'xstate.init',
  'xstate.stop',
  'xstate.error.actor.none',
  'xstate.done.state.m',
];

function dieOf(seed: string): Die {
  let thrown = 0;
  const below = (end: number): number => {
    thrown += 1;
    return Math.floor(chance(seed, thrown) * end);
  };
  return { below, of: (...all) => all[below(all.length)] ?? all[0] };
}

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];
/** States that are not left as soon as they are entered. */
const restful = (root: AnyStateNode): AnyStateNode[] => nodesOf(root).filter(({ always }) => !always);
const taken = (nodes: AnyStateNode[]): string[] => nodes.flatMap(({ transitions }) => [...transitions.keys()]);

const everywhere = new WeakMap<AnyStateNode, string[]>();
/** Types of events that any state of the machine waits for. */
function takenAnywhere(root: AnyStateNode): string[] {
  const known = everywhere.get(root) ?? taken(nodesOf(root));
  everywhere.set(root, known);
  return known;
}

/** Picks an event: mostly one that the present states wait for, else any event, also unhandled or incomplete ones. */
function eventTo(
  { _nodes: nodes, machine }: AnyMachineSnapshot,
  { events, outputs }: Plausible,
  die: Die,
): AnyEventObject {
  const stamp = { at: 1_000_000 + die.below(100_000), random: die.below(100) / 100 };
  const kind = die.below(20);
  const near =
    kind < 12 ? taken(nodes.slice(-1)) : kind < 16 ? taken(nodes) : kind < 19 ? takenAnywhere(machine.root) : strange;
  const [first = 'none', ...others] = near;
  const type = die.of(first, ...others);
  const [, end, id = ''] = /^xstate\.(done|error)\.actor\.(.*)$/.exec(type) ?? [];
  if (end === 'error') return { type, error: { code: 'LOST', message: 'lost', final: die.below(2) > 0 }, ...stamp };
  const carried = die.below(100) === 0 ? {} : end ? { output: outputs[id]?.(die) } : events[type]?.(die);
  return { type, ...carried, ...stamp };
}

/** Begins an actor and sends it events until it ends; calls `see` after each step. */
function lead(
  rivals: Rivals,
  given: Plausible,
  { die, see }: { die: Die; see: (outcome: Outcome, event: AnyEventObject | undefined) => void },
): void {
  see(rivals.begin(given.input(die)), undefined);
  const { way = [] } = given;
  if (way.length > 0 && die.below(4) === 0)
    for (const event of way) {
      const stamped = { type: 'none', ...event, at: 1_000_000, random: 0.5 };
      see(rivals.step(stamped), stamped);
    }
  for (let step = 0; step < steps && rivals.snapshot.status === 'active'; step += 1) {
    if (die.below(10) === 0) rivals.restart();
    const event = eventTo(rivals.snapshot, given, die);
    see(rivals.step(event), event);
  }
}

const isStrange = (event: AnyEventObject | undefined): boolean => event !== undefined && strange.includes(event.type);

describe('plans', () => {
  it('every machine of this project is compared with XState here', () => {
    const exported = Object.values(machines).filter((one) => one instanceof Object && 'transition' in one);
    expect(plausible.map(({ machine }) => machine)).to.have.members(exported);
  });

  for (const given of plausible) {
    it(`${given.machine.id}: every step equals XState's, and goes by plan unless it throws or ends`, () => {
      const unseen = new Set(restful(given.machine.root).map(({ id }) => id));
      const rivals = new Rivals(given.machine); // one plan for all of them, as in an engine
      for (let seed = 0; seed < histories || (seed < most && unseen.size > 0); seed += 1) {
        const see = ({ isPlanned, thrown }: Outcome, event: AnyEventObject | undefined): void => {
          const isOver = rivals.snapshot.status !== 'active';
          for (const { id } of rivals.snapshot._nodes) unseen.delete(id);
          if (isStrange(event) || isPlanned === (thrown === undefined && !isOver)) return;
          expect.fail(`by plan: ${isPlanned}, thrown: ${thrown}, over: ${isOver}, event: ${JSON.stringify(event)}`);
        };
        lead(rivals, given, { die: dieOf(`${given.machine.id} ${seed}`), see });
      }
      expect([...unseen], 'where it never came to rest').to.deep.equal([]);
    });
  }

  it("random machines: every step equals XState's, and goes by plan without ends and parallel states", () => {
    let planned = 0;
    for (const system of fc.sample(systems, { seed: 1, numRuns: histories })) {
      for (const { machine } of hosted(system).machines) {
        const isSimple = nodesOf(machine.root).every(({ type }) => type === 'atomic' || type === 'compound');
        const given = {
          machine,
          input: (die: Die) => ({ fuel: die.below(9), hops: die.below(3) }),
          ...anything(machine),
        };
        const see = ({ isPlanned, thrown }: Outcome, event: AnyEventObject | undefined): void => {
          if (isPlanned) planned += 1;
          if (isSimple && !isStrange(event)) expect(isPlanned).to.equal(thrown === undefined);
        };
        lead(new Rivals(machine), given, { die: dieOf(`${system.seed} ${machine.id}`), see });
      }
    }
    expect(planned).to.be.greaterThan(histories * 20);
  });
});

/** Events and outputs for any machine of the harness. */
function anything(machine: AnyStateMachine): Pick<Plausible, 'events' | 'outputs'> {
  const carried = (die: Die): object => ({
    ...{ hops: die.below(3), n: die.below(9), tick: die.below(3), id: `r${die.below(5)}` },
    crashes: die.below(15) === 0,
  });
  const types = [...new Set(taken(nodesOf(machine.root)))];
  return {
    events: Object.fromEntries(types.map((type) => [type, carried])),
    outputs: Object.fromEntries(types.map((type) => [type.replace('xstate.done.actor.', ''), (die) => die.below(5)])),
  };
}

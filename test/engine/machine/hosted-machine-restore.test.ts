/** Restored snapshots continue exactly like snapshots that stayed in memory: same states, same bytes, same requests. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyMachineSnapshot } from 'xstate';
import { HostedMachine, type MachineStep, type PersistedSnapshot } from '../../../src/engine/machine/hosted-machine.js';
import { deskMachine } from '../desk.js';
import { mazeMachine, mazeMoves, rebuiltMaze } from '../maze.js';

const seed = 20260101;
const histories = fc.array(fc.tuple(fc.constantFrom(...mazeMoves), fc.boolean()), { maxLength: 60 });

describe('hosted machine, restored', () => {
  const maze = new HostedMachine(mazeMachine);
  const stored = (hosted: HostedMachine, snapshot: AnyMachineSnapshot): PersistedSnapshot =>
    JSON.parse(JSON.stringify(hosted.persist(snapshot)));
  const textOf = ({ snapshot, ...wishes }: MachineStep): string =>
    JSON.stringify({ ...maze.persist(snapshot), ...wishes });

  it('random moves with restarts between: every step is the same to the byte', () => {
    const property = fc.property(histories, (history) => {
      let kept = maze.begin({});
      let restored = maze.begin({});
      for (const [at, [type, isRestarted]] of history.entries()) {
        const event = { type, at, random: 0 };
        const before = isRestarted ? maze.restore(stored(maze, restored.snapshot)) : restored.snapshot;
        kept = maze.step(kept.snapshot, event);
        restored = maze.step(before, event);
        expect(textOf(restored)).to.equal(textOf(kept));
        expect([...maze.activeInvokes(restored.snapshot)]).to.deep.equal([...maze.activeInvokes(kept.snapshot)]);
      }
    });
    fc.assert(property, { seed, numRuns: 400 });
  });

  it('random moves: a restored snapshot persists to the same text', () => {
    const property = fc.property(histories, (history) => {
      let { snapshot } = maze.begin({});
      for (const [at, [type]] of history.entries()) ({ snapshot } = maze.step(snapshot, { type, at, random: 0 }));
      const persisted = stored(maze, snapshot);
      expect(JSON.stringify(maze.persist(maze.restore(persisted)))).to.equal(JSON.stringify(maze.persist(snapshot)));
    });
    fc.assert(property, { seed, numRuns: 200 });
  });

  it('state with history: entered again where it was left, also after a restart', () => {
    let { snapshot } = maze.begin({});
    for (const type of ['a', 'c', 'b', 'out']) ({ snapshot } = maze.step(snapshot, { type }));
    const { value } = maze.step(maze.restore(stored(maze, snapshot)), { type: 'deep' }).snapshot;
    expect(value).to.deep.equal({ inside: { north: 'one', south: 'two', west: 'one' } });
  });

  it('final snapshots are never stored, so a restored snapshot is active', () => {
    const desk = new HostedMachine(deskMachine);
    const { snapshot } = desk.begin({ name: 'a' });
    expect(desk.restore(stored(desk, snapshot))).to.include({ status: 'active' });
  });

  it('two snapshots in the same state share everything but their context, if steps are compiled', () => {
    const { STAGECRAFT_STEPS = '' } = process.env;
    process.env.STAGECRAFT_STEPS = '';
    const desk = new HostedMachine(deskMachine);
    process.env.STAGECRAFT_STEPS = STAGECRAFT_STEPS;
    const { snapshot } = desk.begin({ name: 'a' });
    const one = desk.restore(stored(desk, snapshot));
    const other = desk.restore(stored(desk, desk.begin({ name: 'b' }).snapshot));
    expect(one).to.deep.equal(snapshot);
    expect(other.context).to.deep.equal({ ...snapshot.context, name: 'b' });
    expect(Object.values({ ...other, context: 0 })).to.have.ordered.members(Object.values({ ...one, context: 0 }));
  });

  const strangers: [string, PersistedSnapshot][] = [
    ['an unknown state', { value: 'cellar', context: {} }],
    ['an unknown state within a known one', { value: { inside: 'attic' }, context: {} }],
    ['a state that has become one of several', { value: 'inside', context: {} }],
    ['states within a state that has none', { value: { outside: { hall: {} } }, context: {} }],
    ['no state at all', { value: {}, context: {} }],
    [
      'a remembered state that is gone',
      { value: 'outside', context: {}, historyValue: { 'maze.inside.last': [{ id: 'maze.inside.attic' }] } },
    ],
  ];
  for (const [what, persisted] of strangers) {
    it(`snapshot with ${what}: refused`, () => {
      expect(() => new HostedMachine(rebuiltMaze).restore(persisted)).to.throw();
    });
  }
});

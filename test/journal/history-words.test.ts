/** Every event that an actor is sent has a sentence in its history. */
import { expect } from 'chai';
import type { AnyStateNode } from 'xstate';
import { acceptedBy } from '../../machines/accepted-events.js';
import { catalog } from '../../machines/catalog.js';
import { hasSentence } from '../../src/journal/history-words.js';

const eventsOf = (node: AnyStateNode): string[] => [
  ...node.transitions.keys(),
  ...Object.values(node.states).flatMap(eventsOf),
];

/** Events that a machine raises itself: they are no inputs. */
const raised = /^(xstate\.|settle$|\*$|(call|create|look|remove)\.(?!appeared$))/;

describe('words of a history', () => {
  for (const [id, { machine }] of catalog) {
    const types = [...new Set(eventsOf(machine.root))].filter((type) => type !== '');

    it(`X2 every event that a ${id} is sent has a sentence`, () => {
      expect(types).not.to.deep.equal([]);
      expect(types.filter((type) => !raised.test(type) && !hasSentence(type))).to.deep.equal([]);
    });

    it(`X3 no caller may send a ${id} what it raises itself`, () => {
      const states = Object.keys(machine.root.states);
      const accepted = states.flatMap((state) => acceptedBy(`${id}/x/y`, state));
      expect(accepted.filter((type) => raised.test(type))).to.deep.equal([]);
    });
  }
});

/** Words that a chart says of its states, as people see them: with how far a call is. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { type StateWords, saidIn } from '../../../machines/kit/state-words.js';

const lamp = setup({ types: {} as { meta: StateWords } }).createMachine({
  id: 'lamp',
  initial: 'off',
  states: {
    off: { meta: { health: 'gone', words: '' } },
    'to-light': { meta: { words: { calling: 'being lit', restsAfter: 'not lit yet' } } },
    'in-doubt': {
      meta: {
        health: 'in-doubt',
        words: { waiting: 'may be lit', calling: 'may be lit, being looked at', restsAfter: 'may be lit' },
      },
    },
    lit: {
      meta: { health: 'healthy', words: 'lit' },
      initial: 'bright',
      states: { bright: {}, dim: { meta: { health: 'failed', words: 'too dim' } } },
    },
    missing: {
      meta: {
        words: { calling: 'being bought', restsAfter: 'sold out', unneeded: { health: 'failed', words: 'not there' } },
      },
    },
    choosing: {},
  },
});

describe('words of states', () => {
  const cases: [path: string, health: string | undefined, why?: string][] = [
    ['off', 'gone', ''],
    ['to-light.due', 'waiting', 'waits for its turn'],
    ['to-light.calling', 'working', 'being lit'],
    ['to-light.waiting-for-plugin', 'waiting', 'waits for the plugin'],
    ['to-light.backing-off', 'waiting', 'not lit yet'],
    ['in-doubt.due', 'in-doubt', 'may be lit, waits for its turn'],
    ['in-doubt.calling', 'in-doubt', 'may be lit, being looked at'],
    ['in-doubt.backing-off', 'in-doubt', 'may be lit'],
    ['missing', 'failed', 'not there'],
    ['missing.due', 'waiting', 'waits for its turn'],
    ['lit.bright', 'healthy', 'lit'],
    ['lit.dim', 'failed', 'too dim'],
    ['choosing', undefined],
    ['of-tomorrow', undefined],
    ['lit.of-tomorrow', undefined],
    ['to-light.of-tomorrow', undefined],
    ['to-light', undefined],
  ];
  for (const [path, health, why = ''] of cases)
    it(`35.4b ${path}: ${health === undefined ? 'nothing is said' : `${health}, '${why}'`}`, () => {
      expect(saidIn(lamp, path)).to.deep.equal(health === undefined ? undefined : { health, why });
    });
});

/** What depends on a plugin: asked of somebody else's function, which may throw, hang or answer nonsense. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { type Logger, silentLogger } from '../../src/engine/logger.js';
import { askDependents, type Dependents } from '../../src/registry/dependents.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';
import { device, gpus, House } from './house.js';

const hangs: Dependents = () => new Promise(() => {});

/** Ways in which the function fails, and what is said of each. */
const failures: [title: string, dependents: Dependents, why: string][] = [
  ['rejects', () => Promise.reject(new Error('the database is away')), 'the database is away'],
  [
    'throws',
    () => {
      throw new Error('a slip');
    },
    'a slip',
  ],
  ['answers null', async () => JSON.parse('null'), 'must be an array of names'],
  ['answers a string', async () => JSON.parse('"volume"'), 'must be an array of names'],
  ['answers an object', async () => JSON.parse('{"0": "volume", "length": 1}'), 'must be an array of names'],
  ['answers a list with a number', async () => JSON.parse('["volume", 7]'), 'must be a name'],
  ['answers a list with an empty name', async () => ['volume', ''], 'must be a name'],
  ['answers a list with a hole', async () => new Array(1), 'must be a name'],
];

describe('dependents of plugins', () => {
  describe('asked', () => {
    const clock = simulatedClock();
    const signal = new AbortController().signal;
    const two = [device('a1'), device('a2')];

    afterEach(() => {
      expect(clock.pending, 'timers').to.equal(0);
      expect(getEventListeners(signal, 'abort'), 'listeners').to.have.lengthOf(0);
    });

    it('I13 of two instances: the names of both, sorted, each once', async () => {
      const asked: PluginInfo[] = [];
      const dependents: Dependents = async (plugin) => {
        asked.push(structuredClone(plugin));
        plugin.connection.socketPath = 'changed by the one who was asked';
        return plugin.allocId === 'a1' ? ['volume b', 'volume a'] : ['volume c', 'volume a'];
      };
      const named = await askDependents(dependents, two, { clock, signal });
      expect(named).to.deep.equal(['volume a', 'volume b', 'volume c']);
      expect(asked).to.deep.equal([device('a1'), device('a2')]);
      expect(two).to.deep.equal(asked);
    });

    it('I13 what is done with the list afterwards changes nothing', async () => {
      const list = ['volume a'];
      const named = await askDependents(async () => list, two, { clock, signal });
      list.push('volume b');
      expect(named).to.deep.equal(['volume a']);
    });

    for (const [title, dependents, why] of failures) {
      it(`I13 it ${title} for one of two: DEPENDENTS_UNKNOWN, with the plugins and why`, async () => {
        const either: Dependents = (plugin, options) =>
          plugin.allocId === 'a2' ? dependents(plugin, options) : Promise.resolve(['volume a']);
        const error = await refusalOf(askDependents(either, two, { clock, signal }));
        expect(error.code).to.equal('DEPENDENTS_UNKNOWN');
        for (const part of ["device 'gpu' (a1)", "device 'gpu' (a2)", why]) expect(error.message).to.include(part);
        expect(error.cause).to.be.an('error');
      });
    }

    it('I13 one has failed: whoever else is asked is told that nobody waits', async () => {
      let limit: AbortSignal | undefined;
      const dependents: Dependents = async (plugin, options) => {
        if (plugin.allocId === 'a2') throw new Error('no');
        limit = options.signal;
        return hangs(plugin, options);
      };
      await refusalOf(askDependents(dependents, two, { clock, signal }));
      expect(limit?.aborted).to.equal(true);
    });

    it('I13 it hangs: DEPENDENTS_UNKNOWN after 30 s, its signal aborted; a later rejection is ignored', async () => {
      let reject: (error: Error) => void = () => {};
      let limit: AbortSignal | undefined;
      const dependents: Dependents = (_, options) => {
        limit = options.signal;
        return new Promise((__, no) => {
          reject = no;
        });
      };
      const refused = refusalOf(askDependents(dependents, [device('a1')], { clock, signal }));
      await clock.advance(29_999);
      expect(limit?.aborted).to.equal(false);
      await clock.advance(1);
      const error = await refused;
      expect([error.code, limit?.aborted]).to.deep.equal(['DEPENDENTS_UNKNOWN', true]);
      expect(error.message).to.include('no answer within 30000 ms');
      reject(new Error('late'));
      await clock.advance(0);
    });

    it('I13 given up by its signal, before or meanwhile: rejects with the reason, and the asked one is told', async () => {
      for (const when of ['before', 'meanwhile']) {
        const stop = new AbortController();
        const limits: AbortSignal[] = [];
        const dependents: Dependents = (plugin, options) => {
          limits.push(options.signal);
          return hangs(plugin, options);
        };
        if (when === 'before') stop.abort(new Error('enough'));
        const asked = askDependents(dependents, two, { clock, signal: stop.signal }).catch((reason: unknown) => reason);
        stop.abort(new Error('enough'));
        expect(await asked)
          .to.be.an('error')
          .with.property('message', 'enough');
        expect(limits.map(({ aborted }) => aborted)).to.deep.equal(when === 'before' ? [] : [true, true]);
        expect(clock.pending).to.equal(0);
      }
    });
  });

  describe('at a deregistration', () => {
    let house: House;
    let asked: PluginInfo[];
    let warnings: string[];
    let dependents: Dependents;

    beforeEach(async () => {
      [asked, warnings] = [[], []];
      dependents = async () => ['volume b', 'volume a'];
      const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
      house = await new House().open({
        logger,
        dependents: (plugin, options) => {
          asked.push(plugin);
          return dependents(plugin, options);
        },
      });
      await house.register(device('a1'), device('a2'));
    });

    afterEach(() => house.dispose());

    const leave = (allocId: string): Promise<void> => house.plugins.deregister('device', 'gpu', allocId);
    /** Every event of instances that have left, without place and time. */
    const left = async (): Promise<object[]> =>
      (await house.events()).filter(({ kind }) => kind === 'deregistered').map(({ id: _, at: __, ...event }) => event);

    it('I13 what depends on it is told with the event, and hinders nothing', async () => {
      await leave('a2');
      await house.rest();
      expect(asked).to.deep.equal([device('a2')]);
      expect(await left()).to.deep.equal([
        { kind: 'deregistered', info: device('a2'), dependents: ['volume a', 'volume b'] },
      ]);
      expect(house.allocIds()).to.deep.equal(['a1']);
      expect(house.kind.closes).to.deep.equal([0, 1]);
      const { event } = (await house.journal(gpus)).at(-1) ?? {};
      expect(event).to.deep.include({ type: 'plugins.deregister', dependents: ['volume a', 'volume b'] });
    });

    it('I13 nothing depends on it: the event says nothing of that', async () => {
      dependents = async () => [];
      await leave('a2');
      expect(await left()).to.deep.equal([{ kind: 'deregistered', info: device('a2') }]);
      expect(warnings).to.deep.equal([]);
    });

    for (const [title, fails, why] of failures) {
      it(`I13 the function ${title}: deregistered all the same, a warning says why it is not known`, async () => {
        dependents = fails;
        await leave('a2');
        expect(await left()).to.deep.equal([{ kind: 'deregistered', info: device('a2') }]);
        expect(warnings).to.have.lengthOf(1);
        expect(warnings[0]).to.include(why).and.to.include('deregistered all the same');
      });
    }

    it('I13 the function hangs: the instance stays active until 30 s are over, then it leaves', async () => {
      dependents = hangs;
      const leaving = leave('a2');
      await house.clock.advance(29_999);
      expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
      await house.clock.advance(1);
      await leaving;
      expect(house.allocIds()).to.deep.equal(['a1']);
      expect(warnings).to.have.lengthOf(1);
    });

    it('R6 for an instance that is not there nobody is asked', async () => {
      await leave('a9');
      await house.plugins.deregister('device', 'tpu', 'a1');
      expect(asked).to.deep.equal([]);
    });

    it('R6 it is defined anew before the answer comes: who did that keeps it, told and stopped is nothing', async () => {
      let answer: (names: string[]) => void = () => {};
      dependents = () =>
        new Promise((resolve) => {
          answer = resolve;
        });
      const leaving = leave('a2');
      await house.register(device('a2', { version: '2' }));
      answer([]);
      await leaving;
      await house.rest();
      expect([house.allocIds(), await left()]).to.deep.equal([['a2', 'a1'], []]);
      expect(house.plugins.status('device', 'gpu')).to.deep.include({ state: 'healthy' });
    });

    it('R6 it has left with the last of its name when the answer comes: told once, no commit for nothing', async () => {
      await leave('a2');
      let answer: (names: string[]) => void = () => {};
      dependents = () =>
        new Promise((resolve) => {
          answer = resolve;
        });
      const second = leave('a1');
      dependents = async () => [];
      await leave('a1');
      const { length } = house.commits;
      answer([]);
      await second;
      expect(await left()).to.have.lengthOf(2);
      expect(house.commits.slice(length)).to.deep.equal([]);
    });

    it('R13 the runtime closes while the function runs: RUNTIME_CLOSED at once, the instance stays', async () => {
      dependents = hangs;
      const refused = refusalOf(leave('a2'));
      await house.rest();
      expect(asked).to.have.lengthOf(1);
      await house.runtime.close();
      expect(await refused).to.have.property('code', 'RUNTIME_CLOSED');
      expect(warnings).to.deep.equal([]);
      await house.open();
      expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
    });

    it('R11 the event with what depended on it is there after a restart', async () => {
      await leave('a2');
      await house.restart();
      expect(await left()).to.deep.equal([
        { kind: 'deregistered', info: device('a2'), dependents: ['volume a', 'volume b'] },
      ]);
    });
  });

  it('I13 dependents that are no function: createRuntime refuses them', async () => {
    const house = new House();
    try {
      const dependents: Dependents = JSON.parse('"volumes"');
      const error = await refusalOf(house.open({ dependents }));
      expect(error.code).to.equal('INVALID_ARGUMENT');
      expect(error.message).to.include('dependents: must be a function');
    } finally {
      await house.dispose();
    }
  });
});

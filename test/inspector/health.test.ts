/** Every state of every machine and of every part has a condition in words. */
import { expect } from 'chai';
import type { AnyStateNode } from 'xstate';
import { volumeSteps } from '../../machines/alloc/volume-steps.js';
import { catalog, saidOf } from '../../machines/catalog.js';
import { callSteps, type StateWords, seenAt } from '../../machines/kit/state-words.js';
import { conditionOf, healthOfPart, ranks } from '../../src/inspector/health.js';
import { healthOfStep } from '../../src/inspector/state-health.js';
import { layoutOf } from '../../src/page/actor/shown.js';
import { healthIn } from '../../src/page/chart/lit.js';

/** Paths of all innermost states. A phase that wants a call is seen with how far that is; without, while nobody needs it. */
function pathsIn(node: Pick<AnyStateNode, 'states'>, outer = ''): string[] {
  return Object.values(node.states).flatMap((inner) => {
    const path = outer === '' ? inner.key : `${outer}.${inner.key}`;
    if (Object.keys(inner.states).length > 0) return pathsIn(inner, path);
    const { words = '', otherwise = {} }: Partial<StateWords> = inner.meta ?? {};
    const isCalled = typeof words !== 'string';
    const steps = [...(isCalled ? callSteps : []), ...Object.keys(otherwise)].map((step) => `${path}.${step}`);
    return isCalled && !words.unneeded ? steps : [path, ...steps];
  });
}

/** As the page has it, which knows the charts, but no machine. */
const onPage = (chart: string, path: string): string => healthIn(layoutOf(chart), path) ?? healthOfStep(chart, path);

const snapshot = { at: 'create-in-doubt', work: null, awaiting: null, tries: null, failure: null };

/** Contexts with the least that the sentences read. */
const contexts: Record<string, object> = {
  registry: {},
  plugins: { instances: [{ allocId: 'a1' }] },
  plugin: { fingerprint: { healthy: false, description: 'no answer' } },
  task: { reason: null, health: null },
  volume: {
    lifecycle: { at: 'created' },
    publications: {},
    leftovers: [],
    waiting: [],
    sighting: null,
    availability: 'active',
  },
  'volume-snapshot': { ...snapshot, kind: 'volume-snapshot' },
  'group-snapshot': { ...snapshot, kind: 'group-snapshot' },
  node: { fence: null },
  mount: { staging: { at: 'staged' }, users: [], unconfirmed: [], condition: null },
  alloc: { parts: {}, failure: null },
};

const expected: Record<string, [at: string, health: string][]> = {
  publication: [
    ['published', 'healthy'],
    ['in-doubt.calling', 'in-doubt'],
    ['cancelling.backing-off', 'in-doubt'],
    ['pending-publish.calling', 'working'],
    ['pending-publish.waiting-for-plugin', 'waiting'],
    ['failed.refused', 'failed'],
    ['removed', 'gone'],
  ],
  lifecycle: [
    ['finding-out-first-call.calling', 'in-doubt'],
    ['emptying', 'waiting'],
    ['failed.in-doubt', 'failed'],
  ],
  target: [
    ['lost', 'failed'],
    ['failed', 'failed'],
    ['undoing.calling', 'working'],
    ['waiting-for-unstage', 'waiting'],
  ],
  snapshot: [
    ['pending-create.calling', 'working'],
    ['pending-create.waiting-for-plugin', 'waiting'],
    ['create-in-doubt.calling', 'in-doubt'],
    ['finding-out-first-call.calling', 'in-doubt'],
    ['waiting-until-ready.calling', 'waiting'],
    ['left-behind', 'failed'],
    ['failed.deletion', 'failed'],
  ],
  staging: [
    ['missing', 'failed'],
    ['missing.calling', 'working'],
    ['unstage-in-doubt.waiting-for-plugin', 'in-doubt'],
  ],
};

describe('the condition of actors', () => {
  for (const [id, { machine, charts }] of catalog) {
    it(`X2 ${id}: each state has a condition and words`, () => {
      for (const state of pathsIn(machine.root)) {
        const { health, why } = conditionOf(id, state, contexts[id] ?? {});
        const isUnknown = id === 'plugin' && ['registering', 'fingerprinting'].includes(state);
        expect(health === 'unknown', `${id} ${state} is unknown`).to.equal(isUnknown);
        expect(why, `${id} ${state}`).to.match(/^[a-z]/);
      }
    });

    for (const chart of charts) {
      it(`X2 ${id}, part ${chart.id}: each state is known, and has words unless it is at rest`, () => {
        for (const at of pathsIn(chart.root)) {
          const health = healthOfPart({ id: chart.id, chart: chart.id, at });
          expect(ranks, `${chart.id} ${at}`).to.have.property(health);
          expect(onPage(chart.id, at), `${chart.id} ${at}`).to.equal(health);
          const isAtRest = ['healthy', 'gone'].includes(health);
          const { words = '' } = seenAt(chart, at);
          expect(saidOf(chart.id, at), `${chart.id} ${at}`).not.to.equal(undefined);
          if (!isAtRest && at !== 'new') expect(words, `${chart.id} ${at}`).not.to.equal('');
        }
      });
    }
  }

  for (const id of ['task', 'node', 'registry', 'plugin'])
    it(`X2 ${id}: its states alone say how it is`, () => {
      for (const state of pathsIn(catalog.get(id)?.machine.root ?? { states: {} }))
        expect(onPage(id, state), state).to.equal(conditionOf(id, state, contexts[id] ?? {}).health);
    });

  it('X2, 34.25 a mount whose file system the plugin refuses for good to expand has failed, and says why', () => {
    const expansion = { capacity: { requiredBytes: 2 }, failure: { message: 'not while it is in use' } };
    const condition = conditionOf('mount', 'published', { ...contexts.mount, expansion });
    expect(condition).to.deep.equal({ health: 'failed', why: "can't be expanded: not while it is in use" });
  });

  it('X2 states that are healthy by their names: those of an actor that is as it was asked for, and no others', () => {
    const healthy = [...catalog].map(([id, { machine }]) => [
      id,
      pathsIn(machine.root).filter((state) => onPage(id, state) === 'healthy'),
    ]);
    expect(Object.fromEntries(healthy)).to.deep.equal({
      ...{ registry: ['running'], plugins: ['present'], plugin: ['healthy'], task: ['running'], node: ['ready'] },
      ...{ volume: ['created', 'published'], mount: ['staged', 'published'], alloc: ['prepared'] },
      ...{ 'volume-snapshot': ['ready'], 'group-snapshot': ['ready'] },
    });
  });

  for (const [chart, steps] of Object.entries(expected)) {
    it(`X2 steps of ${chart} that matter`, () => {
      for (const [at, health] of steps) expect(healthOfPart({ id: chart, chart, at }), at).to.equal(health);
    });
  }

  it('35.5 X2 each step of a volume of an alloc is known, also to the page, and has words unless it is at rest', () => {
    const chart = 'alloc-volume';
    for (const [at, { health, why }] of Object.entries(volumeSteps)) {
      expect([healthOfPart({ id: 'volume/data', chart, at }), onPage(chart, at)], at).to.deep.equal([health, health]);
      expect(saidOf(chart, at)?.why, at).to.equal(why);
      expect(why === '', at).to.equal(['healthy', 'gone'].includes(health));
    }
  });

  it('X2 a deleted actor is gone', () => {
    expect(conditionOf('volume', undefined, {})).to.deep.equal({ health: 'gone', why: 'deleted' });
  });
});

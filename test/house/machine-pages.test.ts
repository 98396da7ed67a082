/** Tests the generated pages of machines: arrows of the pictures, and the check of the prose against the chart. */
import { expect } from 'chai';
import type { IStateMachine } from 'state-machine-cat';
import { createMachine } from 'xstate';
import { detailOf, overviewOf } from '../../scripts/diagrams/pictures.js';
import { faultsOf, unexplainedIn } from '../../scripts/diagrams/prose.js';
import { pictureOf } from '../../scripts/diagrams/render.js';

const work = {
  initial: 'due',
  on: { done: 'over', failed: [{ guard: 'isLast', target: 'over' }, { target: '.due' }] },
  states: {
    due: { on: { turn: 'calling' } },
    calling: { meta: { call: 'DoJob' }, on: { withdrawn: '#job.undoing.first', lost: 'due' } },
  },
};

const job = createMachine({
  id: 'job',
  initial: 'asked-for',
  on: { remove: '.removed' },
  states: {
    'asked-for': { always: [{ guard: 'isKnown', target: 'over' }, { target: 'working' }] },
    working: { ...work, on: { ...work.on, withdrawn: 'removed' } },
    undoing: { initial: 'first', states: { first: { on: { done: '#job.removed' } }, second: {} } },
    over: { on: { again: [{ guard: 'isSame' }, { target: 'working' }] } },
    removed: { type: 'final' },
  },
});

const hub = createMachine({
  id: 'hub',
  initial: 'idle',
  states: {
    choosing: {
      always: [
        { guard: { type: 'isNext', params: 'a' }, target: 'a' },
        { guard: { type: 'isNext', params: 'b' }, target: 'b' },
        { guard: { type: 'isNext', params: 'c' }, target: 'c' },
        { target: 'idle' },
      ],
    },
    idle: { on: { settle: 'choosing' } },
    a: { invoke: { id: 'callA', src: 'callA', onDone: 'choosing', onError: 'choosing' } },
    b: { on: { settle: 'choosing' } },
    c: { on: { settle: 'choosing' } },
  },
});

const arrowsOf = ({ transitions = [] }: IStateMachine): string[] =>
  transitions.map(({ from, to, label = '' }) => `${from} → ${to}: ${label.replaceAll('\n', ', ')}`);

describe('pages of machines', () => {
  it('an overview has an arrow for each pair of states, with a line for each event', () => {
    expect(arrowsOf(overviewOf(job))).to.have.members([
      'initial → over: [known]',
      'initial → working: [otherwise]',
      'any state → removed: remove',
      'working → over: done, failed [last]',
      'working → undoing: in calling: withdrawn',
      'working → removed: withdrawn',
      'undoing → removed: done',
      'over → working: again [otherwise]',
      'removed → final removed: ',
    ]);
  });

  it('a detail has the inner states, the ways out, and ways in that do not lead to the start', () => {
    expect(arrowsOf(detailOf(job, 'working'))).to.have.members([
      'initial → working.due: ',
      'any working → over: done, failed [last]',
      'any working → working.due: failed [otherwise]',
      'any working → removed: withdrawn',
      'working.due → working.calling: turn',
      'working.calling → undoing: withdrawn',
      'working.calling → working.due: lost',
    ]);
    expect(arrowsOf(detailOf(job, 'undoing'))).to.have.members([
      'initial → undoing.first: ',
      'undoing.first → removed: done',
    ]);
  });

  it('a box names its calls, and the states that handle a common event in another way', () => {
    const { states } = overviewOf(job);
    const bodiesIn = (name: string, boxes: typeof states) =>
      boxes.find((one) => one.name === name)?.actions?.map(({ body }) => body);
    expect(bodiesIn('working', states)).to.deep.equal(['DoJob']);
    expect(bodiesIn('undoing', states)).to.equal(undefined);
    expect(bodiesIn('a', overviewOf(hub).states)).to.deep.equal(['callA']);
    const detail = detailOf(job, 'working').states;
    expect(bodiesIn('working.calling', detail)).to.deep.equal(['DoJob']);
    expect(detail.find(({ name }) => name === 'any working')?.label).to.equal('any other of these');
  });

  it('the note of a scheduler names the events that lead back to it', () => {
    const { states, transitions = [] } = overviewOf(hub);
    expect(states.find(({ name }) => name === 'choosing')?.note?.join(' ')).to.match(
      /^Scheduler: .* on: settle, the end of a call$/,
    );
    const back = transitions.filter(({ to }) => to === 'choosing');
    expect(back.map(({ from, label, color }) => ({ from, label, isGrey: color !== undefined }))).to.have.deep.members(
      ['no part wants a call', 'a'].map((from) => ({ from, label: undefined, isGrey: true })),
    );
  });

  it('the picture of a machine is always the same, and fits one screen', async () => {
    const { svg, scale } = await pictureOf(overviewOf(job));
    const [, width, height] = svg.match(/<svg width="(\d+)" height="(\d+)"/) ?? [];
    expect((await pictureOf(overviewOf(job))).svg).to.equal(svg);
    expect(Number(width)).to.be.within(1, 1280);
    expect(Number(height)).to.be.within(1, 800);
    expect(scale).to.equal(1);
  });

  it('a picture on disk saves the search for its layout only if it is the picture of this chart', async () => {
    const { svg } = await pictureOf(overviewOf(job));
    const other = (await pictureOf(overviewOf(hub))).svg;
    const note = /<!-- Layout .* -->/;
    expect(svg).to.match(note);
    expect((await pictureOf(overviewOf(job), svg)).svg).to.equal(svg);
    expect((await pictureOf(overviewOf(job), other)).svg).to.equal(svg);
    expect((await pictureOf(overviewOf(job), svg.replace(note, ''))).svg).to.equal(svg);
  });

  it('prose without a line for a state, or with a name outside of the chart, is refused', () => {
    const lines = ['working', 'undoing', 'over', 'removed'].map((name) => `- \`${name}\`: something.`);
    expect(faultsOf(job, `A job. It is \`working.due\` first, then \`done\`.\n\n${lines.join('\n')}\n`)).to.deep.equal(
      [],
    );
    expect(faultsOf(job, `A job that is \`resting\`.\n\n${lines.slice(1).join('\n')}\n`)).to.deep.equal([
      'needs one line that begins with "- `working`: "',
      'names `resting`, which is no state, event or effect of job',
    ]);
    expect(faultsOf(job, '')).to.have.length(4);
  });

  it('prose of a part without a line for an event or a condition is refused', () => {
    const common = '- on `*.lost`, `again`: something.\n- on `failed`: something.\n';
    const own = '- on `done`, `lost`: something.\n- on `turn`: something.\n- on `remove`: something.\n';
    const conditions = '- if `known`: something.\n- if `last`, `same`: something.\n';
    expect(unexplainedIn(job, `${own}${conditions}- on \`withdrawn\`: something.\n`, common)).to.deep.equal([]);
    expect(unexplainedIn(job, own, common)).to.deep.equal([
      'needs a line that begins with "- on `withdrawn`: "',
      'needs a line that begins with "- if `known`: "',
      'needs a line that begins with "- if `last`: "',
      'needs a line that begins with "- if `same`: "',
    ]);
  });
});

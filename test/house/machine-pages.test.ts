/** Tests the generated pages of machines: cards and notes of the pictures, what can't be read, and the check of the prose. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type AnyStateMachine, createMachine } from 'xstate';
import { cardsOf, textOf } from '../../scripts/diagrams/cards.js';
import { faultsIn } from '../../scripts/diagrams/legibility.js';
import { notesOf, openIn } from '../../scripts/diagrams/notes.js';
import { faultsOf } from '../../scripts/diagrams/prose.js';
import { pictureOf, widthsOfLetters } from '../../scripts/diagrams/render.js';
import { answerClassOf, type RpcName } from '../../src/csi/answers.js';
import { grpcCodes } from '../../src/csi/grpc-codes.js';

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
    idle: { on: { ask: { actions: ['keep', 'settle'] }, settle: 'choosing' } },
    a: { invoke: { id: 'callA', src: 'callA', onDone: 'choosing', onError: 'choosing' } },
    b: { on: { settle: 'choosing' } },
    c: { on: { settle: 'choosing' }, always: { guard: 'isOver', target: 'idle' } },
  },
});

/** Each card as a list: the names of its states, then its rows. */
const listsOf = (machine: AnyStateMachine): string[][] =>
  cardsOf(machine).map(({ states, rows }) => [
    states.map(({ name }) => name).join(', '),
    ...rows.map(({ events, to }) => `${events.map(textOf).join(', ')} → ${to}`),
  ]);

const statesOf = (machine: AnyStateMachine) => cardsOf(machine).flatMap(({ states }) => states);

describe('pages of machines', () => {
  it('35.4b a card says where each event leads from its state, also into a failure, and which change nothing', () => {
    expect(listsOf(job)).to.deep.equal([
      ['start', '[known] → over', '[otherwise] → working.due'],
      [
        'working.due',
        'turn → working.calling',
        'done, failed [last] → over',
        'withdrawn → removed',
        'failed [otherwise] → ',
      ],
      [
        'working.calling',
        'withdrawn → undoing.first',
        'lost, failed [otherwise] → working.due',
        'done, failed [last] → over',
      ],
      ['undoing.first', 'done → removed'],
      ['undoing.second'],
      ['over', 'again [otherwise] → working.due', 'again [same] → '],
      ['removed'],
      ['any state', 'remove → removed'],
    ]);
  });

  it('35.4b a card names the call of its state, and the end of a machine', () => {
    const find = (name: string) => statesOf(job).find((state) => state.name === name);
    expect(find('working.calling')).to.include({ runs: 'DoJob', words: '' });
    expect(find('undoing.first')).to.include({ runs: '', words: '' });
    expect(find('removed')).to.include({ words: 'the end' });
  });

  it('35.4b states that lead on in the same way share a card; a request that settles is any request', () => {
    expect(listsOf(hub)).to.deep.equal([
      ['start', ' → idle'],
      ['choosing', '[next: a] → a', '[next: b] → b', '[next: c] → c', '[otherwise] → idle'],
      ['idle, b', 'any request → choosing'],
      ['a', 'callA ended, callA failed → choosing'],
      ['c', 'any request → choosing', 'at once [over] → idle'],
    ]);
    expect(statesOf(hub)).to.deep.include({
      ...{ name: 'choosing', runs: '', words: 'never rests: takes the first row that holds' },
    });
  });

  it('35.4b notes explain events and conditions of the cards, in the words of the machine before those of all', () => {
    const prose = '- on `lost`: it is lost.\n- if `last`: none is left.\n- on `unheard`: never.\n';
    const common = '- on `*.lost`: lost.\n- on `lost`, `done`: no.\n- on `lost`: another.\n- if `unheard`: never.\n';
    const [, events, conditions] = notesOf(cardsOf(job), prose, common);
    expect(events).to.deep.equal({ title: 'Events', lines: [{ name: 'lost', text: 'it is lost' }] });
    expect(conditions).to.deep.equal({ title: 'Conditions', lines: [{ name: 'last', text: 'none is left' }] });
  });

  it('35.4b the picture of a machine is always the same, fits one screen, and can be read', async () => {
    const notes = notesOf(cardsOf(job), '', '');
    const svg = await pictureOf(cardsOf(job), notes);
    const [, width, height] = svg.match(/<svg width="(\d+)" height="(\d+)"/) ?? [];
    expect(await pictureOf(cardsOf(job), notes)).to.equal(svg);
    expect(Number(width)).to.be.within(1, 1280);
    expect(Number(height)).to.be.within(1, 800);
    expect(faultsIn(svg, await widthsOfLetters())).to.deep.equal([]);
  });

  it('35.4b a machine whose cards can be read on no screen of 1280 × 800 is refused', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `state-${at}`);
    const waysOut = (from: string) => Object.fromEntries(names.map((to) => [`${from}.${to}`, to]));
    const states = Object.fromEntries(names.map((name) => [name, { on: waysOut(name) }]));
    const long = createMachine({ id: 'long', initial: 'state-0', states });
    const failure = await pictureOf(cardsOf(long), []).catch(String);
    expect(failure).to.match(/it has to shrink to \d+ %/);
  });

  describe('text that people can not read', () => {
    const page = '<polygon points="0,0 200,0 200,100 0,100"/>';
    const box = '<g id="node1" class="node"><path d="M10,10C10,10 90,10 90,10 90,10 90,40 90,40"/>';
    const textAt = (x: number, y: number, text: string): string =>
      `<text text-anchor="start" x="${x}" y="${y}" font-family="any" font-size="10.00">${text}</text>`;
    const arrow = '<g id="edge1" class="edge"><path d="M100,60C100,60 200,60 200,60"/></g>';

    const cases: [what: string, svg: string, faults: string[]][] = [
      ['text in its box, beside a line', `${page}${box}${textAt(20, 30, 'published')}</g>${arrow}`, []],
      [
        'a name wider than its box',
        `${page}${box}${textAt(20, 30, 'pending&#45;unpublish')}</g>`,
        ["'pending-unpublish' is wider than its box"],
      ],
      ['a label over the edge of the picture', `${page}${textAt(170, 30, 'withdrawn')}`, ["'withdrawn' is cut"]],
      [
        'two labels on each other',
        `${page}${textAt(100, 80, 'withdrawn')}${textAt(120, 83, 'publish')}`,
        ["'withdrawn' meets 'publish'"],
      ],
      ['a line through a label', `${page}${textAt(120, 63, 'publish')}${arrow}`, ["a line crosses 'publish'"]],
    ];
    for (const [what, svg, faults] of cases) {
      it(`35.4b ${what}`, async () => {
        expect(faultsIn(svg, await widthsOfLetters())).to.deep.equal(faults);
      });
    }
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

  it('35.4b an event or a condition that no note explains is refused', () => {
    const prose =
      '- on `turn`: something.\n- on `withdrawn`: something.\n- on `remove`: something.\n- if `last`: something.\n';
    const common = '- on `*ed`: something.\n- on `lost`: something.\n- if `known`: something.\n';
    expect(openIn(cardsOf(job), notesOf(cardsOf(job), prose, common))).to.deep.equal([
      'needs a line that begins with "- on `done`: "',
      'needs a line that begins with "- on `again`: "',
      'needs a line that begins with "- if `same`: "',
    ]);
  });

  it('35.4b notes that claim one answer of the plugin for two events are refused', () => {
    const notesThat = (...texts: string[]) => [
      { title: 'Events', lines: texts.map((text, at) => ({ name: `event-${at}`, text })) },
    ];
    const apart = notesThat('OK, or NOT_FOUND to DeleteJob', 'ABORTED, or NOT_FOUND to DoJob', 'OK');
    expect(openIn([], apart)).to.deep.equal([]);
    expect(openIn([], notesThat('ABORTED', 'timeout, ABORTED to DoJob'))).to.deep.equal([
      'says twice what ABORTED to DoJob means',
    ]);
  });

  it('35.4b the prose says of answers of plugins what the table of answers says', () => {
    const directory = new URL('../../docs/machines/prose/', import.meta.url);
    const prose = readdirSync(directory).flatMap((name) => readFileSync(new URL(name, directory), 'utf8').split('\n'));
    const final = grpcCodes.filter((code) => answerClassOf('CreateVolume', code) === 'final' && code !== 'NOT_FOUND');
    const refusals = prose.filter((line) => line.includes('INVALID_ARGUMENT'));
    expect(refusals).to.have.length.above(8);
    for (const line of refusals) for (const code of final) expect(line).to.include(code);

    const classes: [outcome: string, answerClass: RegExp, rpcs: RpcName[]][] = [
      ['done', /^already-so/, ['DeleteVolume', 'DeleteSnapshot', 'NodeUnstageVolume', 'NodeUnpublishVolume']],
      ['refused', /^final$/, ['CreateVolume', 'CreateSnapshot', 'ControllerPublishVolume']],
      ['not-found', /^not-so$/, ['ControllerUnpublishVolume']],
    ];
    for (const [outcome, answerClass, rpcs] of classes) {
      const lines = prose.filter((line) => line.includes(`.${outcome}\`: `) && line.includes('NOT_FOUND to '));
      expect(lines.map((line) => /NOT_FOUND to (\w+)/.exec(line)?.[1])).to.have.members(rpcs);
      for (const rpc of rpcs) expect(answerClassOf(rpc, 'NOT_FOUND'), rpc).to.match(answerClass);
    }
  });

  it('35.4b a picture with more arrows than people can follow has none', async () => {
    const withEnds = (count: number) => {
      const ends = Array.from({ length: count }, (_, at) => `end-${at}`);
      const states = Object.fromEntries(ends.map((end) => [end, { type: 'final' as const }]));
      const on = Object.fromEntries(ends.map((end) => [end, end]));
      return cardsOf(createMachine({ id: 'fan', initial: 'hub', states: { hub: { on }, ...states } }));
    };
    const arrowsIn = async (count: number) => (await pictureOf(withEnds(count), [])).split('class="edge"').length - 1;
    expect(await arrowsIn(10)).to.equal(11);
    expect(await arrowsIn(30)).to.equal(0);
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ChartLayout } from '../../src/page/chart/layout.js';
import { between, linePath } from '../../src/page/chart/lines.js';
import { boxOf, litLines, transitionText } from '../../src/page/chart/lit.js';

const layouts: ChartLayout[] = JSON.parse(
  readFileSync(new URL('../../src/page/chart/layouts.json', import.meta.url), 'utf8'),
);

function layoutOf(name: string): ChartLayout {
  const layout = layouts.find(({ machine }) => machine === name);
  if (!layout) throw new Error(`no layout of ${name}`);
  return layout;
}

const lit = (name: string, before: string, after: string): string[] =>
  litLines(layoutOf(name), before, after).map(({ from, to }) => `${from} → ${to}`);

describe('lit lines of a chart', () => {
  it('X2 a step through a hub lights the line to it and the one from it', () => {
    expect(lit('volume', 'created', 'pending-publish')).to.deep.equal([
      'created → deciding',
      'deciding → pending-publish',
    ]);
    expect(lit('volume', 'pending-publish', 'backing-off')).to.deep.equal([
      'pending-publish → deciding',
      'deciding → backing-off',
    ]);
  });

  it('X2 a step between two states lights the one line that holds its transition', () => {
    expect(lit('publication', 'in-doubt', 'published')).to.deep.equal(['in-doubt → published']);
    expect(lit('publication', 'published', 'republishing')).to.deep.equal(['published → republishing']);
  });

  it('X2 a step that is no transition of the chart lights a line of its own', () => {
    expect(lit('plugin', 'healthy', 'shutdown')).to.deep.equal(['healthy → shutdown']);
  });

  it('X2 no step lights no line', () => {
    expect(lit('volume', 'created', 'created')).to.deep.equal([]);
    expect(lit('volume', '', 'created')).to.deep.equal([]);
  });

  it('X2 the innermost box shows a state, also one that the chart does not know', () => {
    const layout = layoutOf('publication');
    expect(boxOf(layout, 'failed.refused')?.path).to.equal('failed.refused');
    expect(boxOf(layout, 'failed.of-tomorrow')?.path).to.equal('failed');
    expect(boxOf(layout, '')).to.equal(undefined);
  });

  it('X2 the text of a transition names what is not at the ends of its line', () => {
    const line = { from: 'a', to: 'b', moves: [] };
    expect(transitionText(line, { event: 'x.done', guard: 'isFinal', from: 'a.calling', to: 'b.c' })).to.equal(
      'calling: x.done [isFinal] → c',
    );
    expect(transitionText(line, { event: 'x.done' })).to.equal('x.done');
  });
});

describe('shapes of lines', () => {
  it('X2 a corner is rounded, no more than half of the shorter side', () => {
    expect(
      linePath([
        [0, 0],
        [10, 0],
        [10, 4],
      ]),
    ).to.equal('M0 0L8 0Q10 0 10 2L10 4');
  });

  it('X2 a line between boxes begins and ends at their borders', () => {
    const box = { path: 'a', kind: 'state' as const, width: 10, height: 10 };
    expect(between({ ...box, x: 0, y: 0 }, { ...box, x: 0, y: 30 })).to.deep.equal([
      [5, 10],
      [5, 30],
    ]);
    expect(between({ ...box, x: 0, y: 0 }, { ...box, x: 2, y: 2 })).to.deep.equal([]);
  });
});

/** The layouts of charts are those of the present machines, with nothing left out and nothing on top of another. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { charts } from '../../machines/catalog.js';
import { readChart } from '../../scripts/charts/read-chart.js';
import type { ChartLayout, LineMove, StateBox } from '../../src/page/chart/layout.js';
import { endsOf } from '../../src/page/chart/lit.js';

const layouts: ChartLayout[] = JSON.parse(
  readFileSync(new URL('../../src/page/chart/layouts.json', import.meta.url), 'utf8'),
);
const machines = [...charts.values()];

const overlaps = (a: StateBox, b: StateBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const holds = (outer: StateBox, inner: StateBox): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;

const isInside = (inner: StateBox, outer: StateBox): boolean => inner.path.startsWith(`${outer.path}.`);

const textOf = ({ event, guard = '', from = '', to = '' }: LineMove): string => `${from} ${event} [${guard}] ${to}`;

describe('layouts of charts', () => {
  it('X2 every machine and every chart of parts has a layout, of its present version', () => {
    expect(layouts.map(({ machine, version }) => `${machine} ${version}`)).to.deep.equal(
      machines.map(({ id, version }) => `${id} ${version}`),
    );
  });

  it('35 a chart around a scheduler is seen whole beside its parts, on a screen of 1280 × 800 pixels', () => {
    const hubs = layouts.filter(({ states }) => states.some(({ kind }) => kind === 'hub'));
    expect(hubs.map(({ machine }) => machine)).to.include.members(['volume', 'mount', 'volume-snapshot']);
    for (const { machine, width, height } of hubs) {
      expect(width, machine).to.be.at.most(700);
      expect(height, machine).to.be.at.most(540);
    }
  });

  for (const [index, machine] of machines.entries()) {
    const chart = readChart(machine);
    const layout = layouts[index];
    if (!layout) throw new Error(`no layout of ${machine.id}`);

    it(`X2 ${machine.id}: every state has a box, inside that of its group, and no two boxes overlap`, () => {
      const { states } = layout;
      const drawn = states.map(({ path }) => path);
      const missing = chart.states.filter(({ path }) => !drawn.includes(path));
      // An inner group is named by its states, as in `undoing.working`.
      for (const { path, role } of missing) {
        expect(role, path).to.equal('group');
        expect(drawn.some((other) => other.startsWith(`${path}.`))).to.equal(true);
      }
      for (const a of states)
        for (const b of states) {
          if (a === b || isInside(b, a)) continue;
          if (isInside(a, b)) expect(holds(b, a), `${a.path} in ${b.path}`).to.equal(true);
          else expect(overlaps(a, b), `${a.path} on ${b.path}`).to.equal(false);
        }
    });

    it(`X2 ${machine.id}: every transition is behind a line, or listed as one of all states`, () => {
      const drawn = layout.lines.flatMap((line) =>
        line.moves.map((move) => {
          const [from, to] = endsOf(line, move);
          return textOf({ ...move, from, to });
        }),
      );
      expect(new Set(drawn)).to.deep.equal(new Set(chart.transitions.map(textOf)));
      expect(layout.anywhere).to.deep.equal(chart.anywhere);
      expect(layout.stays).to.deep.equal(chart.stays);
    });

    it(`X2 ${machine.id}: lines and labels stay within the picture`, () => {
      for (const { points = [], label } of layout.lines) {
        const places = [...points, ...(label ? [[label.x, label.y] as const] : [])];
        for (const [x, y] of places) {
          expect(x).to.be.within(0, layout.width);
          expect(y).to.be.within(0, layout.height);
        }
      }
    });
  }
});

/** Writes cards in Graphviz's language: each as a table, in the place that it is given, with arrows between them. */
import { type Card, textOf } from './cards.js';
import type { Note } from './notes.js';

/** Graphviz knows the widths of its letters. They are wide: the text fits in the other fonts, too. */
export const font = 'DejaVu Sans';
export const fontSize = 9;

/** Colours dark enough for letters on white, and different enough for most eyes. */
const palette = ['#1f4e9c', '#1b7a3d', '#7a3ea8', '#9a5b00', '#00707a', '#a0236a', '#4a5a00', '#3b3b98', '#7d4427'];
const colourOfFailures = '#b3261e';
const grey = '#666666';
const faint = '#bbbbbb';
const shade = '#f0f0f0';

/** Arrows that people can still follow; beyond that, names and colours in the rows say more. */
const mostArrows = 25;

/** Table in the text of a picture, in points. */
export interface Box {
  width: number;
  height: number;
}

export interface Placed extends Box {
  /** Left edge. */
  x: number;
  /** Upper edge, which grows downwards. */
  y: number;
}

/** Tables of the cards, then of the notes. @param longest characters in one line, where words allow it */
export function tablesOf(cards: Card[], notes: Note[], longest: number): string[] {
  const colourOf = coloursOf(cards);
  return [...cards.map((card) => cardTable(card, colourOf, longest)), ...notes.map((note) => noteTable(note, longest))];
}

/** Tables without places and arrows, to measure them. */
export const loose = (tables: string[]): string => graphOf(tables.map((table, at) => nodeOf(table, at)));

/** @param arrows of `arrowsOf` */
export function placed(tables: string[], places: Placed[], arrows: string[]): string {
  const nodes = tables.map((table, at) => nodeOf(table, at, places[at]));
  return graphOf([...nodes, ...arrows]);
}

const graphOf = (lines: string[]): string =>
  [
    'digraph {',
    'graph [splines=ortho outputorder=edgesfirst pad=0.05]',
    `node [shape=plain fontname="${font}" fontsize=${fontSize}]`,
    'edge [arrowsize=0.6]',
    ...lines,
    '}',
  ].join('\n');

const nodeOf = (table: string, at: number, place?: Placed): string =>
  `t${at} [${place ? `pos="${place.x + place.width / 2},${-place.y - place.height / 2}" ` : ''}label=<${table}>]`;

/**
 * Arrows have the colour of the card to which they lead, and so has its name in a row. Ways into failures and out are faint.
 * Too many to follow: no arrows.
 */
export function arrowsOf(cards: Card[]): string[] {
  const colourOf = coloursOf(cards);
  const arrows = cards.flatMap((card, from) => {
    const ends = cards.filter((other) => other !== card && card.rows.some(({ to }) => isOf(other, to)));
    return ends.map((end) => {
      const colour = card.isFailure || end.isFailure ? faint : colourOf(end.states[0]?.name ?? '');
      return `t${from} -> t${cards.indexOf(end)} [color="${colour}"]`;
    });
  });
  return arrows.length > mostArrows ? [] : arrows;
}

const isOf = ({ states }: Card, name: string): boolean => states.some((state) => state.name === name);

function coloursOf(cards: Card[]): (name: string) => string {
  return (name) => {
    const at = cards.findIndex((card) => isOf(card, name));
    return cards[at]?.isFailure ? colourOfFailures : (palette[at % palette.length] ?? grey);
  };
}

function cardTable({ states, shownAs, rows }: Card, colourOf: (name: string) => string, longest: number): string {
  const [colour] = states.map(({ name }) => colourOf(name));
  const heads = states.flatMap(({ name, runs, words }) => {
    const title = coloured(colour, escaped(name), 11);
    const said = coloured(grey, wrapped(words.split(' '), ' ', longest + 20));
    // On a shared card, words below a name look as if they were about all.
    if (words !== '' && runs === '' && states.length > 1) return [lineOf(title, said)];
    return [runs === '' ? wholeLine(title) : lineOf(title, escaped(runs)), ...(words === '' ? [] : [wholeLine(said)])];
  });
  const lines = rows.map(({ events, to }, at) => {
    const texts = events.map(textOf);
    if (to === '') return wholeLine(coloured(grey, wrapped(texts, ', ', longest + 20, 'stays: ')));
    const cells = [wrapped(texts, ', ', longest), coloured(colourOf(to), `→ ${escaped(to)}`)];
    return at % 2 === 0 ? lineOf(...cells) : shadedLine(...cells);
  });
  const shown = shownAs === '' ? [] : [wholeLine(coloured(grey, `users see: ${shownAs}`))];
  return tableOf(colour ?? grey, [...heads, ...shown, ...(lines.length > 0 ? ['<HR/>'] : []), ...lines]);
}

const noteTable = ({ title, lines }: Note, longest: number): string =>
  tableOf(faint, [
    wholeLine(coloured(grey, title)),
    ...lines.map(({ name, text }) => lineOf(escaped(name), coloured(grey, wrapped(text.split(' '), ' ', longest + 8)))),
  ]);

const tableOf = (colour: string, lines: string[]): string =>
  `<TABLE BGCOLOR="white" BORDER="1.5" COLOR="${colour}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">${lines.join('')}</TABLE>`;

const lineOf = (...cells: string[]): string => `<TR>${cells.map((cell) => cellOf(cell)).join('')}</TR>`;
/** Every second row is shaded, so that people see which events belong to which arrow. */
const shadedLine = (...cells: string[]): string =>
  `<TR>${cells.map((cell) => cellOf(cell, ` BGCOLOR="${shade}"`)).join('')}</TR>`;
const wholeLine = (text: string): string => `<TR>${cellOf(text, ' COLSPAN="2"')}</TR>`;
const cellOf = (text: string, more = ''): string => `<TD ALIGN="LEFT" BALIGN="LEFT"${more}>${text}</TD>`;
const coloured = (colour = grey, text: string, size = fontSize): string =>
  `<FONT COLOR="${colour}" POINT-SIZE="${size}">${text}</FONT>`;

/** Joins parts into lines. A line is longer than `longest` only if a part is. */
function wrapped(parts: string[], separator: string, longest: number, before = ''): string {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.pop();
    const longer = last === undefined ? `${before}${part}` : `${last}${separator}${part}`;
    if (last === undefined || longer.length <= longest) lines.push(longer);
    else lines.push(`${last}${separator.trimEnd()}`, part);
  }
  return lines.map(escaped).join('<BR ALIGN="LEFT"/>');
}

/** Text in Graphviz's language for tables. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

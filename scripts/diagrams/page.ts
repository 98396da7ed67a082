/** Makes the page of one machine: prose, picture, and tables of its transitions and effects. */
import type { AnyStateMachine } from 'xstate';
import { callSteps, type StateWords, saidIn } from '../../machines/kit/state-words.js';
import { cardsOf } from './cards.js';
import type { Shown } from './machines.js';
import { howToRead, notesOf } from './notes.js';
import { pictureOf } from './render.js';
import { arrowsFrom, entryActionsOf, nodesOf, pathOf } from './walk.js';

export interface GeneratedFile {
  name: string;
  text: string;
}

/**
 * Makes the page and the picture of a machine.
 * @param common prose for all parts
 */
export async function filesOf(
  { machine, source, partOf }: Shown,
  prose: string,
  common: string,
): Promise<GeneratedFile[]> {
  const { id, version } = machine;
  const cards = cardsOf(machine);
  const page = [
    `# ${id}`,
    '',
    `Generated from machines/${source}.ts (version ${version}) and prose/${id}.md: do not edit, run \`npm run generate\`.`,
    ...(partOf
      ? [
          '',
          `A part of [${partOf.id}](${partOf.id}.md), which keeps it as a value and steps it. [Words of all parts](README.md#words-of-all-parts).`,
        ]
      : []),
    '',
    prose.trim(),
    '',
    '## Picture',
    '',
    `![${id}: its states](${id}.svg)`,
    '',
    ...wordsOf(machine),
    ...transitionsOf(machine),
    ...effectsOf(machine),
  ];
  return [
    { name: `${id}.md`, text: page.join('\n') },
    { name: `${id}.svg`, text: await pictureOf(cards, notesOf(cards, prose, common)) },
  ];
}

/** Makes the index of all pages. @param words explanations that hold for all parts */
export function indexOf(
  pages: { machine: AnyStateMachine; partOf?: AnyStateMachine; prose: string }[],
  words: string,
): GeneratedFile {
  const rows = pages.map(({ machine: { id }, partOf, prose }) => {
    const [first = ''] = prose.split('\n');
    return `| [${id}](${id}.md) | ${partOf ? `part of [${partOf.id}](${partOf.id}.md)` : 'actor'} | ${first} |`;
  });
  const text = [
    '# Machines',
    '',
    'Every actor is a machine. A part is a machine, too: its owner keeps it as a value in its own record.',
    '',
    '| machine | kind | it is |',
    '|---|---|---|',
    ...rows,
    '',
    '## How to read a picture',
    '',
    '- Each **card** is a state; `X.Y` is the state Y inside X. Beside its name stands what runs meanwhile: a call to the plugin, or another effect.',
    '- States that lead to the same states in the same way share a card.',
    '- Below the name stand the words that people get for the state, and the state that users see, if it has another name.',
    ...howToRead.lines.map(({ name, text }) => `- \`${name}\`: ${text}.`),
    '- An arrow, and the name of the state in the row, have the colour of the card to which they lead. Arrows to failures and from failures are faint.',
    '- A picture with more than 25 arrows has none: nobody could follow them, and the rows say the same.',
    '- Grey cards explain the events and conditions of the chart.',
    '',
    '## Words of all parts',
    '',
    words.trim(),
    '',
  ];
  return { name: 'README.md', text: text.join('\n') };
}

/** Table of the words that its states say, by the paths that people see. */
function wordsOf(machine: AnyStateMachine): string[] {
  const rows = nodesOf(machine.root)
    .flatMap((node) => {
      const words: StateWords['words'] | undefined = node.meta?.words;
      if (words === undefined) return [];
      const path = pathOf(node);
      return typeof words === 'string' ? [path] : [path, ...callSteps.map((step) => `${path}.${step}`)];
    })
    .flatMap((path) => {
      const said = saidIn(machine, path);
      return said ? [`| ${path} | ${said.health} | ${said.why} |`] : [];
    });
  if (rows.length === 0) return [];
  return ['## In words', '', '| state | is | words |', '|---|---|---|', ...rows, ''];
}

function transitionsOf({ root }: AnyStateMachine): string[] {
  const rows = nodesOf(root).flatMap((node) => {
    const entry = entryActionsOf(node).join(', ');
    return [
      ...(entry === '' ? [] : [[pathOf(node), '(entry)', '', '', entry]]),
      ...arrowsFrom(node).map(({ event, guard, to, actions }) => [
        ...[pathOf(node), event, guard, to ? pathOf(to) : ''],
        actions.join(', '),
      ]),
    ];
  });
  return [
    '## Transitions',
    '',
    '| in | on | if | to | does |',
    '|---|---|---|---|---|',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ];
}

function effectsOf({ root }: AnyStateMachine): string[] {
  const rows = nodesOf(root).flatMap((node) =>
    node.invoke.map(({ id, src }) => `| ${pathOf(node)} | ${id} | ${String(src)} |`),
  );
  return [
    '## Effects',
    '',
    ...(rows.length > 0 ? ['| while in | id | effect |', '|---|---|---|', ...rows] : ['None.']),
    '',
  ];
}

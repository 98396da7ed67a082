/** Makes the page of one machine: prose, pictures, and tables of its transitions and effects. */
import type { IStateMachine } from 'state-machine-cat';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { callSteps, type StateWords, saidIn } from '../../machines/kit/state-words.js';
import type { Shown } from './machines.js';
import { detailOf, overviewOf } from './pictures.js';
import { pictureOf, smallestScale } from './render.js';
import { activitiesOf, arrowsFrom, entryActionsOf, nodesOf, pathOf, topStatesOf } from './walk.js';

export interface GeneratedFile {
  name: string;
  text: string;
  /** Size of the letters in a picture, see Picture. */
  scale?: number;
}

/**
 * Makes the page and the pictures of a machine.
 * @param textAt the text of a file on disk; empty if there is none
 */
export async function filesOf(
  { machine, source, partOf }: Shown,
  prose: string,
  textAt: (name: string) => string,
): Promise<GeneratedFile[]> {
  const fileOf = async (name: string, chart: IStateMachine): Promise<GeneratedFile> => {
    const { svg, scale } = await pictureOf(chart, textAt(name));
    return { name, text: svg, scale };
  };
  const { id, version } = machine;
  const details = alike(
    topStatesOf(machine).filter(({ type }) => type === 'compound'),
    machine,
  );
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
    '## Overview',
    '',
    `![${id}: its states](${id}.svg)`,
    '',
    ...details.flatMap(({ states }) => detailText(id, states)),
    ...wordsOf(machine),
    ...transitionsOf(machine),
    ...effectsOf(machine),
  ];
  const inFrames = await fileOf(`${id}.svg`, overviewOf(machine));
  const isReadable = (inFrames.scale ?? 1) >= smallestScale;
  const overview = isReadable ? inFrames : await fileOf(`${id}.svg`, overviewOf(machine, []));
  const files = [{ name: `${id}.md`, text: page.join('\n') }, overview];
  for (const { states, chart } of details) files.push(await fileOf(`${id}.${states[0].key}.svg`, chart));
  return files;
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
    '- The **overview** has one box per top-level state. Changes within a state are left out; the table of transitions has them.',
    '- A frame *shown as X* holds the states that users see as X. An arrow at a frame holds for all states in it.',
    '- Faint arrows without words are ways into `failed` and out of it: the picture within `failed` and the table have their words.',
    '- A picture **within** a state shows the states inside it. Grey boxes are other states, which its arrows lead to or come from.',
    '- Below the name of a state stands what runs while the machine is in it: calls to the plugin, or other effects.',
    '- An arrow to a state with states inside leads to its first one, to which the dot in its own picture points. `X.Y` is the inner state Y of X; `event → Y` enters Y.',
    '- Arrows have the colour of the box that they come from.',
    '- An arrow names its events: `event [condition]`. *Otherwise*: no other condition holds. `in X: a, b`: these events lead there from the inner state X only; `not in X: a, b`: from every inner state but X.',
    '- `X ended`, `X failed`: the effect X gave its result, or threw. `after untilDue`: the pause until the next attempt is over.',
    '- An event without an arrow in a state changes nothing there; what is still wanted then is sent again once the call has ended.',
    '- *Any other state*, *any other of these*: all states that have no arrow of their own for this event. `any X`: all states inside X.',
    '- A **scheduler** decides after every event what is next. All other states lead back to it by grey arrows.',
    '',
    '## Words of all parts',
    '',
    words.trim(),
    '',
  ];
  return { name: 'README.md', text: text.join('\n') };
}

interface Detail {
  states: [AnyStateNode, ...AnyStateNode[]];
  /** Chart of the first state. */
  chart: IStateMachine;
}

/** Groups states that differ only in their names and effects, so that they share one picture. */
function alike(states: AnyStateNode[], machine: AnyStateMachine): Detail[] {
  const details = new Map<string, Detail>();
  for (const state of states) {
    const chart = detailOf(machine, state.key);
    const names = [state.key, ...effectIdsOf(state), ...nodesOf(state).flatMap(activitiesOf)];
    const shape = names.reduce((text, name, at) => text.replaceAll(name, `#${at}`), JSON.stringify(chart));
    const known = details.get(shape);
    if (known) known.states.push(state);
    else details.set(shape, { states: [state], chart });
  }
  return [...details.values()];
}

const effectIdsOf = (state: AnyStateNode): string[] =>
  nodesOf(state).flatMap(({ invoke }) => invoke.map(({ id }) => id));

function detailText(id: string, [first, ...others]: Detail['states']): string[] {
  const same = others.map((state) => {
    const effects = effectIdsOf(state);
    return effects.length > 0 ? `\`${state.key}\` (${effects.join(', ')})` : `\`${state.key}\``;
  });
  return [
    `## Within ${[first, ...others].map(({ key }) => key).join(', ')}`,
    '',
    `![${id}: within ${first.key}](${id}.${first.key}.svg)`,
    '',
    ...(same.length > 0 ? [`The same picture holds for ${same.join(', ')}.`, ''] : []),
  ];
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

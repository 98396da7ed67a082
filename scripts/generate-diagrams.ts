/**
 * Draws every machine into docs/machines/: a statechart (SVG) and a table of its transitions, by walking the machine
 * itself. The same machine gives the same files. `--check` writes nothing and names what is stale.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { render } from 'state-machine-cat';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import {
  allocMachine,
  groupSnapshotMachine,
  mountMachine,
  nodeMachine,
  pluginMachine,
  pluginsMachine,
  registryMachine,
  taskMachine,
  volumeMachine,
  volumeSnapshotMachine,
} from '../machines/index.js';

const machines: [machine: AnyStateMachine, source: string][] = [
  [registryMachine, 'registry'],
  [pluginsMachine, 'plugins'],
  [pluginMachine, 'plugin'],
  [taskMachine, 'task'],
  [volumeMachine, 'volume/volume'],
  [volumeSnapshotMachine, 'snapshot/snapshot'],
  [groupSnapshotMachine, 'snapshot/group'],
  [nodeMachine, 'node'],
  [mountMachine, 'mount/mount'],
  [allocMachine, 'alloc/alloc'],
];
const directory = fileURLToPath(new URL('../docs/machines/', import.meta.url));

interface Arrow {
  from: string;
  to: string;
  event: string;
  guard: string;
  actions: string;
}

const nameOf = (item: unknown): string =>
  typeof item === 'string' ? item : String((item as { type?: string }).type ?? (item as { name?: string }).name);

const pathOf = (node: AnyStateNode): string => (node.path.length === 0 ? 'any state' : node.path.join('.'));

/** XState's own event names, as a person reads them. */
function eventText(node: AnyStateNode, type: string): string {
  if (type === '') return 'always';
  const after = type.match(/^xstate\.after\.([^.]+)\./);
  if (after) return `after ${after[1]}`;
  const [, outcome, id] = type.match(/^xstate\.(done|error)\.actor\.(.+)$/) ?? [];
  if (outcome) return `${id} ${outcome === 'done' ? 'done' : 'failed'}`;
  return type.replace(`.${node.id}`, '');
}

function arrowsOf(node: AnyStateNode): Arrow[] {
  const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
  const own = transitions.map(({ eventType, target, guard, actions }) => ({
    from: pathOf(node),
    to: target?.[0] ? pathOf(target[0]) : '',
    event: eventText(node, eventType ?? ''),
    guard: guard ? nameOf(guard) : '',
    actions: actions.map(nameOf).join(', '),
  }));
  return [...entryOf(node), ...own, ...Object.values(node.states).flatMap(arrowsOf)];
}

/** What entering a state does, told as an arrow to nowhere. */
const entryOf = (node: AnyStateNode): Arrow[] =>
  // XState adds the timers of `after` to the entry actions: they have rows of their own.
  [node.entry.map(nameOf).filter((name) => name !== 'xstate.raise' && name !== 'raise')]
    .filter((actions) => actions.length > 0)
    .map((actions) => ({ from: pathOf(node), to: '', event: '(entry)', guard: '', actions: actions.join(', ') }));

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

const quoted = (text: string): string => `"${text}"`;

/** The root's own transitions start from everywhere: drawn as one state of that name. */
function chartOf(machine: AnyStateMachine, arrows: Arrow[]): string {
  const names = nodesOf(machine.root)
    .map(pathOf)
    .filter((name) => name !== 'any state' || arrows.some(({ from }) => from === name));
  const declared = ['initial', ...names.map(quoted)];
  const finals = nodesOf(machine.root).filter(({ type }) => type === 'final');
  if (finals.length > 0) declared.push('final');
  const lines = arrows
    .filter(({ to }) => to !== '')
    .map(
      ({ from, to, event, guard }) =>
        `${quoted(from)} => ${quoted(to)}: ${quoted(guard ? `${event} [${guard}]` : event)};`,
    );
  const start = `initial => ${quoted(Object.keys(machine.root.states).find((key) => machine.root.initial.target?.[0]?.key === key) ?? '')};`;
  return [
    `${declared.join(', ')};`,
    start,
    ...lines,
    ...finals.map((node) => `${quoted(pathOf(node))} => final;`),
  ].join('\n');
}

function pageOf(machine: AnyStateMachine, source: string, arrows: Arrow[]): string {
  const rows = arrows.map(
    ({ from, event, guard, to, actions }) => `| ${[from, event, guard, to, actions].join(' | ')} |`,
  );
  const effects = nodesOf(machine.root).flatMap((node) =>
    node.invoke.map(({ id, src }) => `| ${pathOf(node)} | ${id} | ${String(src)} |`),
  );
  return [
    `# ${machine.id}`,
    '',
    `Generated from machines/${source}.ts (version ${machine.version}): do not edit, run \`npm run generate\`.`,
    '',
    `![statechart of ${machine.id}](${machine.id}.svg)`,
    '',
    '## Transitions',
    '',
    '| in | on | if | to | does |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Effects',
    '',
    ...(effects.length > 0 ? ['| while in | id | effect |', '|---|---|---|', ...effects] : ['None.']),
    '',
  ].join('\n');
}

const files = machines.flatMap(([machine, source]) => {
  const arrows = arrowsOf(machine.root);
  const svg = render(chartOf(machine, arrows), { outputType: 'svg' });
  return [
    { name: `${machine.id}.md`, text: pageOf(machine, source, arrows) },
    { name: `${machine.id}.svg`, text: `${String(svg).trimEnd()}\n` },
  ];
});

if (process.argv.includes('--check')) {
  const stale = files.filter(
    ({ name, text }) => !existsSync(directory + name) || readFileSync(directory + name, 'utf8') !== text,
  );
  if (stale.length > 0) {
    console.error(`stale: ${stale.map(({ name }) => `docs/machines/${name}`).join(', ')}: run npm run generate`);
    process.exit(1);
  }
} else {
  mkdirSync(directory, { recursive: true });
  for (const { name, text } of files) writeFileSync(directory + name, text);
}

/**
 * Gives a chart its positions, the same each time. A hub becomes a bar (hub-layout.ts); everything else is laid out by ELK: with nested
 * states and their lines if that fits the screen, else with the inner states as small boxes in their group.
 */
import elkjs, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { ChartLayout, Line, StateBox } from '../../src/page/chart/layout.js';
import { type Block, blockOf, boxOf, letters, placedAt, rounded, type Size, sizeOf, withRuns } from './boxes.js';
import { hubLayout } from './hub-layout.js';
import { labelOf, labelSize, linesOf } from './lines.js';
import type { ReadChart, ReadState } from './read-chart.js';

/** Room for a chart on a screen of 1280 × 800 pixels, at the smallest scale that people can read: 10 pixels. */
const roomFor = (size: number): Size => ({ width: (690 * size) / 10, height: (430 * size) / 10 });

const elk = new elkjs.default();

const common = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': '[top=14,left=18,bottom=14,right=14]',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.nodeNode': '28',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.crossingMinimization.semiInteractive': 'true',
  'elk.edgeLabels.inline': 'false',
};

const dense = {
  'elk.spacing.nodeNode': '16',
  'elk.spacing.edgeNode': '10',
  'elk.spacing.edgeEdge': '7',
  'elk.layered.spacing.nodeNodeBetweenLayers': '18',
  'elk.layered.spacing.edgeNodeBetweenLayers': '9',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
};

interface Draft {
  chart: ReadChart;
  /** Boxes at the top of the graph, and their sizes. */
  nodes: ElkNode[];
  lines: Line[];
  isLabelled: boolean;
  blocks: Map<string, Block>;
  options?: Record<string, string>;
}

/** Above this many states, inner states are small boxes, and lines share their ways. */
const mostNested = 18;
/** Up to so many states and lines, the lines have labels. */
const mostLabelled = { states: 8, lines: 10 };

export async function layOut(chart: ReadChart): Promise<ChartLayout> {
  const { states } = chart;
  if (states.some(({ role }) => role === 'hub')) return hubLayout(chart);
  const lines = linesOf(chart, (path) => path);
  const isSmall = states.length <= mostLabelled.states && lines.length <= mostLabelled.lines;
  const drafts = [
    ...(isSmall ? [nested(chart, true)] : []),
    ...(states.length <= mostNested ? [nested(chart, false)] : []),
    ...rowWidths.flatMap((width) => orders.map((order) => compact(chart, width, order))),
  ];
  const layouts: { layout: ChartLayout; excess: number }[] = [];
  for (const draft of drafts) {
    const layout = await drawn(draft);
    const excess = excessOf(layout, draft.isLabelled ? letters.label : letters.name);
    if (excess <= 1) return layout;
    layouts.push({ layout, excess });
  }
  const [best] = layouts.sort((a, b) => a.excess - b.excess);
  if (!best) throw new Error(`${chart.machine} has no layout`);
  return best.layout;
}

/** Ways to order the states of a large chart, from the one closest to the order in the machine. */
const orders = ['MODEL_ORDER', 'GREEDY'].flatMap((cycles) =>
  ['NETWORK_SIMPLEX', 'MIN_WIDTH'].flatMap((layers) =>
    ['NODES_AND_EDGES', 'NONE'].flatMap((model) =>
      ['NETWORK_SIMPLEX', 'BRANDES_KOEPF', 'LINEAR_SEGMENTS'].map((places) => ({
        'elk.layered.cycleBreaking.strategy': cycles,
        'elk.layered.layering.strategy': layers,
        'elk.layered.considerModelOrder.strategy': model,
        'elk.layered.nodePlacement.strategy': places,
      })),
    ),
  ),
);

/** How much larger it is than its room, where 1 fits. */
function excessOf({ width, height }: ChartLayout, size: number): number {
  const room = roomFor(size);
  return Math.max(width / room.width, height / room.height);
}

function nested(chart: ReadChart, isLabelled: boolean): Draft {
  const node = (state: ReadState): ElkNode => {
    const inner = chart.states.filter(({ parent }) => parent === state.path);
    if (inner.length === 0) return { id: state.path, ...sizeOf(state) };
    const top = state.runs ? 46 : 32;
    return {
      id: state.path,
      children: inner.map(node),
      layoutOptions: { 'elk.padding': `[top=${top},left=16,bottom=12,right=12]` },
    };
  };
  return {
    chart,
    nodes: chart.states.filter(({ parent }) => parent === '').map(node),
    lines: linesOf(chart, (path) => path),
    isLabelled,
    blocks: new Map(),
  };
}

/** Widths of rows of inner states that are tried: all four states of a piece of work, or two. */
const rowWidths = [400, 330, 230];

function compact(chart: ReadChart, row: number, order: Record<string, string>): Draft {
  const tops = chart.states.filter(({ parent }) => parent === '');
  const groups = tops.filter(({ role }) => role === 'group');
  const blocks = new Map(groups.map((state) => [state.path, blockOf(chart, state, row)]));
  return {
    chart,
    nodes: tops.map((state) => {
      const { width, height } = blocks.get(state.path) ?? sizeOf(state);
      return { id: state.path, width, height };
    }),
    lines: linesOf(chart, topOf),
    isLabelled: false,
    blocks,
    options: { ...dense, ...order },
  };
}

const topOf = (path: string): string => path.split('.')[0] ?? path;

async function drawn({ chart, nodes, lines, isLabelled, blocks, options }: Draft): Promise<ChartLayout> {
  const known = new Set(allNodes(nodes).map(({ id }) => id));
  const isDrawn = ({ from, to }: Line): boolean =>
    known.has(from) && known.has(to) && from !== to && !isInside(from, to) && !isInside(to, from);
  const routed = lines.filter(isDrawn);
  const back = new Map(isLabelled ? [] : pairsOf(routed));
  const graph: ElkNode = {
    id: 'root',
    layoutOptions: { ...common, 'elk.layered.mergeEdges': String(!isLabelled), ...options },
    children: nodes,
    edges: routed.filter((line) => !back.has(line)).map((line) => edgeOf(line, lines.indexOf(line), isLabelled)),
  };
  const root: ElkNode = await elk.layout(graph);
  const corners = new Map<string, { x: number; y: number }>([['root', { x: 0, y: 0 }]]);
  const states = placed(root, { chart, blocks, corners });
  const routes = new Map(allEdges(root).map((edge) => [lines[Number(edge.id)], routeOf(edge, corners)]));
  const withRoute = (line: Line): Line => {
    const other = back.get(line);
    const points = routes.get(other)?.points;
    return other && points ? { ...line, points: points.toReversed() } : { ...line, ...routes.get(line) };
  };
  return {
    ...{ machine: chart.machine, version: chart.version },
    ...{ width: Math.ceil(root.width ?? 0), height: Math.ceil(root.height ?? 0) },
    states,
    lines: lines.map(withRoute),
    ...{ stays: chart.stays, anywhere: chart.anywhere },
  };
}

/** Lines back, each with the line in the other direction: both share one way. */
const pairsOf = (lines: readonly Line[]): [back: Line, line: Line][] =>
  lines.flatMap((back, index) => {
    const line = lines.slice(0, index).find(({ from, to }) => from === back.to && to === back.from);
    return line ? [[back, line] as [Line, Line]] : [];
  });

const isInside = (inner: string, outer: string): boolean => inner.startsWith(`${outer}.`);

const allNodes = (nodes: readonly ElkNode[]): ElkNode[] =>
  nodes.flatMap((node) => [node, ...allNodes(node.children ?? [])]);

const allEdges = (node: ElkNode): ElkExtendedEdge[] => [
  ...(node.edges ?? []),
  ...(node.children ?? []).flatMap(allEdges),
];

function edgeOf(line: Line, index: number, isLabelled: boolean): ElkExtendedEdge {
  const text = isLabelled ? labelOf(line) : '';
  return {
    id: `${index}`,
    sources: [line.from],
    targets: [line.to],
    ...(text && { labels: [{ text, ...labelSize(text, letters.label) }] }),
  };
}

interface Placing {
  chart: ReadChart;
  blocks: Map<string, Block>;
  /** Filled with the corner of each box. */
  corners: Map<string, { x: number; y: number }>;
}

function placed(node: ElkNode, placing: Placing): StateBox[] {
  const origin = placing.corners.get(node.id) ?? { x: 0, y: 0 };
  return (node.children ?? []).flatMap((child) => {
    const x = origin.x + (child.x ?? 0);
    const y = origin.y + (child.y ?? 0);
    placing.corners.set(child.id, { x, y });
    const state = placing.chart.states.find(({ path }) => path === child.id);
    if (!state || state.role === 'hub') throw new Error(`no box for ${child.id}`);
    const block = placing.blocks.get(child.id);
    const size = { width: child.width ?? 0, height: child.height ?? 0 };
    return [
      boxOf(withRuns(state, block), state.role, { x, y, ...size }),
      ...(block ? placedAt(block, x, y) : placed(child, placing)),
    ];
  });
}

function routeOf(edge: ElkExtendedEdge, corners: Placing['corners']): Pick<Line, 'points' | 'label'> {
  const section = edge.sections?.[0];
  if (!section) return {};
  const origin = corners.get((edge as { container?: string }).container ?? 'root') ?? { x: 0, y: 0 };
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  const label = edge.labels?.[0];
  return {
    points: points.map(({ x, y }) => [rounded(x + origin.x), rounded(y + origin.y)]),
    ...(label?.text && {
      label: {
        x: rounded((label.x ?? 0) + origin.x + 4),
        y: rounded((label.y ?? 0) + origin.y + 12),
        text: label.text,
      },
    }),
  };
}

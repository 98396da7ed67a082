/**
 * How an actor is, in one word, and why: made here for the page, the command line and the API alike. Pure: from the id of
 * its machine, its state and its context.
 */
import type { StateValue } from 'xstate';
import type { AllocContext } from '../../machines/alloc/types.js';
import { catalog } from '../../machines/catalog.js';
import type { PartView } from '../../machines/kit/parts.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { NodeContext } from '../../machines/node/node.js';
import type { PluginContext } from '../../machines/plugin/plugin.js';
import type { PluginsContext } from '../../machines/plugin/plugins.js';
import type { TaskContext } from '../../machines/task/task-types.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { Health, PartSummary } from '../api/actor-routes.js';
import { pathOf } from '../journal/history.js';
import { wordsOf } from './part-words.js';

export interface Condition {
  health: Health;
  /** A few words. */
  why: string;
  /** Part of the actor that is the reason, if it is one. */
  part?: PartView;
}

/** Worst first. */
export const ranks: Record<Health, number> = {
  failed: 0,
  'in-doubt': 1,
  waiting: 2,
  working: 3,
  unknown: 4,
  healthy: 5,
  gone: 6,
};

/** Parts of an actor; none if its machine has no parts. */
export const partsIn = (machine: string, context: object): PartView[] =>
  catalog.get(machine)?.parts?.(context as never) ?? [];

/** Condition of an actor; without a state it is gone. */
export function conditionOf(machine: string, value: StateValue | undefined, context: object): Condition {
  if (value === undefined) return { health: 'gone', why: 'deleted' };
  const judge = Object.hasOwn(judges, machine) ? judges[machine] : undefined;
  const state = pathOf(value);
  return judge?.(state, context as never) ?? { health: 'unknown', why: state };
}

type Judge = (state: string, context: never) => Condition | undefined;

/** Health of a state, by its first matching beginning. */
type Table = readonly (readonly [beginning: string, health: Health, why: string])[];

const isIn = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

function lookUp(table: Table, state: string): Condition | undefined {
  const row = table.find(([beginning]) => isIn(state, beginning));
  return row && { health: row[1], why: row[2] };
}

/** Health of the steps whose names don't tell it. */
const stepHealth: Record<string, Record<string, Health>> = {
  lifecycle: { absent: 'gone', created: 'healthy' },
  publication: { published: 'healthy', removed: 'gone' },
  expansion: { overtaken: 'working', done: 'healthy' },
  modification: { overtaken: 'working', done: 'healthy' },
  staging: {
    'not-staged': 'gone',
    staged: 'healthy',
    'not-needed': 'healthy',
    'missing.waiting-for-request': 'failed',
    'found-dead.waiting-for-targets': 'failed',
  },
  target: { published: 'healthy', lost: 'failed', released: 'gone' },
  'alloc-volume': {
    'preparing.waiting-for-claim': 'waiting',
    preparing: 'working',
    mounted: 'healthy',
    'confirming-claim': 'working',
    'lost-at-reboot': 'failed',
    releasing: 'working',
    released: 'gone',
  },
};

/** Health of a step of a part, by its chart and state. */
export function healthOfStep(chart: string, at: string): Health {
  const known = Object.entries(stepHealth[chart] ?? {}).find(([beginning]) => isIn(at, beginning));
  if (known) return known[1];
  const [outer = ''] = at.split('.');
  if (outer === 'failed') return 'failed';
  if (outer.includes('in-doubt') || outer === 'finding-out' || outer === 'cancelling') return 'in-doubt';
  return /\.(calling|first-call)\b/.test(at) ? 'working' : 'waiting';
}

/** Parts of an actor, and how each is. */
export const partSummaries = (machine: string, context: object): PartSummary[] =>
  partsIn(machine, context).map((part) => ({ ...part, health: healthOfStep(part.chart, part.at) }));

/** The worst part, and why in words. */
function worstOf(parts: readonly PartView[], name: (part: PartView) => string): Condition | undefined {
  let worst: Condition | undefined;
  for (const part of parts) {
    const health = healthOfStep(part.chart, part.at);
    if (worst && ranks[worst.health] <= ranks[health]) continue;
    const words = wordsOf(part.chart, part.at) || part.at.replaceAll('-', ' ');
    worst = { health, why: `${name(part)}${words}`, part };
  }
  return worst;
}

/** Returns the end of a part's id, after the slash: the node of a publication, the alloc of a target. */
const ownerIn = ({ id }: PartView): string => id.slice(id.indexOf('/') + 1);

function nameOfVolumePart(part: PartView): string {
  if (part.chart === 'publication') return `on ${ownerIn(part)}: `;
  if (part.chart === 'expansion') return 'expansion ';
  return part.chart === 'modification' ? 'change of its parameters ' : '';
}

const judgeVolume = (state: string, context: VolumeContext): Condition => {
  const { leftovers, sighting, publications, availability, waiting } = context;
  const [leftover] = leftovers;
  if (leftover) return { health: 'failed', why: `something may be left behind: ${leftover.message}` };
  if (isIn(state, 'deleted')) return { health: 'gone', why: 'deleted' };
  const worst = worstOf(partsIn('volume', context), nameOfVolumePart);
  if (worst && ranks[worst.health] < ranks.healthy) return worst;
  if (sighting?.isMissing) return { health: 'failed', why: 'its plugin does not list it any more' };
  if (sighting?.condition?.abnormal)
    return { health: 'failed', why: `its plugin reports: ${sighting.condition.message}` };
  const nodes = Object.keys(publications);
  const where = nodes.length > 0 ? `on ${nodes.join(', ')}` : 'not published';
  const words = [where, ...(availability === 'active' ? [] : [availability === 'pause' ? 'paused' : 'being drained'])];
  if (waiting.length > 0) words.push(`${waiting.length} claims wait`);
  return { health: worst?.health ?? 'healthy', why: words.join(', ') };
};

const judgeMount = (_: string, context: MountContext): Condition => {
  const { condition, users } = context;
  const worst = worstOf(partsIn('mount', context), (part) =>
    part.chart === 'target' ? `for alloc ${ownerIn(part)}: ` : '',
  );
  if (worst && ranks[worst.health] < ranks.healthy) return worst;
  if (condition?.abnormal) return { health: 'failed', why: `its plugin reports: ${condition.message}` };
  const allocs = users.map(({ allocId }) => allocId);
  if (allocs.length > 0) return { health: 'healthy', why: `mounted for ${allocs.join(', ')}` };
  return worst?.health === 'healthy' ? { health: 'healthy', why: 'staged' } : { health: 'gone', why: 'not mounted' };
};

const allocStates: Table = [
  ['released', 'gone', 'released'],
  ['recovering.backing-off', 'waiting', 'the restart waits for its next attempt'],
  ['recovering.awaiting-prepare', 'waiting', 'waits to be prepared again'],
  ['recovering.working', 'working', 'being checked after a restart'],
  ['releasing.asked-for.backing-off', 'waiting', 'its release waits for the next attempt'],
  ['releasing.undoing.backing-off', 'waiting', 'what was done for it is undone at the next attempt'],
  ['releasing.asked-for', 'working', 'being released'],
  ['releasing.undoing', 'working', 'what was done for it is being undone'],
];

const judgeAlloc = (state: string, context: AllocContext): Condition => {
  if (isIn(state, 'failed'))
    return { health: 'failed', why: context.failure ? `can't be prepared: ${context.failure.message}` : 'failed' };
  const known = lookUp(allocStates, state);
  if (known) return known;
  const worst = worstOf(partsIn('alloc', context), (part) => `volume ${ownerIn(part)}: `);
  if (worst && ranks[worst.health] < ranks.healthy) return worst;
  return isIn(state, 'prepared')
    ? { health: 'healthy', why: 'prepared' }
    : { health: 'working', why: 'being prepared' };
};

const judgeTask = (state: string, { reason, health }: TaskContext): Condition => {
  if (isIn(state, 'running') && health?.healthy === false) return { health: 'failed', why: health.description };
  const found = lookUp(taskStates, state) ?? { health: 'unknown', why: state };
  const isTold = reason !== null && (found.health === 'failed' || found.health === 'waiting');
  return isTold
    ? { ...found, why: `${found.why}: ${reason.split('\n', 1)[0]?.replace(/;? ?end of its log:$/, '')}` }
    : found;
};

const taskStates: Table = [
  ['stopped', 'gone', 'stopped'],
  ['starting', 'working', 'being started'],
  ['waiting', 'waiting', 'waits for an answer of its plugin'],
  ['running', 'healthy', 'runs'],
  ['ended', 'working', 'its process has ended'],
  ['backing-off', 'waiting', 'started again soon'],
  ['stopping', 'working', 'being stopped'],
  ['failed', 'failed', 'ended too often'],
  ['removed', 'gone', 'removed'],
];

const judgePlugin = (state: string, { fingerprint: { description } }: PluginContext): Condition => {
  if (state === 'healthy') return { health: 'healthy', why: description || 'answers' };
  if (state === 'unhealthy') return { health: 'failed', why: description };
  return state === 'shutdown' ? { health: 'gone', why: 'deregistered' } : { health: 'unknown', why: 'not checked yet' };
};

const judgePlugins = (_: string, { instances }: PluginsContext): Condition => {
  const [active, ...others] = instances;
  if (!active) return { health: 'gone', why: 'no instance' };
  const more = others.length > 0 ? `, ${others.length} older` : '';
  return { health: 'healthy', why: `instance ${active.allocId} is active${more}` };
};

const nodeStates: Table = [
  ['ready', 'healthy', 'ready'],
  ['down.waiting', 'failed', 'down'],
  ['down.fencing', 'failed', 'down, its volumes are being released'],
  ['down.fenced', 'failed', 'down and fenced'],
  ['gone.releasing', 'gone', 'taken out, its volumes are being released'],
  ['gone', 'gone', 'taken out'],
];

const judgeNode = (state: string, { fence }: NodeContext): Condition | undefined => {
  const known = lookUp(nodeStates, state);
  return known?.health === 'failed' && fence ? { ...known, why: `${known.why}: ${fence.reason}` } : known;
};

const registryStates: Table = [
  ['stopped', 'gone', 'stopped'],
  ['starting', 'working', 'starts'],
  ['restoring', 'working', 'restores its actors'],
  ['running', 'healthy', 'runs'],
  ['draining', 'working', 'stops'],
];

const snapshotSteps: Table = [
  ['absent', 'gone', 'deleted'],
  ['ready', 'healthy', 'ready'],
  ['left-behind', 'failed', 'something may be left behind'],
  ['failed.refused', 'failed', 'create refused'],
  ['failed.in-doubt', 'failed', 'create refused, but an earlier attempt may have created it'],
  ['failed.unproven', 'failed', 'what was created is not proven to be of this volume'],
  ['failed.readiness', 'failed', 'it does not become ready'],
  ['failed.removal', 'failed', 'what was created can not be removed'],
  ['failed.finding-out', 'failed', 'create given up, and its id is not known'],
  ['failed.deletion', 'failed', 'delete refused'],
  ['create-in-doubt', 'in-doubt', 'create in doubt'],
  ['finding-out', 'in-doubt', 'create in doubt and given up'],
  ['waiting-until-ready', 'waiting', 'waits until the plugin has it ready'],
  ['pending-create.calling', 'working', 'being created'],
  ['pending-create', 'waiting', 'to be created'],
  ['removing-untrusted.calling', 'working', 'what was created is being removed'],
  ['removing-untrusted', 'waiting', 'what was created is to be removed'],
  ['pending-delete.calling', 'working', 'being deleted'],
  ['pending-delete', 'waiting', 'to be deleted'],
];

const snapshotWaits: Table = [
  ['waiting-for-plugin', 'waiting', ', waits for the plugin'],
  ['backing-off', 'waiting', ', next attempt later'],
];

const judgeSnapshot = (state: string): Condition | undefined => {
  const known = lookUp(snapshotSteps, state);
  const wait = lookUp(snapshotWaits, state.slice(state.indexOf('.') + 1));
  return known && { ...known, why: `${known.why}${wait?.why ?? ''}` };
};

const judges: Record<string, Judge> = {
  volume: judgeVolume,
  mount: judgeMount,
  alloc: judgeAlloc,
  task: judgeTask,
  plugin: judgePlugin,
  plugins: judgePlugins,
  node: judgeNode,
  registry: (state) => lookUp(registryStates, state),
  'volume-snapshot': judgeSnapshot,
  'group-snapshot': judgeSnapshot,
};

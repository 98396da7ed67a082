/**
 * How an actor is, in one word, and why: made here for the page, the command line and the API alike. Pure: from the id of
 * its machine, its state and its context.
 */
import type { StateValue } from 'xstate';
import type { AllocContext } from '../../machines/alloc/types.js';
import { catalog, saidOf, shownPathOf } from '../../machines/catalog.js';
import { addressParts } from '../../machines/kit/addresses.js';
import type { PartView } from '../../machines/kit/parts.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { NodeContext } from '../../machines/node/node.js';
import type { PluginContext } from '../../machines/plugin/plugin.js';
import type { PluginsContext } from '../../machines/plugin/plugins.js';
import type { TaskContext } from '../../machines/task/task-types.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { Health, PartSummary } from '../api/actor-routes.js';
import { healthOfStep, isInState } from './state-health.js';

interface Condition {
  health: Health;
  /** A few words. */
  why: string;
  /** Part of the actor that is the reason, if it is one. */
  part?: PartView;
}

/** Id of the machine of an actor: the first part of its address. */
export const machineOf = (address: string): string => addressParts(address)[0] ?? '';

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
  const state = shownPathOf(machine, value, context);
  return judge?.(state, context as never) ?? { health: 'unknown', why: state };
}

type Judge = (state: string, context: never) => Condition | undefined;

/** Parts of an actor, and how each is. */
export const partSummaries = (machine: string, context: object): PartSummary[] =>
  partsIn(machine, context).map((part) => ({ ...part, health: healthOfPart(part) }));

/** Health of a part, by its state alone. */
export const healthOfPart = ({ chart, at }: PartView): Health => saidOf(chart, at)?.health ?? healthOfStep(chart, at);

/** State of a part in words. */
export const wordsOf = ({ words, at }: PartView): string => words ?? at.replaceAll('-', ' ');

/** The worst part, and why in words. */
function worstOf(parts: readonly PartView[], name: (part: PartView) => string): Condition | undefined {
  let worst: Condition | undefined;
  for (const part of parts) {
    const health = healthOfPart(part);
    if (worst && ranks[worst.health] <= ranks[health]) continue;
    worst = { health, why: `${name(part)}${wordsOf(part)}`, part };
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
  if (isInState(state, 'deleted')) return { health: 'gone', why: 'deleted' };
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
  const { condition, users, expansion } = context;
  const worst = worstOf(partsIn('mount', context), (part) =>
    part.chart === 'target' ? `for alloc ${ownerIn(part)}: ` : '',
  );
  if (worst && ranks[worst.health] < ranks.healthy) return worst;
  if (condition?.abnormal) return { health: 'failed', why: `its plugin reports: ${condition.message}` };
  if (expansion?.failure) return { health: 'failed', why: `can't be expanded: ${expansion.failure.message}` };
  const allocs = users.map(({ allocId }) => allocId);
  if (allocs.length > 0) return { health: 'healthy', why: `mounted for ${allocs.join(', ')}` };
  return worst?.health === 'healthy' ? { health: 'healthy', why: 'staged' } : { health: 'gone', why: 'not mounted' };
};

const judgeAlloc = (state: string, context: AllocContext): Condition | undefined => {
  if (isInState(state, 'failed'))
    return { health: 'failed', why: context.failure ? `can't be prepared: ${context.failure.message}` : 'failed' };
  if (!isInState(state, 'preparing') && !isInState(state, 'prepared')) return saidOf('alloc', state);
  const worst = worstOf(partsIn('alloc', context), (part) => `volume ${ownerIn(part)}: `);
  if (worst && ranks[worst.health] < ranks.healthy) return worst;
  return saidOf('alloc', state);
};

const judgeTask = (state: string, { reason, health }: TaskContext): Condition | undefined => {
  if (isInState(state, 'running') && health?.healthy === false) return { health: 'failed', why: health.description };
  const found = saidOf('task', state);
  if (!found) return undefined;
  const isTold = reason !== null && (found.health === 'failed' || found.health === 'waiting');
  return isTold
    ? { ...found, why: `${found.why}: ${reason.split('\n', 1)[0]?.replace(/;? ?end of its log:$/, '')}` }
    : found;
};

const judgePlugin = (state: string, { fingerprint: { description } }: PluginContext): Condition | undefined => {
  const known = saidOf('plugin', state);
  const isChecked = state === 'healthy' || state === 'unhealthy';
  return known && isChecked && description ? { ...known, why: description } : known;
};

const judgePlugins = (_: string, { instances }: PluginsContext): Condition => {
  const [active, ...others] = instances;
  if (!active) return { health: 'gone', why: 'no instance' };
  const more = others.length > 0 ? `, ${others.length} older` : '';
  return { health: 'healthy', why: `instance ${active.allocId} is active${more}` };
};

const judgeNode = (state: string, { fence }: NodeContext): Condition | undefined => {
  const known = saidOf('node', state);
  return known?.health === 'failed' && fence ? { ...known, why: `${known.why}: ${fence.reason}` } : known;
};

const judgeSnapshot = (state: string): Condition | undefined => saidOf('snapshot', state);

const judges: Record<string, Judge> = {
  volume: judgeVolume,
  mount: judgeMount,
  alloc: judgeAlloc,
  task: judgeTask,
  plugin: judgePlugin,
  plugins: judgePlugins,
  node: judgeNode,
  registry: (state) => saidOf('registry', state),
  'volume-snapshot': judgeSnapshot,
  'group-snapshot': judgeSnapshot,
};

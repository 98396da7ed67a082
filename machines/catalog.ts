/** All machines whose actors Stagecraft hosts, by the first part of their addresses, with the charts of their parts. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { allocMachine } from './alloc/alloc.js';
import { allocParts } from './alloc/parts.js';
import { volumeSteps } from './alloc/volume-steps.js';
import type { PartView } from './kit/parts.js';
import { pathOf } from './kit/state-path.js';
import { type Said, saidIn } from './kit/state-words.js';
import { mountMachine } from './mount/mount.js';
import { stagingMachine } from './mount/staging.js';
import { mountParts, mountPathOf } from './mount/states.js';
import { targetMachine } from './mount/target.js';
import type { MountContext } from './mount/types.js';
import { nodeMachine } from './node/node.js';
import { pluginMachine } from './plugin/plugin.js';
import { pluginsMachine } from './plugin/plugins.js';
import { registryMachine } from './registry/registry.js';
import { snapshotPhases } from './snapshot/phases.js';
import { groupSnapshotMachine, volumeSnapshotMachine } from './snapshot/snapshot.js';
import { snapshotParts, snapshotPathOf } from './snapshot/states.js';
import { taskMachine } from './task/task.js';
import { expansionMachine, modificationMachine } from './volume/change.js';
import { lifecycleMachine } from './volume/lifecycle.js';
import { publicationMachine } from './volume/publication.js';
import { volumeParts, volumePathOf } from './volume/states.js';
import { volumeMachine } from './volume/volume.js';

interface CatalogEntry {
  machine: AnyStateMachine;
  /** Charts that its parts follow. */
  charts: readonly AnyStateMachine[];
  /** Lists the parts in a context. */
  parts?: (context: never) => PartView[];
  /** Path of the state of an actor, as people see it. Default: the path of its value. */
  pathOf?: (value: StateValue, context: never) => string;
}

const ofSnapshots = {
  charts: [snapshotPhases],
  parts: snapshotParts,
  pathOf: snapshotPathOf,
};

const entries: CatalogEntry[] = [
  { machine: registryMachine, charts: [] },
  { machine: pluginsMachine, charts: [] },
  { machine: pluginMachine, charts: [] },
  { machine: taskMachine, charts: [] },
  {
    machine: volumeMachine,
    charts: [lifecycleMachine, publicationMachine, expansionMachine, modificationMachine],
    parts: volumeParts,
    pathOf: volumePathOf,
  },
  { machine: volumeSnapshotMachine, ...ofSnapshots },
  { machine: groupSnapshotMachine, ...ofSnapshots },
  { machine: nodeMachine, charts: [] },
  {
    machine: mountMachine,
    charts: [stagingMachine, targetMachine],
    parts: (context: MountContext) => mountParts(context),
    pathOf: mountPathOf,
  },
  { machine: allocMachine, charts: [], parts: allocParts },
];

/** By the id of the machine, which begins the addresses of its actors. */
export const catalog: ReadonlyMap<string, CatalogEntry> = new Map(entries.map((entry) => [entry.machine.id, entry]));

/** Machine of the actor at this address; undefined if there is none of that name. */
export const catalogEntryOf = (address: string): CatalogEntry | undefined => {
  const end = address.indexOf('/');
  return catalog.get(end < 0 ? address : address.slice(0, end));
};

/** Path of the state of an actor, as people see it: `pending-publish.calling`. */
export const shownPathOf = (address: string, value: StateValue, context: object): string =>
  (catalogEntryOf(address)?.pathOf ?? pathOf)(value, context as never);

/** All machines and charts of parts, by id. */
export const charts: ReadonlyMap<string, AnyStateMachine> = new Map(
  entries.flatMap(({ machine, charts: ofParts }) => [machine, ...ofParts]).map((chart) => [chart.id, chart]),
);

/** Steps of parts that plain code goes through, and no chart, by the name of the table. */
const tables: Readonly<Record<string, Readonly<Record<string, Said>>>> = { 'alloc-volume': volumeSteps };

/**
 * Says how an actor or a part is, by its state alone.
 * @param chart id of its machine, or of the chart or table of the part
 * @param path as people see it
 * @returns undefined: the chart does not say
 */
export const saidOf = (chart: string, path: string): Said | undefined => {
  const known = charts.get(chart);
  return known ? saidIn(known, path) : tables[chart]?.[path];
};

/** Says in lines for people what one commit has changed: public states, then, after `~`, states within machines and parts. */
import type { StateValue } from 'xstate';
import { allocMachine } from '../../machines/alloc/alloc.js';
import { allocParts } from '../../machines/alloc/parts.js';
import { shownPathOf } from '../../machines/catalog.js';
import type { Failure } from '../../machines/kit/host.js';
import { type PartView, topState } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { mountParts } from '../../machines/mount/states.js';
import { volumeParts } from '../../machines/volume/states.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { type AllocStatus, allocStatusOf } from '../../src/allocs/alloc-view.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { viewOf } from '../../src/engine/actors-of.js';
import { type MountStatus, mountStatusOf } from '../../src/mounts/mount-view.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { type Volume, volumeOf } from '../../src/volumes/volume-view.js';

/** What is committed of an actor. */
export interface Committed {
  value: StateValue;
  context: object;
}

const paths = mountPaths({ dataDir: '/', socketRoot: '/' });

/** State of the actor, as people see it. */
const pathOf = (address: string, { value, context }: Committed): string => shownPathOf(address, value, context);

const topOf = (address: string, committed: Committed): string => topState({ at: pathOf(address, committed) });

/** @param seq of the commit @param after absent: the actor is deleted */
export function linesOf(
  address: string,
  { seq, before, after }: { seq: number; before: Committed | undefined; after: Committed | undefined },
): string[] {
  const [from, to] = [before, after].map((one) => (one ? topOf(address, one) : 'absent'));
  const head = `${address}  ${from === to ? to : `${from} → ${to}`}  (seq ${seq})`;
  if (!after) return [head];
  return [
    head,
    ...changes(publicFacts(address, before), publicFacts(address, after)).map((line) => `  ${line}`),
    ...innerLines(address, before, after).map((line) => `  ~ ${line}`),
  ];
}

/** By name: what is so, in words. */
type Facts = Map<string, string>;

function changes(before: Facts, after: Facts): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((name) => {
    const [from, to] = [before.get(name), after.get(name)];
    if (from === to) return [];
    if (from === undefined) return [`${name}: ${to}`];
    return [`${name}: ${from} → ${to ?? 'gone'}`];
  });
}

const viewIn = ({ value, context }: Committed): ActorView => ({ seq: 0, state: value, context });

/** What users see of an actor. */
function publicFacts(address: string, committed: Committed | undefined): Facts {
  if (!committed) return new Map();
  const view = viewIn(committed);
  const [kind] = address.split('/');
  if (kind === 'mount') {
    const { state, context } = viewOf(mountMachine, address, view);
    return new Map(mountFacts(mountStatusOf(state, context, paths, undefined)));
  }
  if (kind === 'alloc') return new Map(allocFacts(allocStatusOf(viewOf(allocMachine, address, view), () => undefined)));
  if (kind !== 'volume') return new Map();
  const { state, context } = viewOf(volumeMachine, address, view);
  const volume = volumeOf(state, context);
  return new Map(volume.state === 'deleted' ? leftoverFacts(volume) : volumeFacts(volume));
}

const mountFacts = (mount: MountStatus | undefined): [string, string][] => [
  ...(mount?.users ?? []).map(({ allocId, state }): [string, string] => [`for ${allocId}`, state]),
  ...errorFacts(mount?.error),
];

const allocFacts = ({ waits, error }: AllocStatus): [string, string][] => [
  ...Object.entries(waits).map(([volume, reason]): [string, string] => [`${volume} waits`, reason]),
  ...errorFacts(error),
];

const volumeFacts = (volume: Volume): [string, string][] => [
  ...Object.entries(volume.publications).map(([node, { state }]): [string, string] => [`on ${node}`, state]),
  ...volume.claims.map(({ allocId, nodeId, state }): [string, string] => [`claim of ${allocId} on ${nodeId}`, state]),
  ...volume.waiting.map(({ allocId, nodeId }): [string, string] => [`claim of ${allocId} on ${nodeId}`, 'waiting']),
  ...(volume.expansion ? [['expansion', volume.expansion.failed ? 'failed' : 'asked for'] as [string, string]] : []),
  ...(volume.capacityBytes === undefined ? [] : [['size', gibibytes(volume.capacityBytes)] as [string, string]]),
  ...(volume.nodeExpansionRequired ? [['nodes', 'have to expand'] as [string, string]] : []),
  ...(volume.deleting ? [['deletion', 'asked for'] as [string, string]] : []),
  ...errorFacts(volume.error),
];

const leftoverFacts = ({ leftovers = [] }: Volume): [string, string][] =>
  leftovers.map(({ what, nodeId }) => [nodeId === undefined ? what : `${what} on ${nodeId}`, 'left behind']);

const errorFacts = (error: Failure | undefined): [string, string][] =>
  error ? [['error', `${error.code}${error.final ? ', final' : ''}`]] : [];

const gibibytes = (bytes: number | bigint): string => `${Number(bytes) / 2 ** 30} GiB`;

/** The state within the public one, and those of the parts. */
function innerLines(address: string, before: Committed | undefined, after: Committed): string[] {
  const path = pathOf(address, after);
  const isNew = path.includes('.') && (!before || pathOf(address, before) !== path);
  return [...(isNew ? [path] : []), ...changes(partFacts(address, before), partFacts(address, after))];
}

const partFacts = (address: string, committed: Committed | undefined): Facts =>
  new Map(committed && partsOf(address, committed).map(({ id, at }) => [id, at]));

function partsOf(address: string, committed: Committed): PartView[] {
  const view = viewIn(committed);
  const [kind] = address.split('/');
  if (kind === 'volume') return volumeParts(viewOf(volumeMachine, address, view).context);
  if (kind === 'mount') return mountParts(viewOf(mountMachine, address, view).context);
  return kind === 'alloc' ? allocParts(viewOf(allocMachine, address, view).context) : [];
}

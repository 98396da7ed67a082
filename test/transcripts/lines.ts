/** Says in lines for people what one commit has changed: public states, then, after `~`, states within machines and parts. */
import type { StateValue } from 'xstate';
import type { VolumeContext } from '../../machines/volume/types.js';
import { type Volume, volumeOf } from '../../src/volumes/volume-view.js';

/** What is committed of an actor. */
export interface Committed {
  value: StateValue;
  context: object;
}

const pathOf = (value: StateValue): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value)
        .map(([outer, inner]) => (inner === undefined ? outer : `${outer}.${pathOf(inner)}`))
        .join(' + ');

const topOf = (value: StateValue): string => pathOf(value).split('.')[0] ?? '';

/** @param seq of the commit @param after absent: the actor is deleted */
export function linesOf(
  address: string,
  { seq, before, after }: { seq: number; before: Committed | undefined; after: Committed | undefined },
): string[] {
  const [from, to] = [before, after].map((one) => (one ? topOf(one.value) : 'absent'));
  const head = `${address}  ${from === to ? to : `${from} → ${to}`}  (seq ${seq})`;
  if (!after) return [head];
  return [
    head,
    ...changes(publicFacts(address, before), publicFacts(address, after)).map((line) => `  ${line}`),
    ...innerLines(before, after).map((line) => `  ~ ${line}`),
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

function publicFacts(address: string, committed: Committed | undefined): Facts {
  if (!committed || !address.startsWith('volume/')) return new Map();
  // What is stored at this address was made by the machine of volumes.
  const volume = volumeOf(committed.value, committed.context as VolumeContext);
  return new Map(volume.state === 'deleted' ? leftoverFacts(volume) : volumeFacts(volume));
}

const volumeFacts = (volume: Volume): [string, string][] => [
  ...Object.entries(volume.publications).map(([node, { state }]): [string, string] => [`on ${node}`, state]),
  ...volume.claims.map(({ allocId, nodeId, state }): [string, string] => [`claim of ${allocId} on ${nodeId}`, state]),
  ...volume.waiting.map(({ allocId, nodeId }): [string, string] => [`claim of ${allocId} on ${nodeId}`, 'waiting']),
  ...(volume.expansion ? [['expansion', volume.expansion.failed ? 'failed' : 'asked for'] as [string, string]] : []),
  ...(volume.capacityBytes === undefined ? [] : [['size', gibibytes(volume.capacityBytes)] as [string, string]]),
  ...(volume.nodeExpansionRequired ? [['nodes', 'have to expand'] as [string, string]] : []),
  ...(volume.deleting ? [['deletion', 'asked for'] as [string, string]] : []),
  ...(volume.error ? [['error', errorText(volume.error)] as [string, string]] : []),
];

const leftoverFacts = ({ leftovers = [] }: Volume): [string, string][] =>
  leftovers.map(({ what, nodeId }) => [nodeId === undefined ? what : `${what} on ${nodeId}`, 'left behind']);

const errorText = ({ code, final }: NonNullable<Volume['error']>): string => `${code}${final ? ', final' : ''}`;

const gibibytes = (bytes: number | bigint): string => `${Number(bytes) / 2 ** 30} GiB`;

/** The state within the public one, and the parts: values with a state of their own, by where they stand in the context. */
function innerLines(before: Committed | undefined, after: Committed): string[] {
  const path = pathOf(after.value);
  const isNew = path.includes('.') && (!before || pathOf(before.value) !== path);
  const parts = [before, after].map((one) => new Map(one ? partsIn(one.context, '') : []));
  return [...(isNew ? [path] : []), ...changes(parts[0] ?? new Map(), parts[1] ?? new Map())];
}

function partsIn(value: unknown, name: string): [string, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const own: [string, string][] = 'at' in value && typeof value.at === 'string' ? [[name, value.at]] : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, inner]) => partsIn(inner, name === '' ? key : `${name} ${key}`)),
  ];
}

/** Kinds of actors that have a list of their own, by the ids of their machines, and what a person calls one. */
import type { IconName } from './icons.js';

export interface Kind {
  machine: string;
  title: string;
  icon: IconName;
  /** Command that makes one. */
  command?: string;
}

export const kinds: readonly Kind[] = [
  { machine: 'plugin', title: 'Plugins', icon: 'plugin' },
  { machine: 'task', title: 'Tasks', icon: 'task' },
  { machine: 'volume', title: 'Volumes', icon: 'volume', command: 'stagecraft volume create' },
  { machine: 'mount', title: 'Mounts', icon: 'mount', command: 'stagecraft alloc prepare' },
  { machine: 'node', title: 'Nodes', icon: 'node' },
  { machine: 'alloc', title: 'Allocs', icon: 'alloc', command: 'stagecraft alloc prepare' },
];

/** Kinds that are shown in the rail once there is one of them. */
export const otherKinds: readonly Kind[] = [
  { machine: 'volume-snapshot', title: 'Snapshots', icon: 'snapshot', command: 'stagecraft snapshot create' },
  { machine: 'group-snapshot', title: 'Group snapshots', icon: 'snapshot' },
  { machine: 'plugins', title: 'Plugin names', icon: 'other' },
  { machine: 'registry', title: 'Agent', icon: 'other' },
];

export const kindOf = (machine: string): Kind =>
  [...kinds, ...otherKinds].find((kind) => kind.machine === machine) ?? { machine, title: machine, icon: 'other' };

const partsOf = (address: string): string[] => address.split('/').map(decodeURIComponent);

/** Short name of an actor. */
export function nameOf(address: string): string {
  const [machine, ...parts] = partsOf(address);
  const place: Record<string, number> = { plugin: 2, alloc: 1 };
  return parts.at(place[machine ?? ''] ?? -1) ?? address;
}

/** Place of an actor: its namespace, its node, or the service of a plugin. */
export function whereOf(address: string): string {
  const [machine, first = '', second = '', ...single] = partsOf(address);
  switch (machine) {
    case 'plugin':
    case 'plugins':
      return `${second.replace('csi-', '')} on ${first}`;
    case 'volume':
    case 'volume-snapshot':
    case 'group-snapshot':
      return first;
    case 'mount':
      return `${second} on ${first}`;
    case 'alloc':
      return [...(single.length > 0 ? [single.join('/')] : []), `on ${first}`].join(' ');
    case 'task':
      return `on ${first}`;
    default:
      return '';
  }
}

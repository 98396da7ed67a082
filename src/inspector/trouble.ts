/** Trouble of actors in sentences: what is wrong, why, and what to do. Pure. */
import { addressParts, pluginsAddress, singleMountAt, volumeAddress } from '../../machines/kit/addresses.js';
import type { PartView } from '../../machines/kit/parts.js';
import { creationAdviceAt } from '../../machines/volume/words.js';
import type { ActorSummary, Trouble } from '../api/actor-routes.js';
import { ranks } from './health.js';

const kinds: Record<string, string> = {
  registry: 'agent',
  plugins: 'plugin',
  'volume-snapshot': 'snapshot',
  'group-snapshot': 'group snapshot',
  mount: 'mount of volume',
};

/** Name of an actor for a person: `volume data`, `mount of volume web/data`, `plugin disk (csi-node)`. */
export function actorName(address: string): string {
  const [machine = '', ...parts] = addressParts(address);
  const kind = kinds[machine] ?? machine;
  if (machine === 'plugin' || machine === 'plugins') return `${kind} ${parts[2]} (${parts[1]})`;
  const [namespace, id] = parts.slice(-2);
  const isNamespaced = ['volume', 'volume-snapshot', 'group-snapshot', 'mount'].includes(machine);
  const single = machine === 'alloc' && singleMountAt(address);
  if (single) return `mount of ${actorName(volumeAddress(single.namespace, single.id))} for alloc ${parts[1]}`;
  return `${kind} ${isNamespaced && namespace !== 'default' ? `${namespace}/${id}` : (id ?? namespace)}`;
}

interface Advice {
  todo: string;
  command?: string;
}

const quoted = (text: string): string => (/^[\w.@:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function advised(address: string, words: readonly string[]): string {
  const [machine = '', ...parts] = addressParts(address);
  const namespace = machine === 'mount' ? parts[1] : parts[0];
  const isNamespaced = ['volume', 'volume-snapshot', 'group-snapshot', 'mount'].includes(machine);
  const more = isNamespaced && namespace !== undefined && namespace !== 'default' ? ['--namespace', namespace] : [];
  return ['stagecraft', ...words, ...more].map(quoted).join(' ');
}

/** Advice for an actor that stays as it is until somebody acts. */
function adviceFor({ address, machine, state }: ActorSummary, part: PartView | undefined): Advice {
  const parts = addressParts(address);
  const name = parts.at(-1) ?? '';
  const command = (...words: string[]): string => advised(address, words);
  switch (machine) {
    case 'volume':
      if (part === undefined && state.startsWith('deleted'))
        return {
          todo: 'look for it at the storage, then let it be forgotten',
          command: command('volume', 'acknowledge', name),
        };
      return {
        todo:
          (part?.chart === 'lifecycle' ? creationAdviceAt(part.at) : undefined) ??
          'fix the cause named above, then retry',
        command: command('volume', 'retry', name),
      };
    case 'mount':
      return { todo: 'fix the cause named above, then retry', command: command('mount', 'retry', name) };
    case 'volume-snapshot':
      return { todo: 'fix the cause named above, then retry', command: command('snapshot', 'retry', name) };
    case 'group-snapshot':
      return { todo: 'fix the cause named above, then retry', command: command('group-snapshot', 'retry', name) };
    case 'alloc':
      if (singleMountAt(address))
        return { todo: 'fix the cause named above, then mount it again', command: command('mount', 'list') };
      return { todo: 'fix the cause named above, then prepare it again', command: command('alloc', 'status', name) };
    case 'task':
      return { todo: 'see why in its log, then start it again', command: command('task', 'logs', name) };
    case 'plugin':
      return { todo: 'see whether its process runs', command: command('plugin', 'status', parts[3] ?? '') };
    case 'node':
      return state === 'down.fenced'
        ? {
            todo: 'it reports again once nothing is mounted there: see mount list on that node. If the host is gone, take the node out',
            command: command('node', 'remove', name),
          }
        : { todo: 'start its agent again, or fence it if it is lost', command: command('node', 'fence', name) };
    default:
      return { todo: 'read what happened', command: command('history', address) };
  }
}

/** Trouble with an actor; undefined if there is none to tell. @param part the part that is the reason */
export function troubleOf(summary: ActorSummary, part?: PartView): Trouble | undefined {
  const { address, health, why } = summary;
  const what = `${capitalized(actorName(address))}: ${why}`;
  const cause = part?.why !== undefined && !why.includes(part.why) ? { why: part.why } : {};
  if (health === 'failed') return { address, what, ...cause, needs: 'a-person', ...adviceFor(summary, part) };
  const isDelayed = health === 'in-doubt' || (health === 'waiting' && part?.why !== undefined);
  if (!isDelayed) return undefined;
  const due = part?.nextAttemptAtMs === undefined ? {} : { dueAtMs: part.nextAttemptAtMs };
  return { address, what, ...cause, needs: 'nothing', ...due };
}

/** An actor that was taken out of service. */
export const quarantined = (address: string, reason: string): Trouble => ({
  ...{ address, what: `${capitalized(actorName(address))} is out of service`, why: reason, needs: 'a-person' },
  todo: 'read what made it crash, then take it back',
  command: advised(address, ['actor', 'release', address]),
});

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Sorts trouble: first what needs a person, then the worst. */
export function sorted(list: readonly (Trouble & Pick<ActorSummary, 'health'>)[]): Trouble[] {
  return list
    .toSorted((a, b) => (a.needs === b.needs ? ranks[a.health] - ranks[b.health] : a.needs === 'a-person' ? -1 : 1))
    .map(({ health: _, ...trouble }) => trouble);
}

/** Tells of volumes that a plugin lists and no record has. @param what names them */
export const troubleOfOrphans = (nodeId: string, { plugin, what }: { plugin: string; what: string }): Trouble => ({
  address: pluginsAddress(nodeId, 'csi-controller', plugin),
  what: capitalized(what),
  needs: 'a-person',
  todo: 'find out whose they are: register what is yours as external volumes, or delete it at the storage',
  command: ['stagecraft', 'volume', 'orphans', '--plugin', plugin].map(quoted).join(' '),
});

/** Tells of a mount that no record has, and that may hold up a call about its volume. */
export const troubleOfMount = (address: string, { path, plugin }: { path: string; plugin?: string }): Trouble => ({
  address,
  what:
    plugin === undefined
      ? `The kernel of this host still shows the volume at ${path}, and no record has that mount`
      : `The kernel of this host still shows the volume at ${path}, which plugin '${plugin}' says that it has unmounted`,
  needs: 'a-person',
  todo: 'see what it is, then unmount it',
  command: ['stagecraft', 'mount', 'clean', path].map(quoted).join(' '),
});

/** Tells of a volume that an agent at another place may have mounted still, under the id of a node. */
export const troubleElsewhere = (address: string, { nodeId, why }: { nodeId: string; why: string }): Trouble => ({
  address,
  what: `${capitalized(actorName(address))}: nothing is called for it on node ${nodeId}`,
  why,
  needs: 'a-person',
  todo: 'start that agent again, or make sure that nothing there uses the volume, then fence the node',
  command: ['stagecraft', 'node', 'fence', nodeId].map(quoted).join(' '),
});

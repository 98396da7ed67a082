/**
 * Addresses of actors: the name of the machine, then the parts that name one actor of it. Parts are percent-encoded,
 * so that no name reaches into another's address.
 */
const join = (machine: string, ...parts: string[]): string => [machine, ...parts.map(encoded)].join('/');

/**
 * Avoids encoding where nothing has to be encoded: most parts stay as they are, and the test is several times faster.
 */
const encoded = (part: string): string => (oddCharacter.test(part) ? encodeURIComponent(part) : part);
const oddCharacter = /[^\w.~-]/;

export const registryAddress = (node: string): string => join('registry', node);
export const pluginsAddress = (node: string, type: string, name: string): string => join('plugins', node, type, name);
export const pluginAddress = (node: string, type: string, name: string, allocId: string): string =>
  join('plugin', node, type, name, allocId);
/** Address of the actor of an instance's plugin name. */
export const pluginsAddressOf = (instance: string): string =>
  `plugins${instance.slice(instance.indexOf('/'), instance.lastIndexOf('/'))}`;
export const mountAddress = (node: string, namespace: string, id: string): string => join('mount', node, namespace, id);
export const allocAddress = (node: string, allocId: string): string => join('alloc', node, allocId);
/** Address of the alloc of one single mount: no alloc that somebody prepares has it, whatever its id. */
export const singleMountAddress = (node: string, allocId: string, namespace: string, id: string): string =>
  join('alloc', node, allocId, namespace, id);
/** Volume of the alloc of a single mount; undefined: an alloc that somebody prepares. */
export function singleMountAt(address: string): { namespace: string; id: string } | undefined {
  const [, , , namespace, id] = addressParts(address);
  return namespace === undefined || id === undefined ? undefined : { namespace, id };
}
export const taskAddress = (node: string, id: string): string => join('task', node, id);

/** Decoded parts of an address; the machine's name is the first. */
export const addressParts = (address: string): string[] =>
  address.includes('%') ? address.split('/').map(decodeURIComponent) : address.split('/');

/**
 * Node that owns an actor.
 * @throws Error if the address names no node
 */
export const nodeOf = (address: string): string => {
  const [, node] = address.split('/', 2);
  if (node === undefined) throw new Error(`${address} names no node`);
  return decodeURIComponent(node);
};

/** Address prefix of a node's own actors of one machine. */
export const nodeOwnedPrefix = (machine: string, node: string): string => `${join(machine, node)}/`;

export const volumesPrefix = 'volume/';
export const volumeAddress = (namespace: string, id: string): string => `volume/${encoded(namespace)}/${encoded(id)}`;
export const snapshotsPrefix = 'volume-snapshot/';
export const snapshotAddress = (namespace: string, id: string): string => join('volume-snapshot', namespace, id);
export const groupSnapshotsPrefix = 'group-snapshot/';
export const groupSnapshotAddress = (namespace: string, id: string): string => join('group-snapshot', namespace, id);
const nodesPrefix = 'node/';
/** Address prefixes of actors that belong to no node: the leader works on them. Restored in this order. */
export const clusterOwnedPrefixes = [nodesPrefix, volumesPrefix, snapshotsPrefix, groupSnapshotsPrefix];
export const isClusterOwned = (address: string): boolean =>
  clusterOwnedPrefixes.some((prefix) => address.startsWith(prefix));
export const nodeAddress = (id: string): string => join('node', id);

/**
 * Where actors live: an address is the machine's name and the parts that make it one of its kind.
 * Parts are percent-encoded, so that no name can reach into another's address.
 */
function join(machine: string, ...parts: string[]): string {
  let address = machine;
  for (const part of parts) address += `/${encoded(part)}`;
  return address;
}

/** Most parts stay as they are, which is found out several times faster than they are encoded. */
const encoded = (part: string): string => (oddCharacter.test(part) ? encodeURIComponent(part) : part);
const oddCharacter = /[^\w.~-]/;

export const registryAddress = (node: string): string => join('registry', node);
export const pluginsAddress = (node: string, type: string, name: string): string => join('plugins', node, type, name);
export const pluginAddress = (node: string, type: string, name: string, allocId: string): string =>
  join('plugin', node, type, name, allocId);
/** Where the name of an instance is. */
export const pluginsAddressOf = (instance: string): string =>
  `plugins${instance.slice(instance.indexOf('/'), instance.lastIndexOf('/'))}`;
export const mountAddress = (node: string, namespace: string, id: string): string => join('mount', node, namespace, id);
export const allocAddress = (node: string, allocId: string): string => join('alloc', node, allocId);
export const taskAddress = (node: string, id: string): string => join('task', node, id);

/** The decoded parts of an address, the machine's name first. */
export const addressParts = (address: string): string[] => address.split('/').map(decodeURIComponent);

/** The node that owns an actor. @throws Error where its address names none */
export const nodeOf = (address: string): string => {
  const [, node] = address.split('/', 2);
  if (node === undefined) throw new Error(`${address} names no node`);
  return decodeURIComponent(node);
};

/** What the addresses of a node's own actors begin with, one prefix per kind of machine. */
export const nodeOwnedPrefix = (machine: string, node: string): string => `${join(machine, node)}/`;

export const volumesPrefix = 'volume/';
export const volumeAddress = (namespace: string, id: string): string => join('volume', namespace, id);
export const snapshotsPrefix = 'volume-snapshot/';
export const snapshotAddress = (namespace: string, id: string): string => join('volume-snapshot', namespace, id);
export const groupSnapshotsPrefix = 'group-snapshot/';
export const groupSnapshotAddress = (namespace: string, id: string): string => join('group-snapshot', namespace, id);
export const nodesPrefix = 'node/';
/** Actors that are of no node: whoever leads has them. Restored in this order. */
export const clusterOwnedPrefixes = [nodesPrefix, volumesPrefix, snapshotsPrefix, groupSnapshotsPrefix];
export const isClusterOwned = (address: string): boolean =>
  clusterOwnedPrefixes.some((prefix) => address.startsWith(prefix));
export const nodeAddress = (id: string): string => join('node', id);

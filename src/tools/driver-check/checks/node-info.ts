/** NodeGetInfo: id of the node, its limit and its topology. */
import type { Check } from '../check.js';

const rpc = 'NodeGetInfo';
const longestNodeId = 256;
const longestPart = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/i;
const keyPrefix = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;

function faultOf(key: string): string | undefined {
  const [prefix, name, ...more] = key.includes('/') ? key.split('/') : ['x', key];
  if (more.length > 0) return `${key} has more than one slash`;
  if (!prefix || !keyPrefix.test(prefix)) return `the prefix of ${key} is no domain name`;
  if (!name || !keyName.test(name) || name.length > longestPart)
    return `the name in ${key} is not 1 to ${longestPart} letters, digits, dashes, dots, underscores`;
  return undefined;
}

export const nodeInfoChecks: readonly Check[] = [
  {
    id: `${rpc}/node-id`,
    rpc,
    rule: 'The node_id has 1 to 256 bytes.',
    needs: [],
    run: async (bench) => {
      const bytes = Buffer.byteLength((await bench.ok(rpc, {})).nodeId);
      bench.expect(bytes >= 1 && bytes <= longestNodeId, `1 to ${longestNodeId} bytes`, `there are ${bytes}`);
    },
  },
  {
    id: `${rpc}/max-volumes`,
    rpc,
    rule: 'max_volumes_per_node is not below 0.',
    needs: [],
    run: async (bench) => {
      const { maxVolumesPerNode } = await bench.ok(rpc, {});
      bench.expect(maxVolumesPerNode >= 0n, '0 or more', `it is ${maxVolumesPerNode}`);
    },
  },
  {
    id: `${rpc}/topology`,
    rpc,
    rule: 'A node has an accessible_topology only where the plugin offers VOLUME_ACCESSIBILITY_CONSTRAINTS.',
    needs: [],
    run: async (bench) => {
      const { accessibleTopology } = await bench.ok(rpc, {});
      const isOffered = bench.offers.has('plugin/VOLUME_ACCESSIBILITY_CONSTRAINTS');
      const isThere = accessibleTopology !== undefined;
      bench.expect(isOffered || !isThere, 'none', 'there is one, and the plugin does not offer it');
      if (isOffered && !isThere)
        bench.warn('there is none: callers will assume that any volume can be used on this node');
    },
  },
  {
    id: `${rpc}/topology-keys`,
    rpc,
    rule: 'Topology keys have a name of at most 63 characters after at most one prefix, a domain name; none twice in another case.',
    needs: ['plugin/VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    run: async (bench) => {
      const { accessibleTopology } = await bench.ok(rpc, {});
      const keys = Object.keys(accessibleTopology?.segments ?? {});
      const fault = keys.map(faultOf).find((found) => found !== undefined);
      bench.expect(fault === undefined, 'keys in their form', `${fault}`);
      const different = new Set(keys.map((key) => key.toLowerCase())).size;
      bench.expect(different === keys.length, 'keys that differ in more than case', `they are ${keys.join(', ')}`);
    },
  },
];

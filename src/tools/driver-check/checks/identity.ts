/** Identity of the driver and of its node, its health, and its capabilities. */
import type { RpcName } from '../../../csi/answers.js';
import { controllerGates, type Gates, nodeGates } from '../../../csi/gates.js';
import { callLine } from '../ask.js';
import type { Check, CheckContext } from '../context.js';
import type { Need } from '../verdict.js';

const domainStyle = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;
const longestName = 63;
const asks = 3;

const probe: Check = {
  id: 'Probe/ready',
  rpc: 'Probe',
  rule: 'Probe answers OK at any time, and a driver that is well is ready soon: `ready` is true or absent.',
  needs: [],
  run: async (bench) => {
    for (const side of bench.calls.sides()) {
      const isReady = await bench.until(async () => (await bench.ok('Probe', {}, { side })).ready ?? true);
      bench.expect(isReady, `ready within ${bench.timeoutMs} ms`, 'it was still initialising');
    }
  },
};

const name: Check = {
  id: 'GetPluginInfo/name',
  rpc: 'GetPluginInfo',
  rule: 'The name is a domain name of at most 63 characters, the same on every endpoint.',
  needs: [],
  run: async (bench) => {
    const names = new Set<string>();
    for (const side of bench.calls.sides()) names.add((await bench.ok('GetPluginInfo', {}, { side })).name);
    for (const given of names) {
      const isFine = domainStyle.test(given) && given.length <= longestName;
      bench.expect(isFine, 'letters, digits, dashes and dots, at most 63', `the name is ${JSON.stringify(given)}`);
    }
    bench.expect(names.size === 1, 'one name', `the endpoints have ${[...names].join(' and ')}`);
  },
};

const version: Check = {
  id: 'GetPluginInfo/version',
  rpc: 'GetPluginInfo',
  rule: 'The vendor_version is not empty.',
  needs: [],
  run: async (bench) => {
    for (const side of bench.calls.sides()) {
      const { vendorVersion } = await bench.ok('GetPluginInfo', {}, { side });
      bench.expect(vendorVersion !== '', 'a vendor_version', 'it is empty');
    }
  },
};

/** RPCs that report capabilities; all take an empty request. */
type Telling =
  | 'GetPluginInfo'
  | 'GetPluginCapabilities'
  | 'ControllerGetCapabilities'
  | 'GroupControllerGetCapabilities'
  | 'NodeGetCapabilities'
  | 'NodeGetInfo';

/** Compares without order: capabilities are a set. */
const asSet = (answer: object): string =>
  JSON.stringify(answer, (_, value: unknown) =>
    Array.isArray(value)
      ? value.map((item) => JSON.stringify(item)).sort()
      : typeof value === 'bigint'
        ? `${value}`
        : value,
  );

const stable = (rpc: Telling): Check => ({
  id: `${rpc}/stable`,
  rpc,
  rule: `${rpc} gives the same every time.`,
  needs: [],
  run: async (bench) => {
    const sides = rpc.startsWith('GetPlugin') ? bench.calls.sides() : [undefined];
    for (const side of sides) {
      const options = side ? { side } : {};
      const first = asSet(await bench.ok(rpc, {}, options));
      for (let ask = 1; ask < asks; ask += 1) {
        const again = asSet(await bench.ok(rpc, {}, options));
        bench.expect(again === first, `the answer of the first time, ${first}`, `later it was ${again}`);
      }
    }
  },
});

/** Types in a list of capabilities; undefined for an entry without type. */
type Types = (bench: CheckContext) => Promise<(string | undefined)[]>;

const named = (rpc: RpcName, types: Types): Check => ({
  id: `${rpc}/named`,
  rpc,
  rule: 'Every capability in the list says which one it is, each once.',
  needs: [],
  run: async (bench) => {
    const given = await types(bench);
    bench.expect(!given.includes(undefined), 'a type in each entry', 'there is one without');
    const unknown = given.find((type) => /^(expansion )?(UNKNOWN|\d+)$/.test(type ?? ''));
    if (unknown !== undefined) bench.warn(`there is a capability ${unknown}, which says nothing to callers`);
    const twice = given.find((type, index) => given.indexOf(type) !== index);
    if (twice !== undefined) bench.warn(`${twice} is there twice`);
  },
});

/** Each RPC is called with an empty request, so that it cannot change anything. */
const unadvertised = <Type extends string>(rpc: RpcName, gates: Gates<Type>, needOf: (type: Type) => Need): Check => ({
  id: `${rpc}/unadvertised`,
  rpc,
  rule: 'What is not among the capabilities is answered UNIMPLEMENTED.',
  needs: [],
  run: async (bench) => {
    const strangers: string[] = [];
    for (const [gatedRpc, types] of gates) {
      if (types.some((type) => bench.offers.has(needOf(type)))) continue;
      const { code, report } = await bench.ask(gatedRpc, {});
      if (code !== 'UNIMPLEMENTED') strangers.push(callLine(report));
    }
    if (strangers.length > 0) bench.warn(`callers don't need it, but it shows a mistake: ${strangers.join('; ')}`);
  },
});

const typesOf = (capabilities: { rpc?: { type: string } }[]): (string | undefined)[] =>
  capabilities.map(({ rpc }) => rpc?.type);

export const identityChecks: readonly Check[] = [
  probe,
  name,
  version,
  stable('GetPluginInfo'),
  stable('GetPluginCapabilities'),
  named('GetPluginCapabilities', async (bench) =>
    (await bench.ok('GetPluginCapabilities', {})).capabilities.map(({ service, volumeExpansion }) =>
      volumeExpansion ? `expansion ${volumeExpansion.type}` : service?.type,
    ),
  ),
];

export const capabilityChecks: readonly Check[] = [
  stable('ControllerGetCapabilities'),
  named('ControllerGetCapabilities', async (bench) =>
    typesOf((await bench.ok('ControllerGetCapabilities', {})).capabilities),
  ),
  unadvertised('ControllerGetCapabilities', controllerGates, (type) => `controller/${type}`),
  stable('GroupControllerGetCapabilities'),
  named('GroupControllerGetCapabilities', async (bench) =>
    typesOf((await bench.ok('GroupControllerGetCapabilities', {})).capabilities),
  ),
  stable('NodeGetCapabilities'),
  named('NodeGetCapabilities', async (bench) => typesOf((await bench.ok('NodeGetCapabilities', {})).capabilities)),
  unadvertised('NodeGetCapabilities', nodeGates, (type) => `node/${type}`),
  stable('NodeGetInfo'),
];

const longestNodeId = 256;
const longestPart = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/i;
const keyPrefix = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;

function keyFaultOf(key: string): string | undefined {
  const [prefix, name, ...more] = key.includes('/') ? key.split('/') : ['x', key];
  if (more.length > 0) return `${key} has more than one slash`;
  if (!prefix || !keyPrefix.test(prefix)) return `the prefix of ${key} is no domain name`;
  if (!name || !keyName.test(name) || name.length > longestPart)
    return `the name in ${key} is not 1 to ${longestPart} letters, digits, dashes, dots, underscores`;
  return undefined;
}

/** NodeGetInfo: id of the node, its limit and its topology. */
export const nodeInfoChecks: readonly Check[] = [
  {
    id: 'NodeGetInfo/node-id',
    rpc: 'NodeGetInfo',
    rule: 'The node_id has 1 to 256 bytes.',
    needs: [],
    run: async (bench) => {
      const bytes = Buffer.byteLength((await bench.ok('NodeGetInfo', {})).nodeId);
      bench.expect(bytes >= 1 && bytes <= longestNodeId, `1 to ${longestNodeId} bytes`, `there are ${bytes}`);
    },
  },
  {
    id: 'NodeGetInfo/max-volumes',
    rpc: 'NodeGetInfo',
    rule: 'max_volumes_per_node is not below 0.',
    needs: [],
    run: async (bench) => {
      const { maxVolumesPerNode } = await bench.ok('NodeGetInfo', {});
      bench.expect(maxVolumesPerNode >= 0n, '0 or more', `it is ${maxVolumesPerNode}`);
    },
  },
  {
    id: 'NodeGetInfo/topology',
    rpc: 'NodeGetInfo',
    rule: 'A node has an accessible_topology only where the plugin offers VOLUME_ACCESSIBILITY_CONSTRAINTS.',
    needs: [],
    run: async (bench) => {
      const { accessibleTopology } = await bench.ok('NodeGetInfo', {});
      const isOffered = bench.offers.has('plugin/VOLUME_ACCESSIBILITY_CONSTRAINTS');
      const isThere = accessibleTopology !== undefined;
      bench.expect(isOffered || !isThere, 'none', 'there is one, and the plugin does not offer it');
      if (isOffered && !isThere)
        bench.warn('there is none: callers will assume that any volume can be used on this node');
    },
  },
  {
    id: 'NodeGetInfo/topology-keys',
    rpc: 'NodeGetInfo',
    rule: 'Topology keys have a name of at most 63 characters after at most one prefix, a domain name; none twice in another case.',
    needs: ['plugin/VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    run: async (bench) => {
      const { accessibleTopology } = await bench.ok('NodeGetInfo', {});
      const keys = Object.keys(accessibleTopology?.segments ?? {});
      const fault = keys.map(keyFaultOf).find((found) => found !== undefined);
      bench.expect(fault === undefined, 'keys in their form', `${fault}`);
      const different = new Set(keys.map((key) => key.toLowerCase())).size;
      bench.expect(different === keys.length, 'keys that differ in more than case', `they are ${keys.join(', ')}`);
    },
  },
];

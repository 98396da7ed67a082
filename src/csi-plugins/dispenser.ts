/**
 * Dispensers for `csi-node` and `csi-controller` plugins: make clients and run one probe. The schedule of probes and
 * their consequences: src/registry
 */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import type { Fingerprint, PluginBasics, PluginInfo } from '../../machines/plugin/plugin.js';
import { CsiClient, type CsiClientOptions } from '../csi/client.js';
import type { CallOptions, EndedCall } from '../csi/csi-calls.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { Dispenser, FingerprintRequest } from '../registry/dispenser.js';

export type CsiPluginType = 'csi-node' | 'csi-controller';

/** Limits of the CSI specification, in bytes. */
const maxNameBytes = 63;
const maxNodeIdBytes = 256;

/** Differences between the types. */
interface Kind {
  service: 'Node' | 'Controller';
  hasNodeId: boolean;
  capabilities(client: CsiClient, call: CallOptions): Promise<string[]>;
}

const kinds: Record<CsiPluginType, Kind> = {
  'csi-node': {
    service: 'Node',
    hasNodeId: true,
    capabilities: (client, call) => client.nodeGetCapabilities(call),
  },
  'csi-controller': {
    service: 'Controller',
    hasNodeId: false,
    capabilities: (client, call) => client.controllerGetCapabilities(call),
  },
};

type Seen = Pick<Fingerprint, 'basic' | 'capabilities'>;

interface DispenserOptions extends Omit<CsiClientOptions, 'socketPath' | 'onEnd'> {
  /** Called when a call to a plugin has ended. */
  onCall?: (info: PluginInfo, call: EndedCall) => void;
}

/**
 * The dispensers of the two CSI types.
 * @param options the deadlines of their clients; `timeoutMs` (default 30 s) also bounds each call of a fingerprint,
 * those to the Node service too
 */
export function csiDispensers(options: DispenserOptions = {}): Record<CsiPluginType, Dispenser<CsiClient>> {
  return {
    'csi-node': dispenser(kinds['csi-node'], options),
    'csi-controller': dispenser(kinds['csi-controller'], options),
  };
}

function dispenser(kind: Kind, options: DispenserOptions): Dispenser<CsiClient> {
  const { onCall, ...limits } = options;
  const { timeoutMs = 30_000 } = limits;
  return {
    connect: (info) => {
      const told = onCall && { onEnd: (call: EndedCall) => onCall(info, call) };
      return new CsiClient({ ...limits, ...told, socketPath: info.connection.socketPath });
    },
    fingerprint: (client, request) => look(kind, request, { client, call: { timeoutMs, signal: request.signal } }),
    onDisconnect: (client, lost) => client.onDisconnect(lost),
    close: (client, { signal }) => client.drain(signal),
  };
}

/** Client and call of one round. */
interface Round {
  client: CsiClient;
  call: CallOptions;
}

/** Never rejects: what went wrong is the description, beside all that is known in spite of it. */
async function look(kind: Kind, { basic }: FingerprintRequest, round: Round): Promise<Fingerprint> {
  const isKnown = basic !== undefined && isComplete(kind, basic) && faultIn(kind, basic) === undefined;
  const seen: Seen = isKnown ? { basic } : {};
  try {
    if (!isKnown) await readBasics(kind, round, seen);
    const { ready } = await round.client.probe(round.call);
    if (!ready) return { healthy: false, description: 'initialising: the plugin says it is not ready yet', ...seen };
    const description = await readCapabilities(kind, round, seen);
    return { healthy: true, description, ...seen };
  } catch (error) {
    const prefix = isKnown ? '' : 'failed initial fingerprint: ';
    const known = basic && { basic: { ...basic, ...seen.basic } };
    return { healthy: false, description: `${prefix}${messageOf(error)}`, ...seen, ...known };
  }
}

/** Puts each part into `seen` as soon as it is read. */
async function readBasics(kind: Kind, { client, call }: Round, seen: Seen): Promise<void> {
  const { name, vendorVersion, manifest } = await client.getPluginInfo(call);
  const scope = scopeIn(manifest);
  let basic: PluginBasics = { pluginName: name, vendorVersion, ...(scope && { scope }) };
  seen.basic = basic;
  basic = { ...basic, pluginCapabilities: await client.getPluginCapabilities(call) };
  seen.basic = basic;
  if (kind.hasNodeId) basic = { ...basic, ...(await readNode({ client, call })) };
  seen.basic = basic;
  const fault = faultIn(kind, basic);
  if (fault) throw new Error(fault);
}

/** Entry of GetPluginInfo's manifest with the scope of the driver's volumes. */
const scopeEntry = 'stagecraft.scope';

/** Undefined if the driver reports none, or no known scope. */
const scopeIn = (manifest: Record<string, string>): PluginScope | undefined => {
  const said = manifest[scopeEntry];
  return said === 'host' || said === 'shared' ? said : undefined;
};

async function readNode({ client, call }: Round): Promise<Pick<PluginBasics, 'nodeId' | 'maxVolumes' | 'topology'>> {
  const { nodeId, maxVolumesPerNode, topology } = await client.nodeGetInfo(call);
  return {
    nodeId,
    ...(maxVolumesPerNode > 0 && { maxVolumes: maxVolumesPerNode }),
    ...(topology && { topology }),
  };
}

/**
 * Asks for what the service offers. Without that service on this socket it stays unknown, which is no failure:
 * drivers advertise a Controller service where there is none.
 * @returns the description of a healthy instance
 */
async function readCapabilities(kind: Kind, { client, call }: Round, seen: Seen): Promise<string> {
  try {
    seen.capabilities = await kind.capabilities(client, call);
    return 'ready';
  } catch (error) {
    if (!(error instanceof StagecraftError && error.grpcCode === 'UNIMPLEMENTED')) throw error;
    return `ready; no ${kind.service} service on this socket (${error.rpc} is UNIMPLEMENTED)`;
  }
}

/** Whether all was read: an earlier round may have failed midway. */
function isComplete(kind: Kind, { pluginCapabilities, nodeId }: PluginBasics): boolean {
  return pluginCapabilities !== undefined && (!kind.hasNodeId || nodeId !== undefined);
}

/** Reason why nothing can work with these. */
function faultIn(kind: Kind, { pluginName, nodeId }: PluginBasics): string | undefined {
  return (
    textFault('the plugin name', pluginName, maxNameBytes) ??
    (kind.hasNodeId ? textFault('the node id', nodeId ?? '', maxNodeIdBytes) : undefined)
  );
}

function textFault(what: string, text: string, maxBytes: number): string | undefined {
  if (text === '') return `${what} is empty`;
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? `${what} is ${bytes} bytes long, but CSI allows ${maxBytes}` : undefined;
}

/**
 * Calls a CSI plugin: plain data in and out, a deadline on every call, errors that say what happened. Knows neither
 * policy (retries, gates, health) nor state. The RPCs so far: Identity, and what Node and Controller say of themselves.
 * Sockets and channels: channel.ts. What codes mean: codes.ts.
 */
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { messageOf, StagecraftError } from '../errors.js';
import { explainUnavailable, type PluginChannel, PluginConnection } from './channel.js';
import { csiError, grpcCodeOf } from './codes.js';
import { csi } from './generated/csi.js';

export interface CsiClientOptions {
  /** Absolute, at most 107 bytes. */
  socketPath: string;
  /** Deadline of a call; default 30 s. */
  timeoutMs?: number;
  /** Deadline of a call to the Node service; default 60 s, or `timeoutMs` if that is longer. */
  nodeTimeoutMs?: number;
}

export interface CallOptions {
  /** Instead of the client's own. */
  timeoutMs?: number;
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** The answer to GetPluginInfo, as it came. */
export interface PluginIdentity {
  name: string;
  vendorVersion: string;
  manifest: Record<string, string>;
}

/** The answer to NodeGetInfo, as it came. */
export interface NodeInfo {
  nodeId: string;
  /** 0: the plugin names no limit. Above 2⁵³−1: that. */
  maxVolumesPerNode: number;
  topology?: Record<string, string>;
}

/** As the generated service definitions have it. */
interface UnaryMethod<TRequest, TResponse> {
  path: string;
  requestSerialize(message: TRequest): Buffer;
  responseDeserialize(bytes: Buffer): TResponse;
}

const identity = csi.v1.UnimplementedIdentityService.definition;
const controller = csi.v1.UnimplementedControllerService.definition;
const node = csi.v1.UnimplementedNodeService.definition;

const defaultTimeoutMs = 30_000;
/** Some drivers take 30 s to answer for a busy mount. */
const defaultNodeTimeoutMs = 60_000;
/** The longest that timers take. */
const maxTimeoutMs = 2 ** 31 - 1;

/**
 * One user of one plugin's socket. Connects with the first call, and again whenever the socket was replaced.
 * Every method rejects with a {@link StagecraftError}: CSI_ERROR (`rpc`, `grpcCode`, `final`) for what the plugin or
 * its socket answered; the code of `signal.reason`, or ABORTED, when given up; ABORTED once the client is closed.
 * After any but a final error the call may have taken effect, or may still.
 */
export class CsiClient {
  readonly #connection: PluginConnection;
  readonly #timeoutMs: number;
  readonly #nodeTimeoutMs: number;
  readonly #inFlight = new Set<(reason: unknown) => void>();
  #closed: StagecraftError | undefined;

  /** @throws {StagecraftError} INVALID_ARGUMENT: the path can't be that of a socket */
  constructor({ socketPath, timeoutMs = defaultTimeoutMs, nodeTimeoutMs }: CsiClientOptions) {
    this.#connection = new PluginConnection(socketPath);
    this.#timeoutMs = timeoutMs;
    this.#nodeTimeoutMs = nodeTimeoutMs ?? Math.max(timeoutMs, defaultNodeTimeoutMs);
  }

  async getPluginInfo(options?: CallOptions): Promise<PluginIdentity> {
    const answer = await this.#call(identity.GetPluginInfo, new csi.v1.GetPluginInfoRequest(), options);
    const { name, vendor_version: vendorVersion, manifest } = answer;
    return { name, vendorVersion, manifest: Object.fromEntries(manifest) };
  }

  /** e.g. `CONTROLLER_SERVICE`, `VOLUME_EXPANSION_ONLINE`; sorted, without those that this version doesn't know. */
  async getPluginCapabilities(options?: CallOptions): Promise<string[]> {
    const { Service, VolumeExpansion } = csi.v1.PluginCapability;
    const request = new csi.v1.GetPluginCapabilitiesRequest();
    const { capabilities } = await this.#call(identity.GetPluginCapabilities, request, options);
    const services = capabilities.map(({ service }) => service?.type);
    const expansions = capabilities.map(({ volume_expansion: expansion }) => expansion?.type);
    return [
      ...namesOf(Service.Type, services),
      ...namesOf(VolumeExpansion.Type, expansions).map((name) => `VOLUME_EXPANSION_${name}`),
    ];
  }

  /** Not ready means alive, but initialising. A plugin that doesn't say is ready. */
  async probe(options?: CallOptions): Promise<{ ready: boolean }> {
    const { ready } = await this.#call(identity.Probe, new csi.v1.ProbeRequest(), options);
    return { ready: ready?.value ?? true };
  }

  async nodeGetInfo(options?: CallOptions): Promise<NodeInfo> {
    const answer = await this.#call(node.NodeGetInfo, new csi.v1.NodeGetInfoRequest(), options);
    const { node_id: nodeId, max_volumes_per_node: maxVolumes, accessible_topology: topology } = answer;
    return {
      nodeId,
      maxVolumesPerNode: Math.min(Number(maxVolumes), Number.MAX_SAFE_INTEGER),
      ...(topology && { topology: Object.fromEntries(topology.segments) }),
    };
  }

  /** e.g. `STAGE_UNSTAGE_VOLUME`; sorted, without those that this version doesn't know. */
  async nodeGetCapabilities(options?: CallOptions): Promise<string[]> {
    const request = new csi.v1.NodeGetCapabilitiesRequest();
    const { capabilities } = await this.#call(node.NodeGetCapabilities, request, options);
    const types = capabilities.map(({ rpc }) => rpc?.type);
    return namesOf(csi.v1.NodeServiceCapability.RPC.Type, types);
  }

  /** e.g. `CREATE_DELETE_VOLUME`; sorted, without those that this version doesn't know. */
  async controllerGetCapabilities(options?: CallOptions): Promise<string[]> {
    const request = new csi.v1.ControllerGetCapabilitiesRequest();
    const { capabilities } = await this.#call(controller.ControllerGetCapabilities, request, options);
    const types = capabilities.map(({ rpc }) => rpc?.type);
    return namesOf(csi.v1.ControllerServiceCapability.RPC.Type, types);
  }

  /** Calls back each time the plugin ends an established connection, e.g. by dying; the answer ends that. */
  onDisconnect(lost: () => void): () => void {
    return this.#connection.onLost(lost);
  }

  /** Ends calls in flight and refuses new ones, all with ABORTED. The channel closes with its last user. */
  close(): void {
    if (this.#closed) return;
    this.#closed = new StagecraftError('ABORTED', `the client of ${this.#connection.socketPath} is closed`);
    for (const giveUp of this.#inFlight) giveUp(this.#closed);
    this.#connection.close();
  }

  async #call<TRequest, TResponse>(
    method: UnaryMethod<TRequest, TResponse>,
    request: TRequest,
    { timeoutMs = this.#timeoutFor(method.path), signal }: CallOptions = {},
  ): Promise<TResponse> {
    const rpc = method.path.slice(method.path.lastIndexOf('/') + 1);
    if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs of ${rpc} must be above 0, but is ${timeoutMs}`);
    if (this.#closed) throw givenUp(rpc, this.#closed);
    if (signal?.aborted) throw givenUp(rpc, signal.reason);
    const channel = this.#connection.channelFor(rpc);
    return new Promise((resolve, reject) => {
      let aborted: StagecraftError | undefined;
      const giveUp = (reason: unknown): void => {
        aborted ??= givenUp(rpc, reason);
        call.cancel();
      };
      const onAbort = (): void => giveUp(signal?.reason);
      const call = channel.client.makeUnaryRequest<TRequest, TResponse>(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        new Metadata(),
        { deadline: Date.now() + Math.min(timeoutMs, maxTimeoutMs) },
        (error, response) => {
          this.#inFlight.delete(giveUp);
          signal?.removeEventListener('abort', onAbort);
          if (response !== undefined) resolve(response);
          else reject(aborted ?? failed(rpc, error, { channel, timeoutMs }));
        },
      );
      this.#inFlight.add(giveUp);
      signal?.addEventListener('abort', onAbort);
    });
  }

  #timeoutFor(path: string): number {
    return path.startsWith('/csi.v1.Node/') ? this.#nodeTimeoutMs : this.#timeoutMs;
  }
}

/** Given up on our side: the plugin may go on with it. */
function givenUp(rpc: string, reason: unknown): StagecraftError {
  const code = reason instanceof StagecraftError ? reason.code : 'ABORTED';
  const details = { rpc, grpcCode: 'CANCELLED', final: false, cause: reason };
  return new StagecraftError(code, `${rpc} was given up: ${messageOf(reason)}`, details);
}

function failed(
  rpc: string,
  error: ServiceError | null,
  { channel, timeoutMs }: { channel: PluginChannel; timeoutMs: number },
): StagecraftError {
  const code = grpcCodeOf(error?.code ?? -1);
  const details = error?.details ?? 'neither an answer nor an error';
  if (code === 'UNAVAILABLE') return csiError(rpc, code, explainUnavailable(channel, details));
  if (code === 'DEADLINE_EXCEEDED' && isOwnDeadline(details)) {
    return csiError(rpc, code, `no answer at ${channel.socketPath} within ${timeoutMs} ms: does the plugin hang?`);
  }
  return csiError(rpc, code, `${code}: ${details}`);
}

/** Tells our deadline, in the words of grpc-js, from one that the plugin ran into and reports. */
const isOwnDeadline = (details: string): boolean => details.startsWith('Deadline exceeded after');

/** The names of enum values: a set, so in one order and each once; unknown values and `UNKNOWN` itself are left out. */
function namesOf(type: Record<number, string>, values: Array<number | undefined>): string[] {
  const names = values.map((value) => (value ? type[value] : undefined)).filter((name) => name !== undefined);
  return [...new Set(names)].sort();
}

/**
 * A CSI plugin whose every answer is set by the test: a real gRPC server on a real unix socket. Without a script it is
 * a good node and controller plugin that offers nothing. It also dies as plugins do: with its socket left behind.
 */
import { EventEmitter, once } from 'node:events';
import { renameSync } from 'node:fs';
import {
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { csi } from '../generated/csi.js';

/** An answer (a generated message), an error, or nothing until `release`. */
export type Script = { answer: unknown } | { code: status; details: string } | 'hang';

const services = [
  csi.v1.UnimplementedIdentityService.definition,
  csi.v1.UnimplementedNodeService.definition,
  csi.v1.UnimplementedControllerService.definition,
];

const goodPlugin = (name: string): Array<[rpc: string, script: Script]> => [
  ['GetPluginInfo', { answer: new csi.v1.GetPluginInfoResponse({ name, vendor_version: '1.0.0' }) }],
  ['GetPluginCapabilities', { answer: new csi.v1.GetPluginCapabilitiesResponse() }],
  ['Probe', { answer: new csi.v1.ProbeResponse() }],
  ['NodeGetInfo', { answer: new csi.v1.NodeGetInfoResponse({ node_id: 'node-1' }) }],
  ['NodeGetCapabilities', { answer: new csi.v1.NodeGetCapabilitiesResponse() }],
  ['ControllerGetCapabilities', { answer: new csi.v1.ControllerGetCapabilitiesResponse() }],
];

const running = new Set<FakePlugin>();

/** Ends every plugin that a test left running. */
export async function stopFakePlugins(): Promise<void> {
  await Promise.all([...running].map((plugin) => plugin.stop()));
}

export class FakePlugin {
  /** The RPCs that came in, in order. */
  readonly calls: string[] = [];
  /** How long the caller of each RPC would wait, in milliseconds. */
  readonly timeoutsMs: Record<string, number> = {};
  readonly #socketPath: string;
  readonly #server = new Server();
  readonly #scripts: Map<string, Script>;
  readonly #arrivals = new EventEmitter();
  readonly #held = new Map<string, sendUnaryData<unknown>>();

  private constructor(socketPath: string, name: string) {
    this.#socketPath = socketPath;
    this.#scripts = new Map(goodPlugin(name));
    for (const definition of services) this.#server.addService(definition, this.#implement(Object.keys(definition)));
  }

  /** Listens at the path, which must be free. */
  static async listen(socketPath: string, name = 'fake.csi.test'): Promise<FakePlugin> {
    const plugin = new FakePlugin(socketPath, name);
    await new Promise<void>((resolve, reject) => {
      plugin.#server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    running.add(plugin);
    return plugin;
  }

  set(rpc: string, script: Script): this {
    this.#scripts.set(rpc, script);
    return this;
  }

  /** From now on it answers UNIMPLEMENTED. */
  unset(rpc: string): this {
    this.#scripts.delete(rpc);
    return this;
  }

  /** Resolves when the next call of this RPC comes in. */
  async arrival(rpc: string): Promise<void> {
    await once(this.#arrivals, rpc);
  }

  /** Answers the last call that was left hanging. */
  release(rpc: string, answer: unknown): void {
    this.#held.get(rpc)?.(null, answer);
  }

  /** Ends all connections and removes the socket. */
  async stop(): Promise<void> {
    if (!running.delete(this)) return;
    await new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => resolve());
      this.#server.forceShutdown();
    });
  }

  /** As SIGKILL does: ends all connections, and the socket file stays. */
  async kill(): Promise<void> {
    const aside = `${this.#socketPath}~`;
    renameSync(this.#socketPath, aside); // an ending server removes its socket, where it once was
    await this.stop();
    renameSync(aside, this.#socketPath);
  }

  #implement(rpcs: string[]): UntypedServiceImplementation {
    return Object.fromEntries(rpcs.map((rpc) => [rpc, this.#handler(rpc)]));
  }

  #handler(rpc: string): handleUnaryCall<unknown, unknown> {
    return (call, callback) => {
      this.calls.push(rpc);
      this.timeoutsMs[rpc] = Number(call.getDeadline()) - Date.now();
      this.#play(rpc, callback);
      this.#arrivals.emit(rpc);
    };
  }

  #play(rpc: string, callback: sendUnaryData<unknown>): void {
    const script = this.#scripts.get(rpc) ?? { code: status.UNIMPLEMENTED, details: `${rpc} is not implemented` };
    if (script === 'hang') this.#held.set(rpc, callback);
    else if ('answer' in script) callback(null, script.answer);
    else callback({ ...script, metadata: new Metadata() });
  }
}

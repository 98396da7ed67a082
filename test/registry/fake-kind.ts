/** A kind of plugin of the tests' own: `device`. Answers what it is told to, and counts what is done with it. */
import type { Fingerprint, PluginInfo } from '../../machines/plugin/plugin.js';
import type { Dispenser, FingerprintRequest } from '../../src/registry/dispenser.js';

export interface FakeClient {
  info: PluginInfo;
  closes: number;
  /** Who wants to hear of a lost connection. */
  listeners: Set<() => void>;
}

/** One call of `fingerprint`. */
export interface Look {
  client: FakeClient;
  request: FingerprintRequest;
}

export const healthy: Fingerprint = { healthy: true, description: 'ready' };
export const unhealthy: Fingerprint = { healthy: false, description: 'worn out' };

export class FakeKind implements Dispenser<FakeClient> {
  readonly clients: FakeClient[] = [];
  readonly looks: Look[] = [];
  /** What the next looks find; may throw, or wait for ever. */
  find: (look: Look) => Fingerprint | Promise<Fingerprint> = () => healthy;
  /** May throw. */
  connecting: (info: PluginInfo) => void = () => {};
  /** May throw, and take its time. */
  closing: (client: FakeClient, options: { signal: AbortSignal }) => void | Promise<void> = () => {};
  readonly #onLook = new Set<() => void>();

  connect(info: PluginInfo): FakeClient {
    this.connecting(info);
    const client: FakeClient = { info, closes: 0, listeners: new Set() };
    this.clients.push(client);
    return client;
  }

  fingerprint(client: FakeClient, request: FingerprintRequest): Promise<Fingerprint> {
    const look: Look = { client, request };
    this.looks.push(look);
    for (const tell of [...this.#onLook]) tell();
    return Promise.resolve(this.find(look));
  }

  onDisconnect(client: FakeClient, lost: () => void): () => void {
    client.listeners.add(lost);
    return () => client.listeners.delete(lost);
  }

  close(client: FakeClient, options: { signal: AbortSignal }): void | Promise<void> {
    client.closes += 1;
    return this.closing(client, options);
  }

  /** Resolves when there were this many looks. */
  looked(times: number): Promise<void> {
    return new Promise((resolve) => {
      const tell = (): void => {
        if (this.looks.length < times) return;
        this.#onLook.delete(tell);
        resolve();
      };
      this.#onLook.add(tell);
      tell();
    });
  }

  /** Makes looks wait; the answer ends the one that waits longest. */
  hold(): (found: Fingerprint | Error) => void {
    const waiting: { resolve(found: Fingerprint): void; reject(error: Error): void }[] = [];
    this.find = () => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    return (found) => {
      const one = waiting.shift();
      if (!one) throw new Error('no look is under way');
      if (found instanceof Error) one.reject(found);
      else one.resolve(found);
    };
  }

  get lastLook(): Look {
    const last = this.looks.at(-1);
    if (!last) throw new Error('nobody has looked yet');
    return last;
  }

  /** How often each client was closed, in the order in which they were made. */
  get closes(): number[] {
    return this.clients.map(({ closes }) => closes);
  }
}

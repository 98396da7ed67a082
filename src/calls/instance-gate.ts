/**
 * Admits calls to one instance of a plugin: only once its capabilities are known, while it answers, and up to a limit. After
 * repeated transport failures, calls wait for the next successful probe. Which instance a call goes to: plugin-access.ts
 */
import { onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { OldestFirst } from '../engine/oldest-first.js';
import { StagecraftError } from '../errors.js';
import type { Admission, AdmittedCall, PluginAnswer, PluginObservation, PluginPort, Refused } from './plugin-port.js';

/** Why the plugin cannot be called. */
interface Trouble {
  kind: 'absent' | 'unseen' | 'unwell' | 'unread' | 'closed';
  reason: string;
}

interface Waiting {
  admit(): void;
  blocked(trouble: Trouble): void;
}

/** Without `waits`, the call is refused as soon as the plugin cannot be called. */
type Coming = Omit<Admission, 'waits'> & Partial<Pick<Admission, 'waits'>>;

/** Number of consecutive transport failures after which calls wait for the next successful probe. */
const failuresInARow = 3;
const isTransportFailure = (grpcCode: string): boolean => grpcCode === 'UNAVAILABLE';
/** These codes may come from our own deadline or abort, so they say nothing about the plugin. */
const isSilence = (grpcCode: string): boolean => grpcCode === 'DEADLINE_EXCEEDED' || grpcCode === 'CANCELLED';

export interface GateLimits {
  clock: Clock;
  maxInFlight: number;
}

export class InstanceGate {
  readonly plugin: string;
  /** Node of the instance; undefined: this node. */
  readonly node: string | undefined;
  readonly #port: PluginPort;
  readonly #limits: GateLimits;
  readonly #waiting = new OldestFirst<Waiting, true>();
  #inFlight = 0;
  #failures = 0;
  /** Time of the last successful probe before the gate closed (0: none). The gate opens at the next successful probe. */
  #closedWellAtMs: number | undefined;
  #observation: PluginObservation | undefined;

  constructor(port: PluginPort, { plugin, node }: { plugin: string; node: string | undefined }, limits: GateLimits) {
    this.plugin = plugin;
    this.node = node;
    this.#port = port;
    this.#limits = limits;
  }

  get observation(): PluginObservation {
    this.#observation ??= this.#port.observation(this.plugin, this.node);
    return this.#observation;
  }

  /** Why the instance cannot be called; a full one is no such case. */
  get trouble(): Trouble | undefined {
    const { trouble, troubleKind: kind = 'unwell', capabilities, wellAtMs } = this.observation;
    if (trouble !== undefined) return { kind, reason: `${this.#name} can't be called: ${trouble}` };
    if (!capabilities) return { kind: 'unread', reason: `what ${this.#name} offers is not known yet` };
    if (this.#closedWellAtMs === undefined) return undefined;
    if (wellAtMs !== 0 && wellAtMs !== this.#closedWellAtMs) {
      this.#closedWellAtMs = undefined;
      return undefined;
    }
    const reason = `${this.#name} did not answer ${failuresInARow} calls in a row: they wait for its next good probe`;
    return { kind: 'closed', reason };
  }

  get #name(): string {
    return this.node === undefined ? `plugin '${this.plugin}'` : `plugin '${this.plugin}' of node ${this.node}`;
  }

  /** Names the instance, for messages. */
  get instanceName(): string {
    return this.nameOf(this.observation.instance) ?? this.#name;
  }

  /** Names an instance on the same node, for messages. */
  nameOf(instance: string | undefined): string | undefined {
    return instance === undefined ? undefined : `instance ${instance} of ${this.#name}`;
  }

  /** Why a call would have to wait for a place; undefined: one is free. */
  get crowd(): string | undefined {
    return this.#inFlight >= this.#limits.maxInFlight ? `${this.#inFlight} calls to it are in flight` : undefined;
  }

  /** Called when the observation may have changed. */
  changed(): void {
    this.#observation = undefined;
    if (this.#waiting.size > 0) this.#admitWaiting();
  }

  /** Waits until the call may be made. @throws as PluginAccess.enter */
  async enter(admission: Admission): Promise<AdmittedCall> {
    if (this.#isOpen) this.#inFlight += 1;
    else await this.#wait(admission);
    return this.#admitted();
  }

  /** Admits a call at once; undefined if it would have to wait. */
  enterIfOpen(): AdmittedCall | undefined {
    if (!this.#isOpen) return undefined;
    this.#inFlight += 1;
    return this.#admitted();
  }

  /** Waits only for a free place. @throws as PluginAccess.enterNow */
  async enterNow(admission: Omit<Admission, 'waits'>): Promise<AdmittedCall | Refused> {
    return this.enterIfOpen() ?? (await this.#wait(admission)) ?? this.#admitted();
  }

  /** Whether a call may be made at once, without overtaking another. */
  get #isOpen(): boolean {
    return this.#waiting.size === 0 && !this.trouble && !this.crowd;
  }

  #admitted(): AdmittedCall {
    const { plugin, node, observation } = this;
    let isIn = true;
    const leave = (answer?: PluginAnswer): void => {
      if (!isIn) return;
      isIn = false;
      this.#inFlight -= 1;
      // A failure of a call that began before the last successful probe says nothing about the present plugin.
      const isOld = this.observation.wellAtMs !== observation.wellAtMs;
      if (answer?.grpcCode !== undefined) this.#judge({ grpcCode: answer.grpcCode, isOld });
      this.#admitWaiting();
    };
    return {
      node,
      observation: isRead(observation) ? observation : { ...observation, capabilities: new Set() },
      client: () => this.#port.client(plugin, node),
      seen: () => this.observation,
      leave,
      renew: () => {
        const { trouble } = this;
        if (trouble) {
          leave();
          return { reason: trouble.reason };
        }
        isIn = false;
        return this.#admitted();
      },
    };
  }

  #judge({ grpcCode, isOld }: { grpcCode: string; isOld: boolean }): void {
    if (grpcCode === 'UNIMPLEMENTED') this.#port.lookAgain(this.plugin, this.node);
    if (!isTransportFailure(grpcCode)) this.#failures = isSilence(grpcCode) ? this.#failures : 0;
    else if (!isOld) this.#failures += 1;
    if (this.#failures < failuresInARow) return;
    // Compares for inequality only: the clock may be set back, so a later probe can have an earlier time.
    this.#closedWellAtMs = this.observation.wellAtMs;
    this.#failures = 0;
  }

  #wait({ signal, waitMs, waits }: Coming): Promise<Refused | undefined> {
    return new Promise((resolve, reject) => {
      let reported: Trouble['kind'] | undefined;
      let unsubscribe: (() => void) | undefined;
      const end = (): void => {
        this.#waiting.delete(waiting);
        unsubscribe?.();
        cancel?.();
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          this.#inFlight += 1;
          resolve(undefined);
        },
        blocked: ({ kind, reason }) => {
          if (!waits) {
            end();
            resolve({ reason });
          } else if (reported !== kind) waits(reason);
          reported = kind;
        },
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      const late = (): void => fail(tookNone(this.plugin, waitMs, this.trouble?.reason ?? this.crowd));
      const cancel = waitMs === undefined ? undefined : this.#limits.clock.after(waitMs, late);
      this.#waiting.add(waiting, true);
      unsubscribe = onAbort(signal, fail);
      if (!this.#waiting.has(waiting)) return;
      const { trouble } = this;
      // Calls that waited before know the reason already.
      if (trouble) waiting.blocked(trouble);
      else this.#admitWaiting();
    });
  }

  /** Admits waiting calls in order, up to the limit. If the plugin cannot be called, tells them the reason. */
  #admitWaiting(): void {
    for (let next = this.#waiting.oldest; next; next = this.#waiting.oldest) {
      const { trouble } = this;
      if (trouble) {
        for (const waiting of [...this.#waiting.keys()]) waiting.blocked(trouble);
        return;
      }
      if (this.crowd) return;
      next.admit();
    }
  }
}

const isRead = (observation: PluginObservation): observation is AdmittedCall['observation'] =>
  observation.capabilities !== undefined;

/** Makes the error of a call that was not admitted in time. */
export const tookNone = (plugin: string, waitMs: number | undefined, why = 'its turn did not come'): StagecraftError =>
  new StagecraftError('PLUGIN_UNAVAILABLE', `plugin '${plugin}' took no call within ${waitMs} ms: ${why}`);

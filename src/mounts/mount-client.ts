/**
 * What all requests to the mounts of this node go through: looks at one, asks it, waits for what becomes of it. Once it is
 * closed it refuses all, and ends all waiting. What is asked of mounts, and what is waited for, say those who have it.
 */
import type { StateValue } from 'xstate';
import { mountAddress, nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import type { MountContext, MountRequest, Target } from '../../machines/mount/types.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/types.js';
import { unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import { troubleMs } from '../engine/storage/store-patience.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import { ActorWaits } from '../requests/actor-waits.js';
import type { AwaitOptions } from '../requests/await-options.js';
import { limited } from '../requests/limited.js';
import { mountStateOf, mountTrouble } from './mount-view.js';

/** A mount as committed. */
export interface CommittedMount {
  state: StateValue;
  context: MountContext;
}

export interface MountGoal<T> {
  /** For whoever waits in vain. */
  goal: string;
  /** Undefined: not yet. */
  reached(context: MountContext): T | undefined;
  /** What it comes to where there is no such mount any more. */
  gone?: T;
  signal: AbortSignal;
}

export class MountClient {
  readonly node: string;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #waits: ActorWaits;
  readonly #end = new AbortController();
  #closed: StagecraftError | undefined;

  constructor({ node, engine, clock }: { node: string; engine: Engine; clock: Clock }) {
    this.node = node;
    this.#engine = engine;
    this.#clock = clock;
    this.#waits = new ActorWaits({
      engine,
      clock,
      prefix: nodeOwnedPrefix('mount', node),
      describe: ({ state, context }) => {
        const trouble = mountTrouble(contextOf(context));
        return `${mountStateOf(state)}${trouble ? `: ${trouble.message}` : ''}`;
      },
    });
  }

  addressOf({ namespace, id }: VolumeKey): string {
    return mountAddress(this.node, namespace, id);
  }

  /** All that are here. */
  sights(volumes?: readonly VolumeKey[]): CommittedMount[] {
    const views = volumes
      ? volumes.flatMap((key) => this.#engine.peek(this.addressOf(key)) ?? [])
      : [...this.#engine.views(nodeOwnedPrefix('mount', this.node))].map(([, view]) => view);
    return views.map(({ state, context }) => ({ state, context: contextOf(context) }));
  }

  /** Undefined where there is none. */
  contextAt(key: VolumeKey): MountContext | undefined {
    const view = this.#engine.peek(this.addressOf(key));
    return view && contextOf(view.context);
  }

  /** Whether a mount is here, or may be here soon: its first request may be on its way to the store. */
  has(key: VolumeKey): boolean {
    return this.#engine.has(this.addressOf(key));
  }

  /** Resolves once it is committed. @throws StagecraftError why it is refused */
  async ask(key: VolumeKey, request: MountRequest): Promise<void> {
    await this.#engine.ask(this.addressOf(key), request);
  }

  /** Resolves once it is reached. @throws StagecraftError what `reached` throws; ABORTED, RUNTIME_CLOSED */
  until<T>(key: VolumeKey, { reached, ...goal }: MountGoal<T>): Promise<T> {
    return this.#waits.until({
      ...goal,
      reached: ({ context }) => reached(contextOf(context)),
      address: this.addressOf(key),
      name: nameOf(key),
    });
  }

  /** What is asked of others along the way ends with the wait. */
  async within<T>(
    { timeoutMs, signal }: AwaitOptions,
    { key, allocId, trouble }: { key: VolumeKey; allocId: string; trouble?: () => string | null },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const failed = (code: ErrorCode): StagecraftError => {
      const late = `${timeoutMs} ms have passed before ${nameOf(key)} was done with for alloc ${allocId}`;
      const why = code === 'TIMEOUT' ? late : 'the wait was given up';
      const message = `${why}${this.#troubleAt(key) || because(trouble?.())}; what was begun stands: see mounts.list()`;
      const address = this.addressOf(key);
      const cause = code === 'TIMEOUT' ? this.#engine.storeTrouble(troubleMs(timeoutMs)) : undefined;
      return cause
        ? new StagecraftError('STORE_UNAVAILABLE', `${message}; ${cause.message}`, {
            address,
            outcome: 'unknown',
            cause,
          })
        : new StagecraftError(code, message, { address });
    };
    return limited({ clock: this.#clock, timeoutMs, signal, failed, end: this.#end.signal }, (given) =>
      unlessAborted(given, () => work(given)),
    );
  }

  refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }

  /** Ends all waiting; every later call is refused. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed ??= reason;
    this.#end.abort(this.#closed);
    this.#waits.close(this.#closed);
  }

  #troubleAt(key: VolumeKey): string {
    const context = this.contextAt(key);
    const trouble = context && mountTrouble(context);
    return trouble ? ` (${trouble.message})` : '';
  }
}

const because = (reason: string | null | undefined): string => (reason ? ` (${reason})` : '');

/** The engine keeps contexts as the machines made them, but does not know their types. */
const contextOf = (context: object): MountContext => context as MountContext;

export const userOf = ({ users }: MountContext, allocId: string): Target | undefined =>
  users.find((user) => user.allocId === allocId);

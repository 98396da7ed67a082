/**
 * gRPC channels to plugins' sockets: one per socket file, shared by all who talk to it, closed by the last of them.
 * A channel follows neither a replaced file (it goes on talking to the old server) nor a plugin that comes back (it
 * answers UNAVAILABLE until its backoff is over): so the file is looked at before each call. Calls: client.ts.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { type ChannelOptions, Client, connectivityState, credentials } from '@grpc/grpc-js';
import { messageOf } from '../errors.js';
import { checkSocketPath } from '../host/socket-path.js';
import { maxMessageBytes } from './answer-limits.js';
import type { RpcName } from './answers.js';
import { csiError } from './codes.js';

export const channelOptions: ChannelOptions = {
  'grpc.use_local_subchannel_pool': 1, // else a new channel would share the old connection and its backoff
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.max_send_message_length': maxMessageBytes,
  'grpc.max_receive_message_length': maxMessageBytes,
};

/** A channel to one socket file, for one call: ask again before the next call. */
export interface PluginChannel {
  readonly socketPath: string;
  readonly client: Client;
  /** Path and identity of the socket file; another file has another key. */
  readonly key: string;
}

interface SharedChannel extends PluginChannel {
  /** Users, each with a callback for a lost connection. */
  readonly users: Set<() => void>;
  /** Closed and not handed out any more; its users ask for another channel. */
  retired: boolean;
}

const channels = new Map<string, SharedChannel>();

/** Number of open channels in this process. */
export const openChannels = (): number => channels.size;

/** One user of the socket at a path. Opens nothing until the first call. */
export class PluginConnection {
  readonly socketPath: string;
  readonly #listeners = new Set<() => void>();
  readonly #lost = (): void => {
    for (const listener of [...this.#listeners]) listener();
  };
  #held: SharedChannel | undefined;
  /** Key of the file that was called last. */
  #key: string | undefined;

  /** @throws {StagecraftError} INVALID_ARGUMENT: see checkSocketPath */
  constructor(socketPath: string) {
    checkSocketPath(socketPath);
    this.socketPath = socketPath;
  }

  /**
   * The channel to the file that stands at the path now: a new one if the file is another than before, or if the
   * last attempt to connect failed. Calls in flight on the old one may still end there.
   * @throws {StagecraftError} CSI_ERROR, grpcCode UNAVAILABLE: there is no socket
   */
  channelFor(rpc: RpcName): PluginChannel {
    const looked = lookAt(this.socketPath);
    if ('fault' in looked) {
      this.close(); // else it goes on trying to connect
      throw csiError(rpc, 'UNAVAILABLE', looked.fault);
    }
    if (this.#key !== undefined && this.#key !== looked.key) this.#tellReplaced();
    this.#key = looked.key;
    const shared = usable(looked.key) ?? open(this.socketPath, looked.key);
    if (this.#held !== shared) this.close();
    shared.users.add(this.#lost);
    this.#held = shared;
    return shared;
  }

  /**
   * Tells all users of the channel that another plugin may be behind the path: users without a call would not notice,
   * since nobody watches the old connection any more.
   */
  #tellReplaced(): void {
    const listeners = new Set([this.#lost]);
    if (this.#held && !this.#held.retired) {
      retire(this.#held);
      for (const lost of this.#held.users) listeners.add(lost);
    }
    for (const lost of listeners) queueMicrotask(lost);
  }

  /**
   * Calls back each time the other side ends an established connection, or a call of any user finds the socket
   * replaced; the returned function ends that.
   */
  onLost(callback: () => void): () => void {
    const listener = (): void => callback();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Gives the channel back; its last user closes it. */
  close(): void {
    this.#held?.users.delete(this.#lost);
    if (this.#held?.users.size === 0) retire(this.#held);
    this.#held = undefined;
  }
}

/**
 * Why a call on this channel could not be made, or lost its connection: what the socket has to do with it, or
 * else `details`, which gRPC or the plugin gave.
 */
export function explainUnavailable(channel: PluginChannel, details: string): string {
  const looked = lookAt(channel.socketPath);
  if ('fault' in looked) return looked.fault;
  if (looked.key !== channel.key) {
    return `the socket at ${channel.socketPath} was replaced during the call: UNAVAILABLE: ${details}`;
  }
  if (details.includes('ECONNREFUSED')) {
    return `stale socket at ${channel.socketPath}: nobody listens (ECONNREFUSED), its plugin has ended; start it again`;
  }
  if (details.includes('EACCES')) {
    return `no right to connect to ${channel.socketPath} (EACCES): run as the user whose socket it is, or as root`;
  }
  return `UNAVAILABLE: ${details.replace(/\s*Resolution note:\s*$/, '')}`;
}

/**
 * Looks at the file synchronously: that takes microseconds, and no thread of a pool that blocked mounts may have
 * filled.
 */
function lookAt(socketPath: string): { key: string } | { fault: string } {
  let file: BigIntStats | undefined;
  try {
    file = statSync(socketPath, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return { fault: `can't look at the socket ${socketPath}: ${messageOf(error)}` };
  }
  if (!file) return { fault: `no socket at ${socketPath}: is the plugin running?` };
  if (!file.isSocket()) return { fault: `${socketPath} is not a socket: is this the plugin's path?` };
  // An inode number is reused once nobody holds the socket open: so the birth time is part of the key.
  return { key: `${socketPath}\0${file.dev}:${file.ino}:${file.birthtimeNs}` };
}

/** The open channel of this key; closes one that failed to connect. */
function usable(key: string): SharedChannel | undefined {
  const channel = channels.get(key);
  const hasFailed = channel && stateOf(channel) === connectivityState.TRANSIENT_FAILURE;
  if (hasFailed) retire(channel);
  return hasFailed ? undefined : channel;
}

const stateOf = ({ client }: SharedChannel): connectivityState => client.getChannel().getConnectivityState(false);

function open(socketPath: string, key: string): SharedChannel {
  const client = new Client(`unix://${socketPath}`, credentials.createInsecure(), channelOptions);
  const channel: SharedChannel = { socketPath, key, client, users: new Set(), retired: false };
  channels.set(key, channel);
  watchForLoss(channel);
  return channel;
}

function watchForLoss(channel: SharedChannel): void {
  const before = stateOf(channel);
  channel.client.getChannel().watchConnectivityState(before, Number.POSITIVE_INFINITY, () => {
    if (channel.retired) return;
    watchForLoss(channel);
    if (before === connectivityState.READY) for (const lost of [...channel.users]) lost();
  });
}

function retire(channel: SharedChannel): void {
  if (channel.retired) return;
  channel.retired = true;
  channels.delete(channel.key);
  channel.client.close();
}

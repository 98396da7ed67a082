/** Path of the driver's socket, and how to take it over from a dead driver, never from a living one. */
import { once } from 'node:events';
import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { messageOf, StagecraftError } from '../../errors.js';
import { bindPrivately } from '../../host/bind-privately.js';
import { lockDirectory } from '../../host/lock-file.js';
import { checkSocketPath } from '../../host/socket-path.js';

/**
 * The path in a CSI endpoint: `unix:///abs/path`, `unix:/abs/path` or `/abs/path`.
 * @throws {StagecraftError} INVALID_ARGUMENT: anything else, or a path that can't be that of a socket
 */
export function socketPathOf(endpoint: string): string {
  const path = /^(?:unix:(?:\/\/)?)?(\/(?!\/).*)$/s.exec(endpoint)?.[1];
  if (path === undefined) {
    const message = `the endpoint ${JSON.stringify(endpoint)} must be unix:// and an absolute path, e.g. unix:///run/csi.sock`;
    throw new StagecraftError('INVALID_ARGUMENT', message);
  }
  checkSocketPath(path);
  return path;
}

/** Time that another driver may take to see whether the socket is a dead one's. */
const lockPatienceMs = 5_000;
const lockRetryMs = 20;

export interface Listening {
  server: Server;
  /** Closes the server and removes its own socket, not one that has replaced it. */
  close(): void;
}

/**
 * Listens at the path; mode 0600 from the first moment on. Resolves before any connection comes in: the caller has
 * this tick to say what becomes of them.
 * @throws {StagecraftError} SOCKET_IN_USE: somebody answers there, or what is there is not a socket;
 * INVALID_ARGUMENT: no such directory, or not ours to write to
 */
export async function listen(socketPath: string): Promise<Listening> {
  const { unlock } = await lock(socketPath);
  try {
    await removeStale(socketPath);
    const server = createServer();
    bindPrivately(server, socketPath);
    const inode = inodeAt(socketPath);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw bindFailure(socketPath, error);
    }
    return { server, close: () => close(server, socketPath, inode) };
  } finally {
    unlock();
  }
}

/**
 * Locks the directory: of two drivers that find the same dead socket, the second must not remove the first one's new
 * socket.
 */
async function lock(socketPath: string): Promise<{ unlock(): void }> {
  for (let leftMs = lockPatienceMs; ; leftMs -= lockRetryMs) {
    const taken = tryLocking(socketPath);
    if (taken) return taken;
    if (leftMs <= 0) throw inUse(socketPath, 'another driver is about to take it: stop that one, or ask again');
    await setTimeout(lockRetryMs);
  }
}

function tryLocking(socketPath: string): { unlock(): void } | undefined {
  try {
    return lockDirectory(dirname(socketPath));
  } catch (error) {
    throw bindFailure(socketPath, error);
  }
}

/** Closes the server. Closing removes whatever is at the path: another driver's socket gets a second name meanwhile. */
function close(server: Server, socketPath: string, inode: bigint | undefined): void {
  const found = inodeAt(socketPath);
  if (found === undefined || found === inode) {
    server.close();
    return;
  }
  const aside = `${socketPath}.kept`;
  rmSync(aside, { force: true });
  linkSync(socketPath, aside);
  server.close();
  renameSync(aside, socketPath);
}

const inodeAt = (path: string): bigint | undefined => lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

function bindFailure(socketPath: string, cause: unknown): StagecraftError {
  const why = messageOf(cause);
  if (why.includes('EADDRINUSE')) return inUse(socketPath, 'somebody else just came there', cause);
  const message = `can't listen at ${socketPath}: ${why}: is there such a directory, and may we write to it?`;
  return new StagecraftError('INVALID_ARGUMENT', message, { cause });
}

/**
 * Removes the socket of a dead driver; a missing one is fine.
 * @throws {StagecraftError} SOCKET_IN_USE: a process answers there, or it is no socket
 */
export async function removeStale(socketPath: string): Promise<void> {
  const found = lstatSync(socketPath, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw inUse(socketPath, 'what is there is not a socket: remove it, or choose another path');
  const refusal = await tryConnecting(socketPath);
  if (refusal?.code === 'ECONNREFUSED') return rmSync(socketPath, { force: true });
  if (refusal?.code === 'ENOENT') return;
  throw inUse(
    socketPath,
    refusal ? refusal.message : 'somebody answers there: stop it, or choose another path',
    refusal,
  );
}

/** @returns why nobody could be reached, or undefined if somebody was */
function tryConnecting(socketPath: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', resolve);
  });
}

function inUse(socketPath: string, why: string, cause?: unknown): StagecraftError {
  return new StagecraftError('SOCKET_IN_USE', `can't listen at ${socketPath}: ${why}`, cause ? { cause } : {});
}

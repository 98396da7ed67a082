/**
 * Finds the process of a task that serves the node calls of its plugin: once it has ended with all its children, none
 * of those calls goes on. A container outlives the process that started it: so the listener of the socket is looked
 * up.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pluginsAddress } from '../../machines/kit/addresses.js';
import { pluginsMachine } from '../../machines/plugin/plugins.js';
import { taskMachine } from '../../machines/task/task.js';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { bootId } from '../host/boot-id.js';
import { hasRunEnded, type SessionLeader, sessionOf } from './processes.js';

/** Process that serves the node calls of a plugin. Without `process`: not of this runtime, or not certain. */
interface NodeCallsProcess extends Partial<SessionLeader> {
  /** Boot of the host: no process outlives it. */
  bootId: string;
}

/** Process that serves the node calls of a plugin now. Reads committed records. */
export function nodeCallsProcess(engine: ActorSystem, node: string, plugin: string): NodeCallsProcess {
  const plugins = new ActorsOf(engine, pluginsMachine).peek(pluginsAddress(node, 'csi-node', plugin))?.context;
  const active = plugins?.instances[0];
  const unknown = { bootId: bootId() };
  if (!active) return unknown;
  for (const [, { context }] of new ActorsOf(engine, taskMachine).views()) {
    const { spawned, ready } = context;
    const isOfRun = active.allocId === spawned?.allocId && active.connection.socketPath === spawned.socketPath;
    if (isOfRun && spawned.process && ready?.isServing)
      return { ...unknown, process: spawned.process, token: spawned.token };
  }
  return unknown;
}

/**
 * Whether all node calls to it have ended.
 * @param recipient result of `nodeCallsProcess`, also from before a restart
 * @returns undefined: it is not known whose process it is
 */
export async function haveNodeCallsEnded(recipient: Partial<NodeCallsProcess>): Promise<boolean | undefined> {
  const { process, token } = recipient;
  if (recipient.bootId !== undefined && recipient.bootId !== bootId()) return true;
  return process && token !== undefined ? hasRunEnded({ process, token }) : undefined;
}

/** Flag of a listening socket in /proc/net/unix. */
const acceptsConnections = 0x1_0000;

/** Whether a process, or one in its session, listens on a socket. False if that can't be found out. */
export function isServedBy(process: ProcessIdentity, socketPath: string): boolean {
  try {
    const listening = new Set(listenersAt(socketPath).map((inode) => `socket:[${inode}]`));
    const session = sessionOf(process) ?? [];
    return listening.size > 0 && session.some((pid) => linksOf(pid).some((link) => listening.has(link)));
  } catch {
    return false;
  }
}

/** Inodes of listeners. The path may hold blanks: all fields before it are single words. */
function listenersAt(socketPath: string): string[] {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, flags = '', inode = '', path] = /^\S+ +\S+ +\S+ +(\S+) +\S+ +\S+ +(\S+) (.*)$/.exec(line) ?? [];
    return path === socketPath && Number.parseInt(flags, 16) & acceptsConnections ? [inode] : [];
  });
}

/** Targets of a process's open files; files that are closed meanwhile are left out. */
function linksOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).flatMap((file) => {
    try {
      return [readlinkSync(join(directory, file))];
    } catch {
      return [];
    }
  });
}

/**
 * Which process of a task serves the node calls of its plugin: once it has ended, with all that it has started, none of
 * those calls goes on. A container outlives the process that has started it: who listens on the socket is looked up.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pluginsAddress, taskAddress } from '../../machines/kit/addresses.js';
import { pluginsMachine } from '../../machines/plugin/plugins.js';
import { taskMachine } from '../../machines/task/task.js';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { bootId } from '../host/boot-id.js';
import { hasRunEnded, type SessionLeader, sessionOf } from './processes.js';

/** Process that serves the node calls of a plugin. Without `process`: not this runtime's own, or not certain to be. */
export interface NodeCallsProcess extends Partial<SessionLeader> {
  /** Of the host: nothing outlives that. */
  bootId: string;
}

/** Process that serves the node calls of a plugin now. Reads committed state. */
export function nodeCallsProcess(engine: ActorSystem, node: string, plugin: string): NodeCallsProcess {
  const plugins = new ActorsOf(engine, pluginsMachine).peek(pluginsAddress(node, 'csi-node', plugin))?.context;
  const task = new ActorsOf(engine, taskMachine).peek(taskAddress(node, plugin))?.context;
  const active = plugins?.instances[0];
  const { spawned, ready } = task ?? {};
  const unknown = { bootId: bootId() };
  if (!active || !spawned?.process || !ready?.isServing) return unknown;
  const isOfRun = active.allocId === spawned.allocId && active.connection.socketPath === spawned.socketPath;
  return isOfRun ? { ...unknown, process: spawned.process, token: spawned.token } : unknown;
}

/**
 * Whether all node calls that went there have ended.
 * @param recipient as `nodeCallsProcess` has answered it, before a restart too
 * @returns undefined: whose process it is, is not known
 */
export async function haveNodeCallsEnded(recipient: Partial<NodeCallsProcess>): Promise<boolean | undefined> {
  const { process, token } = recipient;
  if (recipient.bootId !== undefined && recipient.bootId !== bootId()) return true;
  return process && token !== undefined ? hasRunEnded({ process, token }) : undefined;
}

/** A listening socket, by its flags in /proc/net/unix. */
const acceptsConnections = 0x1_0000;

/** Whether a process, or one in the session that it leads, listens on a socket. False where that can't be found out. */
export function isServedBy(process: ProcessIdentity, socketPath: string): boolean {
  try {
    const listening = new Set(listenersAt(socketPath).map((inode) => `socket:[${inode}]`));
    const session = sessionOf(process) ?? [];
    return listening.size > 0 && session.some((pid) => linksOf(pid).some((link) => listening.has(link)));
  } catch {
    return false;
  }
}

/** Inodes. A path may hold blanks: all before it is of one word each. */
function listenersAt(socketPath: string): string[] {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, flags = '', inode = '', path] = /^\S+ +\S+ +\S+ +(\S+) +\S+ +\S+ +(\S+) (.*)$/.exec(line) ?? [];
    return path === socketPath && Number.parseInt(flags, 16) & acceptsConnections ? [inode] : [];
  });
}

/** Where the open files of a process lead; those that are closed meanwhile are left out. */
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

/** Waits for the end of a process, our own child or one that an earlier incarnation of this runtime has started. */
import type { ProcessEnd, ProcessIdentity } from '../../machines/task.js';
import { type Clock, pause } from '../engine/clock.js';
import { isAlive } from './processes.js';
import type { Children } from './spawn.js';

/** A process that is not our child can only be looked at. */
const lookEveryMs = 250;

export async function watchProcess(
  clock: Clock,
  children: Children,
  { identity, signal }: { identity: ProcessIdentity; signal: AbortSignal },
): Promise<ProcessEnd> {
  const child = children.get(identity.pid);
  const look = new AbortController();
  const wake = (): void => look.abort();
  child?.once('exit', wake);
  while (isAlive(identity) && !signal.aborted) {
    await pause(clock, lookEveryMs, AbortSignal.any([signal, look.signal]));
  }
  child?.off('exit', wake);
  signal.throwIfAborted();
  children.delete(identity.pid);
  if (!child) return {};
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  return child.signalCode === null ? { code: child.exitCode ?? 0 } : { signal: child.signalCode };
}

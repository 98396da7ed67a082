/** Places of an agent on its host. Commands use them: they load no schema. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { socketRootOf } from '../host/data-dir.js';

/** Default data directory: the system's for root, else the user's. */
export function defaultDataDir(): string {
  if (process.getuid?.() === 0) return '/var/lib/stagecraft';
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'stagecraft');
}

/** Path of the agent's socket. */
export const agentSocketPath = (dataDir: string): string => join(socketRootOf(dataDir), 'agent.sock');

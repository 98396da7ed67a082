/** Default data directory. A file of its own: commands import it without any schema. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Default data directory: the system's for root, else the user's. */
export function defaultDataDir(): string {
  if (process.getuid?.() === 0) return '/var/lib/stagecraft';
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'stagecraft');
}

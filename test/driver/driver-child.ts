/** A driver in a process of its own: socket, data directory, and the user to be from the start on, if not root. */
import { startDriver } from '../../src/tools/driver/driver.js';

const [endpoint = '', dataDir = '', user] = process.argv.slice(2);
if (user !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
await startDriver({ endpoint, dataDir, nodeId: 'node-1' });
process.stdout.write('ready\n');

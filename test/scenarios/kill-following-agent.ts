/**
 * An agent as `stagecraft agent` runs it, and in its process followers of all plugin and task events.
 * Arguments: --config FILE, --heard DIRECTORY. How they follow: kill-follower.ts
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startAgent } from '../../dist/src/agent/agent.js';
import { loadConfig } from '../../dist/src/agent/config.js';
import { follow } from './kill-follower.js';

const { config, heard = '.' } = parseArgs({
  options: { config: { type: 'string' }, heard: { type: 'string' } },
}).values;

const { runtime, ended } = await startAgent(loadConfig(config), (line) => process.stdout.write(`${line}\n`));
// One that can't go on takes the agent down, with its reason on stderr.
await Promise.all([
  follow(join(heard, 'plugins'), (from) => runtime.plugins.updates(undefined, { from })),
  follow(join(heard, 'tasks'), (from) => runtime.tasks.updates({ from })),
  ended,
]);

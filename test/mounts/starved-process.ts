/** A process that has no file descriptor left as it runs a tool; says what came of it. */
import { openSync } from 'node:fs';
import { systemClock } from '../../src/engine/clock.js';
import { hostTool } from '../../src/mounts/host-tool.js';

const tool = hostTool(systemClock, 10_000);
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  // Now there is none.
}
const told = (error: unknown): string => String(error);
const [ran, isAlive] = await Promise.all([tool.run('true', []).catch(told), tool.isAlive('/').catch(told)]);
console.log(JSON.stringify({ ran, isAlive }));

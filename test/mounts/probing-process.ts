/** A process that asks whether a mount is alive, says what it was told, and has nothing else to live for. */
import { systemClock } from '../../src/engine/clock.js';
import { hostTool } from '../../src/mounts/host-tool.js';

const [mountPoint = '', deadlineMs] = process.argv.slice(2);
console.log(await hostTool(systemClock, Number(deadlineMs)).isAlive(mountPoint));

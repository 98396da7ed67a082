/** A process of its own that runs a runtime on Redis with a node plugin, and does nothing else. See redis-volumes-scene.ts */
import { loggerInto } from './redis-scene.js';
import { type ChildSaid, openLeader, type VolumesChildOptions } from './redis-volumes-scene.js';

const options: VolumesChildOptions = JSON.parse(process.argv[2] ?? '{}');

await openLeader({ ...options, logger: loggerInto([]) });
process.send?.({ kind: 'open' } satisfies ChildSaid);

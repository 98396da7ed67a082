/** A process of its own that runs a runtime on Redis, and an alloc that uses a volume there. See redis-volumes-scene.ts */

import { eventually } from '../until.js';
import { loggerInto } from './redis-scene.js';
import { allocVolume, type ChildSaid, openLeader, type VolumesChildOptions } from './redis-volumes-scene.js';

const options: VolumesChildOptions = JSON.parse(process.argv[2] ?? '{}');
const say = (message: ChildSaid): void => void process.send?.(message);

const { nodes, allocations, lost } = await openLeader({ ...options, logger: loggerInto([]) });
say({ kind: 'open' });
void lost.then(({ code }) => say({ kind: 'lost', code }));
await eventually('the node is known', async () => (await nodes.list()).some(({ id }) => id === options.nodeId));
const [mount] = await allocations.prepare('web', [allocVolume('data')]);
say({ kind: 'told', what: 'prepare', id: 'web', how: mount?.hostPath ?? '', atMs: Date.now() });

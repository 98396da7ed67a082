/**
 * A process of its own that runs a runtime on Redis with a plugin on a real socket, and works on volumes without end
 * while it leads. What it is told goes to its parent. How it is driven: redis-volumes-scene.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StagecraftError } from '../../src/errors.js';
import { loggerInto } from './redis-scene.js';
import { type ChildSaid, openLeader, reportOf, type VolumesChildOptions, volumeOf } from './redis-volumes-scene.js';

const options: VolumesChildOptions = JSON.parse(process.argv[2] ?? '{}');
const say = (message: ChildSaid): void => void process.send?.(message);

const runtime = await openLeader({ ...options, logger: loggerInto([]) });
const { volumes, nodes } = runtime;
void runtime.lost.then(({ code }) => say({ kind: 'lost', code }));
for (const node of options.nodes) await nodes.report(reportOf(node));
say({ kind: 'open' });
void follow();
for (let line = 0; line < 4; line += 1) void work(line);

/** Who leads, from the first on; again from where it was, as the store could not be read. */
async function follow(): Promise<void> {
  let from = '0';
  for (;;) {
    try {
      for await (const { id, nodeId } of runtime.leadership.updates({ from })) {
        from = id;
        say({ kind: 'elected', nodeId });
      }
      return;
    } catch (error) {
      if (!(error instanceof StagecraftError) || error.code !== 'STORE_UNAVAILABLE') throw error;
      await sleep(100);
    }
  }
}

/** Makes one after the other, publishes it, and takes every second one away again. */
async function work(line: number): Promise<void> {
  for (let n = 1; ; n += 1) {
    const id = `${line}-${n}`;
    const key = { id };
    const node = options.nodes[n % options.nodes.length] ?? '';
    await told('create', id, () => volumes.create(volumeOf(id)));
    await told('publish', id, () => volumes.publish(key, node));
    if (n % 2 === 1) continue;
    await told('unpublish', id, () => volumes.unpublish(key, node));
    await told('delete', id, () => volumes.delete(key));
  }
}

/** Asked for until it is done here. */
async function told(what: string, id: string, request: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      say({ kind: 'asked', what, id });
      await request();
      return say({ kind: 'told', what, id, how: 'done', atMs: Date.now() });
    } catch (error) {
      if (!(error instanceof StagecraftError)) throw error;
      say({ kind: 'told', what, id, how: error.code, atMs: Date.now() });
      // What the other one has done meanwhile is done.
      if (error.code === 'VOLUME_NOT_FOUND') return;
      await sleep(100);
    }
  }
}

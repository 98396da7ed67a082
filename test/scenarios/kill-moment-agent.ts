/**
 * An agent of somebody's own that embeds the runtime: it starts a task, has its process die or stops it, and dies itself
 * by SIGKILL at one commit, before the store has it or right after. Its argument: MomentOptions as JSON.
 */
import { createRuntime, type TaskOptions } from '../../dist/src/index.js';
import { type Commit, lmdbStore, type Store } from '../../dist/src/stores/index.js';
import { faultyStore } from '../support/faulty-store.js';

export interface Moment {
  when: 'before' | 'after';
  /** What the journal entry of the commit says: its event, or `begin` where an instance begins. */
  entry: string;
  /** Which of those, counted from 1. */
  nth: number;
}

export interface MomentOptions {
  dataDir: string;
  task: TaskOptions;
  /** What becomes of the task once its plugin is healthy. */
  fate: 'stays' | 'dies' | 'is stopped' | 'is released';
  moment: Moment;
}

function dying(inner: Store, { when, entry, nth }: Moment): Store {
  const is = ({ address, journal }: Commit): boolean => {
    const { event } = JSON.parse(journal);
    return entry === 'begin' ? event === undefined && address.startsWith('plugin/') : event?.type === entry;
  };
  let met = 0;
  const die = (): Promise<never> => {
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
  const commit: Store['commit'] = async (items) => {
    met += items.filter(is).length;
    if (met < nth) return inner.commit(items);
    if (when === 'after') await inner.commit(items);
    return die();
  };
  return { ...faultyStore(inner), commit };
}

const { dataDir, task, fate, moment }: MomentOptions = JSON.parse(process.argv[2] ?? '');
const store = dying(lmdbStore(`${dataDir}/state`), moment);
const runtime = await createRuntime({ nodeId: 'n1', dataDir, store });
await runtime.tasks.start(task);
const { info } = await runtime.plugins.waitFor('csi-node', task.id);
if (fate === 'is stopped') await runtime.tasks.stop(task.id);
if (fate === 'is released') await runtime.close({ release: true });
const { pid } = runtime.tasks.status(task.id);
if (fate === 'dies' && pid !== undefined) process.kill(pid, 'SIGKILL');
for await (const event of runtime.plugins.updates(undefined, { from: '0' })) {
  if (event.kind === 'health' && event.healthy && event.info.allocId !== info.allocId) break;
}

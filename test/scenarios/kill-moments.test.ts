/**
 * SIGKILL at a commit, not by chance: for each step in the life of a task, before the store has it and right after; `npm test`
 * plays a third of them. What dies is an agent that embeds the runtime, kill-moment-agent.ts; the one after it is the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { createRuntime, type Runtime, type TaskOptions } from '../../src/index.js';
import { pluginsTopic } from '../../src/registry/plugin-events.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { tasksTopic } from '../../src/tasks/kinds.js';
import { builtProgram } from '../built.js';
import { thirdOf } from '../support/third.js';
import { eventually } from '../until.js';
import { mainPath, makePlace, type Place, pluginPids, removePlace } from './agent-process.js';
import { checkPluginEvents, checkTaskUpdates, eventsIn } from './kill-laws.js';
import type { Moment, MomentOptions } from './kill-moment-agent.js';
import { owesNothing } from './redis-scene.js';

const agentPath = builtProgram(new URL('./kill-moment-agent.ts', import.meta.url));

const task: TaskOptions = {
  id: 'hostpath',
  type: 'node',
  command: [process.execPath, mainPath, 'driver', '--node-id', 'n1'],
  restart: { backoff: { initialMs: 1, maxMs: 2 } },
};

const started = 'xstate.done.actor.spawnProcess';
const ready = 'xstate.done.actor.awaitReady';
const exited = 'xstate.done.actor.watchProcess';
const ended = 'xstate.done.actor.endProcesses';

interface Case {
  /** Killed where, in words. */
  name: string;
  moment: Moment;
  fate?: MomentOptions['fate'];
  /** How many processes of the task run when the agent is dead. */
  living: 0 | 1;
}

const at = (when: Moment['when'], entry: string, nth = 1): Moment => ({ when, entry, nth });

/** On its way up. */
const starts: Case[] = [
  { name: 'after the start is committed, before anything is spawned', moment: at('after', 'task.start'), living: 0 },
  { name: 'after the spawn, before its result is committed', moment: at('before', started), living: 1 },
  { name: 'after the result of the spawn is committed', moment: at('after', started), living: 1 },
  { name: 'when the plugin has answered, before that is committed', moment: at('before', ready), living: 1 },
  { name: 'when it is to be registered', moment: at('after', ready), living: 1 },
  { name: 'when it is registered', moment: at('after', 'plugins.register'), living: 1 },
  { name: 'when its instance has begun', moment: at('after', 'begin'), living: 1 },
  { name: 'before it is healthy', moment: at('before', 'fingerprint.changed'), living: 1 },
];

const fate = 'dies';

/** Its process has died. */
const restarts: Case[] = [
  { name: 'before its end is committed', moment: at('before', exited), fate, living: 0 },
  { name: 'when its end is committed', moment: at('after', exited), fate, living: 0 },
  {
    name: 'after the spawn of the next, before its result is committed',
    moment: at('before', started, 2),
    fate,
    living: 1,
  },
  { name: 'when the next is registered', moment: at('after', 'plugins.register', 2), fate, living: 1 },
  { name: 'when the dead one is deregistered', moment: at('after', 'plugins.deregister'), fate, living: 1 },
];

/** It is stopped. */
const stops: Case[] = [
  { name: 'when the stop is committed', moment: at('after', 'task.stop'), living: 1 },
  { name: 'before its instance is shut down', moment: at('before', 'plugin.shutdown'), living: 1 },
  { name: 'when its process has ended, before that is committed', moment: at('before', ended), living: 0 },
];

/** Its node is drained. */
const drains: Case[] = [
  { name: 'when the drain is committed', moment: at('after', 'registry.stop'), living: 1 },
  { name: 'when its process has ended, before that is committed', moment: at('before', ended), living: 0 },
];

describe('an agent that is killed at a commit', () => {
  let place: Place;
  let next: Runtime | undefined;
  let child: ChildProcess | undefined;

  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await next?.close();
    next = undefined;
    removePlace(place);
  });

  /** Resolves when it has died there, with the processes that it leaves. */
  async function killedAt(moment: Moment, fate: MomentOptions['fate']): Promise<number[]> {
    const options: MomentOptions = { dataDir: place.dataDir, task, fate, moment };
    child = spawn(process.execPath, [agentPath, JSON.stringify(options)], { stdio: 'inherit' });
    const [, signal] = await once(child, 'exit');
    expect(signal, 'it has met that moment').to.equal('SIGKILL');
    return pluginPids(place);
  }

  async function nextAgent(): Promise<{ runtime: Runtime; store: Store }> {
    const store = lmdbStore(join(place.dataDir, 'state'));
    next = await createRuntime({ nodeId: 'n1', dataDir: place.dataDir, store });
    return { runtime: next, store };
  }

  /** The next agent has it healthy, by the one process that there is, and tells so in events that make sense, each once. */
  async function checkNext(): Promise<void> {
    const { runtime, store } = await nextAgent();
    await runtime.tasks.start(task); // as it is configured
    await eventually('one instance is left, and is healthy', () => {
      const instances = runtime.actors.list().filter(({ address }) => address.startsWith('plugin/'));
      return instances.length === 1 && instances[0]?.state === 'healthy';
    });
    await owesNothing(store, '');
    const events = await eventsIn(store, pluginsTopic('n1'), () => runtime.plugins.updates(undefined, { from: '0' }));
    const updates = await eventsIn(store, tasksTopic('n1'), () => runtime.tasks.updates({ from: '0' }));
    expect(checkTaskUpdates(updates)).to.deep.equal(checkPluginEvents(events));
    expect(pluginPids(place)).to.deep.equal([runtime.tasks.status('hostpath').pid]);
  }

  for (const [situation, cases] of [
    ['as a task starts', starts],
    ['as a dead process is replaced', restarts],
  ] as const) {
    for (const { name, moment, fate = 'stays', living } of thirdOf(cases)) {
      const outcome = living === 1 ? 'the process is found, and no other started' : 'one process is started';
      it(`T9 ${situation}, ${name}: ${outcome}`, async () => {
        const left = await killedAt(moment, fate);
        expect(left).to.have.length(living);
        await checkNext();
        if (living === 1) expect(pluginPids(place)).to.deep.equal(left);
      });
    }
  }

  it('T9 the third agent finds an orphan that the second could not record before it died', async () => {
    const left = await killedAt(at('before', started), 'stays');
    expect(await killedAt(at('before', started), 'stays')).to.deep.equal(left);
    await checkNext();
    expect(pluginPids(place)).to.deep.equal(left);
  });

  for (const { name, moment, living } of thirdOf(stops)) {
    it(`T7 as a task is stopped, ${name}: the next agent ends that`, async () => {
      expect(await killedAt(moment, 'is stopped')).to.have.length(living);
      const { runtime } = await nextAgent();
      await eventually('it is stopped', () => runtime.tasks.status('hostpath').state === 'stopped');
      expect(pluginPids(place)).to.deep.equal([]);
      expect(runtime.plugins.list()).to.deep.equal([]);
      expect(readdirSync(join(place.dataDir, 'plugins'))).to.deep.equal([]);
    });
  }

  for (const { name, moment, living } of thirdOf(drains)) {
    it(`T7 while a node drains, ${name}: the next agent has one healthy process, and can drain`, async () => {
      expect(await killedAt(moment, 'is released')).to.have.length(living);
      const { runtime } = await nextAgent();
      await runtime.tasks.start(task);
      await eventually('it runs', () => runtime.tasks.status('hostpath').state === 'running');
      const { info } = await runtime.plugins.waitFor('csi-node', 'hostpath');
      const { pid, allocId } = runtime.tasks.status('hostpath');
      expect(info.allocId).to.equal(allocId);
      expect(pluginPids(place)).to.deep.equal([pid]);
      await runtime.close({ release: true });
      expect(pluginPids(place)).to.deep.equal([]);
      expect(readdirSync(join(place.dataDir, 'plugins'))).to.deep.equal([]);
    });
  }
});

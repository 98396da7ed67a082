/**
 * SIGKILL on the driver, the agent or both, and on Redis, at random moments, round after round on the same data, while
 * followers keep account of every event. `ROUNDS=200 SEED=7` for more of them, on each store; the title tells the seed.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pluginAddress, taskAddress } from '../../machines/kit/addresses.js';
import type { Store } from '../../src/engine/store.js';
import { createRuntime, type PluginEvent, type Runtime, type TaskUpdate } from '../../src/index.js';
import { pluginsTopic } from '../../src/registry/plugin-events.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { tasksTopic } from '../../src/tasks/kinds.js';
import { eventually } from '../until.js';
import { pluginPids } from './agent-process.js';
import { follow, heard } from './kill-follower.js';
import { checkPluginEvents, checkTaskUpdates, eventsIn } from './kill-laws.js';
import { inWords, plans, type Victim } from './kill-plan.js';
import { KillScene, type Served } from './kill-scene.js';
import { checkReplay, entriesOf, owesNothing, recordsOf } from './redis-scene.js';

const rounds = Number(process.env.ROUNDS ?? 5);
const seed = Number(process.env.SEED ?? 20261121);

const victims: Victim[] = ['driver', 'agent', 'driver, then agent', 'agent, then driver'];

const idsOf = (events: { id: string }[]): string[] => events.map(({ id }) => id);

for (const [kind, mortals] of [
  ['lmdb', victims],
  ['redis', [...victims, 'store']],
] as const) {
  describe(`T9 A8 ${rounds} rounds of SIGKILL, state in ${kind}, seed ${seed}`, () => {
    let scene: KillScene;
    let last: Served;
    /** Those that were found serving after a round. */
    const seen: string[] = [];

    before(async () => {
      scene = await KillScene.start(kind);
      last = await scene.healthy();
    });
    after(() => scene.remove());

    for (const [index, strikes] of plans(seed, rounds, mortals).entries()) {
      it(`round ${index + 1}: ${inWords(strikes)}: healthy again, by one process`, async () => {
        for (const strike of strikes) await scene.strike(strike);
        const served = await scene.healthy();
        // Who was not killed is found again, not started anew.
        if (!strikes.some(({ victim }) => victim.includes('driver'))) expect(served).to.deep.equal(last);
        last = served;
        if (seen.at(-1) !== served.allocId) seen.push(served.allocId);
      });
    }

    describe('after them', () => {
      let store: Store;
      let runtime: Runtime;
      let registered: string[] = [];

      before(async () => {
        await scene.endAgent();
        store = scene.store();
        runtime = await createRuntime({ nodeId: 'n1', dataDir: scene.place.dataDir, store });
        await runtime.plugins.waitFor('csi-node', 'hostpath');
        await owesNothing(store, '');
      });
      after(() => runtime.close().catch(() => undefined));

      /** What followers have handled in all their lives, this one included: all that there is. */
      async function handled<T extends { id: string }>(
        topic: string,
        events: (options: { from: string; signal?: AbortSignal }) => AsyncIterable<T>,
      ): Promise<T[]> {
        const path = join(scene.heardDirectory, topic.split('/')[0] ?? '');
        const told = await eventsIn(store, topic, () => events({ from: '0' }));
        const end = new AbortController();
        const following = follow(path, (from) => events({ from, signal: end.signal }));
        await eventually('the follower is at the end', () => heard(path).length >= told.length);
        end.abort();
        await following;
        expect(idsOf(heard(path))).to.deep.equal(idsOf(told));
        expect(heard(path)).to.deep.equal(told);
        return told;
      }

      it('R10 a follower with a cursor has handled each event once and in order', async () => {
        const events = await handled<PluginEvent>(pluginsTopic('n1'), (options) =>
          runtime.plugins.updates(undefined, options),
        );
        const updates = await handled<TaskUpdate>(tasksTopic('n1'), (options) => runtime.tasks.updates(options));
        registered = checkPluginEvents(events);
        expect(checkTaskUpdates(updates), 'each run that answered is registered').to.deep.equal(registered);
        expect(registered.at(-1)).to.equal(last.allocId);
        expect(
          registered.filter((allocId) => seen.includes(allocId)),
          'those that were seen',
        ).to.deep.equal(seen);
      });

      it('every journal is unbroken and replays to the committed snapshot', async () => {
        const living = (await recordsOf(store, '')).map(({ address }) => address);
        const instances = registered.map((allocId) => pluginAddress('n1', 'csi-node', 'hostpath', allocId));
        expect(living).to.include.members([taskAddress('n1', 'hostpath'), instances.at(-1)]);
        for (const address of [...living, ...instances.slice(0, -1)]) {
          const seqs = (await entriesOf(store, address)).map(({ seq }) => seq);
          expect(seqs, address).to.deep.equal(seqs.map((_, n) => (seqs[0] ?? 0) + n));
          await checkReplay(store, runtime.journal, address);
        }
      });

      it('once it is drained, no process, socket or file is left', async () => {
        await runtime.close();
        await scene.drain();
        expect(pluginPids(scene.place)).to.deep.equal([]);
        expect(readdirSync(join(scene.place.dataDir, 'plugins'))).to.deep.equal([]);
        const state = kind === 'lmdb' ? ['state'] : [];
        const left = readdirSync(scene.place.dataDir).sort();
        expect(left).to.deep.equal(['csi', 'lock', 'logs', 'page-token', 'path-salt', 'plugins', ...state, 'tasks']);
      });

      if (kind === 'lmdb') return;

      it('nothing is owed or held in Redis: records, journals, topics, indexes and the roster stay', async () => {
        const keys = (await scene.server?.client().keys('*')) ?? [];
        const kinds = new Set(keys.map((key) => /^stagecraft:\{\d+\}:(\w+)/.exec(key)?.[1] ?? key));
        const roster = ['a', 'b', 'c'];
        const kept = [...roster, 'counts', 'due', 'fences', 'index', 'j', 'l', 'm', 'meta', 'r', 't'];
        // Inboxes of agents that were killed go by themselves.
        const inboxes = keys.filter((key) => /^stagecraft:\{\d+\}:x:/.test(key));
        expect([...kinds].filter((kind) => kind !== 'x').sort()).to.deep.equal(kept);
        for (const inbox of inboxes) expect(await scene.server?.client().pttl(inbox), inbox).to.be.above(0);
      });

      it('an agent on another host, which has none of its files, takes the node over at once', async () => {
        const dataDir = join(scene.place.directory, 'another');
        const another = await createRuntime({ nodeId: 'n1', dataDir, store: redisStore(scene.server?.url ?? '') });
        expect(another.plugins.list()).to.deep.equal([]);
        await another.close();
      });
    });
  });
}

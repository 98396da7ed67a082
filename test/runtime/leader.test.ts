/** Who works on what is of no node: one of the runtimes that share a store leads, the others stand by and take over. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { LeadershipEvent } from '../../src/runtime/leadership.js';
import { failureOf, watched } from '../engine/lab.js';
import { device } from '../registry/house.js';
import { pluginName, spec } from '../volumes/volume-house.js';
import { type Agent, LeaderLab, leaseTtlMs } from './leader-lab.js';

const key = { id: 'data' };
const address = volumeAddress('default', 'data');
const callMs = 60_000;
const options = { calls: { timeoutMs: callMs } };
/** What a call may take beyond its own time limit. */
const slackMs = 5_000;

describe('the runtime that leads', () => {
  let lab: LeaderLab;
  let first: Agent;
  let second: Agent;

  beforeEach(async () => {
    lab = new LeaderLab();
    first = await lab.agent('n1', options);
    await lab.report(first);
    second = await lab.agent('n2', options);
  });
  afterEach(() => lab.dispose());

  const told = (): string[] => lab.plugin.told();
  const leads = (): boolean[] => [first, second].map(({ runtime }) => runtime.leadership.isOurs);
  const elections = async ({ runtime }: Agent): Promise<LeadershipEvent[]> => {
    const seen: LeadershipEvent[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      for await (const event of runtime.leadership.updates({ from: '0', signal: ended.signal })) seen.push(event);
    })();
    await lab.rest();
    ended.abort();
    await reading.catch(() => {});
    return seen;
  };

  describe('while it does', () => {
    it('V9 the other starts and stands by: it makes no call, commits nothing, and names the leader', async () => {
      expect(leads()).to.deep.equal([true, false]);
      await first.runtime.volumes.create(spec('data'));
      await lab.clock.advance(10 * leaseTtlMs);
      expect(leads()).to.deep.equal([true, false]);
      expect(told()).to.deep.equal(['CreateVolume: OK']);
      expect(await lab.data.load(address)).to.include({ epoch: 1 });
      expect(second.runtime.leadership.refusal).to.include('node n1').and.include(first.runtime.dataDir);
      expect((await elections(second)).map(({ nodeId, epoch }) => [nodeId, epoch])).to.deep.equal([['n1', 1]]);
    });

    it('V1 changes at the other are refused with NOT_LEADER, naming the leader; nothing has happened', async () => {
      await first.runtime.volumes.create(spec('data'));
      const before = await lab.data.load(address);
      const { volumes, nodes } = second.runtime;
      const requests = [
        volumes.create(spec('other')),
        volumes.create(spec('more', { plugin: 'unknown here' })),
        volumes.publish(key, 'a'),
        volumes.unpublish(key, 'a'),
        volumes.delete(key),
        volumes.release(key, 'alloc'),
        volumes.retry(key),
        volumes.setAvailability(key, 'pause'),
        volumes.reconcile(),
        nodes.report({ id: 'a', plugins: [] }),
        second.runtime.actors.release(address),
      ];
      for (const { code, message } of await Promise.all(requests.map(failureOf))) {
        expect(code).to.equal('NOT_LEADER');
        expect(message).to.include('node n1').and.include('ask that agent');
      }
      expect(await lab.data.load(address)).to.deep.equal(before);
      expect(told()).to.deep.equal(['CreateVolume: OK']);
    });

    it('V1 V21 the other reads what is committed, its past, and follows what happens', async () => {
      const { volumes, nodes, journal, actors } = second.runtime;
      const updates = volumes.updates()[Symbol.asyncIterator]();
      const next = updates.next();
      await first.runtime.volumes.create(spec('data'));
      await first.runtime.volumes.publish(key, 'a');
      await lab.clock.advance(3_000);
      expect(await volumes.get(key)).to.deep.equal(await first.runtime.volumes.get(key));
      expect(await volumes.get({ id: 'none' })).to.equal(undefined);
      expect(await nodes.status('a')).to.deep.equal(await first.runtime.nodes.status('a'));
      expect((await next).value).to.include({ kind: 'created' });
      await updates.return?.();
      const entries: JournalEntry[] = [];
      for await (const entry of journal.entries(address)) entries.push(entry);
      expect(entries.at(-1)?.seq).to.equal((await lab.data.load(address))?.seq);
      expect((await journal.replay(address)).seq).to.equal(entries.at(-1)?.seq);
      const listed = (agent: typeof actors): boolean => agent.list().some((actor) => actor.address === address);
      expect([listed(first.runtime.actors), listed(actors)]).to.deep.equal([true, false]);
    });

    it('V14 a volume that was deleted is none for the other too', async () => {
      await first.runtime.volumes.create(spec('data'));
      await first.runtime.volumes.delete(key);
      expect(await second.runtime.volumes.get(key)).to.equal(undefined);
    });
  });

  describe('it closes', () => {
    it('N2 then the other leads within a second, with all that was acknowledged, and goes on', async () => {
      await first.runtime.volumes.create(spec('data'));
      await first.runtime.volumes.publish(key, 'a');
      const before = await first.runtime.volumes.get(key);
      const closed = first.runtime.close();
      await lab.clock.advance(1_000);
      await closed;
      expect(second.runtime.leadership.isOurs).to.equal(true);
      expect(await second.runtime.volumes.get(key)).to.deep.equal(before);
      expect((await second.runtime.nodes.status('b')).state).to.equal('ready');
      await second.runtime.volumes.unpublish(key, 'a');
      await second.runtime.volumes.delete(key);
      expect(told()).to.deep.equal([
        'CreateVolume: OK',
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
        'DeleteVolume: OK',
      ]);
      expect(lab.plugin.wrongs).to.deep.equal([]);
      expect((await elections(second)).map(({ nodeId, epoch }) => [nodeId, epoch])).to.deep.equal([
        ['n1', 1],
        ['n2', 2],
      ]);
      expect(second.logged.some(({ message }) => message.includes('this agent leads'))).to.equal(true);
    });

    it('V13 with a create in flight, then the other continues it; a delete waits until that call has ended', async () => {
      const release = lab.hold('CreateVolume');
      const created = watched(first.runtime.volumes.create(spec('data')));
      await lab.rest();
      await lab.close(first);
      expect(created.error).to.include({ code: 'RUNTIME_CLOSED' });
      await lab.clock.advance(1_000);
      const tookOverAtMs = lab.clock.now();
      const deleted = watched(second.runtime.volumes.delete(key));
      await lab.clock.advance(callMs + slackMs - 12_000);
      expect(told().filter((line) => line.startsWith('DeleteVolume'))).to.deep.equal([]);
      release();
      await lab.clock.advance(12_000);
      expect(deleted.state).to.equal('answered');
      expect(lab.clock.now() - tookOverAtMs).to.be.at.least(callMs);
      expect(lab.plugin.volumes.size).to.equal(0);
    });
  });

  describe('it dies', () => {
    it('V1 then the other leads once the lease has expired, and no acknowledged change is lost', async () => {
      await first.runtime.volumes.create(spec('data'));
      await first.runtime.volumes.publish(key, 'a');
      const before = await first.runtime.volumes.get(key);
      first.die();
      // It was renewed at most a third of its time ago.
      await lab.clock.advance((leaseTtlMs * 2) / 3 - 1_000);
      expect(second.runtime.leadership.isOurs).to.equal(false);
      expect((await failureOf(second.runtime.volumes.retry(key))).code).to.equal('NOT_LEADER');
      await lab.clock.advance(leaseTtlMs / 3 + 2_000);
      expect(second.runtime.leadership.isOurs).to.equal(true);
      expect(await second.runtime.volumes.get(key)).to.deep.equal(before);
      expect(told()).to.deep.equal(['CreateVolume: OK', 'ControllerPublishVolume csi-a: OK']);
    });

    it('D5 with an unpublish in flight, then a publish there waits until that call has ended; elsewhere it does not', async () => {
      const several = {
        capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
      } as const;
      await first.runtime.volumes.create(spec('data'));
      for (const node of ['a', 'b']) await first.runtime.volumes.publish(key, node, several);
      const release = lab.hold('ControllerUnpublishVolume');
      void watched(first.runtime.volumes.unpublish(key, 'a'));
      await lab.rest();
      first.die();
      await lab.clock.advance(leaseTtlMs + 1_000);
      await second.runtime.volumes.unpublish(key, 'a');
      await second.runtime.volumes.unpublish(key, 'b');
      await second.runtime.volumes.publish(key, 'b', several);
      const published = watched(second.runtime.volumes.publish(key, 'a', several));
      await lab.clock.advance(callMs - 2_000);
      expect(published.state).to.equal('open');
      // The last moment at which the driver may still do what the dead one asked for.
      release();
      await lab.clock.advance(slackMs + 2_000);
      expect(published.state).to.equal('answered');
      expect([...(lab.plugin.volumes.get('vol-1')?.attached ?? [])]).to.have.members(['csi-a', 'csi-b']);
    });

    it('V8 with a publish in flight, then the other repeats it; an unpublish waits until the first call has ended', async () => {
      await first.runtime.volumes.create(spec('data'));
      const release = lab.hold('ControllerPublishVolume');
      void watched(first.runtime.volumes.publish(key, 'a'));
      await lab.rest();
      first.die();
      await lab.clock.advance(leaseTtlMs + 1_000);
      expect(second.runtime.leadership.isOurs).to.equal(true);
      await lab.clock.advance(1_000);
      expect(told()).to.deep.equal([
        'CreateVolume: OK',
        'ControllerPublishVolume csi-a: no answer',
        'ControllerPublishVolume csi-a: OK',
      ]);
      const unpublished = watched(second.runtime.volumes.unpublish(key, 'a'));
      await lab.clock.advance(callMs - 2_000);
      expect(told()).to.have.length(3);
      // The last moment at which the driver may still do what the dead one asked for.
      release();
      await lab.clock.advance(slackMs + 2_000);
      expect(unpublished.state).to.equal('answered');
      expect([...(lab.plugin.volumes.get('vol-1')?.attached ?? [])]).to.deep.equal([]);
    });

    it('V1 killed as it commits, then what it was told is there, be it that it was answered or not', async () => {
      void watched(first.runtime.volumes.create(spec('data')));
      first.die();
      await lab.clock.advance(leaseTtlMs + 2_000);
      const volume = await second.runtime.volumes.create(spec('data'));
      expect(volume.state).to.equal('created');
      expect(lab.plugin.volumes.size).to.equal(1);
    });
  });

  describe('it is frozen until the other has taken over', () => {
    const takeOver = async (): Promise<void> => {
      first.freeze();
      await lab.clock.advance(leaseTtlMs + 1_000);
      expect(second.runtime.leadership.isOurs).to.equal(true);
    };
    const thaw = async (): Promise<void> => {
      first.thaw();
      await lab.clock.advance(leaseTtlMs);
    };

    it('V12 then it stands by when it goes on; its node goes on too', async () => {
      await first.runtime.volumes.create(spec('data'));
      let isLost = false;
      void first.runtime.lost.then(() => {
        isLost = true;
      });
      await takeOver();
      await second.runtime.volumes.publish(key, 'b');
      await thaw();
      expect(leads()).to.deep.equal([false, true]);
      expect(first.runtime.leadership.refusal).to.include('node n2');
      expect((await failureOf(first.runtime.volumes.publish(key, 'a'))).code).to.equal('NOT_LEADER');
      expect((await first.runtime.volumes.get(key))?.publications).to.have.all.keys('b');
      expect(isLost).to.equal(false);
      await first.runtime.plugins.register({ ...device('x'), type: 'csi-controller', name: 'other' });
      expect(first.runtime.plugins.list().map(({ name }) => name))
        .to.include('other')
        .and.include(pluginName);
      await lab.close(second);
      await lab.clock.advance(2_000);
      expect(first.runtime.leadership.isOurs).to.equal(true);
      expect((await first.runtime.volumes.publish(key, 'b')).publishContext).to.deep.equal({ device: 'vol-1@csi-b' });
    });

    it('V12 with a commit in flight, then it changes nothing, and its caller learns that it is in doubt', async () => {
      await first.runtime.volumes.create(spec('data'));
      first.freeze();
      const asked = [
        watched(first.runtime.volumes.setAvailability(key, 'pause')),
        watched(first.runtime.volumes.create(spec('late'))),
      ];
      await lab.clock.advance(leaseTtlMs + 1_000);
      await second.runtime.volumes.publish(key, 'b');
      const before = await lab.data.load(address);
      await thaw();
      for (const { error } of asked) {
        expect(error?.code).to.be.oneOf(['NOT_LEADER', 'STORE_UNAVAILABLE']);
        // One that was never handed to the store has no outcome to tell.
        if (error?.code === 'STORE_UNAVAILABLE') expect(error.outcome).to.be.oneOf(['unknown', 'refused']);
      }
      expect(await lab.data.load(address)).to.deep.equal(before);
      expect(await second.runtime.volumes.get({ id: 'late' })).to.equal(undefined);
      expect([...lab.plugin.volumes.values()]).to.have.length(1);
    });

    it('V1 who waits for the end of its work hears that the request stands, and that another does it', async () => {
      const release = lab.hold('CreateVolume');
      const created = watched(first.runtime.volumes.create(spec('data')));
      await lab.rest();
      await takeOver();
      await thaw();
      release();
      await lab.rest();
      expect(created.error).to.include({ code: 'NOT_LEADER', address });
      expect(created.error?.message).to.include('the request stands');
      expect((await second.runtime.volumes.get(key))?.state).to.equal('created');
      expect(lab.plugin.volumes.size).to.equal(1);
    });

    it('V13 what its call in flight does late harms nothing: what undoes it waits for it', async () => {
      await first.runtime.volumes.create(spec('data'));
      const release = lab.hold('ControllerPublishVolume');
      void watched(first.runtime.volumes.publish(key, 'a'));
      await lab.rest();
      await takeOver();
      const deleted = watched(
        second.runtime.volumes.unpublish(key, 'a').then(() => second.runtime.volumes.delete(key)),
      );
      await thaw();
      expect(deleted.state).to.equal('open');
      release();
      await lab.clock.advance(callMs + slackMs);
      expect(deleted.state).to.equal('answered');
      expect(lab.plugin.volumes.size).to.equal(0);
      expect(lab.plugin.wrongs.filter((wrong) => wrong.includes('deleted while attached'))).to.deep.equal([]);
    });

    it('V9 what had waited for its plugin is not asked of it any more', async () => {
      await first.runtime.volumes.create(spec('data'));
      lab.plugin.health = { healthy: false, description: 'away' };
      await lab.clock.advance(60_000);
      void watched(first.runtime.volumes.publish(key, 'a'));
      await lab.rest();
      first.freeze();
      await lab.clock.advance(leaseTtlMs + 1_000);
      const unpublished = watched(second.runtime.volumes.unpublish(key, 'a'));
      lab.plugin.health = { healthy: true, description: 'back' };
      await lab.clock.advance(60_000 + callMs + slackMs);
      expect(unpublished.state).to.equal('answered');
      const before = told();
      await thaw();
      await lab.clock.advance(60_000);
      expect(told()).to.deep.equal(before);
    });
  });

  it('V9 the store is silent for longer than the lease, and nobody takes over: it leads on', async () => {
    await first.runtime.volumes.create(spec('data'));
    await lab.close(second);
    first.freeze();
    await lab.clock.advance(3 * leaseTtlMs);
    first.thaw();
    await lab.clock.advance(leaseTtlMs);
    expect(first.runtime.leadership.isOurs).to.equal(true);
    await first.runtime.volumes.publish(key, 'a');
    expect(told()).to.deep.equal(['CreateVolume: OK', 'ControllerPublishVolume csi-a: OK']);
  });

  it('V9 three stand by and the leader dies: one of them leads, each time', async () => {
    const agents = [first, second, await lab.agent('n3', options), await lab.agent('n4', options)];
    await first.runtime.volumes.create(spec('data'));
    for (const _ of agents.slice(1)) {
      const leader = agents.find(({ runtime, isDead }) => !isDead && runtime.leadership.isOurs);
      leader?.die();
      await lab.clock.advance(leaseTtlMs + 2_000);
      const leading = agents.filter(({ runtime, isDead }) => !isDead && runtime.leadership.isOurs);
      expect(leading).to.have.length(1);
      await leading[0]?.runtime.volumes.publish(key, 'a');
    }
    expect(told()).to.deep.equal(['CreateVolume: OK', 'ControllerPublishVolume csi-a: OK']);
  });
});

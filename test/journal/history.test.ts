/** The history of an actor: one line per step, with calls, attempts and parts; the same for a live runtime and a file. */
import { expect } from 'chai';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { History, type HistoryLine } from '../../src/journal/history.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('the history of an actor', () => {
  let house: VolumeHouse;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });

  afterEach(() => house.dispose());

  async function historyOf(address: string): Promise<HistoryLine[]> {
    const history = new History(address);
    const lines: HistoryLine[] = [];
    for await (const moment of house.runtime.journal.moments(address)) lines.push(history.lineOf(moment));
    return lines;
  }

  async function publishedAfter(failures: GrpcCode[]): Promise<HistoryLine[]> {
    const { volumes, plugin, clock } = house;
    const left = [...failures];
    plugin.script = ({ rpc }) => {
      const code = rpc === 'ControllerPublishVolume' ? left.shift() : undefined;
      return code === undefined ? undefined : { code };
    };
    const creating = volumes.create(spec('data'));
    await house.rest();
    await creating;
    const publishing = volumes.publish({ id: 'data' }, 'a');
    publishing.catch(() => {});
    await clock.advance(10_000);
    return historyOf('volume/default/data');
  }

  it('35.2 J1 a rest before a call has two names: that for people says which call, and that of the chart', () => {
    const entry = { seq: 2, at: 1, random: 0.5, kind: 'event', version: '4', source: { kind: 'engine' } } as const;
    const failure = { code: 'CSI_ERROR', message: 'busy', final: false };
    const tries = { count: 1, notBeforeMs: 2, sinceMs: 0, failure };
    const work = { kind: 'stage', isCalling: false, dueAtMs: 2 };
    const context = { staging: { at: 'pending-stage', tries }, users: [], unconfirmed: [], awaiting: null, work };
    const moment = { seq: 1, entry, effects: [], timers: [], messages: [], events: [] };
    const history = new History('mount/a/default/data');
    history.lineOf({ ...moment, snapshot: { value: 'backing-off', context } });
    const next = { ...context, work: { ...work, isCalling: true } };
    const line = history.lineOf({ ...moment, seq: 2, snapshot: { value: 'staging', context: next } });
    expect(line).to.include({ before: 'staging.backing-off', chartBefore: 'backing-off', after: 'staging.calling' });
  });

  it('35.4b J1 the call that asks whether a snapshot is ready is told as CreateSnapshot, which the plugin gets', () => {
    const came = (src: string, address: string): unknown => {
      const event = { type: `xstate.done.actor.${src}`, output: { status: 'done', answer: null } };
      const source = { kind: 'effect', id: src, seq: 1 } as const;
      const entry = { seq: 2, at: 1, random: 0.5, kind: 'event', version: '4', source, event } as const;
      const moment = { seq: 2, snapshot: undefined, entry, effects: [], timers: [], messages: [], events: [] };
      return new History(address).lineOf(moment).rpc;
    };
    expect(came('lookAtSnapshot', 'volume-snapshot/default/monday')).to.equal('CreateSnapshot');
    expect(came('lookAtSnapshot', 'group-snapshot/default/monday')).to.equal('CreateVolumeGroupSnapshot');
    expect(came('deleteSnapshot', 'group-snapshot/default/monday')).to.equal('DeleteVolumeGroupSnapshot');
  });

  it('J1 ControllerPublish fails three times: each attempt with its answer, then the next, then OK', async () => {
    const lines = await publishedAfter(['INTERNAL', 'UNAVAILABLE', 'ABORTED']);
    const calls = lines.filter(({ rpc }) => rpc === 'ControllerPublishVolume');
    expect(calls.map(({ what, attempt, tone }) => [what, attempt, tone])).to.deep.equal([
      ['ControllerPublishVolume: INTERNAL', 1, 'in-doubt'],
      ['ControllerPublishVolume: UNAVAILABLE', 2, 'in-doubt'],
      ['ControllerPublishVolume: ABORTED', 3, 'waiting'],
      ['ControllerPublishVolume: OK', 4, 'done'],
    ]);
    for (const { nextAttemptAtMs = 0, at } of calls.slice(0, 3)) expect(nextAttemptAtMs).to.be.greaterThan(at);
    expect(calls.map(({ from }) => from)).to.deep.equal(['disk', 'disk', 'disk', 'disk']);
    expect(calls.at(-1)?.parts).to.deep.equal([
      { id: 'publication/a', before: 'in-doubt.calling', after: 'published' },
    ]);
  });

  it('J1, 34.32 attempts are counted for each node, and begin anew once the node let go', async () => {
    const { volumes, plugin, clock } = house;
    await volumes.create(spec('data'));
    const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    plugin.script = ({ nodeId }) => (nodeId === 'csi-a' ? { code: 'DEADLINE_EXCEEDED' } : undefined);
    volumes.publish({ id: 'data' }, 'a', { capability }).catch(() => {});
    await clock.advance(60_000);
    plugin.script = ({ rpc }) => (rpc === 'ControllerPublishVolume' ? { code: 'ABORTED' } : undefined);
    volumes.publish({ id: 'data' }, 'b', { capability }).catch(() => {});
    await house.rest();
    const onB = (await historyOf('volume/default/data')).find(({ code }) => code === 'ABORTED');
    expect(onB).to.include({ attempt: 1 });
    const gone = volumes.unpublish({ id: 'data' }, 'a');
    await clock.advance(60_000);
    await gone;
    volumes.publish({ id: 'data' }, 'a', { capability }).catch(() => {});
    await house.rest();
    const calls = (await historyOf('volume/default/data')).filter(({ rpc }) => rpc?.startsWith('ControllerPublish'));
    expect(calls.at(-1)).to.include({ attempt: 1 });
  });

  it('J1, 34.32 attempts after an answer for good are counted anew', async () => {
    const { volumes, plugin } = house;
    plugin.script = () => ({ code: 'INVALID_ARGUMENT' });
    for (let round = 0; round < 2; round += 1) {
      if (round === 0) await volumes.create(spec('data')).catch(() => {});
      else await volumes.retry({ id: 'data' });
      await house.rest();
    }
    const calls = (await historyOf('volume/default/data')).filter(({ rpc }) => rpc === 'CreateVolume');
    expect(calls.map(({ attempt }) => attempt)).to.deep.equal([1, 1]);
  });

  it('J1 a request of a caller: what was asked for, in words, and the states before and after', async () => {
    const lines = await publishedAfter([]);
    expect(lines[0]).to.include({
      what: 'asked to create it on plugin disk',
      from: 'caller',
      after: 'pending-create.calling',
    });
    const asked = lines.find(({ what }) => what === 'asked to publish it to node a');
    expect(asked).to.include({ before: 'created', after: 'pending-publish.calling' });
  });

  it('J1 how long an answer took is counted from the request, not from the commit that asked for it', async () => {
    const lines = await publishedAfter([]);
    const [create] = lines.filter(({ rpc }) => rpc === 'CreateVolume');
    expect(create).to.include({ code: 'OK', tone: 'done' });
    expect(create?.tookMs).to.be.a('number').and.at.least(0);
  });

  it('J1 every step of every actor has a line with words', async () => {
    await publishedAfter(['INTERNAL']);
    for (const { address } of house.runtime.actors.list()) {
      const lines = await historyOf(address);
      expect(lines, address).not.to.be.empty;
      for (const { what } of lines) expect(what, address).to.match(/\w/).and.not.contain('undefined');
    }
  });
});

/** Events of all topics in one stream: in order, resumed from any of them, filtered, refused where nothing can be followed. */
import { expect } from 'chai';
import type { RuntimeEvent } from '../../src/runtime/event-topics.js';
import type { SubscribeOptions } from '../../src/runtime/runtime-events.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('events of a runtime', () => {
  let house: VolumeHouse;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    for (const id of ['data', 'logs']) {
      const creating = house.volumes.create(spec(id));
      await house.rest();
      await creating;
    }
    const publishing = house.volumes.publish({ id: 'data' }, 'a');
    await house.clock.advance(1_000);
    await publishing;
  });

  afterEach(() => house.dispose());

  async function events(options: SubscribeOptions = {}): Promise<RuntimeEvent[]> {
    const seen: RuntimeEvent[] = [];
    for await (const event of house.runtime.events.subscribe({ from: '0', until: 'now', ...options })) seen.push(event);
    return seen;
  }

  it('all kept events of all topics, in the order of their times, each with its actor', async () => {
    const all = await events();
    expect(all.map(({ at }) => at)).to.deep.equal(all.map(({ at }) => at).sort((one, other) => one - other));
    expect(new Set(all.map(({ topic }) => topic))).to.include.keys('plugins', 'nodes', 'volumes', 'leadership');
    const published = all.find(({ kind }) => kind === 'publication');
    expect(published).to.deep.include({ topic: 'volumes', address: 'volume/default/data', plugin: 'disk' });
    expect(published?.event).to.include({ nodeId: 'a' });
    expect(all.find(({ kind }) => kind === 'health')).to.include({
      address: 'plugin/controller-1/csi-controller/disk/disk-1',
      plugin: 'disk',
    });
  });

  it('resumed from any event: exactly the events after it', async () => {
    const all = await events();
    expect(all.length).to.be.greaterThan(8);
    for (const [index, { id }] of all.entries()) expect(await events({ from: id })).to.deep.equal(all.slice(index + 1));
  });

  it('until an id: nothing after it, and the next subscription from there goes on', async () => {
    const all = await events();
    const { id = '' } = all[4] ?? {};
    expect(await events({ until: id })).to.deep.equal(all.slice(0, 5));
    expect(await events({ from: await house.runtime.events.now() })).to.deep.equal([]);
  });

  it('filters by topic, kind, address and plugin', async () => {
    const all = await events();
    const some = async (options: SubscribeOptions, wanted: (event: RuntimeEvent) => boolean): Promise<void> => {
      const found = await events(options);
      expect(found.map(({ event }) => event)).to.deep.equal(all.filter(wanted).map(({ event }) => event));
      expect(found).not.to.be.empty;
    };
    await some({ topics: ['nodes', 'plugins'] }, ({ topic }) => topic === 'nodes' || topic === 'plugins');
    await some({ kinds: ['created', 'health'] }, ({ kind }) => kind === 'created' || kind === 'health');
    await some({ address: 'volume/default/d' }, ({ address }) => address === 'volume/default/data');
    await some({ plugin: 'disk' }, ({ topic }) => topic === 'plugins' || topic === 'volumes');
    expect(await events({ plugin: 'other' })).to.deep.equal([]);
  });

  it('followed from now on: what happens later comes, until the abort', async () => {
    const ended = new AbortController();
    await events(); // remembers the plugins of the volumes
    const seen: RuntimeEvent[] = [];
    const following = (async () => {
      for await (const event of house.runtime.events.subscribe({ signal: ended.signal })) seen.push(event);
    })();
    await house.rest();
    await house.runtime.nodes.down('c');
    const deleting = house.volumes.delete({ id: 'logs' });
    await house.rest();
    await deleting;
    await house.rest();
    ended.abort();
    await following;
    expect(seen.map(({ topic, kind }) => `${topic} ${kind}`)).to.include.members(['nodes down', 'volumes deleted']);
    expect(seen.find(({ kind }) => kind === 'deleted')).to.include({ plugin: 'disk' });
  });

  it('return() ends a subscription that waits for its next event', async () => {
    const following = house.runtime.events.subscribe()[Symbol.asyncIterator]();
    const next = following.next();
    await house.rest();
    await following.return?.();
    expect(await next).to.deep.include({ done: true });
  });

  it('events that are kept no longer: CURSOR_EXPIRED names ids that can be followed', async () => {
    const all = await events();
    const volumes = all.filter(({ topic }) => topic === 'volumes');
    await house.store.trimTopic('volumes', 2);
    await house.restart();
    const error = await refusalOf(events({ from: all[0]?.id ?? '' }));
    expect(error).to.include({ code: 'CURSOR_EXPIRED' });
    expect(error.message).to.contain('volumes: events before 3 are gone');
    const kept = await events({ from: error.oldest ?? '' });
    expect(kept.filter(({ topic }) => topic === 'volumes')).to.have.length(volumes.length - 2);
    expect(await events({ from: error.newest ?? '', topics: ['volumes'] })).to.deep.equal([]);
    expect((await events({ topics: ['volumes'] })).map(({ event }) => event)).to.deep.equal(
      volumes.slice(2).map(({ event }) => event),
    );
  });

  it('after the end of the runtime: RUNTIME_CLOSED', async () => {
    const { runtime } = house;
    await runtime.close();
    expect(() => runtime.events.subscribe()).to.throw('the runtime was closed');
  });

  const faults: [title: string, options: object, message: RegExp][] = [
    ['no id', { from: 'yesterday' }, /'yesterday' is no id of an event/],
    ['an id of one topic', { from: 'volumes@7' }, /is the id of an event of another node/],
    ['an id of another agent', { from: 'n2@volumes-7' }, /is the id of an event of another node/],
    ['an id without places', { from: 'controller-1@all' }, /is no id of an event/],
    ['an id that knows fewer topics', { from: 'controller-1@volumes-1' }, /says nothing of plugins/],
    ['an unknown topic', { topics: ['volume'] }, /topics/],
    ['an option that there is not', { since: 1 }, /since/],
  ];
  for (const [title, options, message] of faults)
    it(`${title}: INVALID_ARGUMENT`, async () => {
      const error = await refusalOf(events(options));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(error.message).to.match(message);
    });
});

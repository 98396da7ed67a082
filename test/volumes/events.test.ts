/** Tests the events of volumes: each change once and in order, for every follower, also after restarts. */
import { expect } from 'chai';
import type { VolumeEvent } from '../../src/volumes/volume-view.js';
import { refusalOf } from '../refusal.js';
import { inOrder } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('the events of volumes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('V5 V11 the life of a volume as a sequence of events', async () => {
    const { uid } = await house.volumes.create(spec('data'));
    inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'INVALID_ARGUMENT', text: 'no' }]);
    await refusalOf(house.volumes.publish(key, 'a'));
    await house.volumes.retry(key);
    await house.rest();
    await house.volumes.setAvailability(key, 'pause');
    await house.volumes.unpublish(key, 'a');
    await house.volumes.delete(key);
    const events = await house.events();
    const told = events.map(({ id: _, at: __, key: ___, uid: ____, ...event }) => event);
    const on = { kind: 'publication', nodeId: 'a', number: 1 } as const;
    expect(told.map((event) => ('failure' in event ? { ...event, failure: 'no' } : event))).to.deep.equal([
      { kind: 'created', csiId: 'vol-1' },
      { ...on, state: 'pending-publish' },
      { ...on, state: 'failed', failure: 'no' },
      { ...on, state: 'pending-publish' },
      { ...on, state: 'published' },
      { kind: 'availability', availability: 'pause', allocIds: [] },
      { ...on, state: 'pending-unpublish' },
      { ...on, state: 'removed' },
      { kind: 'deleted' },
    ]);
    for (const event of events) {
      expect(event).to.deep.include({ key: { namespace: 'default', id: 'data' }, uid, at: house.clock.now() });
      expect(event.id).to.match(/^volumes@\d+$/);
    }
  });

  it('V11 a failure emits an event with the request and the reason', async () => {
    const { volumes, plugin } = house;
    const asked = new Set<string>();
    plugin.script = ({ rpc }) => {
      const isFirst = asked.size < asked.add(rpc).size;
      return isFirst ? { code: 'INVALID_ARGUMENT', text: 'no' } : undefined;
    };
    await refusalOf(volumes.create(spec('data')));
    await volumes.retry(key);
    await house.rest();
    await refusalOf(volumes.expand(key, { requiredBytes: 2048 }));
    await refusalOf(volumes.modify(key, { tier: 'gold' }));
    await refusalOf(volumes.delete(key));
    const failed = (await house.events()).flatMap((event) => (event.kind === 'failed' ? [event] : []));
    expect(failed.map((event) => event.in)).to.deep.equal(['create', 'expand', 'modify', 'delete']);
    for (const { failure } of failed) expect(failure.message).to.include('no');
    expect(failed[1]).to.deep.include({ capacity: { requiredBytes: 2048 } });
    expect(failed[2]).to.deep.include({ mutableParameters: { tier: 'gold' } });
  });

  it('V14 followers get each event once: from now, from the start or after any event; also after a restart', async () => {
    const live: VolumeEvent[] = [];
    const ended = new AbortController();
    const following = (async () => {
      for await (const event of house.volumes.updates({ signal: ended.signal })) live.push(event);
    })();
    await house.rest();
    await Promise.all(['a', 'b', 'c'].map((id) => house.volumes.create(spec(id))));
    await house.volumes.publish({ id: 'b' }, 'a');
    await house.rest();
    ended.abort();
    await following.catch(() => {});
    const all = await house.events();
    expect(live).to.deep.equal(all);
    expect(new Set(all.map(({ id }) => id)).size).to.equal(5);
    await house.restart();
    expect(await house.events()).to.deep.equal(all);
    for (const [index, { id }] of all.entries()) expect(await house.events(id)).to.deep.equal(all.slice(index + 1));
  });
});

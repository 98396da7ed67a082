/**
 * Tests creations that the plugin has no room for. A first call has made nothing, so that a deletion needs no room; an earlier
 * call may have made the volume, and taken the room.
 */
import { expect } from 'chai';
import { DataHouse, key } from './data-house.js';
import type { Step } from './fake-plugin.js';
import { always, inOrder, toldOf } from './scripts.js';

const full = { code: 'RESOURCE_EXHAUSTED', text: 'the pool is full' } as const;

describe('a volume that its plugin has no room for', () => {
  let house: DataHouse;
  beforeEach(async () => {
    house = await new DataHouse().furnish();
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const view = () => house.volumes.get(key);
  const part = async () => (await view())?.parts.find(({ chart }) => chart === 'lifecycle');
  const lifecycle = async () => (await part())?.at;

  it('V13, 34.28 deleted: gone at once, without a call', async () => {
    always(house.plugin, 'CreateVolume', full);
    house.make().catch(() => {});
    await house.clock.advance(60_000);
    expect(await lifecycle()).to.equal('pending-create.backing-off');
    house.plugin.calls.length = 0;
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal([]);
    expect(await view()).to.equal(undefined);
  });

  it('V10, 34.28 room comes: created', async () => {
    inOrder(house.plugin, 'CreateVolume', [full, full, full]);
    const made = house.make();
    await house.clock.advance(60_000);
    expect(await made).to.include({ state: 'created' });
    expect(toldOf(house.plugin, 'CreateVolume')).to.have.lengthOf(4);
  });

  /** Checks for room before it looks for a volume of that name, as some drivers do. */
  const looksForRoomFirst = (first: Step): void => {
    let room = 1;
    house.plugin.script = ({ rpc }) => {
      if (rpc === 'DeleteVolume') room += 1;
      if (rpc !== 'CreateVolume') return {};
      if (room === 0) return full;
      room -= 1;
      return first;
    };
  };

  it('V13, 34.28 made by a call whose answer was lost, and no room since: looked for, nothing is left', async () => {
    looksForRoomFirst({ code: 'DEADLINE_EXCEEDED', work: true });
    house.make().catch(() => {});
    await house.rest();
    const gone = house.volumes.delete(key);
    await house.clock.advance(60_000);
    expect(await lifecycle()).to.equal('finding-out.backing-off');
    expect((await part())?.why).to.include('it is deleted once there is room, or with force');
    always(house.plugin, 'CreateVolume', {});
    await house.clock.advance(600_000);
    await gone;
    expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
    expect(await view()).to.equal(undefined);
  });

  it('V10, 34.28 the same, not deleted: repeated, and created once the plugin looks for it', async () => {
    looksForRoomFirst({ code: 'DEADLINE_EXCEEDED', work: true });
    const made = house.make();
    await house.clock.advance(60_000);
    expect(await lifecycle()).to.equal('create-in-doubt.backing-off');
    always(house.plugin, 'CreateVolume', {});
    await house.clock.advance(600_000);
    expect(await made).to.include({ csiId: 'vol-1' });
  });

  it('V13, 34.28 lost answer, no room since, deleted with force: given up, and named as left behind', async () => {
    looksForRoomFirst({ code: 'DEADLINE_EXCEEDED', work: true });
    house.make().catch(() => {});
    await house.rest();
    const gone = house.volumes.delete(key, { force: true });
    await house.clock.advance(60_000);
    await gone;
    expect((await view())?.leftovers).to.have.lengthOf(1);
  });

  it('V13, 34.28 killed during the call, which arrives later and takes the room: nothing is left', async () => {
    house.plugin.overlaps = 'allowed';
    const late = new Promise<void>((resolve) => house.clock.after(60_000, resolve));
    const steps: Step[] = [{ before: late }];
    const { createVolume } = Object.getPrototypeOf(house.plugin) as typeof house.plugin;
    house.plugin.createVolume = (request) => {
      const isThere = house.plugin.made(request.name ?? '') !== undefined;
      house.plugin.script = ({ rpc }) =>
        rpc !== 'CreateVolume' ? undefined : (steps.shift() ?? (isThere ? {} : full));
      return createVolume.call(house.plugin, request);
    };
    house.make().catch(() => {});
    await house.rest();
    await house.restart();
    const gone = house.volumes.delete(key);
    await house.clock.advance(50_000);
    expect((await view())?.state).to.equal('pending-create');
    await house.clock.advance(600_000);
    await gone;
    expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal(['DeleteVolume: OK']);
  });

  it('V10, 34.28 message too large for gRPC: in doubt, as the work may be done', async () => {
    const text = 'grpc: trying to send message larger than max (5 vs. 4)';
    inOrder(house.plugin, 'CreateVolume', [{ code: 'RESOURCE_EXHAUSTED', text, work: true }]);
    const made = house.make();
    await house.rest();
    expect(await lifecycle()).to.equal('create-in-doubt.backing-off');
    await house.clock.advance(60_000);
    expect(await made).to.include({ csiId: 'vol-1' });
  });
});

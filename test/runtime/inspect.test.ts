/** `runtime.inspect`: the live feed of all actors of a runtime, node side and controller side, without secrets. */
import { expect } from 'chai';
import type { FeedRecord } from '../../src/engine/feed.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const marker = 'hunter2-in-the-environment';

describe('runtime.inspect', () => {
  let house: VolumeHouse;
  let records: FeedRecord[];

  beforeEach(async () => {
    records = [];
    house = new VolumeHouse();
    await house.furnish({ inspect: (record) => records.push(record) });
  });

  afterEach(() => house.dispose());

  const settled = async <T>(work: Promise<T>): Promise<T> => {
    await house.rest();
    return work;
  };

  it('X1 the option listens from the start on: the root actor and the plugin are seen to begin', () => {
    const begun = records.filter((record) => record.kind === 'actor' && record.phase === 'begun');
    expect(begun.map(({ address }) => address)).to.include.members([
      'registry/controller-1',
      'plugin/controller-1/csi-controller/disk/disk-1',
      'node/a',
    ]);
  });

  it('X1 a volume is created and published: its calls, and its parts with each of their states', async () => {
    await settled(house.runtime.volumes.create(spec('data')));
    await settled(house.runtime.volumes.publish({ id: 'data' }, 'a'));
    const ofVolume = records.filter(({ address }) => address === 'volume/default/data');
    const calls = ofVolume.flatMap((record) =>
      record.kind === 'effect' && record.phase === 'sent' ? [record.src] : [],
    );
    expect(calls).to.deep.equal(['createVolume', 'controllerPublish']);
    const states = ofVolume.flatMap((record) =>
      record.kind === 'part' && record.id === 'publication/a' ? [[record.before, record.part?.at]] : [],
    );
    expect(states).to.deep.equal([
      [undefined, 'pending-publish.calling'],
      ['pending-publish.calling', 'published'],
    ]);
  });

  it('X1 listened to later and ended again: records from then until then', async () => {
    const later: FeedRecord[] = [];
    const stop = house.runtime.inspect((record) => later.push(record));
    await settled(house.runtime.volumes.create(spec('data')));
    stop();
    const count = later.length;
    await settled(house.runtime.volumes.delete({ id: 'data' }));
    expect(count).to.be.greaterThan(0);
    expect(later).to.have.length(count);
  });

  it('X5 the environment of a task is in no record; its names are', async () => {
    const task = { id: 'mine', type: 'controller' as const, command: ['/bin/false'], env: { TOKEN: marker } };
    await settled(house.runtime.tasks.start(task));
    await house.rest();
    const text = JSON.stringify(records);
    expect(text).to.contain('"TOKEN":"***"').and.not.contain(marker);
  });

  it('X1 something else than a function: INVALID_ARGUMENT', async () => {
    const listen = async () => house.runtime.inspect('me' as never);
    expect(await refusalOf(listen())).to.deep.include({ code: 'INVALID_ARGUMENT' });
  });
});

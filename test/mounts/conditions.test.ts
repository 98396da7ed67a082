/** Findings of the runtime about mounted volumes, as their journals have them. */
import { expect } from 'chai';
import type { VolumeCondition } from '../../machines/mount/types.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { fromOf } from '../../src/journal/history.js';
import { MountHouse, many, node } from './mount-house.js';

describe('conditions of mounted volumes', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  it('J1 M15, 34.20 an unchanged condition leaves no entry in the journal; each change leaves one', async () => {
    let volumeCondition: VolumeCondition = { abnormal: false, message: 'well' };
    house = await MountHouse.start({ handlers: { NodeGetVolumeStats: () => ({ usage: [], volumeCondition }) } });
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const look = () => house.runtime.mounts.stats({ id: 'data' });
    for (let looks = 0; looks < 5; looks += 1) await look();
    volumeCondition = { abnormal: true, message: 'full' };
    for (let looks = 0; looks < 5; looks += 1) expect((await look()).condition).to.deep.equal(volumeCondition);

    const entries: JournalEntry[] = [];
    for await (const entry of house.runtime.journal.entries(`mount/${node}/default/data`))
      if (entry.event?.type === 'mount.condition') entries.push(entry);
    expect(entries.map(({ event }) => event?.condition.message)).to.deep.equal(['well', 'full']);
    // Small: nobody has asked for it.
    expect(entries.map(fromOf)).to.deep.equal(['runtime', 'runtime']);
  });
});

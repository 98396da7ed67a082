/**
 * Counts the commits of a call to a plugin. Each is a write to the store, and changes the visible state of the volume.
 */
import { expect } from 'chai';
import { type DataHouse, inDataHouse, key } from './data-house.js';

describe('commits of a call', () => {
  let house: DataHouse;
  inDataHouse(
    (made) => {
      house = made;
    },
    { isMade: true },
  );

  const count = async (): Promise<number> => {
    let commits = 0;
    for await (const _ of house.runtime.journal.entries('volume/default/data')) commits += 1;
    return commits;
  };
  /** Counts the commits of a publish on node a. @param meanwhile runs until it is published */
  const ofPublish = async (meanwhile: () => Promise<void>): Promise<number> => {
    const before = await count();
    const published = house.volumes.publish(key, 'a');
    await house.rest();
    await meanwhile();
    await published;
    expect(await house.stateOn('a')).to.equal('published');
    return (await count()) - before;
  };
  const nothing = async (): Promise<void> => {};

  it('V1 call made at once: two commits, for the request and the answer', async () => {
    expect(await ofPublish(nothing)).to.equal(2);
  });

  it('V1 call waits for its plugin: four commits, with the wait and its end', async () => {
    await house.makeUnwell();
    expect(await ofPublish(() => house.makeWell())).to.equal(4);
  });

  it('V1 call waits for another call of the volume: four commits', async () => {
    let release = (): void => {};
    const before = new Promise<void>((resolve) => {
      release = resolve;
    });
    house.plugin.script = ({ rpc }) => (rpc === 'CreateSnapshot' ? { before } : undefined);
    const made = house.runtime.snapshots.create({ id: 'snap', volume: key });
    await house.rest();
    const commits = await ofPublish(async () => {
      expect(house.plugin.told().at(-1)).to.contain('CreateSnapshot');
      release();
      await house.rest();
    });
    await made;
    expect(commits).to.equal(4);
  });
});

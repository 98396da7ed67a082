/** Tests migrations of recorded nodes of older versions, and further work on them. */
import { expect } from 'chai';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

/** Node of version 1 that is ready, with room for one volume. */
const readyV1 = {
  format: 1,
  machine: 'node',
  version: '1',
  effects: [],
  timers: [],
  received: {},
  answers: [],
  snapshot: {
    value: 'ready',
    context: {
      ...{ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a', maxVolumes: 1 }] },
      ...{ fence: null, isBack: false, heard: { epoch: 3, number: 1 } },
    },
  },
};

describe('nodes of older versions', () => {
  const house = new VolumeHouse();
  afterEach(() => house.dispose());

  it('V18 N1 node of version 1 with a limit: migrated to version 2, and its volumes get slots', async () => {
    const { store } = house;
    await store.open();
    const entry = { seq: 3, at: 1, random: 0.5, kind: 'event', version: '1', source: { kind: 'request' } };
    await store.commit([
      {
        ...{ address: 'node/a', commitId: 'recorded', expectedSeq: 0, seq: 3, epoch: 0, owner: 'recorded' },
        text: JSON.stringify(readyV1),
        journal: JSON.stringify({ ...entry, event: { type: 'node.report' } }),
      },
    ]);
    await store.close();

    await house.open();
    await house.register();
    const entries: JournalEntry[] = [];
    for await (const each of house.runtime.journal.entries('node/a')) entries.push(each);
    const migrated = entries.find(({ kind }) => kind === 'migrated');
    expect(migrated).to.deep.include({ version: '2', migrations: ['slots are kept'] });
    expect(migrated?.snapshot).to.deep.equal({ value: 'ready', context: { ...readyV1.snapshot.context, slots: {} } });
    for (const id of ['v0', 'v1']) await house.volumes.create(spec(id));
    await house.volumes.publish({ id: 'v0' }, 'a');
    const refusal = await house.volumes.publish({ id: 'v1' }, 'a').catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'NODE_FULL' });
  });
});

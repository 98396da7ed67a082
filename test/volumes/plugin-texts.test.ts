/** Tests texts in successful answers of plugins: shown like texts of errors, without secrets and cut to a length. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const most = 4_096;

describe('texts in answers of plugins', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish({ secrets: { resolve: async () => ({ password: 'hunter2-secret' }) } });
  });
  afterEach(() => house.dispose());

  it('V19 objection to a volume that quotes a secret: the secret is masked everywhere, the text is cut', async () => {
    house.plugin.volumes.set('their', { id: 'their', name: '', isFound: true, capacityBytes: 1n, attached: new Set() });
    house.plugin.validateVolumeCapabilities = async ({ secrets }) => ({
      message: `login with ${secrets?.password} refused ${'ä'.repeat(10_000)}`,
    });
    const external = { csiId: 'their', context: {} };
    const asked = house.volumes.create(spec('data', { secrets: { password: 'env:PW' }, external }));
    const refusal = await refusalOf(asked);
    expect(refusal).to.include({ code: 'VOLUME_NOT_CONFIRMED' });
    const volume = await house.volumes.get(key);
    expect(volume?.error?.message).to.include('login with *** refused ä');
    const entries: unknown[] = [];
    for await (const entry of house.runtime.journal.entries('volume/default/data')) entries.push(entry);
    expect(entries).to.not.deep.equal([]);
    for (const told of [refusal.message, volume?.error?.message, entries, await house.events()])
      expect(JSON.stringify(told)).to.not.include('hunter2');
    expect(Buffer.byteLength(volume?.error?.message ?? '')).to.be.below(most + 100);
  });

  it('V20 text of a volume condition: cut', async () => {
    await house.volumes.create(spec('data'));
    const listVolumes = house.plugin.listVolumes.bind(house.plugin);
    const volumeCondition = { abnormal: true, message: 'x'.repeat(10_000) };
    house.plugin.listVolumes = async (request) => {
      const { entries, nextToken } = await listVolumes(request);
      return {
        entries: entries.map((entry) => ({ ...entry, status: { publishedNodeIds: [], volumeCondition } })),
        nextToken,
      };
    };
    await house.volumes.reconcile();
    const condition = { abnormal: true, message: 'x'.repeat(most) };
    expect((await house.volumes.get(key))?.condition).to.deep.equal(condition);
  });
});

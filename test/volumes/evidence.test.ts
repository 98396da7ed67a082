/** How far a listing is evidence: what it takes for gone, and what it leaves alone. */
import { expect } from 'chai';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const multi = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('a listing as evidence', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish({ calls: { timeoutMs: 1_000 } });
    await house.volumes.create(spec('data'));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const claim = (allocId: string, nodeId = 'a') =>
    house.volumes.claim(key, { allocId, nodeId, mode: 'write', ...multi });
  const publish = () => house.volumes.publish(key, 'a', { capability: multi });
  const detach = (): void => {
    for (const volume of house.plugin.volumes.values()) volume.attached.clear();
  };
  const attached = (): string[] => [...house.plugin.volumes.values()].flatMap((one) => [...one.attached]);
  const compare = async (): Promise<void> => {
    await house.volumes.reconcile(pluginName);
    await house.rest();
  };
  const claims = async (): Promise<string[]> =>
    ((await house.volumes.get(key))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);
  const stateOn = async (nodeId: string) => (await house.volumes.get(key))?.publications[nodeId]?.state;

  it('N3 C6 detached from a node where another has claimed it since: only the claim that was let go of is released', async () => {
    await claim('w1');
    await publish();
    await house.volumes.release(key, 'w1');
    await claim('w2');
    detach();
    await compare();
    expect(await claims()).to.deep.equal(['w2 taken']);
    expect(await stateOn('a')).to.equal(undefined);
    await publish();
    expect(attached()).to.deep.equal(['csi-a']);
  });

  it('N3 C6 and where that one waits to be published: it is, and keeps its claim', async () => {
    await claim('w1');
    await publish();
    await house.volumes.release(key, 'w1');
    await claim('w2');
    const published = publish();
    await house.rest();
    detach();
    await compare();
    await published;
    expect(await claims()).to.deep.equal(['w2 taken']);
    expect(attached()).to.deep.equal(['csi-a']);
  });
});

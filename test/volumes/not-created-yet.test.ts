/** Tests publishes and claims of a volume that is not created yet: its topology is not known before. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { gate, inOrder } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const claim = { allocId: 'w1', nodeId: 'a', mode: 'write', ...single } as const;

describe('a volume that is not created yet', () => {
  let house: VolumeHouse;
  let created: ReturnType<typeof gate>;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    created = gate();
    inOrder(house.plugin, 'CreateVolume', [{ before: created.passed }]);
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  async function beginCreation(): Promise<void> {
    void house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
  }

  it('V18 created in another zone than the node: publish and claim are refused without a call', async () => {
    house.plugin.accessibleTopology = [{ segments: { zone: 'z' } }];
    await beginCreation();
    const published = refusalOf(house.volumes.publish(data, 'a'));
    const claimed = refusalOf(house.volumes.claim(data, claim));
    await house.rest();
    created.open();
    for (const refused of [published, claimed]) {
      expect(await refused).to.include({ code: 'NODE_UNFIT' });
      expect((await refused).message).to.include('{"zone":"z"}');
    }
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
    expect(await house.volumes.get(data)).to.deep.include({ publications: {}, claims: [] });
  });

  it('V18 created in the zone of the node: published and claimed after its creation', async () => {
    house.plugin.accessibleTopology = [{ segments: { zone: 'z' } }];
    const at = { name: pluginName, nodeId: 'csi-a', topology: { zone: 'z' } };
    await house.runtime.nodes.report({ id: 'a', plugins: [at] });
    await beginCreation();
    const claimed = house.volumes.claim(data, claim);
    const published = house.volumes.publish(data, 'a');
    await house.rest();
    created.open();
    expect(await claimed).to.include({ state: 'taken', allocId: 'w1' });
    expect((await published).publishContext).to.deep.equal({ device: 'vol-1@csi-a' });
  });

  it('V1 timeout or abort before the creation ends: nothing was requested, and the error says so', async () => {
    await beginCreation();
    const control = new AbortController();
    const late = refusalOf(house.volumes.publish(data, 'a', { timeoutMs: 10 }));
    const given = refusalOf(house.volumes.claim(data, { ...claim, signal: control.signal }));
    await house.clock.advance(10);
    control.abort();
    expect(await late).to.include({ code: 'TIMEOUT' });
    expect(await given).to.include({ code: 'ABORTED' });
    const why = 'before volume default/data was created; nothing was asked of it: it is pending-create';
    for (const one of [late, given]) expect((await one).message).to.include(why);
    created.open();
    await house.rest();
    expect(await house.volumes.get(data)).to.deep.include({ state: 'created', publications: {}, claims: [] });
  });

  it('V1 the timeout runs from the request, not from the end of the creation', async () => {
    await beginCreation();
    house.plugin.script = () => ({ before: new Promise(() => {}) });
    const late = refusalOf(house.volumes.publish(data, 'a', { timeoutMs: 1_000 }));
    await house.clock.advance(900);
    created.open();
    await house.clock.advance(99);
    expect(await house.volumes.get(data)).to.include({ state: 'pending-publish' });
    await house.clock.advance(1);
    expect((await late).message).to.include('the request stands, and the work goes on');
  });

  it('V11 creation fails: publish and claim are rejected with its error', async () => {
    inOrder(house.plugin, 'CreateVolume', [{ before: created.passed, code: 'INVALID_ARGUMENT' }]);
    await beginCreation();
    const refused = [refusalOf(house.volumes.publish(data, 'a')), refusalOf(house.volumes.claim(data, claim))];
    await house.rest();
    created.open();
    for (const one of refused) expect(await one).to.include({ code: 'CSI_ERROR', grpcCode: 'INVALID_ARGUMENT' });
  });

  it('V13 volume deleted meanwhile: publish and claim are rejected with that reason', async () => {
    await beginCreation();
    const refused = [refusalOf(house.volumes.publish(data, 'a')), refusalOf(house.volumes.claim(data, claim))];
    await house.rest();
    const deleted = house.volumes.delete(data);
    await house.rest();
    for (const one of refused) expect(await one).to.include({ code: 'VOLUME_DELETING' });
    created.open();
    await deleted;
  });
});

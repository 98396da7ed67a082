/** Volumes that are made larger: at once, while another expansion goes on, and where the plugin would not. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from './fake-plugin.js';
import { always, gate } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const sized = spec('data', { capacity: { requiredBytes: 10 } });

describe('a volume that is expanded', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(sized);
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  /** What becomes of the expansions, one after another. */
  function expandingTells(...steps: Step[]): void {
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerExpandVolume' ? steps.shift() : undefined);
  }
  const expansions = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'ControllerExpandVolume')
      .map(({ request }) => (request as { capacityRange: { requiredBytes: bigint } }).capacityRange.requiredBytes);

  it('V1 V9 a larger size: the plugin is asked once, and whether the node has a part is told', async () => {
    const answer = await house.volumes.expand(key, { requiredBytes: 20 });
    expect(answer).to.deep.equal({ capacityBytes: 20, nodeExpansionRequired: true });
    expect(await house.volumes.get(key)).to.deep.include({ capacityBytes: 20, nodeExpansionRequired: true });
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V9 the plugin does not say what it has become: its size is unknown, and it does not shrink for that', async () => {
    const expand = house.plugin.controllerExpandVolume.bind(house.plugin);
    house.plugin.controllerExpandVolume = async (request) => ({ ...(await expand(request)), capacityBytes: 0n });
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.equal({ nodeExpansionRequired: true });
    const volume = await house.volumes.get(key);
    expect(volume).not.to.have.property('capacityBytes');
    expect(volume?.requested).to.deep.equal({ requiredBytes: 20 });
    await house.volumes.expand(key, { requiredBytes: 20 });
    expect(expansions()).to.deep.equal([20n]);
    const smaller = await refusalOf(house.volumes.expand(key, { requiredBytes: 15 }));
    expect(smaller).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('V11 V21 one that failed says so, one that goes on does not', async () => {
    expandingTells({ code: 'UNAVAILABLE' }, { code: 'OUT_OF_RANGE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    expect((await house.volumes.get(key))?.expansion).not.to.have.property('failed');
    await house.clock.advance(60_000);
    await expanding;
    expect((await house.volumes.get(key))?.expansion).to.include({ failed: true });
  });

  it('V1 the size that it has: nothing is called', async () => {
    expect(await house.volumes.expand(key, { requiredBytes: 10 })).to.deep.equal({
      capacityBytes: 10,
      nodeExpansionRequired: false,
    });
    expect(expansions()).to.deep.equal([]);
  });

  it('V16 a smaller size or limit: refused with the size that it has', async () => {
    const smaller = await refusalOf(house.volumes.expand(key, { requiredBytes: 9 }));
    expect(smaller).to.deep.include({ code: 'INVALID_ARGUMENT' });
    expect(smaller.message).to.equal('volume default/data: it has 10 bytes: volumes only grow');
    const empty = await refusalOf(house.volumes.expand(key, {} as { requiredBytes: number }));
    expect(empty.code).to.equal('INVALID_ARGUMENT');
    expect(expansions()).to.deep.equal([]);
  });

  it('V1 the same request after it was done: the same answer, also where the plugin has given more', async () => {
    house.plugin.blockBytes = 16n;
    await house.volumes.expand(key, { requiredBytes: 20 });
    await house.restart();
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 32 });
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V1 V12 a larger size while one is under way: both are done, one after the other', async () => {
    let finish = (): void => {};
    expandingTells({ before: new Promise<void>((resolve) => (finish = resolve)) });
    const first = house.volumes.expand(key, { requiredBytes: 20 });
    await house.rest();
    const second = house.volumes.expand(key, { requiredBytes: 30 });
    await house.rest();
    const smaller = await refusalOf(house.volumes.expand(key, { requiredBytes: 25 }));
    expect(smaller.message).to.equal('volume default/data: it is being expanded to 30 bytes: volumes only grow');
    expect(expansions()).to.deep.equal([20n]);
    finish();
    expect((await first).capacityBytes).to.be.oneOf([20, 30]);
    expect(await second).to.deep.include({ capacityBytes: 30 });
    expect(expansions()).to.deep.equal([20n, 30n]);
  });

  const earlier: [string, Step, Step][] = [
    ['waits to be tried again', { code: 'UNAVAILABLE' }, {}],
    ['is under way', {}, { code: 'UNAVAILABLE' }],
  ];
  for (const [how, first, second] of earlier)
    it(`V1 V12 the size that it has while a larger one ${how}: done at once, and the larger one goes on`, async () => {
      const { passed, open } = gate();
      expandingTells({ ...first, ...(first.code ? {} : { before: passed }) }, second);
      const large = house.volumes.expand(key, { requiredBytes: 20 });
      await house.rest();
      const small = await house.volumes.expand(key, { requiredBytes: 10 });
      expect(small).to.deep.include({ capacityBytes: 10 });
      open();
      await house.clock.advance(60_000);
      expect(await large).to.deep.include({ capacityBytes: 20 });
      expect(await house.volumes.get(key)).to.deep.include({ capacityBytes: 20, requested: { requiredBytes: 20 } });
      expect(new Set(expansions())).to.deep.equal(new Set([20n]));
    });

  it('V1 V12 the plugin says no sizes, and an earlier one is asked for again: the larger one goes on', async () => {
    const create = house.plugin.createVolume.bind(house.plugin);
    house.plugin.createVolume = async (request) => {
      const { volume } = await create(request);
      return volume ? { volume: { ...volume, capacityBytes: 0n } } : {};
    };
    await house.volumes.create(spec('untold', { capacity: { requiredBytes: 10 } }));
    expandingTells({ code: 'UNAVAILABLE' });
    const large = house.volumes.expand({ id: 'untold' }, { requiredBytes: 20 });
    await house.rest();
    const small = house.volumes.expand({ id: 'untold' }, { requiredBytes: 10 });
    await house.clock.advance(60_000);
    expect(await large).to.deep.include({ capacityBytes: 20 });
    expect(await small).to.deep.include({ capacityBytes: 20 });
    expect(expansions()).to.deep.equal([20n, 20n]);
  });

  it('V11 V12 one that failed, and then the size that it has: let go of, and not told as done to who asked for it', async () => {
    expandingTells({ code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    const large = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    const small = house.volumes.expand(key, { requiredBytes: 10 });
    expect((await large).code).to.be.oneOf(['ABORTED', 'CSI_ERROR']);
    expect(await small).to.deep.include({ capacityBytes: 10 });
    expect((await house.volumes.get(key))?.expansion).to.equal(undefined);
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V11 OUT_OF_RANGE: rejects, stays so until another size is asked for, and the volume can be used', async () => {
    expandingTells({ code: 'OUT_OF_RANGE' });
    const error = await refusalOf(house.volumes.expand(key, { requiredBytes: 2 ** 50 }));
    expect(error).to.deep.include({ code: 'CSI_ERROR', grpcCode: 'OUT_OF_RANGE', final: true });
    await house.clock.advance(600_000);
    expect((await refusalOf(house.volumes.expand(key, { requiredBytes: 2 ** 50 }))).grpcCode).to.equal('OUT_OF_RANGE');
    expect(expansions()).to.have.length(1);
    await house.volumes.publish(key, 'a');
    expect(await house.volumes.get(key)).to.deep.include({ state: 'published', capacityBytes: 10 });
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect((await house.volumes.get(key))?.expansion).to.equal(undefined);
  });

  it('V11 a failed one that is retried: asked again', async () => {
    expandingTells({ code: 'INVALID_ARGUMENT' });
    await refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.volumes.retry(key);
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect(expansions()).to.deep.equal([20n, 20n]);
  });

  it('V10 an answer that is lost after the work: the same again until it is known', async () => {
    expandingTells({ code: 'DEADLINE_EXCEEDED', work: true }, { code: 'ABORTED' });
    const expanding = house.volumes.expand(key, { requiredBytes: 20 });
    await house.clock.advance(60_000);
    expect(await expanding).to.deep.include({ capacityBytes: 20 });
    expect(expansions()).to.deep.equal([20n, 20n, 20n]);
  });

  it('V1 the runtime ends while a call is under way: the next one asks again, and it is done', async () => {
    expandingTells({ before: new Promise(() => {}) });
    const cut = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    await house.restart();
    expect((await cut).code).to.equal('RUNTIME_CLOSED');
    await house.clock.advance(60_000);
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect(house.plugin.volumes.get('vol-1')?.capacityBytes).to.equal(20n);
    house.plugin.wrongs.length = 0; // the call of the runtime that is gone never ends
  });

  it('V13 a deletion while it waits: the caller is told', async () => {
    expandingTells({ code: 'UNAVAILABLE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    await house.volumes.delete(key);
    expect(await expanding).to.deep.include({ code: 'ABORTED' });
  });

  it('V1 TIMEOUT: says why, and the work goes on', async () => {
    expandingTells({ code: 'UNAVAILABLE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }, { timeoutMs: 1 }));
    await house.clock.advance(1);
    const { code, message } = await expanding;
    expect(code).to.equal('TIMEOUT');
    expect(message).to.match(/the work goes on: .*UNAVAILABLE/);
    await house.clock.advance(60_000);
    expect((await house.volumes.get(key))?.capacityBytes).to.equal(20);
  });

  it('V11 without EXPAND_VOLUME: PLUGIN_LACKS, and nothing is called', async () => {
    const lacking = await new VolumeHouse().open();
    try {
      lacking.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
      await lacking.register();
      await lacking.rest();
      await lacking.volumes.create(sized);
      const error = await refusalOf(lacking.volumes.expand(key, { requiredBytes: 20 }));
      expect(error.code).to.equal('PLUGIN_LACKS');
      expect(error.message).to.contain('EXPAND_VOLUME');
      expect(lacking.plugin.told()).to.deep.equal(['CreateVolume: OK']);
    } finally {
      await lacking.dispose();
    }
  });

  describe('that was made for more than one use', () => {
    const block = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;
    const files = { accessMode: 'single-node-writer', attachmentMode: 'file-system', fsType: 'ext4' } as const;
    const asBlock = { accessMode: { mode: 'SINGLE_NODE_WRITER' }, block: {} };
    const asFiles = {
      accessMode: { mode: 'SINGLE_NODE_WRITER' },
      mount: { fsType: 'ext4', mountFlags: [], volumeMountGroup: '' },
    };
    const many = { id: 'many' };
    const { fsType: _, ...modes } = files;
    const claimed = { allocId: 'w1', nodeId: 'a', mode: 'write', ...modes } as const;

    const uses: [string, () => Promise<unknown>, object][] = [
      ['published as its second', () => house.volumes.publish(many, 'a', { capability: files }), asFiles],
      ['claimed as its second', () => house.volumes.claim(many, claimed), asFiles],
      ['used by nobody', async () => {}, asBlock],
    ];
    for (const [how, use, volumeCapability] of uses)
      it(`V17 V9 ${how}: the plugin is told ${volumeCapability === asFiles ? 'that one' : 'its first'}`, async () => {
        await house.volumes.create(spec('many', { capacity: { requiredBytes: 10 }, capabilities: [block, files] }));
        await use();
        await house.volumes.expand(many, { requiredBytes: 20 });
        expect(house.plugin.calls.at(-1)?.request).to.deep.include({ volumeCapability });
      });
  });

  describe('by a plugin that does it offline only', () => {
    let offline: VolumeHouse;
    beforeEach(async () => {
      offline = new VolumeHouse();
      offline.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'VOLUME_EXPANSION_OFFLINE'];
      await offline.furnish();
      await offline.volumes.create(sized);
    });
    afterEach(() => offline.dispose());

    it('V10 V11 where it could not be published, and so is not, nothing is waited for', async () => {
      const publishing = { code: 'INVALID_ARGUMENT' } as const;
      always(offline.plugin, 'ControllerPublishVolume', publishing);
      await refusalOf(offline.volumes.publish(key, 'a'));
      const capacity = { requiredBytes: 20 };
      expect(await offline.volumes.expand(key, capacity)).to.deep.include({ capacityBytes: 20 });
      // Where that came only after it had left its node alone, the same holds.
      offline.plugin.script = () => undefined;
      await offline.volumes.publish(key, 'b');
      const expanding = offline.volumes.expand(key, { requiredBytes: 30 });
      await offline.rest();
      await offline.volumes.unpublish(key, 'b');
      await offline.rest();
      expect(await expanding).to.deep.include({ capacityBytes: 30 });
    });

    it('V10 V16 while it is published: waits, names the node, and is done once that has let go', async () => {
      await offline.volumes.publish(key, 'a');
      const expanding = offline.volumes.expand(key, { requiredBytes: 20 });
      await offline.clock.advance(3_600_000);
      const volume = await offline.volumes.get(key);
      expect(volume?.state).to.equal('pending-expand');
      expect(volume?.expansion?.message).to.contain('it is on node a: unpublish it there');
      await offline.volumes.unpublish(key, 'a');
      await offline.rest();
      expect(await expanding).to.deep.include({ capacityBytes: 20 });
      expect(offline.plugin.told().at(-1)).to.equal('ControllerExpandVolume: OK');
      expect(offline.plugin.told().filter((call) => call.startsWith('ControllerExpand'))).to.have.length(1);
    });
  });
});

/** Tests expansions by nodes: on which nodes they are due, to which size, and the effect of their reports. */
import { expect } from 'chai';
import type { Bytes, CapacityRange } from '../../machines/kit/csi-types.js';
import { nodeExpansionOf } from '../../machines/volume/size.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';
import { refusalOf } from '../refusal.js';
import { managerOf } from './manager-of.js';
import { gate } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const twenty = { requiredBytes: 20 };

describe('expansion by nodes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { capacity: { requiredBytes: 10 }, capabilities: [shared] }));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const look = () => managerOf(house.runtime).look(key);
  /** Sizes to which each node must expand the volume, by node. */
  const due = async () => {
    const context = await look();
    return Object.fromEntries(
      ['a', 'b', 'c'].flatMap((nodeId) => {
        const capacity = nodeExpansionOf(context, nodeId);
        return capacity ? [[nodeId, capacity.requiredBytes]] : [];
      }),
    );
  };
  const done = async (nodeId: string, more: { uid?: string; capacityBytes?: Bytes; capacity?: object } = {}) => {
    const { uid } = await look();
    await managerOf(house.runtime).nodeExpanded(key, { nodeId, uid, capacity: twenty, ...more });
  };
  const isDueIn = async (): Promise<boolean> => (await house.volumes.get(key))?.nodeExpansionRequired === true;
  const told = async (): Promise<object[]> =>
    (await house.events()).flatMap(({ at: _, id: __, key: ___, uid: ____, ...event }) =>
      event.kind === 'node-expanded' ? [event] : [],
    );

  it('V9 published on a node: due there until it is done, then an event follows', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    expect(await due()).to.deep.equal({ a: 20 });
    await done('a', { capacityBytes: 24 });
    expect(await due()).to.deep.equal({});
    const volume = await house.volumes.get(key);
    expect(volume).to.include({ capacityBytes: 24 }).and.not.have.property('nodeExpansionRequired');
    await done('a', { capacityBytes: 30 });
    expect(await house.volumes.get(key)).to.include({ capacityBytes: 24 });
    expect(await told()).to.deep.equal([
      { kind: 'node-expanded', nodeId: 'a', capacityBytes: 24, nodeExpansionRequired: false },
    ]);
  });

  it('V9 on two nodes: due on each until done there, not on later nodes; also after a restart', async () => {
    for (const nodeId of ['a', 'b']) await house.volumes.publish(key, nodeId);
    await house.volumes.expand(key, twenty);
    await house.volumes.publish(key, 'c');
    expect(await due()).to.deep.equal({ a: 20, b: 20 });
    await done('c');
    await done('b');
    await house.restart();
    expect(await due()).to.deep.equal({ a: 20 });
    expect(await isDueIn()).to.equal(true);
    await done('a');
    expect(await isDueIn()).to.equal(false);
    expect(await told()).to.deep.equal([
      { kind: 'node-expanded', nodeId: 'b', nodeExpansionRequired: true },
      { kind: 'node-expanded', nodeId: 'a', nodeExpansionRequired: false },
    ]);
  });

  it('V9 on no node during the expansion, or unpublished before it was done: due on the next node', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    await house.volumes.unpublish(key, 'a');
    expect(await due()).to.deep.equal({ a: 20, b: 20, c: 20 });
    await house.volumes.publish(key, 'b');
    await done('b');
    expect(await due()).to.deep.equal({});
  });

  it('V9 done for an outdated size, or for an earlier volume of the same id: still due', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    await house.volumes.expand(key, { requiredBytes: 40 });
    await done('a', { capacityBytes: 20 });
    await done('a', { uid: 'another', capacity: { requiredBytes: 40 } });
    expect(await due()).to.deep.equal({ a: 40 });
    expect(await house.volumes.get(key)).to.include({ capacityBytes: 40, nodeExpansionRequired: true });
    expect(await told()).to.deep.equal([]);
    await done('a', { capacity: { requiredBytes: 40 } });
    expect(await isDueIn()).to.equal(false);
  });

  it('V9 reported during the next expansion: counts for the old size, due again after that', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    const { passed, open } = gate();
    house.plugin.script = () => ({ before: passed });
    const expanding = house.volumes.expand(key, { requiredBytes: 40 });
    await house.rest();
    await done('a');
    expect(await isDueIn()).to.equal(false);
    open();
    expect(await expanding).to.include({ nodeExpansionRequired: true });
    expect(await due()).to.deep.equal({ a: 40 });
  });

  it('V9 node reports a smaller size: the size of the volume stays', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    await done('a', { capacityBytes: 18 });
    expect(await house.volumes.get(key)).to.include({ capacityBytes: 20 });
    expect(await isDueIn()).to.equal(false);
  });

  it('V9 controller reports no size: the size from the node is taken', async () => {
    const expand = house.plugin.controllerExpandVolume.bind(house.plugin);
    house.plugin.controllerExpandVolume = async (request) => ({ ...(await expand(request)), capacityBytes: 0n });
    await house.volumes.expand(key, twenty);
    await done('a', { capacityBytes: '9007199254740993' });
    expect(await house.volumes.get(key)).to.include({ capacityBytes: 9_007_199_254_740_993n });
  });

  it('V9 report without a due expansion: no effect; without a volume: VOLUME_NOT_FOUND', async () => {
    await done('a', { capacityBytes: 100 });
    expect(await house.volumes.get(key)).to.include({ capacityBytes: 10 });
    const { uid } = await look();
    await house.volumes.delete(key);
    const late = managerOf(house.runtime).nodeExpanded(key, { nodeId: 'a', uid, capacity: twenty });
    expect(await refusalOf(late)).to.include({ code: 'VOLUME_NOT_FOUND' });
  });

  it('V9 record of a version without nodes: due on every node until one has done it', async () => {
    await house.volumes.publish(key, 'a');
    await house.volumes.expand(key, twenty);
    const { unexpanded: _, ...before } = await look();
    expect(nodeExpansionOf(before, 'b')).to.deep.equal(twenty);
  });

  describe('of a new copy', () => {
    const fs = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    const block = { accessMode: 'multi-node-multi-writer', attachmentMode: 'block-device' } as const;
    const copy = { id: 'copy' };
    const clone = { volume: { namespace: 'default', id: 'data' } };
    const snapshot = { volumeSnapshot: 'before' };
    const dueOnCopy = async (): Promise<CapacityRange | undefined> =>
      nodeExpansionOf(await managerOf(house.runtime).look(copy), 'a');

    const cases: [how: string, VolumeSpec['source'], bytes: number | undefined, more: object, isDue: boolean][] = [
      ['larger than its source volume', clone, 20, {}, true],
      ['as large as its source volume', clone, 10, {}, false],
      ['without a size of its own', clone, undefined, {}, false],
      ['larger than its snapshot', snapshot, 20, {}, true],
      ['as large as its snapshot', snapshot, 10, {}, false],
      ['larger, but a block device', clone, 20, { capabilities: [block] }, false],
    ];
    for (const [how, source, requiredBytes, more, isDue] of cases)
      it(`V9, 34.25 ${how}: ${isDue ? 'due on the first node, once' : 'nothing is due'}`, async () => {
        if (source === snapshot) await house.runtime.snapshots.create({ id: 'before', volume: key });
        const capacity = requiredBytes === undefined ? {} : { requiredBytes };
        await house.volumes.create(spec('copy', { capacity, capabilities: [fs], source, ...more }));
        expect(await dueOnCopy()).to.deep.equal(isDue ? { requiredBytes } : undefined);
        if (!isDue) return;
        await house.restart();
        await house.volumes.publish(copy, 'a');
        const { uid } = await managerOf(house.runtime).look(copy);
        await managerOf(house.runtime).nodeExpanded(copy, { nodeId: 'a', uid, capacity: twenty });
        expect(await dueOnCopy()).to.equal(undefined);
        expect(await house.volumes.get(copy)).to.deep.include({ capacityBytes: 20, requested: twenty });
      });

    it('V9, 34.25 of a snapshot of unknown size: due, as it may be larger', async () => {
      const create = house.plugin.createSnapshot.bind(house.plugin);
      house.plugin.createSnapshot = async (request) => {
        const answer = await create(request);
        return answer.snapshot ? { snapshot: { ...answer.snapshot, sizeBytes: 0n } } : answer;
      };
      await house.runtime.snapshots.create({ id: 'before', volume: key });
      await house.volumes.create(spec('copy', { capacity: { requiredBytes: 10 }, source: snapshot }));
      expect(await dueOnCopy()).to.deep.equal({ requiredBytes: 10 });
    });

    it('V9, 34.25 of a volume whose file system has not grown yet: due, at the same size', async () => {
      await house.volumes.expand(key, twenty);
      await house.volumes.create(spec('copy', { capacity: twenty, source: clone }));
      expect(await dueOnCopy()).to.deep.equal(twenty);
    });
  });
});

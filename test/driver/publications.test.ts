/** ControllerPublishVolume and ControllerUnpublishVolume of the bundled driver: who may have a volume, beside whom. */
import { expect } from 'chai';
import type { VolumeCapabilityAccessModeMode } from '../../src/csi/generated/plain.js';
import type { ServedDriverOptions } from '../../src/tools/driver/driver.js';
import { refusalOf } from '../refusal.js';
import { asBlock, codeOf, DriverLab, gi, mounted, nodeId } from './driver-lab.js';

const options: Partial<ServedDriverOptions> = {
  attach: true,
  peerNodes: ['node-2', 'node-3'],
  capacityBytes: 100 * gi,
};

let lab: DriverLab;
/** Each test with a driver of its own. */
function isolated(): void {
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start(options);
  });

  afterEach(() => lab.close());
}

interface As {
  mode?: VolumeCapabilityAccessModeMode;
  readonly?: boolean;
}

const publish = (volumeId: string, node: string, { mode, readonly = false }: As = {}) =>
  lab.client.controllerPublishVolume({ volumeId, nodeId: node, volumeCapability: mounted(mode), readonly });
const unpublish = (volumeId: string, node: string) => lab.client.controllerUnpublishVolume({ volumeId, nodeId: node });

async function nodesOf(volumeId: string): Promise<string[]> {
  const { status } = await lab.client.controllerGetVolume({ volumeId });
  return status?.publishedNodeIds ?? [];
}

describe('driver: ControllerPublishVolume', () => {
  isolated();

  it('shows in the lists, again is the same, and survives a restart', async () => {
    const { volumeId } = await lab.create('a');
    expect(await publish(volumeId, nodeId)).to.deep.equal({ publishContext: {} });
    await publish(volumeId, nodeId);
    await lab.restart(options);
    expect(await nodesOf(volumeId)).to.deep.equal([nodeId]);
    const { entries } = await lab.client.listVolumes({});
    expect(entries[0]?.status?.publishedNodeIds).to.deep.equal([nodeId]);
  });

  it('again with another capability or readonly is ALREADY_EXISTS', async () => {
    const { volumeId } = await lab.create('a');
    await publish(volumeId, nodeId);
    expect(await codeOf(publish(volumeId, nodeId, { readonly: true }))).to.equal('ALREADY_EXISTS');
    expect(await codeOf(publish(volumeId, nodeId, { mode: 'SINGLE_NODE_MULTI_WRITER' }))).to.equal('ALREADY_EXISTS');
  });

  it('refuses what is incomplete, and what is not there', async () => {
    const { volumeId } = await lab.create('a');
    const volumeCapability = mounted();
    const publishAs = (request: object) => codeOf(lab.client.controllerPublishVolume(request));
    expect(await publishAs({ nodeId, volumeCapability })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId, volumeCapability })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId, nodeId })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId, nodeId, volumeCapability: { mount: {} } })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId, nodeId: 'n'.repeat(257), volumeCapability })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId: '../a', nodeId, volumeCapability })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId, nodeId, volumeCapability: asBlock() })).to.equal('INVALID_ARGUMENT');
    const wider = mounted('MULTI_NODE_MULTI_WRITER');
    expect(await publishAs({ volumeId, nodeId, volumeCapability: wider })).to.equal('INVALID_ARGUMENT');
    expect(await publishAs({ volumeId: 'vol-unknown', nodeId, volumeCapability })).to.equal('NOT_FOUND');
    expect(await publishAs({ volumeId, nodeId: 'node-9', volumeCapability })).to.equal('NOT_FOUND');
    expect(await publishAs({ volumeId, nodeId: 'n'.repeat(256), volumeCapability })).to.equal('NOT_FOUND');
    expect(await nodesOf(volumeId)).to.deep.equal([]);
  });

  const wide: VolumeCapabilityAccessModeMode = 'MULTI_NODE_MULTI_WRITER';
  const cases: [first: As, second: As, fits: boolean][] = [
    [{ mode: 'SINGLE_NODE_WRITER' }, { mode: 'SINGLE_NODE_WRITER' }, false],
    [{ mode: 'SINGLE_NODE_READER_ONLY' }, { mode: 'SINGLE_NODE_READER_ONLY' }, false],
    [{ mode: 'SINGLE_NODE_MULTI_WRITER' }, { mode: wide }, false],
    [{ mode: wide }, { mode: 'SINGLE_NODE_SINGLE_WRITER' }, false],
    [{ mode: wide }, { mode: wide }, true],
    [{ mode: 'MULTI_NODE_READER_ONLY' }, { mode: 'MULTI_NODE_READER_ONLY' }, true],
    [{ mode: 'MULTI_NODE_READER_ONLY' }, { mode: 'MULTI_NODE_SINGLE_WRITER' }, true],
    [{ mode: 'MULTI_NODE_SINGLE_WRITER' }, { mode: 'MULTI_NODE_SINGLE_WRITER' }, false],
    [{ mode: 'MULTI_NODE_SINGLE_WRITER' }, { mode: 'MULTI_NODE_SINGLE_WRITER', readonly: true }, true],
    [{ mode: 'MULTI_NODE_SINGLE_WRITER', readonly: true }, { mode: 'MULTI_NODE_SINGLE_WRITER' }, true],
    [{ mode: 'MULTI_NODE_SINGLE_WRITER' }, { mode: wide }, false],
  ];
  const told = ({ mode, readonly }: As) => `${mode}${readonly ? ', readonly' : ''}`;
  for (const [first, second, fits] of cases) {
    const outcome = fits ? 'works' : 'is FAILED_PRECONDITION, and names the node';
    it(`as ${told(second)} beside ${told(first)} on another node ${outcome}`, async () => {
      const { volumeId } = await lab.create('a', { volumeCapabilities: [mounted(wide)] });
      await publish(volumeId, 'node-2', first);
      const asked = publish(volumeId, nodeId, second);
      if (fits) {
        await asked;
        expect(await nodesOf(volumeId)).to.have.members(['node-2', nodeId]);
      } else {
        const refusal = await refusalOf(asked);
        expect(refusal).to.include({ grpcCode: 'FAILED_PRECONDITION' });
        expect(refusal.message).to.contain('node-2');
        await unpublish(volumeId, 'node-2');
        await publish(volumeId, nodeId, second);
      }
    });
  }

  it('at a full node: RESOURCE_EXHAUSTED, also for concurrent calls, until one volume is unpublished', async () => {
    await lab.restart({ ...options, maxVolumesPerNode: 2 });
    const volumes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => lab.create(name)));
    const codes = await Promise.all(volumes.map(({ volumeId }) => codeOf(publish(volumeId, nodeId))));
    expect([...codes].sort()).to.deep.equal(['OK', 'OK', ...Array(3).fill('RESOURCE_EXHAUSTED')]);
    const published = volumes.filter((_, index) => codes[index] === 'OK').map(({ volumeId }) => volumeId);
    const waiting = volumes.filter((_, index) => codes[index] !== 'OK').map(({ volumeId }) => volumeId);
    await publish(String(published[0]), nodeId); // a repeat takes no slot
    await publish(String(waiting[0]), 'node-2'); // another node has its own
    await unpublish(String(published[0]), nodeId);
    await publish(String(waiting[1]), nodeId);
  });

  it('a published volume can not be deleted, until it is unpublished', async () => {
    const { volumeId } = await lab.create('a');
    await publish(volumeId, 'node-2');
    const refusal = await refusalOf(lab.client.deleteVolume({ volumeId }));
    expect(refusal).to.include({ grpcCode: 'FAILED_PRECONDITION' });
    expect(refusal.message).to.contain('node-2');
    await unpublish(volumeId, 'node-2');
    await lab.client.deleteVolume({ volumeId });
  });

  it('20 nodes at once: one of them gets a single-node volume', async () => {
    const peerNodes = Array.from({ length: 20 }, (_, index) => `peer-${index}`);
    await lab.restart({ ...options, peerNodes });
    const { volumeId } = await lab.create('a');
    const codes = await Promise.all(peerNodes.map((node) => codeOf(publish(volumeId, node))));
    expect(codes.filter((code) => code === 'OK')).to.have.length(1);
    expect(codes.filter((code) => !['OK', 'ABORTED', 'FAILED_PRECONDITION'].includes(String(code)))).to.deep.equal([]);
    expect(await nodesOf(volumeId)).to.have.length(1);
  });
});

describe('driver: ControllerUnpublishVolume', () => {
  isolated();

  it('takes one node, or with no node all; again is OK', async () => {
    const mode = 'MULTI_NODE_MULTI_WRITER';
    const { volumeId } = await lab.create('a', { volumeCapabilities: [mounted(mode)] });
    for (const node of [nodeId, 'node-2', 'node-3']) await publish(volumeId, node, { mode });
    await unpublish(volumeId, 'node-2');
    await unpublish(volumeId, 'node-2');
    expect(await nodesOf(volumeId)).to.deep.equal([nodeId, 'node-3']);
    await unpublish(volumeId, '');
    await unpublish(volumeId, '');
    expect(await nodesOf(volumeId)).to.deep.equal([]);
  });

  it('of an unknown volume: OK, since nothing is published without a record; without id: INVALID_ARGUMENT', async () => {
    const { volumeId } = await lab.create('a');
    await publish(volumeId, nodeId);
    await unpublish('vol-unknown', nodeId);
    await unpublish(volumeId, 'node-9');
    expect(await nodesOf(volumeId)).to.deep.equal([nodeId]);
    expect(await codeOf(unpublish('', nodeId))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(unpublish('../a', nodeId))).to.equal('INVALID_ARGUMENT');
  });

  it('takes a node with any id that a node can have', async () => {
    await lab.restart({ ...options, nodeId: 'rack1/worker1' });
    const { volumeId } = await lab.create('a');
    await publish(volumeId, 'rack1/worker1');
    await unpublish(volumeId, 'rack1/worker1');
    expect(await nodesOf(volumeId)).to.deep.equal([]);
  });

  it('takes a node that is no peer any more', async () => {
    const { volumeId } = await lab.create('a');
    await publish(volumeId, 'node-2');
    await lab.restart({ attach: true });
    await unpublish(volumeId, 'node-2');
    expect(await nodesOf(volumeId)).to.deep.equal([]);
  });
});

describe('driver: peer nodes', () => {
  isolated();

  it('without attach, or with an id that is none, the driver does not start', async () => {
    await lab.stop();
    const codeFor = async (asked: Partial<ServedDriverOptions>) => (await refusalOf(lab.start(asked))).code;
    expect(await codeFor({ peerNodes: ['node-2'] })).to.equal('INVALID_ARGUMENT');
    expect(await codeFor({ attach: true, peerNodes: [''] })).to.equal('INVALID_ARGUMENT');
  });
});

/**
 * Tests reports that a node has unmounted a volume: the claims that each ends, and the state of the volume on the node.
 */
import { expect } from 'chai';
import type { Claim } from '../../machines/volume/types.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

/** Case with claims w1 (generation 1) and w2 (generation 2) on node a, and w3 (generation 3) on node b. */
interface Case {
  released: string[];
  /** Reports in order; a report may occur twice. */
  reports: { allocId?: string; claimGeneration: number; nodeId?: string }[];
  left: string[];
  /** State of the publication on node a; absent if it is gone. */
  onA?: string;
}

const w1 = { allocId: 'w1', claimGeneration: 1 };
const w2 = { allocId: 'w2', claimGeneration: 2 };
const all = ['w1 unpublishing', 'w2 unpublishing', 'w3 taken'];

const cases: Record<string, Case> = {
  'for the younger claim only: the older stays': {
    released: ['w1', 'w2'],
    reports: [w2],
    left: ['w1 unpublishing', 'w3 taken'],
    onA: 'pending-node-unpublish',
  },
  'for the older claim only: the younger stays': {
    released: ['w1', 'w2'],
    reports: [w1, w1],
    left: ['w2 unpublishing', 'w3 taken'],
    onA: 'pending-node-unpublish',
  },
  'for both claims, one by one: the last unpublishes the volume': {
    released: ['w1', 'w2'],
    reports: [w2, w1],
    left: ['w3 taken'],
  },
  'for a released claim beside one in use: the claim ends, the volume stays published': {
    released: ['w2'],
    reports: [w2, w2],
    left: ['w1 taken', 'w3 taken'],
    onA: 'published',
  },
  'for a generation that the alloc does not have: no effect': {
    released: ['w1', 'w2'],
    reports: [
      { ...w1, claimGeneration: 2 },
      { ...w2, claimGeneration: 3 },
      { ...w1, claimGeneration: 0 },
    ],
    left: all,
    onA: 'pending-node-unpublish',
  },
  'for an unknown alloc: no effect': {
    released: ['w1', 'w2'],
    reports: [{ ...w1, allocId: 'w9' }],
    left: all,
    onA: 'pending-node-unpublish',
  },
  'by another node: nothing': {
    released: ['w1', 'w2'],
    reports: [{ ...w1, nodeId: 'b' }],
    left: all,
    onA: 'pending-node-unpublish',
  },
  'of no alloc by name, up to the younger: both are meant': {
    released: ['w1', 'w2'],
    reports: [{ claimGeneration: 2 }],
    left: ['w3 taken'],
  },
  'of no alloc by name, up to the older: the younger is not meant': {
    released: ['w1', 'w2'],
    reports: [{ claimGeneration: 1 }],
    left: ['w2 unpublishing', 'w3 taken'],
    onA: 'pending-node-unpublish',
  },
};

describe('reports of nodes that have unmounted a volume', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { capabilities: [shared] }));
    for (const [allocId, nodeId] of [
      ['w1', 'a'],
      ['w2', 'a'],
      ['w3', 'b'],
    ] as const)
      await claim(allocId, nodeId);
    for (const nodeId of ['a', 'b']) await house.volumes.publish(data, nodeId);
  });
  afterEach(() => house.dispose());

  const claim = (allocId: string, nodeId: string): Promise<Claim> =>
    house.volumes.claim(data, { allocId, nodeId, mode: 'write', ...shared });

  const report = ({ nodeId = 'a', ...what }: Case['reports'][number]): Promise<void> =>
    house.runtime.nodes.reportUnstaged(nodeId, data, what);

  const held = async (): Promise<string[]> =>
    ((await house.volumes.get(data))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);

  for (const [name, { released, reports, left, onA }] of Object.entries(cases)) {
    it(`C6 C7 ${name}`, async () => {
      for (const allocId of released) await house.volumes.release(data, allocId);
      for (const one of reports) await report(one);
      await house.rest();
      expect(await held()).to.deep.equal(left);
      expect((await house.volumes.get(data))?.publications.a?.state).to.equal(onA);
      const unpublished = house.plugin.calls.filter(({ rpc }) => rpc === 'ControllerUnpublishVolume');
      expect(unpublished).to.have.length(onA === undefined ? 1 : 0);
    });
  }

  it('C7 for an unreleased claim: refused, naming its alloc; for a released one: accepted', async () => {
    await house.volumes.release(data, 'w2');
    const refusal = await refusalOf(report(w1));
    expect(refusal).to.include({ code: 'VOLUME_IN_USE' });
    expect(refusal.message)
      .to.include('it is claimed by alloc w1 on node a')
      .and.include('release that, then report it');
    expect(await held()).to.deep.equal(['w1 taken', 'w2 unpublishing', 'w3 taken']);
  });

  it('C7 late report, same alloc has a new claim: the new claim stays', async () => {
    await house.volumes.release(data, 'w1');
    await report(w1);
    const again = await claim('w1', 'a');
    expect(again.generation).to.equal(4);
    await report(w1);
    await house.volumes.release(data, 'w1');
    await report(w1);
    expect(await held()).to.deep.equal(['w2 taken', 'w3 taken', 'w1 unpublishing']);
  });

  it('C7 invalid report: refused, nothing changes', async () => {
    await house.volumes.release(data, 'w1');
    for (const wrong of [{ ...w1, allocId: '' }, { allocId: 'w1' } as typeof w1])
      expect(await refusalOf(report(wrong))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await held()).to.include('w1 unpublishing');
  });
});

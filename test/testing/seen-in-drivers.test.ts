/** What real drivers were seen to do, each by a script. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { CsiClient } from '../../src/csi/client.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import type { FaultyServer } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { deadline, inScenes } from './scene.js';

const volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
const staging = { volumeId: 'v-1', stagingTargetPath: '/s', volumeCapability };
const target = { volumeId: 'v-1', targetPath: '/t' };
const publication = { ...staging, ...target };

/** A node whose mounts are entries of a map: what is published where, and how. */
function nodeWith(mounts: Map<string, { volumeId: string; readonly: boolean }>): CsiHandlers {
  return {
    NodeGetCapabilities: () => ({ capabilities: [{ rpc: { type: 'STAGE_UNSTAGE_VOLUME' } }] }),
    NodeStageVolume: () => ({}),
    NodePublishVolume: ({ targetPath, volumeId, readonly }) => {
      mounts.set(targetPath, { volumeId, readonly });
      return {};
    },
    NodeUnpublishVolume: ({ targetPath }) => {
      mounts.delete(targetPath);
      return {};
    },
  };
}

describe('fault driver: as real drivers were seen', () => {
  const scenes = inScenes();
  const mounts = new Map<string, { volumeId: string; readonly: boolean }>();
  let server: FaultyServer;
  let client: CsiClient;

  beforeEach(async () => {
    mounts.clear();
    server = await scenes.scene.server(nodeWith(mounts));
    client = scenes.scene.client();
  });

  const publish = async (): Promise<void> => {
    await client.nodeStageVolume(staging);
    await client.nodePublishVolume(publication);
  };
  const kinds = (): string[] => server.violations().map(({ kind }) => kind);

  it('a capability that is UNKNOWN', async () => {
    const capabilities = [
      { rpc: { type: 'UNKNOWN' } },
      { rpc: { type: '99' } },
      { rpc: { type: 'EXPAND_VOLUME' } },
    ] as const;
    server.script('NodeGetCapabilities', { answer: { capabilities } }, { times: 'always' });
    expect(await client.nodeGetCapabilities()).to.deep.equal(['EXPAND_VOLUME']);
    expect(server.calls()[0]?.end?.answer).to.deep.equal({ capabilities });
  });

  it('INTERNAL to ControllerPublishVolume where that is not supported', async () => {
    server.script('ControllerPublishVolume', { code: 'INTERNAL', text: 'not supported' }, { times: 'always' });
    const refusal = await refusalOf(
      client.controllerPublishVolume({ volumeId: 'v-1', nodeId: 'node-1', volumeCapability }),
    );
    expect(refusal).to.include({ grpcCode: 'INTERNAL', answerClass: 'driver-bug' });
    expect(kinds()).to.include('not-offered');
  });

  it('a capacity of 0', async () => {
    server.script('GetCapacity', { answer: { availableCapacity: 0 } });
    expect(await client.getCapacity({})).to.include({ availableCapacity: 0n });
  });

  it('of 20 calls on one volume at once, one is OK and 19 are ABORTED', async () => {
    server.script('NodePublishVolume', { hang: 'before', holdsVolume: true });
    const calls = Array.from({ length: 20 }, () => client.nodePublishVolume(publication));
    const refused = calls.map(refusalOf).map((refusal) => refusal.catch(() => undefined));
    const first = await server.waitForCall('NodePublishVolume');
    for (let number = 2; number <= 20; number += 1) await server.waitForCall('NodePublishVolume');
    server.release(first.number);
    const codes = (await Promise.all(refused)).map((refusal) => refusal?.grpcCode);
    expect(codes.filter((code) => code === 'ABORTED')).to.have.length(19);
    expect((await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(kinds().filter((kind) => kind === 'overlap')).to.have.length(19);
  });

  it("work that goes on after the caller's deadline: repeats are ABORTED, then OK", async () => {
    server.script('NodePublishVolume', { hang: 'before', goOn: true, holdsVolume: true });
    expect(await refusalOf(client.nodePublishVolume(publication, deadline))).to.include({
      grpcCode: 'DEADLINE_EXCEEDED',
    });
    await server.waitForGone(1);
    expect(await refusalOf(client.nodePublishVolume(publication))).to.include({
      grpcCode: 'ABORTED',
      answerClass: 'busy',
    });
    expect(mounts.size).to.equal(0);
    server.release(1);
    await server.waitForEnd(1);
    expect(mounts.size).to.equal(1);
    await client.nodePublishVolume(publication);
    expect(kinds()).not.to.include('overlap');
  });

  it('unstaged while published: OK, and the mount is there', async () => {
    server.script('NodeUnstageVolume', { answer: {} });
    await publish();
    await client.nodeUnstageVolume({ volumeId: 'v-1', stagingTargetPath: '/s' });
    expect(mounts.has('/t')).to.equal(true);
    expect(kinds()).to.deep.equal(['still-published']);
  });

  it('published on a target that is occupied: OK, and the old mount is still there', async () => {
    server.script('NodePublishVolume', { answer: {} }, { where: { volumeId: 'v-2', targetPath: '/t' } });
    await publish();
    await client.nodePublishVolume({ ...publication, volumeId: 'v-2' });
    expect(mounts.get('/t')).to.include({ volumeId: 'v-1' });
  });

  it('published again with readonly: OK, and still for writing', async () => {
    server.script('NodePublishVolume', { answer: {} }, { where: { readonly: true } });
    await publish();
    await client.nodePublishVolume({ ...publication, readonly: true });
    expect(mounts.get('/t')).to.include({ readonly: false });
  });

  it('deleted while published: OK', async () => {
    server.script('DeleteVolume', { answer: {} });
    await publish();
    await client.deleteVolume({ volumeId: 'v-1' });
    expect(mounts.has('/t')).to.equal(true);
    expect(kinds()).to.include.members(['still-published', 'still-staged']);
  });

  it('a busy mount: INTERNAL, but late', async () => {
    server.script('NodeUnpublishVolume', { delayMs: 60, code: 'INTERNAL', text: 'target is busy' });
    await publish();
    const refusal = await refusalOf(client.nodeUnpublishVolume(target));
    expect(refusal).to.include({ grpcCode: 'INTERNAL' });
    expect(mounts.has('/t')).to.equal(true);
    const { beganAtMs, end } = await server.waitForEnd(3);
    expect((end?.atMs ?? 0) - beganAtMs).to.be.at.least(59); // timers count whole milliseconds
  });

  it('Probe is OK while the storage hangs', async () => {
    for (const rpc of Object.keys(rpcs).filter((name): name is RpcName => name in rpcs)) {
      if (rpcs[rpc].service !== 'Identity') server.script(rpc, { hang: 'before' }, { times: 'always' });
    }
    expect(await refusalOf(client.nodePublishVolume(publication, deadline))).to.include({
      grpcCode: 'DEADLINE_EXCEEDED',
    });
    expect(await client.probe()).to.deep.equal({ ready: true });
  });
});

describe('fault driver: as the processes of real drivers were seen', () => {
  const scenes = inScenes();

  it('SIGTERM leaves its socket file behind', async () => {
    const driver = await scenes.scene.driver({ leavesSocket: true });
    await driver.stop();
    expect(existsSync(driver.socketPath)).to.equal(true);
    expect((await refusalOf(scenes.scene.client().probe())).message).to.contain('stale socket');
  });

  it('a second instance takes over a socket that lives', async () => {
    const { scene } = scenes;
    const first = await scene.driver();
    const client = scene.client();
    first.script('Probe', { hang: 'before' });
    const answer = client.probe();
    await first.waitForCall('Probe');
    const second = await scene.driver({ nodeId: 'node-2', dataDir: join(scene.folder, 'other'), takesOver: true });
    expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-2' });
    first.release();
    expect(await answer).to.deep.equal({ ready: true });
    expect([first, second].map((driver) => driver.calls().map(({ rpc }) => rpc))).to.deep.equal([
      ['Probe'],
      ['NodeGetInfo'],
    ]);
  });
});

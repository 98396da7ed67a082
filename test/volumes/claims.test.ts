/** Tests claims of allocs on volumes, from the request to the proof that the node has unmounted the volume. */
import { expect } from 'chai';
import type { Claim } from '../../machines/volume/types.js';
import type { ClaimOptions } from '../../src/volumes/volume-manager.js';
import { refusalOf } from '../refusal.js';
import { gate } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const data = { id: 'data' };
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const block = { accessMode: 'multi-node-multi-writer', attachmentMode: 'block-device' } as const;

describe('claims', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { capabilities: [single, shared, block] }));
  });
  afterEach(() => house.dispose());

  const claim = (allocId: string, more: Partial<ClaimOptions> = {}): Promise<Claim> =>
    house.volumes.claim(data, { allocId, nodeId: 'a', mode: 'write', ...single, ...more });

  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (reason: { code: string; message: string }) => reason,
    );
    return error ? `${error.code} ${error.message}` : 'taken';
  };

  const held = async (): Promise<string[]> =>
    ((await house.volumes.get(data))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);

  const waiting = async (): Promise<string[]> =>
    ((await house.volumes.get(data))?.waiting ?? []).map(({ allocId }) => allocId);

  const told = async (): Promise<string[]> =>
    (await house.events()).flatMap((event) => {
      if (event.kind === 'claim') return [`${event.allocId} ${event.state}`];
      return event.kind === 'publication' ? [`a ${event.state}`] : [];
    });

  const unstaged = (claimGeneration: number): Promise<void> =>
    house.runtime.nodes.reportUnstaged('a', data, { claimGeneration });

  it('C2 C6 V5 each step from claim to release emits an event; the claim counts until the last', async () => {
    const { generation } = await claim('w1');
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w1');
    expect(await held()).to.deep.equal(['w1 unpublishing']);
    expect((await house.volumes.get(data))?.publications.a?.state).to.equal('pending-node-unpublish');
    expect(await refusal(claim('w2'))).to.match(
      /^CLAIM_CONFLICT .*alloc w1 on node a \(write, single-node-writer, unpublishing\)/,
    );
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    house.plugin.script = () => ({ before: gate });
    await unstaged(generation);
    await house.rest();
    expect(await held()).to.deep.equal(['w1 node-detached']);
    expect(await refusal(claim('w2'))).to.match(/^CLAIM_CONFLICT/);
    go();
    await house.rest();
    expect(await held()).to.deep.equal([]);
    expect(await told()).to.deep.equal([
      'w1 taken',
      'a pending-publish',
      'a published',
      'w1 unpublishing',
      'a pending-node-unpublish',
      'w1 node-detached',
      'a pending-unpublish',
      'a removed',
      'w1 controller-detached',
      'w1 released',
    ]);
  });

  it('C1 invalid claim or release: refused with every fault, nothing changes', async () => {
    const asked = { allocId: '', nodeId: 'a', mode: 'write', ...single, wait: 'no', signal: {}, more: 1 };
    const error = await refusalOf(house.volumes.claim(data, asked as unknown as ClaimOptions));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    for (const fault of [
      'allocId: ',
      'wait: must be true or false',
      'signal: must be an AbortSignal',
      'more: unknown key',
    ])
      expect(error.message).to.include(fault);
    const none = await refusalOf(house.volumes.claim(data, undefined as unknown as ClaimOptions));
    expect(none).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await held()).to.deep.equal([]);
    const released = await refusalOf(house.volumes.release(data, undefined as unknown as string));
    expect(released.message).to.equal('cannot accept the alloc id:\n  the alloc id: is missing');
  });

  it('C1 C7 repeated by the same alloc, even on a node that is down: the same claim and CSI node id', async () => {
    const first = await claim('w1');
    expect(first).to.include({ csiNodeId: 'csi-a', state: 'taken' });
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a2' }] });
    await house.runtime.nodes.down('a');
    expect(await claim('w1')).to.deep.equal(first);
    expect(await claim('w1', { wait: true })).to.deep.equal(first);
  });

  it('C1 repeated with another node or mode: refused, naming the claim that the alloc has', async () => {
    await claim('w1');
    const has =
      /^CLAIM_CONFLICT .*it is claimed already by alloc w1 on node a \(write, single-node-writer, taken\): release/;
    expect(await refusal(claim('w1', { nodeId: 'b' }))).to.match(has);
    expect(await refusal(claim('w1', { mode: 'read' }))).to.match(has);
    expect(await refusal(claim('w1', { ...shared, wait: true }))).to.match(has);
    expect(await held()).to.deep.equal(['w1 taken']);
  });

  it('C1 repeated while the old claim is being released: refused until that is done', async () => {
    await claim('w1');
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w1');
    expect(await refusal(claim('w1', { wait: true }))).to.match(/unpublishing\): claim it anew once that is released/);
  });

  it('C3 C5 a second writer beside a reader and a writer: waits for the writer only', async () => {
    const log = { id: 'log' };
    const oneWriter = { accessMode: 'multi-node-single-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.create(spec('log', { capabilities: [oneWriter] }));
    const take = (allocId: string, mode: 'read' | 'write', wait: boolean): Promise<Claim> =>
      house.volumes.claim(log, { allocId, nodeId: 'a', mode, wait, ...oneWriter });
    await take('r1', 'read', false);
    await take('w1', 'write', false);
    const second = take('w2', 'write', true);
    await house.rest();
    const { claims = [], waiting: queued = [] } = (await house.volumes.get(log)) ?? {};
    expect(claims.map(({ allocId }) => allocId)).to.deep.equal(['r1', 'w1']);
    expect(queued.map(({ allocId }) => allocId)).to.deep.equal(['w2']);
    await house.volumes.release(log, 'w1');
    expect(await second).to.include({ allocId: 'w2', state: 'taken' });
  });

  it('C4 the first claim sets the modes; after the last one they are free again', async () => {
    await claim('w1', shared);
    expect(await refusal(claim('w2', block))).to.match(
      /claimed as file-system, multi-node-multi-writer, by alloc w1 on node a/,
    );
    expect(await refusal(claim('w2', single))).to.match(/^CLAIM_CONFLICT/);
    await house.volumes.release(data, 'w1');
    expect(await claim('w2', block)).to.include({ attachmentMode: 'block-device' });
  });

  it('C5, 35.8 a mode that is not in the spec, or a writer in a mode without writers: never granted', async () => {
    const reader = { accessMode: 'multi-node-reader-only', attachmentMode: 'file-system' } as const;
    expect(await refusal(claim('w1', { ...reader, mode: 'read' }))).to.match(/^INVALID_ARGUMENT .*it was not made for/);
    expect(await refusal(claim('w1', reader))).to.match(/^INVALID_ARGUMENT .*multi-node-reader-only has no writers/);
    expect(await refusal(claim('', { mode: 'x' as 'read' }))).to.match(/^INVALID_ARGUMENT .*allocId.*mode/s);
  });

  it('C5 with wait: granted in order, nobody overtakes, even if the modes would fit', async () => {
    await claim('w1');
    const order: string[] = [];
    const queue = ['w2', 'w3'].map((allocId) => claim(allocId, { wait: true }).then(() => order.push(allocId)));
    await house.rest();
    expect(await waiting()).to.deep.equal(['w2', 'w3']);
    await house.volumes.release(data, 'w1');
    await house.rest();
    expect(await refusal(claim('w4'))).to.match(/claimed by alloc w2/);
    expect(order).to.deep.equal(['w2']);
    await house.volumes.release(data, 'w2');
    await Promise.all(queue);
    expect(order).to.deep.equal(['w2', 'w3']);
  });

  it('C5 without wait behind a queued claim: refused, naming the queued alloc', async () => {
    await claim('w1', shared);
    const first = claim('w2', { ...single, wait: true });
    await house.rest();
    expect(await refusal(claim('w3', shared))).to.match(/alloc w2 on node a waited for it first/);
    expect(await refusal(claim('w2', single))).to.match(/^CLAIM_CONFLICT .*w1.*alloc w2 waits for a claim/);
    await house.volumes.release(data, 'w1');
    expect(await first).to.include({ allocId: 'w2' });
  });

  it('C5 queued claim withdrawn by signal or release: the next gets its turn', async () => {
    await claim('w1');
    const end = new AbortController();
    const second = refusal(claim('w2', { wait: true, signal: end.signal }));
    const third = refusal(claim('w3', { wait: true }));
    const fourth = claim('w4', { wait: true });
    await house.rest();
    end.abort();
    expect(await second).to.equal('ABORTED the claim of alloc w2 on volume default/data was withdrawn');
    await house.volumes.release(data, 'w3');
    expect(await third).to.match(/^ABORTED/);
    await house.volumes.release(data, 'w1');
    expect(await fourth).to.include({ allocId: 'w4', state: 'taken' });
    expect(await told()).to.include.members(['w2 withdrawn', 'w3 withdrawn']);
  });

  it('C5 the queue holds a thousand claims; the next is refused with the reason', async () => {
    await claim('w0');
    const queued = Array.from({ length: 1_000 }, (_, at) => refusal(claim(`q${at}`, { wait: true })));
    await house.rest();
    expect(await refusal(claim('late', { wait: true }))).to.match(/^CLAIM_CONFLICT .*1000 claims wait for it/);
    await house.volumes.release(data, 'q0');
    const next = refusal(claim('late', { wait: true }));
    await house.rest();
    expect((await waiting()).at(-1)).to.equal('late');
    await house.volumes.delete(data, { force: true });
    const ends = await Promise.all([...queued, next]);
    expect(ends.filter((end) => end.startsWith('ABORTED'))).to.have.length(1_001);
  });

  it('V16 publish without a claim, another node has one: refused, naming it; waits once it is released', async () => {
    const { generation } = await claim('w1');
    const error = await refusal(house.volumes.publish(data, 'b'));
    expect(error).to.match(/^VOLUME_IN_USE .*alloc w1 on node a \(write, single-node-writer, taken\)/);
    // A mode other than the claimed one is refused, too.
    expect(await refusal(house.volumes.publish(data, 'b', { capability: shared }))).to.match(/^VOLUME_IN_USE/);
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w1');
    const next = house.volumes.publish(data, 'b');
    await unstaged(generation);
    expect(await next).to.deep.equal({ publishContext: { device: 'vol-1@csi-b' } });
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('V16 publish in a shared mode, another node has a claim: allowed', async () => {
    await claim('w1', shared);
    expect(await refusal(house.volumes.publish(data, 'b', { capability: shared }))).to.equal('taken');
  });

  it('C4 V16 publish on the node of a claim: its modes by default; others are refused, naming the alloc', async () => {
    const log = { id: 'log' };
    const readers = { accessMode: 'multi-node-reader-only', attachmentMode: 'file-system' } as const;
    const raw = { ...readers, attachmentMode: 'block-device' } as const;
    await house.volumes.create(spec('log', { capabilities: [single, raw, readers] }));
    const read = (allocId: string, nodeId: string): Promise<Claim> =>
      house.volumes.claim(log, { allocId, nodeId, mode: 'read', ...readers });
    await read('r1', 'a');
    const claimed =
      /^VOLUME_IN_USE .*claimed on node a as file-system, multi-node-reader-only, by alloc r1 .*: publish it so/;
    for (const capability of [single, raw])
      expect(await refusal(house.volumes.publish(log, 'a', { capability }))).to.match(claimed);
    await house.volumes.publish(log, 'a');
    expect((await house.volumes.get(log))?.publications.a?.capability).to.deep.equal(readers);
    await read('r2', 'b');
    await house.volumes.publish(log, 'b');
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('C4 publish takes the modes of a claim that is not committed yet', async () => {
    const modes = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.create(spec('log'));
    const held = gate();
    const commit = house.store.commit.bind(house.store);
    house.store.commit = (items) => held.passed.then(() => commit(items));
    const claimed = house.volumes.claim({ id: 'log' }, { allocId: 'w1', nodeId: 'a', mode: 'write', ...modes });
    await house.rest();
    const published = house.volumes.publish({ id: 'log' }, 'a');
    await house.rest();
    held.open();
    await Promise.all([claimed, published]);
    expect((await house.volumes.get({ id: 'log' }))?.publications.a?.capability).to.deep.equal(modes);
  });

  it('C4 claim after a publish: must have its modes; other modes are refused, naming those of the publish', async () => {
    const log = { id: 'log' };
    await house.volumes.create(spec('log'));
    const modes = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.publish(log, 'a', { capability: modes });
    const asked = { allocId: 'w1', nodeId: 'a', mode: 'write' } as const;
    for (const wait of [false, true])
      expect(await refusal(house.volumes.claim(log, { ...asked, ...single, wait }))).to.match(
        /^CLAIM_CONFLICT .*published otherwise on node a \(published, multi-node-multi-writer\): claim it so, or unpublish/,
      );
    expect((await house.volumes.claim(log, { ...asked, ...modes })).state).to.equal('taken');
    const before = (await house.volumes.get(log))?.publications;
    await house.volumes.publish(log, 'a');
    expect((await house.volumes.get(log))?.publications).to.deep.equal(before);
  });

  it('C2 C5 deletion before the node has reported a released claim: refused, naming the missing report', async () => {
    await claim('w1');
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w1');
    const refused = await refusal(house.volumes.delete(data));
    expect(refused).to.match(
      /^VOLUME_IN_USE .*claimed by alloc w1 on node a \(write, .*, unpublishing\): its node must report that it unstaged/,
    );
    expect(refused)
      .to.match(/, or be fenced, first: see stagecraft alloc status w1 on node a$/)
      .and.not.include('force');
  });

  it('C5 a signal aborted after the claim is taken: the claim stays', async () => {
    const first = await claim('w1');
    expect(await refusal(claim('w1', { wait: true, signal: AbortSignal.abort() }))).to.match(/^ABORTED/);
    expect(await claim('w1')).to.deep.equal(first);
  });

  it('C5 C6 the queue survives a restart, and a repeated claim keeps its place', async () => {
    await claim('w1');
    for (const allocId of ['w2', 'w3']) void claim(allocId, { wait: true }).catch(() => {});
    await house.rest();
    await house.restart();
    expect(await waiting()).to.deep.equal(['w2', 'w3']);
    const third = claim('w3', { wait: true });
    const second = claim('w2', { wait: true });
    await house.rest();
    expect(await waiting()).to.deep.equal(['w2', 'w3']);
    await house.volumes.release(data, 'w1');
    expect(await second).to.include({ allocId: 'w2' });
    await house.volumes.release(data, 'w2');
    expect(await third).to.include({ allocId: 'w3' });
  });

  it('C6 released before any publish: released at once, without a call or a publication event', async () => {
    await claim('w1');
    await house.volumes.release(data, 'w1');
    expect(await told()).to.deep.equal(['w1 taken', 'w1 node-detached', 'w1 controller-detached', 'w1 released']);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });

  it('C6 V8 released during a publish: resolved and unpublished first, then free', async () => {
    await claim('w1');
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerPublishVolume' ? { before: gate } : undefined);
    const published = refusal(house.volumes.publish(data, 'a'));
    await house.rest();
    await house.volumes.release(data, 'w1');
    expect(await held()).to.deep.equal(['w1 node-detached']);
    go();
    expect(await published).to.match(/^ABORTED/);
    await house.rest();
    expect(await held()).to.deep.equal([]);
    expect(house.plugin.volumes.get('vol-1')?.attached.size).to.equal(0);
  });

  it('V11 C6 unpublish fails finally after a release: the error names the node and the reason', async () => {
    const { generation } = await claim('w1');
    await house.volumes.publish(data, 'a');
    house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerUnpublishVolume' ? { code: 'PERMISSION_DENIED', text: 'not yours' } : undefined;
    await house.volumes.release(data, 'w1');
    await unstaged(generation);
    await house.rest();
    const error = (await house.volumes.get(data))?.error;
    expect(error).to.include({ code: 'CSI_ERROR', grpcCode: 'PERMISSION_DENIED', final: true });
    expect(error?.message).to.match(/^to be gone from node a: .*not yours/);
    expect(await held()).to.deep.equal(['w1 node-detached']);
    house.plugin.script = () => undefined;
    await house.volumes.retry(data);
    await house.rest();
    expect(await house.volumes.get(data)).to.deep.include({ claims: [] });
    expect(await house.volumes.get(data)).to.not.have.property('error');
  });

  it('C6 requests during backoff do not stop the retries', async () => {
    let failures = 0;
    house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerPublishVolume' && failures++ < 5 ? { code: 'ABORTED' } : undefined;
    const published = house.volumes.publish(data, 'a', { capability: shared });
    for (let at = 0; at < 20; at += 1) {
      await claim(`w${at}`, shared);
      await house.clock.advance(10);
    }
    await house.clock.advance(60_000);
    expect(await published).to.deep.equal({ publishContext: { device: 'vol-1@csi-a' } });
  });

  it('C7 report for an older generation: no effect', async () => {
    const first = await claim('w1');
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w1');
    await unstaged(first.generation);
    await house.rest();
    const second = await claim('w2');
    expect(second.generation).to.be.above(first.generation);
    await house.volumes.publish(data, 'a');
    await house.volumes.release(data, 'w2');
    await unstaged(first.generation);
    expect(await held()).to.deep.equal(['w2 unpublishing']);
    await unstaged(second.generation);
    await house.rest();
    expect(await held()).to.deep.equal([]);
  });

  it('C6 C7 report before the release: refused, naming the alloc; after the release: accepted', async () => {
    const { generation } = await claim('w1');
    await house.volumes.publish(data, 'a');
    expect(await refusal(unstaged(generation))).to.match(
      /^VOLUME_IN_USE .*claimed by alloc w1 on node a \(write, .*taken\): release that, then report it/,
    );
    expect(await held()).to.deep.equal(['w1 taken']);
    expect((await house.volumes.get(data))?.publications.a?.state).to.equal('published');
    await house.volumes.release(data, 'w1');
    await unstaged(generation);
    await house.rest();
    expect(await held()).to.deep.equal([]);
  });

  it('C7 repeated report beside another alloc on the node: accepted without effect', async () => {
    await claim('w1', shared);
    const { generation } = await claim('w2', shared);
    await house.volumes.publish(data, 'a', { capability: shared });
    await house.volumes.release(data, 'w2');
    for (let times = 0; times < 2; times += 1) {
      await unstaged(generation);
      expect(await held()).to.deep.equal(['w1 taken']);
    }
  });

  it('C7 generations keep rising after the volume is deleted and created again', async () => {
    const seen: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const allocId of ['w1', 'w2']) seen.push((await claim(allocId, shared)).generation);
      for (const allocId of ['w1', 'w2']) await house.volumes.release(data, allocId);
      await house.volumes.delete(data);
      if (round === 1) await house.restart();
      await house.volumes.create(spec('data', { capabilities: [single, shared, block] }));
    }
    expect(seen).to.deep.equal([...new Set(seen)].sort((one, other) => one - other));
  });

  it('C2 V5 two claims on one node: only the last release unpublishes the volume', async () => {
    const first = await claim('w1', shared);
    const second = await claim('w2', shared);
    await house.volumes.publish(data, 'a', { capability: shared });
    await house.volumes.release(data, 'w1');
    expect((await house.volumes.get(data))?.publications.a?.state).to.equal('published');
    await unstaged(first.generation);
    expect(await held()).to.deep.equal(['w2 taken']);
    await house.volumes.release(data, 'w2');
    await unstaged(second.generation);
    await house.rest();
    expect(await house.volumes.get(data)).to.deep.include({ claims: [], publications: {} });
  });

  it('V8 new claim and publish while the old publication ends: unpublished first, then published again', async () => {
    const first = await claim('w1', shared);
    await house.volumes.publish(data, 'a', { capability: shared });
    await house.volumes.release(data, 'w1');
    await claim('w2', shared);
    const published = house.volumes.publish(data, 'a', { capability: shared });
    await house.rest();
    await unstaged(first.generation);
    await published;
    expect(await held()).to.deep.equal(['w2 taken']);
    expect(house.plugin.told().slice(1)).to.deep.equal([
      'ControllerPublishVolume csi-a: OK',
      'ControllerUnpublishVolume csi-a: OK',
      'ControllerPublishVolume csi-a: OK',
    ]);
  });

  it('V8 C6 new claim released while the old publication ends: not published again', async () => {
    const first = await claim('w1', shared);
    await house.volumes.publish(data, 'a', { capability: shared });
    await house.volumes.release(data, 'w1');
    await claim('w2', shared);
    const published = refusal(house.volumes.publish(data, 'a', { capability: shared }));
    await house.rest();
    await house.volumes.release(data, 'w2');
    await unstaged(first.generation);
    expect(await published).to.match(/^ABORTED/);
    await house.rest();
    expect(await house.volumes.get(data)).to.deep.include({ claims: [], publications: {} });
    expect(house.plugin.volumes.get('vol-1')?.attached.size).to.equal(0);
  });

  for (const availability of ['pause', 'drain'] as const) {
    it(`V15 ${availability}: no new use, present use stays; active again: the queue goes on`, async () => {
      const first = await claim('w1');
      const second = claim('w2', { wait: true });
      await house.rest();
      await house.volumes.setAvailability(data, availability);
      expect(await refusal(claim('w3', { wait: true }))).to.match(/^VOLUME_UNAVAILABLE/);
      expect(await refusal(house.volumes.publish(data, 'b'))).to.match(/^VOLUME_UNAVAILABLE/);
      expect(await claim('w1')).to.deep.equal(first);
      const last = (await house.events()).at(-1);
      expect(last).to.deep.include({ kind: 'availability', availability, allocIds: ['w1'] });
      await house.volumes.release(data, 'w1');
      await house.rest();
      expect(await waiting()).to.deep.equal(['w2']);
      await house.volumes.setAvailability(data, 'active');
      expect(await second).to.include({ allocId: 'w2', state: 'taken' });
    });
  }

  it('V15 paused between a claim and its publish: the claim may still be used, until its release', async () => {
    const { generation } = await claim('w1');
    await house.volumes.setAvailability(data, 'pause');
    expect(await refusal(house.volumes.publish(data, 'a'))).to.equal('taken');
    await house.volumes.release(data, 'w1');
    expect(await refusal(house.volumes.publish(data, 'a'))).to.match(/^VOLUME_UNAVAILABLE/);
    await unstaged(generation);
    await house.rest();
    expect(await refusal(house.volumes.publish(data, 'a'))).to.match(/^VOLUME_UNAVAILABLE/);
    expect(await house.volumes.get(data)).to.deep.include({ claims: [], publications: {} });
  });

  it('V13 volume deleted: queued claims are rejected with that reason', async () => {
    await claim('w1');
    const second = refusal(claim('w2', { wait: true }));
    await house.rest();
    await house.volumes.delete(data, { force: true });
    expect(await second).to.match(/^ABORTED/);
    expect(await told()).to.include('w2 withdrawn');
  });
});

/** Each kind of step, over a real socket: what the caller sees, and whether the driver has done its work. */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { CsiClient } from '../../src/csi/client.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import { CsiStatus } from '../../src/csi/server.js';
import type { FaultyServer, RecordedCall, Step } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { deadline, inScenes } from './scene.js';

const allRpcs = Object.keys(rpcs).filter((name): name is RpcName => name in rpcs);
const capability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
const target = { volumeId: 'v-1', targetPath: '/t' };

/** Any RPC, with an empty request; of a stream all messages. */
async function ask(client: CsiClient, rpc: RpcName): Promise<unknown> {
  const method: unknown = Reflect.get(client, rpc.charAt(0).toLowerCase() + rpc.slice(1));
  if (typeof method !== 'function') throw new Error(`the client has no ${rpc}`);
  const answer: unknown = method.call(client, {});
  return rpcs[rpc].streams ? allOf(answer as AsyncIterable<unknown>) : answer;
}

async function allOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const messages: T[] = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

describe('fault driver: steps', () => {
  const scenes = inScenes();
  /** The calls that the driver itself has worked on. */
  let worked: string[];
  let server: FaultyServer;
  let client: CsiClient;

  beforeEach(async () => {
    worked = [];
    server = await scenes.scene.server({
      CreateVolume: ({ name }) => {
        worked.push(name);
        return { volume: { volumeId: `id of ${name}`, capacityBytes: 1024 } };
      },
      DeleteVolume: ({ volumeId }) => {
        worked.push(volumeId);
        throw new CsiStatus('FAILED_PRECONDITION', 'it is in use');
      },
      NodeUnpublishVolume: ({ volumeId }) => {
        worked.push(volumeId);
        return {};
      },
    });
    client = scenes.scene.client();
  });

  const create = (name = 'data'): Promise<unknown> => client.createVolume({ name, volumeCapabilities: [capability] });

  async function lastCall(): Promise<RecordedCall> {
    const { number } = server.calls().at(-1) ?? {};
    return server.waitForEnd(number ?? 0);
  }

  for (const rpc of allRpcs) {
    it(`${rpc} answers with the code and text of its step, then as ever`, async () => {
      server.script(rpc, { code: 'RESOURCE_EXHAUSTED', text: 'the pool is full' });
      const refusal = await refusalOf(ask(client, rpc));
      expect(refusal).to.include({ rpc, grpcCode: 'RESOURCE_EXHAUSTED' });
      expect(refusal.message).to.contain('the pool is full');
      expect(server.calls()).to.have.length(1);
      expect(server.stepsLeft).to.equal(0);
      server.script(rpc, { code: 'ABORTED' });
      expect(await refusalOf(ask(client, rpc))).to.include({ grpcCode: 'ABORTED' });
    });
  }

  it('without a step, the driver does its work, and the call is on record', async () => {
    await create();
    expect(worked).to.deep.equal(['data']);
    const { end, ...call } = await lastCall();
    expect(call)
      .to.include({ number: 1, rpc: 'CreateVolume', nodeId: 'node-1', socket: 1 })
      .and.not.have.property('step');
    expect(call.request).to.include({ name: 'data' });
    expect(end).to.deep.include({ how: 'answered', code: 'OK', work: 'OK' });
    expect(end?.answer).to.deep.include({
      volume: { volumeId: 'id of data', capacityBytes: 1024n, volumeContext: {}, accessibleTopology: [] },
    });
    expect(end?.atMs).to.be.greaterThan(call.beganAtMs);
  });

  it('without a step, an RPC that the driver lacks is UNIMPLEMENTED', async () => {
    const refusal = await refusalOf(allOf(client.getMetadataAllocated({ snapshotId: 's-1' })));
    expect(refusal).to.include({ grpcCode: 'UNIMPLEMENTED' });
    expect(refusal.message).to.contain('this driver has no GetMetadataAllocated');
  });

  it("the driver's own refusal is on record, as work and as answer", async () => {
    await refusalOf(client.deleteVolume({ volumeId: 'v-1' }));
    expect((await lastCall()).end).to.include({
      code: 'FAILED_PRECONDITION',
      text: 'it is in use',
      work: 'FAILED_PRECONDITION',
    });
  });

  it('secrets are masked on record', async () => {
    await client.createVolume({ name: 'data', volumeCapabilities: [capability], secrets: { key: 'hunter2' } });
    expect((await lastCall()).request).to.deep.include({ secrets: { key: '***' } });
  });

  it('code: the work is not done', async () => {
    server.script('CreateVolume', { code: 'INTERNAL' });
    await refusalOf(create());
    expect(worked).to.deep.equal([]);
    expect((await lastCall()).end)
      .to.include({ code: 'INTERNAL' })
      .and.not.have.property('work');
  });

  it('code and work: the work is done, the answer is the code', async () => {
    server.script('CreateVolume', { code: 'DEADLINE_EXCEEDED', text: 'the array is slow', work: true });
    expect(await refusalOf(create())).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    expect(worked).to.deep.equal(['data']);
    expect((await lastCall()).end).to.include({ code: 'DEADLINE_EXCEEDED', work: 'OK' });
  });

  it('answer: a lie, the work is not done', async () => {
    server.script('CreateVolume', { answer: { volume: { volumeId: 'v-9', capacityBytes: 5 } } });
    expect(await create()).to.deep.include({
      volume: { volumeId: 'v-9', capacityBytes: 5n, volumeContext: {}, accessibleTopology: [] },
    });
    expect(worked).to.deep.equal([]);
  });

  it('answer and work: the work is done, the answer is another, also where the work was refused', async () => {
    server.script('DeleteVolume', { answer: {}, work: true });
    await client.deleteVolume({ volumeId: 'v-1' });
    expect(worked).to.deep.equal(['v-1']);
    expect((await lastCall()).end).to.include({ code: 'OK', work: 'FAILED_PRECONDITION' });
  });

  it('delay: the work is done after it', async () => {
    server.script('CreateVolume', { delayMs: 40 });
    await create();
    const { beganAtMs, end } = await lastCall();
    expect((end?.atMs ?? 0) - beganAtMs).to.be.at.least(39); // timers count whole milliseconds
    expect(worked).to.deep.equal(['data']);
  });

  it('delay, and a caller that goes meanwhile: the work is not done', async () => {
    server.script('CreateVolume', { delayMs: 60_000 });
    const leaving = new AbortController();
    const answer = refusalOf(client.createVolume({ name: 'data' }, { signal: leaving.signal }));
    const { number } = await server.waitForCall('CreateVolume');
    leaving.abort();
    await answer;
    const { goneAtMs, end } = await server.waitForEnd(number);
    expect(end?.how).to.equal('gone');
    expect(goneAtMs).to.be.a('number');
    expect(worked).to.deep.equal([]);
  });

  for (const [moment, work] of [
    ['before', []],
    ['after', ['v-1']],
  ] as const) {
    it(`hang ${moment} the work: no answer, and the work is ${work.length ? '' : 'not '}done`, async () => {
      server.script('NodeUnpublishVolume', { hang: moment });
      expect(await refusalOf(client.nodeUnpublishVolume(target, deadline))).to.include({
        grpcCode: 'DEADLINE_EXCEEDED',
      });
      expect((await lastCall()).end?.how).to.equal('gone');
      expect(worked).to.deep.equal(work);
    });

    it(`hang ${moment} the work, until it is released: then it is answered`, async () => {
      server.script('NodeUnpublishVolume', { hang: moment });
      const answer = client.nodeUnpublishVolume(target);
      const { number } = await server.waitForCall('NodeUnpublishVolume');
      server.release(number);
      await answer;
      expect(worked).to.deep.equal(['v-1']);
    });

    it(`break off ${moment} the work: UNAVAILABLE, and the work is ${work.length ? '' : 'not '}done`, async () => {
      server.script('NodeUnpublishVolume', { breakOff: moment });
      expect(await refusalOf(client.nodeUnpublishVolume(target))).to.include({ grpcCode: 'UNAVAILABLE' });
      expect((await lastCall()).end?.how).to.equal('broken');
      expect(worked).to.deep.equal(work);
      await client.nodeUnpublishVolume(target);
    });
  }

  it('break off before the work and go on: the work is done for nobody', async () => {
    server.script('NodeUnpublishVolume', { breakOff: 'before', goOn: true });
    expect(await refusalOf(client.nodeUnpublishVolume(target))).to.include({ grpcCode: 'UNAVAILABLE' });
    expect((await lastCall()).end).to.include({ how: 'answered', work: 'OK' });
    expect(worked).to.deep.equal(['v-1']);
  });

  it('break off ends one connection: a call on another goes on', async () => {
    server.script('Probe', { hang: 'before' });
    const other = client.probe();
    await server.waitForCall('Probe');
    await server.replaceSocket();
    const newcomer = scenes.scene.client();
    server.script('CreateVolume', { breakOff: 'before' });
    expect(await refusalOf(newcomer.createVolume({ name: 'data' }))).to.include({ grpcCode: 'UNAVAILABLE' });
    server.release();
    expect(await other).to.deep.equal({ ready: true });
    expect(server.calls().map(({ rpc, socket }) => [rpc, socket])).to.deep.equal([
      ['Probe', 1],
      ['CreateVolume', 2],
    ]);
  });

  it('go on: the caller has gone, the work is done all the same', async () => {
    server.script('NodeUnpublishVolume', { hang: 'before', goOn: true });
    await refusalOf(client.nodeUnpublishVolume(target, deadline));
    await server.waitForGone(1);
    expect(worked).to.deep.equal([]);
    server.release();
    const { goneAtMs, end } = await lastCall();
    expect(worked).to.deep.equal(['v-1']);
    expect(end).to.include({ how: 'answered', code: 'OK', work: 'OK' });
    expect(goneAtMs).to.be.lessThan(end?.atMs ?? 0);
  });

  for (const step of [{ delayMs: 60_000 }, { hang: 'before' }, { hang: 'after' }] satisfies Step[]) {
    it(`go on, and a server that is stopped meanwhile: given up, with ${JSON.stringify(step)}`, async () => {
      server.script('NodeUnpublishVolume', { ...step, goOn: true });
      const answer = refusalOf(client.nodeUnpublishVolume(target));
      const { number } = await server.waitForCall('NodeUnpublishVolume');
      await server.stop();
      await answer;
      expect((await server.waitForEnd(number, { timeoutMs: 120_000 })).end?.how).to.equal('gone');
      expect(worked).to.have.length.below(2);
    });
  }

  it('holds its volume: other changes get ABORTED and use no step, other volumes and reads go on', async () => {
    server.script('NodeUnpublishVolume', { hang: 'before', holdsVolume: true });
    server.script('NodeUnpublishVolume', { code: 'UNKNOWN' });
    const first = client.nodeUnpublishVolume(target);
    const { number } = await server.waitForCall('NodeUnpublishVolume');
    expect(await refusalOf(client.nodeUnpublishVolume(target))).to.include({ grpcCode: 'ABORTED' });
    expect(await refusalOf(client.deleteVolume({ volumeId: 'v-1' }))).to.include({ grpcCode: 'ABORTED' });
    expect(await refusalOf(client.deleteVolume({ volumeId: 'v-2' }))).to.include({ grpcCode: 'FAILED_PRECONDITION' });
    expect(server.stepsLeft).to.equal(1);
    server.release(number);
    await first;
    expect(await refusalOf(client.nodeUnpublishVolume(target))).to.include({ grpcCode: 'UNKNOWN' });
  });

  it('a stream: messages, then its end', async () => {
    const messages = [{ volumeCapacityBytes: 10 }, { blockMetadata: [{ byteOffset: 1, sizeBytes: 2 }] }];
    server.script('GetMetadataAllocated', { answer: messages });
    const seen = await allOf(client.getMetadataAllocated({ snapshotId: 's-1' }));
    expect(seen.map(({ volumeCapacityBytes }) => volumeCapacityBytes)).to.deep.equal([10n, 0n]);
    expect((await lastCall()).end?.answer).to.deep.equal(seen);
  });

  it('a stream: messages, then an error', async () => {
    server.script('GetMetadataDelta', { answer: [{ volumeCapacityBytes: 10 }], code: 'DATA_LOSS', text: 'torn' });
    const seen: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const message of client.getMetadataDelta({})) seen.push(message);
    };
    expect(await refusalOf(read())).to.include({ grpcCode: 'DATA_LOSS' });
    expect(seen).to.have.length(1);
  });

  it('a stream that hangs after its messages, until its reader leaves', async () => {
    server.script('GetMetadataAllocated', { answer: [{ volumeCapacityBytes: 10 }], hang: 'after' });
    for await (const { volumeCapacityBytes } of client.getMetadataAllocated({})) {
      expect(volumeCapacityBytes).to.equal(10n);
      break;
    }
    const { end } = await lastCall();
    expect(end?.how).to.equal('gone');
    expect(end?.answer).to.have.length(1);
  });

  it('only a driver with a process of its own can die or stand still', () => {
    for (const step of [{ die: 'before' }, { stop: 'after' }] satisfies Step[]) {
      expect(() => server.script('Probe', step)).to.throw(TypeError, 'use faultDriver');
    }
  });
});

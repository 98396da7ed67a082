/** The two RPCs that answer with streams, over a real socket: order, errors, and each way in which one ends early. */
import { expect } from 'chai';
import type { CsiClient } from '../../src/csi/client.js';
import type { Given } from '../../src/csi/codec.js';
import type { GetMetadataAllocatedResponse } from '../../src/csi/generated/plain.js';
import { CsiStatus, type ServerCall } from '../../src/csi/server.js';
import { StagecraftError } from '../../src/errors.js';
import { refusalOf } from '../refusal.js';
import { type Awaited, awaited, Served } from './served.js';

type Answer = Given<GetMetadataAllocatedResponse>;

const mebibyte = 2 ** 20;
const request = { snapshotId: 'snap-1' };

const answerAt = (index: number): Answer => ({
  blockMetadataType: 'FIXED_LENGTH',
  volumeCapacityBytes: 2 ** 40,
  blockMetadata: [{ byteOffset: index * mebibyte, sizeBytes: mebibyte }],
});

describe('csi streams', () => {
  let served: Served;
  let client: CsiClient;
  /** Settles when the handler's generator has been left. */
  let left: Awaited<{ produced: number; aborted: boolean }>;

  beforeEach(() => {
    served = new Served();
    client = served.client();
    left = awaited();
  });

  afterEach(() => served.end());

  /** Answers without end, as fast as it is let. */
  async function* endless({ signal }: ServerCall, makeAnswer = answerAt): AsyncGenerator<Answer> {
    let produced = 0;
    try {
      for (; ; produced += 1) yield makeAnswer(produced);
    } finally {
      left.resolve({ produced, aborted: signal.aborted });
    }
  }

  /** Answers once, then waits until the call is over. */
  async function* onceThenSilent({ signal }: ServerCall): AsyncGenerator<Answer> {
    yield answerAt(0);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    left.resolve({ produced: 1, aborted: signal.aborted });
  }

  it('10,000 messages come in order, each once', async () => {
    await served.serve({
      async *GetMetadataAllocated() {
        for (let index = 0; index < 10_000; index += 1) yield answerAt(index);
      },
    });
    let next = 0;
    for await (const { blockMetadata } of client.getMetadataAllocated(request)) {
      expect(blockMetadata).to.deep.equal([{ byteOffset: BigInt(next * mebibyte), sizeBytes: BigInt(mebibyte) }]);
      next += 1;
    }
    expect(next).to.equal(10_000);
  });

  it('no message at all is an end, not an error', async () => {
    await served.serve({ async *GetMetadataDelta() {} });
    expect(await client.getMetadataDelta({}).next()).to.deep.equal({ done: true, value: undefined });
  });

  it('nothing is sent before the first message is asked for', async () => {
    let calls = 0;
    await served.serve({
      async *GetMetadataDelta() {
        calls += 1;
        yield* [];
      },
    });
    const stream = client.getMetadataDelta({});
    await client.getMetadataDelta({}).next();
    expect(calls).to.equal(1);
    await stream.return();
    expect(calls).to.equal(1);
  });

  it('an error midway comes after the messages before it, with what it means', async () => {
    await served.serve({
      async *GetMetadataAllocated() {
        yield answerAt(0);
        yield answerAt(1);
        throw new CsiStatus('FAILED_PRECONDITION', 'the snapshot is not ready');
      },
    });
    const stream = client.getMetadataAllocated(request);
    expect([(await stream.next()).done, (await stream.next()).done]).to.deep.equal([false, false]);
    expect(await refusalOf(stream.next())).to.include({
      code: 'CSI_ERROR',
      rpc: 'GetMetadataAllocated',
      grpcCode: 'FAILED_PRECONDITION',
      answerClass: 'repair',
      message: 'GetMetadataAllocated: FAILED_PRECONDITION: the snapshot is not ready',
    });
  });

  it('a message of a wrong shape midway ends the stream with what is wrong', async () => {
    await served.serve({
      async *GetMetadataAllocated() {
        yield answerAt(0);
        yield { volumeCapacityBytes: 0.5 };
      },
    });
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    const failure = await refusalOf(stream.next());
    expect(failure.grpcCode).to.equal('INTERNAL');
    expect(failure.message).to.contain('GetMetadataAllocatedResponse.volumeCapacityBytes must be a whole number');
  });

  it('a reader who leaves ends the call, and the handler is left', async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => endless(call) });
    let read = 0;
    for await (const _ of client.getMetadataAllocated(request)) {
      read += 1;
      if (read === 3) break;
    }
    expect((await left.promise).aborted).to.equal(true);
  });

  it("a reader who fails ends the call with the reader's own error", async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => endless(call) });
    const fault = new Error('the disk is full');
    let thrown: unknown;
    try {
      for await (const _ of client.getMetadataAllocated(request)) throw fault;
    } catch (error) {
      thrown = error;
    }
    expect(thrown).to.equal(fault);
    expect((await left.promise).aborted).to.equal(true);
  });

  it('a signal ends it with its reason, and the handler is told', async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => onceThenSilent(call) });
    const abort = new AbortController();
    const stream = client.getMetadataAllocated(request, { signal: abort.signal });
    await stream.next();
    const failure = refusalOf(stream.next());
    abort.abort(new StagecraftError('TIMEOUT', 'the backup window is over'));
    expect(await failure).to.include({ code: 'TIMEOUT', answerClass: 'unknown', final: false });
    expect((await left.promise).aborted).to.equal(true);
    expect((await stream.next()).done).to.equal(true);
  });

  it('a signal while nobody reads ends it too, and the reader is told when it comes back', async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => onceThenSilent(call) });
    const abort = new AbortController();
    const stream = client.getMetadataAllocated(request, { signal: abort.signal });
    await stream.next();
    abort.abort();
    expect((await left.promise).aborted).to.equal(true);
    expect(await refusalOf(stream.next())).to.include({ code: 'ABORTED', rpc: 'GetMetadataAllocated' });
  });

  it('the deadline is that of the whole stream, and the handler is told', async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => onceThenSilent(call) });
    const stream = client.getMetadataAllocated(request, { timeoutMs: 300 });
    await stream.next();
    const failure = await refusalOf(stream.next());
    expect(failure).to.include({ grpcCode: 'DEADLINE_EXCEEDED', answerClass: 'unknown' });
    expect(failure.message).to.contain('within 300 ms');
    expect((await left.promise).aborted).to.equal(true);
  });

  it('close() ends it, and the handler is told', async () => {
    await served.serve({ GetMetadataAllocated: (_, call) => onceThenSilent(call) });
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    const failure = refusalOf(stream.next());
    client.close();
    expect((await failure).message).to.contain('is closed');
    expect((await left.promise).aborted).to.equal(true);
    expect(await refusalOf(client.getMetadataAllocated(request).next())).to.include({ code: 'ABORTED' });
  });

  it('a slow reader holds the server back, and no other call', async () => {
    let produced = 0;
    const large = (index: number): Answer => {
      produced = index + 1;
      return { blockMetadata: Array.from({ length: 40_000 }, () => ({ byteOffset: index + 1, sizeBytes: 2 ** 40 })) };
    };
    await served.serve({ GetMetadataAllocated: (_, call) => endless(call, large), Probe: () => ({}) });
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    for (let round = 0; round < 200; round += 1) await client.probe();
    // Sixteen wait on either side: that is grpc-js.
    expect(produced).to.be.below(40);
    for (let index = 1; index < 50; index += 1) {
      const { value } = await stream.next();
      expect(value?.blockMetadata.at(-1)?.byteOffset).to.equal(BigInt(index + 1));
    }
    await stream.return();
    expect((await left.promise).aborted).to.equal(true);
  });
});

/** The plugin's side: what handlers throw or answer amiss, and what they are told of calls that are over. */
import { Client, credentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import type { CsiClient } from '../../src/csi/client.js';
import { CsiStatus } from '../../src/csi/server.js';
import { refusalOf } from '../refusal.js';
import { type Awaited, awaited, Served } from './served.js';

describe('csi server', () => {
  let served: Served;
  let client: CsiClient;

  beforeEach(() => {
    served = new Served();
    client = served.client();
  });

  afterEach(() => served.end());

  /** What the caller hears when a handler throws this. */
  async function heard(thrown: unknown): Promise<string> {
    await served.serve({
      Probe: () => {
        throw thrown;
      },
    });
    return (await refusalOf(client.probe())).message;
  }

  it('a CsiStatus is answered with its code and text', async () => {
    expect(await heard(new CsiStatus('NOT_FOUND', 'no such volume'))).to.equal('Probe: NOT_FOUND: no such volume');
  });

  it('an Error is INTERNAL with its text', async () => {
    expect(await heard(new RangeError('out of luck'))).to.equal('Probe: INTERNAL: out of luck');
  });

  for (const [what, thrown, text] of [
    ['a text', 'just so', 'just so'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object', { errno: 5 }, '{ errno: 5 }'],
    ['an object that has no text', Object.create(null), '[Object: null prototype] {}'],
  ] as const) {
    it(`${what} that is no Error is INTERNAL with what it is`, async () => {
      expect(await heard(thrown)).to.equal(`Probe: INTERNAL: ${text}`);
    });
  }

  it('a promise that is rejected is the same as a throw', async () => {
    await served.serve({ Probe: () => Promise.reject(new CsiStatus('ABORTED', 'busy')) });
    expect(await refusalOf(client.probe())).to.include({ grpcCode: 'ABORTED', answerClass: 'busy' });
  });

  it('a text of many lines and characters arrives as it was', async () => {
    const text = 'line 1\nline 2\t“é”  100 %\r\n🚀';
    expect(await heard(new Error(text))).to.equal(`Probe: INTERNAL: ${text}`);
  });

  it('a text beyond what a header holds is cut, and the connection goes on', async () => {
    await served.serve({
      NodeUnstageVolume: () => {
        throw new Error('é'.repeat(2 ** 20));
      },
      Probe: () => ({}),
    });
    const failure = await refusalOf(client.nodeUnstageVolume({ volumeId: 'v' }));
    expect(failure.grpcCode).to.equal('INTERNAL');
    expect(failure.message).to.match(/^NodeUnstageVolume: INTERNAL: é{2000,2048}$/);
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('an answer of a wrong shape is INTERNAL and names what is wrong', async () => {
    await served.serve({
      CreateVolume: () => ({ volume: { volumeId: 'v', capacityBytes: 1.5 } }),
      NodeGetInfo: () => JSON.parse('{"nodeID":"n-1"}'),
      Probe: () => JSON.parse('null'),
    });
    expect((await refusalOf(client.createVolume({ name: 'n' }))).message).to.contain(
      'INTERNAL: CreateVolumeResponse.volume.capacityBytes must be a whole number of 64 bits',
    );
    expect((await refusalOf(client.nodeGetInfo())).message).to.contain(
      "INTERNAL: NodeGetInfoResponse has no field 'nodeID', but: nodeId",
    );
    expect((await refusalOf(client.probe())).message).to.equal('Probe: INTERNAL: ProbeResponse must be an object');
  });

  it('a request that is no message is answered with an error, and the server goes on', async () => {
    await served.serve({ CreateVolume: () => ({}), Probe: () => ({}) });
    const bare = new Client(`unix://${served.socketPath}`, credentials.createInsecure());
    const raw = (bytes: Buffer): Buffer => bytes;
    const code = await new Promise((resolve) => {
      const path = '/csi.v1.Controller/CreateVolume';
      bare.makeUnaryRequest(path, raw, raw, Buffer.from([0x0a, 0xff, 0xff]), (error) => resolve(error?.code));
    });
    bare.close();
    expect(code).to.equal(13);
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  describe('tells a handler by its signal', () => {
    let arrived: Awaited<AbortSignal>;
    let aborted: Awaited<void>;

    beforeEach(async () => {
      arrived = awaited();
      aborted = awaited();
      await served.serve({
        NodeStageVolume: (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.resolve());
          arrived.resolve(signal);
          return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
        },
        Probe: () => ({}),
      });
    });

    it('when the caller gave up', async () => {
      const abort = new AbortController();
      const failure = refusalOf(client.nodeStageVolume({ volumeId: 'v' }, { signal: abort.signal }));
      expect((await arrived.promise).aborted).to.equal(false);
      abort.abort();
      await aborted.promise;
      expect((await failure).code).to.equal('ABORTED');
      expect(await client.probe()).to.deep.equal({ ready: true });
    });

    it("when the caller's deadline has passed", async () => {
      const failure = refusalOf(client.nodeStageVolume({ volumeId: 'v' }, { timeoutMs: 200 }));
      await aborted.promise;
      expect(await failure).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    });

    it('when the caller closed its client', async () => {
      const failure = refusalOf(client.nodeStageVolume({ volumeId: 'v' }));
      await arrived.promise;
      client.close();
      await aborted.promise;
      expect((await failure).message).to.contain('is closed');
    });
  });

  it('a call that was answered has a signal that stays quiet', async () => {
    const signals: AbortSignal[] = [];
    await served.serve({
      Probe: (_, { signal }) => {
        signals.push(signal);
        return {};
      },
    });
    await client.probe();
    await client.probe();
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, false]);
  });
});

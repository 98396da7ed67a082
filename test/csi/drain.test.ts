/** A client that is given up while calls are in flight: they may end, new ones are refused. Over a real socket. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import type { CsiClient } from '../../src/csi/client.js';
import { refusalOf } from '../refusal.js';
import { type Awaited, awaited, Served } from './served.js';

const request = { snapshotId: 'snap-1' };

describe('csi client: drained', () => {
  let served: Served;
  let client: CsiClient;
  /** One for each CreateVolume that has come in: lets it be answered. */
  let releases: Awaited<void>[];
  let limit: AbortController;

  beforeEach(async () => {
    served = new Served();
    client = served.client();
    releases = [];
    limit = new AbortController();
    await served.serve({
      Probe: () => ({}),
      CreateVolume: async ({ name }, { signal }) => {
        const release = awaited();
        signal.addEventListener('abort', () => release.resolve());
        releases.push(release);
        await release.promise;
        return { volume: { volumeId: name } };
      },
      async *GetMetadataAllocated() {
        for (let index = 0; index < 100; index += 1) yield { blockMetadata: [{ byteOffset: index }] };
      },
    });
  });

  afterEach(() => served.end());

  const create = async (name: string): Promise<string | undefined> =>
    (await client.createVolume({ name })).volume?.volumeId;

  /** Another client's calls, one after the other, until the server has this many. */
  async function arrived(count: number): Promise<void> {
    const other = served.client();
    while (releases.length < count) await other.probe();
    other.close();
  }

  /** What is done by now, after a whole call of another client there and back. */
  async function isDone(promise: Promise<unknown>): Promise<boolean> {
    let done = false;
    const mark = (): void => {
      done = true;
    };
    promise.then(mark, mark);
    await arrived(releases.length);
    await served.client().probe();
    return done;
  }

  it('T7 calls in flight get their answers, new ones are refused, and it is done with the last one', async () => {
    const volumes = [create('a'), create('b')];
    await arrived(2);
    const drained = client.drain(limit.signal);
    const refusal = await refusalOf(client.probe());
    expect(refusal).to.include({ code: 'ABORTED', rpc: 'Probe' });
    expect(refusal.message).to.contain('is closed');
    expect(await refusalOf(client.getMetadataAllocated(request).next())).to.include({ code: 'ABORTED' });
    releases[0]?.resolve();
    await Promise.race(volumes);
    expect(await isDone(drained)).to.equal(false);
    releases[1]?.resolve();
    await drained;
    expect(await Promise.all(volumes)).to.deep.equal(['a', 'b']);
    expect(getEventListeners(limit.signal, 'abort')).to.have.lengthOf(0);
  });

  it('T7 with none in flight it is done at once, and its channel is closed; twice is once', async () => {
    await client.probe();
    await Promise.all([client.drain(limit.signal), client.drain(limit.signal)]);
    expect(openChannels()).to.equal(0);
    expect(await refusalOf(client.probe())).to.include({ code: 'ABORTED' });
  });

  it('T7 one call that fails is one that has ended', async () => {
    const abort = new AbortController();
    const volume = refusalOf(client.createVolume({ name: 'a' }, { signal: abort.signal }));
    await arrived(1);
    const drained = client.drain(limit.signal);
    abort.abort();
    await drained;
    expect(await volume).to.include({ code: 'ABORTED' });
  });

  for (const [when, abort] of [
    ['while calls are in flight', (drain: () => Promise<void>) => [drain(), limit.abort()] as const],
    ['before it begins', (drain: () => Promise<void>) => [limit.abort(), drain()] as const],
  ] as const) {
    it(`T7 the signal is aborted ${when}: they end as of unknown outcome, and it is done`, async () => {
      const volume = refusalOf(create('a'));
      await arrived(1);
      await Promise.all(abort(() => client.drain(limit.signal)));
      expect(await volume).to.include({ code: 'ABORTED', rpc: 'CreateVolume', answerClass: 'unknown' });
      expect(openChannels()).to.equal(0);
    });
  }

  it('T7 closed meanwhile: calls in flight end, and it is done', async () => {
    const volume = refusalOf(create('a'));
    await arrived(1);
    const drained = client.drain(limit.signal);
    client.close();
    await drained;
    expect(await volume).to.include({ code: 'ABORTED', rpc: 'CreateVolume' });
  });

  it('T7 a stream is in flight until its last message is read', async () => {
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    const drained = client.drain(limit.signal);
    expect(await isDone(drained)).to.equal(false);
    let read = 1;
    for await (const _ of stream) read += 1;
    await drained;
    expect(read).to.equal(100);
  });

  it('T7 a stream is in flight until its reader leaves it', async () => {
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    const drained = client.drain(limit.signal);
    await stream.return();
    await drained;
  });

  it('T7 a stream that nobody reads any more is waited for until the signal is aborted', async () => {
    const stream = client.getMetadataAllocated(request);
    await stream.next();
    const drained = client.drain(limit.signal);
    expect(await isDone(drained)).to.equal(false);
    limit.abort();
    await drained;
    const readOn = async (): Promise<void> => {
      for await (const _ of stream); // what had come by then is still there
    };
    expect(await refusalOf(readOn())).to.include({ code: 'ABORTED' });
  });

  it('T7 calls in flight on a channel that another client shares end there, and the other goes on', async () => {
    const other = served.client();
    await other.probe();
    const volume = create('a');
    await arrived(1);
    const drained = client.drain(limit.signal);
    expect(openChannels()).to.equal(1);
    releases[0]?.resolve();
    await drained;
    expect(await volume).to.equal('a');
    expect(await other.probe()).to.deep.equal({ ready: true });
  });
});

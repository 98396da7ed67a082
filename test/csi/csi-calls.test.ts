/** What holds for every call: what errors say and never say, limits of size, many at a time. Over real sockets. */
import { expect } from 'chai';
import { answerClassOf } from '../../src/csi/answers.js';
import { grpcCodes } from '../../src/csi/grpc-codes.js';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { refusalOf } from '../refusal.js';
import { awaited, Served } from './served.js';

const mebibyte = 2 ** 20;
const limits = {
  'grpc.max_send_message_length': -1,
  'grpc.max_receive_message_length': -1,
};

describe('csi calls: answers', () => {
  let served: Served;
  beforeEach(() => {
    served = new Served();
  });
  afterEach(() => served.end());

  it('each code comes through by name, with its text and what it means for that RPC', async () => {
    let status = new CsiStatus('UNKNOWN', '');
    const fail = (): never => {
      throw status;
    };
    await served.serve({
      DeleteVolume: fail,
      ControllerUnpublishVolume: fail,
      NodeExpandVolume: fail,
      ListVolumes: fail,
    });
    const client = served.client();
    for (const code of grpcCodes) {
      if (code === 'OK') continue;
      status = new CsiStatus(code, `it is ${code}`);
      const failures = {
        DeleteVolume: await refusalOf(client.deleteVolume({ volumeId: 'v' })),
        ControllerUnpublishVolume: await refusalOf(client.controllerUnpublishVolume({ volumeId: 'v' })),
        NodeExpandVolume: await refusalOf(client.nodeExpandVolume({ volumeId: 'v' })),
        ListVolumes: await refusalOf(client.listVolumes({})),
      };
      for (const rpc of ['DeleteVolume', 'ControllerUnpublishVolume', 'NodeExpandVolume', 'ListVolumes'] as const) {
        const answerClass = answerClassOf(rpc, code);
        const expected = { code: 'CSI_ERROR', rpc, grpcCode: code, answerClass, final: answerClass === 'final' };
        expect(failures[rpc]).to.include({ ...expected, message: `${rpc}: ${code}: it is ${code}` });
      }
    }
  });

  it('INTERNAL that wraps another status comes through as of unknown outcome', async () => {
    await served.serve({
      DeleteVolume: () => {
        throw new CsiStatus('INTERNAL', 'rpc error: code = DeadlineExceeded desc = the array');
      },
    });
    const failure = await refusalOf(served.client().deleteVolume({ volumeId: 'v' }));
    expect(failure).to.include({ grpcCode: 'INTERNAL', answerClass: 'unknown', final: false });
  });
});

describe('csi calls: secrets', () => {
  let served: Served;
  let say: string;
  beforeEach(async () => {
    served = new Served();
    await served.serve({
      NodeStageVolume: () => {
        throw new CsiStatus('INTERNAL', say);
      },
    });
  });
  afterEach(() => served.end());

  const heard = async (secrets: Record<string, string>): Promise<string> =>
    (await refusalOf(served.client().nodeStageVolume({ volumeId: 'v', secrets }))).message;

  it('what the driver repeats of them is masked, everywhere', async () => {
    say = 'login as admin with hunter2 failed: hunter2 is wrong';
    expect(await heard({ user: 'admin', password: 'hunter2' })).to.equal(
      'NodeStageVolume: INTERNAL: login as *** with *** failed: *** is wrong',
    );
  });

  it('one that is the beginning of another leaves nothing of the other', async () => {
    say = 'tried hunter2 and hunter2-old';
    expect(await heard({ a: 'hunter2', b: 'hunter2-old' }))
      .to.contain('tried *** and ***')
      .and.not.contain('-old');
  });

  it('one across the cut at 4 KiB leaves no part of itself', async () => {
    for (const before of [4060, 4070, 4080, 4090]) {
      say = `${'x'.repeat(before)}hunter2hunter2hunter2${'y'.repeat(200)}`;
      expect(await heard({ password: 'hunter2hunter2hunter2' })).to.not.contain('hunt');
    }
  });

  it('one of several lines is masked whole, quoted, and line by line', async () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n';
    for (const text of [
      key,
      JSON.stringify(key),
      key.trim(),
      'bad line 2: MIIEvQIBADANBg',
      key.replaceAll('\n', '\r\n'),
    ]) {
      say = `can't use ${text}!`;
      expect(await heard({ key }))
        .to.contain("can't use")
        .and.not.match(/MIIE|kqhk|BEGIN KEY/);
    }
  });

  it('one with a quote in it is masked as drivers quote it', async () => {
    say = 'mount -o "password=pa\\"ss\\\\word"';
    expect(await heard({ password: 'pa"ss\\word' })).to.equal('NodeStageVolume: INTERNAL: mount -o "password=***"');
  });

  it('one that looks like a pattern is taken as it is, one of two characters is in any text', async () => {
    say = 'a+b.*c and ab and $&';
    expect(await heard({ password: '.*c', short: 'ab', other: '' })).to.contain('a+b*** and ab and $&');
  });

  it('the error holds them nowhere else', async () => {
    say = 'no';
    const secrets = { password: 'hunter2' };
    const failure = await refusalOf(served.client().nodeStageVolume({ volumeId: 'v', secrets }));
    const all = JSON.stringify(Object.getOwnPropertyNames(failure).map((name) => Reflect.get(failure, name)));
    expect(all).to.not.contain('hunter2');
    expect(failure.cause).to.equal(undefined);
  });
});

describe('csi calls: sizes', () => {
  let served: Served;
  beforeEach(() => {
    served = new Served();
  });
  afterEach(() => served.end());

  it('34.17 60 MiB in a request, and in a page of a list', async () => {
    let arrived = '';
    const message = 'x'.repeat(60 * mebibyte);
    const handlers: CsiHandlers = {
      CreateVolume: ({ name }) => {
        arrived = name;
        return { volume: { volumeId: 'v' } };
      },
      ListVolumes: () => ({ entries: [{ status: { volumeCondition: { message } } }] }),
    };
    await served.serve(handlers, limits);
    await served.client().createVolume({ name: message });
    expect(arrived).to.have.length(message.length);
    const { entries } = await served.client().listVolumes();
    expect(entries[0]?.status?.volumeCondition?.message).to.have.length(message.length);
  });

  it('a request of 65 MiB is not sent, says which limit, and is final', async () => {
    let calls = 0;
    await served.serve({ CreateVolume: () => ({ volume: { volumeId: `${++calls}` } }) }, limits);
    const failure = await refusalOf(served.client().createVolume({ name: 'x'.repeat(65 * mebibyte) }));
    expect(failure).to.include({ grpcCode: 'RESOURCE_EXHAUSTED', answerClass: 'final', final: true });
    expect(failure.message).to.match(/^CreateVolume: the request has 6815\d+ bytes, but 67108864 is the limit/);
    expect(calls).to.equal(0);
  });

  it('an answer of 65 MiB says which limit, and that what was done is unknown', async () => {
    await served.serve({ CreateVolume: () => ({ volume: { volumeId: 'x'.repeat(65 * mebibyte) } }) }, limits);
    const client = served.client();
    const failure = await refusalOf(client.createVolume({ name: 'data' }));
    expect(failure).to.include({ grpcCode: 'RESOURCE_EXHAUSTED', answerClass: 'unknown', final: false });
    expect(failure.message).to.match(/^CreateVolume: the answer is too large .* 67108864 is the limit of a message/);
  });

  it("a plugin's own limit is told in its own words", async () => {
    await served.serve({ CreateVolume: () => ({}) }, { 'grpc.max_receive_message_length': mebibyte });
    const failure = await refusalOf(served.client().createVolume({ name: 'x'.repeat(2 * mebibyte) }));
    expect(failure).to.include({ grpcCode: 'RESOURCE_EXHAUSTED', answerClass: 'unknown' });
    expect(failure.message).to.match(/^CreateVolume: RESOURCE_EXHAUSTED: Received message larger than max/);
  });
});

describe('csi calls: many at a time', () => {
  let served: Served;
  beforeEach(() => {
    served = new Served();
  });
  afterEach(() => served.end());

  it('each has its own deadline, and the one that may wait gets its answer', async () => {
    const release = awaited();
    await served.serve({
      ControllerGetVolume: async () => {
        await release.promise;
        return { volume: { volumeId: 'v' } };
      },
    });
    const client = served.client();
    const patient = client.controllerGetVolume({ volumeId: 'v' }, { timeoutMs: 120_000 });
    const deadlines = [40, 60, 80, 100, 120, 140];
    const failures = deadlines.map((timeoutMs) =>
      refusalOf(client.controllerGetVolume({ volumeId: 'v' }, { timeoutMs })),
    );
    for (const [index, failure] of (await Promise.all(failures)).entries()) {
      expect(failure.grpcCode).to.equal('DEADLINE_EXCEEDED');
      expect(failure.message).to.contain(`within ${deadlines[index]} ms`);
    }
    release.resolve();
    expect((await patient).volume?.volumeId).to.equal('v');
  });

  it('one signal for many ends them all, warns of nothing, and keeps no listener of a call that is over', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const isUnderWay = awaited();
    let calls = 0;
    await served.serve({
      Probe: () => ({}),
      NodeGetInfo: (_, { signal }) => {
        calls += 1;
        if (calls === 50) isUnderWay.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      },
    });
    const client = served.client();
    const abort = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = abort.signal;
    abort.signal.addEventListener = (...args: Parameters<AbortSignal['addEventListener']>) => {
      listeners += 1;
      addEventListener.apply(abort.signal, args);
    };
    abort.signal.removeEventListener = (...args: Parameters<AbortSignal['removeEventListener']>) => {
      listeners -= 1;
      removeEventListener.apply(abort.signal, args);
    };
    await Promise.all(Array.from({ length: 50 }, () => client.probe({ signal: abort.signal })));
    expect(listeners).to.equal(0);
    const failures = Array.from({ length: 50 }, () => refusalOf(client.nodeGetInfo({ signal: abort.signal })));
    await isUnderWay.promise;
    abort.abort();
    for (const failure of await Promise.all(failures)) expect(failure.code).to.equal('ABORTED');
    expect(listeners).to.equal(0);
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
  });
});

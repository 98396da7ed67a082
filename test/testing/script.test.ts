/** Which call gets which step, what a script refuses, and how a test waits for calls. */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { CsiClient } from '../../src/csi/client.js';
import type { FaultyServer } from '../../src/testing/index.js';
import { violationsIn } from '../../src/tools/fault-driver/judge/violations.js';
import { refusalOf } from '../refusal.js';
import { inScenes } from './scene.js';

const volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;

describe('fault driver: scripts', () => {
  const scenes = inScenes();
  let server: FaultyServer;
  let client: CsiClient;

  beforeEach(async () => {
    server = await scenes.scene.server();
    client = scenes.scene.client();
  });

  const codeOf = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'OK',
      (error) => String(Reflect.get(Object(error), 'grpcCode')),
    );
  const probes = async (count: number): Promise<string[]> => {
    const codes: string[] = [];
    for (let made = 0; made < count; made += 1) codes.push(await codeOf(client.probe()));
    return codes;
  };
  const remove = (volumeId: string): Promise<string> => codeOf(client.deleteVolume({ volumeId }));

  it('steps are used up in their order, each once unless it says how often', async () => {
    server.script('Probe', { code: 'UNAVAILABLE' }, { times: 2 }).script('Probe', { code: 'INTERNAL' });
    expect(server.stepsLeft).to.equal(3);
    expect(await probes(4)).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE', 'INTERNAL', 'OK']);
    expect(server.stepsLeft).to.equal(0);
  });

  it('of steps for always the newest counts, and those that are counted go first', async () => {
    server.script('Probe', { code: 'UNKNOWN' }, { times: 'always' });
    server.script('Probe', { code: 'INTERNAL' }, { times: 'always' });
    server.script('Probe', { code: 'ABORTED' });
    expect(await probes(3)).to.deep.equal(['ABORTED', 'INTERNAL', 'INTERNAL']);
    expect(server.stepsLeft).to.equal(0);
  });

  it('a step for certain requests is left alone by others', async () => {
    server.script('DeleteVolume', { code: 'INTERNAL' }, { where: { volumeId: 'v-2' } });
    server.script('DeleteVolume', { code: 'ABORTED' }, { times: 'always' });
    expect([await remove('v-1'), await remove('v-2'), await remove('v-2')]).to.deep.equal([
      'ABORTED',
      'INTERNAL',
      'ABORTED',
    ]);
  });

  it('requests are told apart by messages in them too, sizes as numbers or bigints', async () => {
    server.script('CreateVolume', { code: 'OUT_OF_RANGE' }, { where: { capacityRange: { requiredBytes: 5 } } });
    expect(await codeOf(client.createVolume({ name: 'a', capacityRange: { requiredBytes: 6n } }))).not.to.equal(
      'OUT_OF_RANGE',
    );
    expect(await codeOf(client.createVolume({ name: 'a', capacityRange: { requiredBytes: 5n } }))).to.equal(
      'OUT_OF_RANGE',
    );
  });

  it('requests are told apart by a part of a message, or of a map, in them', async () => {
    const where = {
      volumeCapability: { accessMode: { mode: 'SINGLE_NODE_WRITER' } },
      volumeContext: { pool: 'a' },
    } as const;
    server.script('NodePublishVolume', { code: 'OUT_OF_RANGE' }, { where });
    const publish = (pool: string, mode: 'SINGLE_NODE_WRITER' | 'MULTI_NODE_READER_ONLY'): Promise<string> =>
      codeOf(
        client.nodePublishVolume({
          volumeId: 'v-1',
          targetPath: '/t',
          volumeCapability: { mount: { fsType: 'ext4' }, accessMode: { mode } },
          volumeContext: { pool, tier: '1' },
        }),
      );
    expect(await publish('b', 'SINGLE_NODE_WRITER')).not.to.equal('OUT_OF_RANGE');
    expect(await publish('a', 'MULTI_NODE_READER_ONLY')).not.to.equal('OUT_OF_RANGE');
    expect(await publish('a', 'SINGLE_NODE_WRITER')).to.equal('OUT_OF_RANGE');
  });

  it('cleared, of one RPC or of all, the driver does as ever', async () => {
    server.script('Probe', { code: 'INTERNAL' }, { times: 'always' }).script('NodeGetInfo', { code: 'INTERNAL' });
    server.clear('Probe');
    expect([await codeOf(client.probe()), await codeOf(client.nodeGetInfo())]).to.deep.equal(['OK', 'INTERNAL']);
    server.script('NodeGetInfo', { code: 'INTERNAL' }, { times: 'always' }).clear();
    expect(await codeOf(client.nodeGetInfo())).to.equal('OK');
  });

  const refused: [what: string, script: [rpc: RpcName, step: object, use?: object], message: string | RegExp][] = [
    ['an RPC that is none', ['CreateVolumes' as RpcName, {}], /no RPC "CreateVolumes", but: GetPluginInfo, /],
    ['a part that is none', ['Probe', { hangs: 'before' }], /step of Probe is invalid: .*hangs/],
    ['a moment that is none', ['Probe', { hang: true }], /hang: .*"before"\|"after"/],
    ['a code that is none', ['Probe', { code: 'NOT_OK' }], /code: /],
    ['OK as a code', ['Probe', { code: 'OK' }], /code: /],
    ['a delay below 0', ['Probe', { delayMs: -1 }], /delayMs: /],
    [
      'an answer with a field that is none',
      ['GetCapacity', { answer: { capacity: 1 } }],
      /GetCapacityResponse has no field 'capacity'/,
    ],
    [
      'an answer with a field of another type',
      ['GetCapacity', { answer: { availableCapacity: '1' } }],
      /availableCapacity must be/,
    ],
    ['both an answer and a code', ['Probe', { answer: {}, code: 'INTERNAL' }], "can't answer both"],
    ['text without a code', ['Probe', { text: 'x' }], "'text' goes with a 'code'"],
    ['work that is done anyway', ['Probe', { work: true }], 'the work is done anyway'],
    ['something after work that is not done', ['Probe', { code: 'INTERNAL', hang: 'after' }], 'hang after what'],
    ['a list as the answer of one', ['Probe', { answer: [] }], 'one message, not a list'],
    ['one message as a stream', ['GetMetadataAllocated', { answer: {} }], 'a list of messages'],
    ['a stream that goes on', ['GetMetadataAllocated', { goOn: true }], "can't go on"],
    ['0 times', ['Probe', {}, { times: 0 }], /use of a step of Probe is invalid: times/],
    ['a request with a field that is none', ['Probe', {}, { where: { volumeId: 'v' } }], /has no field 'volumeId'/],
    [
      'a secret to tell requests apart',
      ['DeleteVolume', {}, { where: { secrets: { key: 'x' } } }],
      'secrets are masked',
    ],
  ];
  for (const [what, [rpc, step, use], message] of refused) {
    it(`${what} is refused at once`, () => {
      expect(() => server.script(rpc, step, use)).to.throw(TypeError, message);
      expect(server.stepsLeft).to.equal(0);
    });
  }

  it('a call is waited for once, also when it came before', async () => {
    await client.probe();
    expect(await server.waitForCall('Probe')).to.include({ number: 1 });
    const next = server.waitForCall('Probe');
    await client.probe();
    expect(await next).to.include({ number: 2 });
  });

  it('two who wait together get a call each, in the order in which they came', async () => {
    const waiting = [server.waitForCall('Probe'), server.waitForCall('Probe')];
    await client.probe();
    await client.probe();
    expect((await Promise.all(waiting)).map(({ number }) => number)).to.deep.equal([1, 2]);
  });

  it('waiting in vain is a TIMEOUT that says for what', async () => {
    const refusal = await refusalOf(server.waitForCall('CreateVolume', { timeoutMs: 5 }));
    expect(refusal.code).to.equal('TIMEOUT');
    expect(refusal.message).to.equal('waited 5 ms in vain until CreateVolume has come');
  });

  it('waiting ends with the server', async () => {
    const waiting = refusalOf(server.waitForEnd(1));
    await server.stop();
    expect((await waiting).code).to.equal('ABORTED');
  });

  it('its violations are those of its calls, by what the driver offers', async () => {
    server.script('NodePublishVolume', { answer: {} }).script('NodeUnstageVolume', { answer: {} });
    await client.nodePublishVolume({ volumeId: 'v-1', targetPath: '/t', volumeCapability });
    await client.nodeUnstageVolume({ volumeId: 'v-1', stagingTargetPath: '/s' });
    expect(server.violations().map(({ kind }) => kind)).to.include('still-published');
    expect(server.violations()).to.include.deep.members(violationsIn(server.calls()));
  });
});

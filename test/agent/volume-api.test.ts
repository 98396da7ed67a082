/** API of volumes and nodes, with a runtime and a plugin in this process. */
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { VolumePage, VolumeReport } from '../../src/api/volume-routes.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('A4 volumes through the API', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askAgent(socketPath, method, path, { ...(body && { body }) });
  const at = (id: string, request = ''): string => `/v1/volumes/default/${encodeURIComponent(id)}${request}`;
  const get = async (id: string): Promise<VolumeReport> => (await ask('GET', at(id))) as VolumeReport;
  const refusal = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<[number | undefined, unknown]> => {
    const { status, code } = await answerOf(socketPath, method, path, body);
    return [status, code];
  };
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    socketPath = join(house.directory, 'agent.sock');
    const drain = async (): Promise<void> => {};
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
  });
  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  it('A4 V4 C1 a volume from creation to deletion, with a claim', async () => {
    const made = (await ask('POST', '/v1/volumes', spec('a/b c'))) as VolumeReport;
    expect(made).to.deep.include({ key: { namespace: 'default', id: 'a/b c' }, state: 'created', csiId: 'vol-1' });
    expect(await ask('POST', at('a/b c', '/publish'), { nodeId: 'a' })).to.deep.equal({
      publishContext: { device: 'vol-1@csi-a' },
    });
    const use = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' };
    const claim = { allocId: 'run-1', nodeId: 'a', ...use };
    expect(await ask('POST', at('a/b c', '/claim'), claim)).to.deep.include({ allocId: 'run-1', state: 'taken' });
    expect((await get('a/b c')).claims).to.have.length(1);
    expect(await refusal('POST', at('a/b c', '/claim'), { ...claim, allocId: 'run-2' })).to.deep.equal([
      409,
      'CLAIM_CONFLICT',
    ]);
    expect(await refusal('POST', at('a/b c', '/delete'))).to.deep.equal([409, 'VOLUME_IN_USE']);
    expect(await refusal('POST', at('a/b c', '/unpublish'), { nodeId: 'a' })).to.deep.equal([409, 'VOLUME_IN_USE']);
    expect(await refusal('POST', at('a/b c', '/delete'), { force: true })).to.deep.equal([204, undefined]);
    expect((await get('a/b c')).leftovers?.map(({ what }) => what)).to.deep.equal(['staged']);
    expect(await refusal('POST', '/v1/volumes', spec('a/b c'))).to.deep.equal([409, 'VOLUME_EXISTS']);
    const gone: unknown = await ask('POST', at('a/b c', '/delete')).catch((error: unknown) => error);
    expect(gone).to.include({ code: 'VOLUME_NOT_FOUND' });
    expect(String(gone)).to.match(/\): remove it by hand, then acknowledge it$/);
    expect(await refusal('POST', at('a/b c', '/acknowledge'))).to.deep.equal([204, undefined]);
    expect(await refusal('GET', at('a/b c'))).to.deep.equal([404, 'VOLUME_NOT_FOUND']);
  });

  it('A4 V21 lists have pages and filters', async () => {
    for (const id of ['a-1', 'a-2', 'a-3', 'b-1']) await ask('POST', '/v1/volumes', spec(id));
    await ask('POST', at('a-2', '/publish'), { nodeId: 'a' });
    const list = async (query: string): Promise<[ids: string[], next: string | undefined]> => {
      const { items, next } = (await ask('GET', `/v1/volumes?${query}`)) as VolumePage;
      return [items.map(({ key }) => key.id), next];
    };
    const [first, next] = await list('idPrefix=a-&namespace=default&limit=2');
    expect(first).to.deep.equal(['a-1', 'a-2']);
    const rest = `idPrefix=a-&namespace=default&limit=2&after=${encodeURIComponent(next ?? '')}`;
    expect(await list(rest)).to.deep.equal([['a-3'], undefined]);
    expect(await list('node=a')).to.deep.equal([['a-2'], undefined]);
    expect(await list('state=published&plugin=disk')).to.deep.equal([['a-2'], undefined]);
    expect(await list('namespace=other')).to.deep.equal([[], undefined]);
    for (const query of ['limit=0', 'limit=x', 'state=odd', 'size=1', 'after=x'])
      expect(await refusal('GET', `/v1/volumes?${query}`), query).to.deep.equal([400, 'INVALID_ARGUMENT']);
  });

  it('A4 C5 a client that waits for a claim disconnects: its place in the queue is gone', async () => {
    await ask('POST', '/v1/volumes', spec('data'));
    const use = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' };
    await ask('POST', at('data', '/claim'), { allocId: 'run-1', nodeId: 'a', ...use });
    const gone = new AbortController();
    const body = JSON.stringify({ allocId: 'run-2', nodeId: 'a', wait: true, ...use });
    const headers = { 'content-type': 'application/json' };
    const path = at('data', '/claim');
    const call = request({ socketPath, method: 'POST', path, headers, signal: gone.signal }).on('error', () => {});
    call.end(body);
    while ((await get('data')).waiting.length === 0);
    gone.abort();
    while ((await get('data')).waiting.length === 1);
    expect((await get('data')).claims.map(({ allocId }) => allocId)).to.deep.equal(['run-1']);
  });

  it('A4 V6 a size above 2⁵³−1 is a text, both ways', async () => {
    const large = '9007199254740993';
    await ask('POST', '/v1/volumes', spec('large', { capacity: { requiredBytes: large } }));
    expect((await get('large')).capacityBytes).to.equal(large);
    expect(await ask('POST', at('large', '/expand'), { requiredBytes: '9007199254740995' })).to.deep.include({
      capacityBytes: '9007199254740995',
    });
  });

  it('A4 V1 a request that takes too long: TIMEOUT, and the work goes on', async () => {
    let answer = (): void => {};
    const before = new Promise<void>((resolve) => {
      answer = resolve;
    });
    house.plugin.script = () => ({ before });
    const asked = refusal('POST', '/v1/volumes?timeoutMs=1000', spec('data'));
    while ((await refusal('GET', at('data')))[0] === 404);
    await house.clock.advance(1_000);
    expect(await asked).to.deep.equal([504, 'TIMEOUT']);
    expect(await get('data')).to.include({ state: 'pending-create' });
    answer();
    while ((await get('data')).state !== 'created');
  });

  it('A4 a refusal by the plugin has its gRPC code, and advice', async () => {
    house.plugin.script = () => ({ code: 'OUT_OF_RANGE', text: 'too large' });
    const refused: unknown = await ask('POST', '/v1/volumes', spec('data')).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'CSI_ERROR' });
    expect(String(refused)).to.match(
      /too large.*; delete it and create it with a corrected spec, or fix the cause and retry$/,
    );
    expect(await refusal('POST', '/v1/volumes', spec('data'))).to.deep.equal([502, 'CSI_ERROR']);
    expect((await get('data')).error).to.include({ code: 'CSI_ERROR', grpcCode: 'OUT_OF_RANGE', final: true });
    house.plugin.script = () => undefined;
    expect(await refusal('POST', at('data', '/retry'))).to.deep.equal([204, undefined]);
    await house.rest();
    expect(await get('data')).to.include({ state: 'created' });
  });

  it('A4 V6 a retry accepts another driver; acceptDriver that is not a text is refused', async () => {
    await ask('POST', '/v1/volumes', spec('data'));
    expect(await get('data')).to.include({ driver: 'fake.example' });
    const accepting = (acceptDriver: unknown) => refusal('POST', at('data', '/retry'), { acceptDriver });
    expect(await accepting(1)).to.deep.equal([400, 'INVALID_ARGUMENT']);
    expect(await accepting('other.example')).to.deep.equal([204, undefined]);
    expect(await get('data')).to.include({ driver: 'other.example' });
    expect(await refusal('POST', at('data', '/delete'))).to.deep.equal([409, 'OTHER_DRIVER']);
  });

  it('A4 V15 availability is set, its refusals have a code; malformed requests are refused', async () => {
    await ask('POST', '/v1/volumes', spec('data'));
    const availability = at('data', '/availability');
    expect(await refusal('POST', availability, { availability: 'pause' })).to.deep.equal([204, undefined]);
    expect(await refusal('POST', at('data', '/publish'), { nodeId: 'a' })).to.deep.equal([409, 'VOLUME_UNAVAILABLE']);
    for (const [path, body] of [
      ['/v1/volumes', undefined],
      ['/v1/volumes', []],
      ['/v1/volumes', spec('x', { capacity: { requiredBytes: 'much' } })],
      ['/v1/volumes', spec('x', { capacity: { requiredBytes: -1, limitBytes: '-2' } })],
      [at('data', '/publish'), undefined],
      [at('data', '/publish'), { nodeId: 5 }],
      [at('data', '/publish'), { nodeId: 'a', readOnly: 'yes' }],
      [at('data', '/publish?timeoutMs=-1'), { nodeId: 'a' }],
      [at('data', '/claim'), undefined],
      [at('data', '/release'), {}],
      [at('data', '/expand'), { requiredBytes: 'much' }],
      [at('data', '/modify'), {}],
      [availability, { availability: 'open' }],
      ['/v1/capacity', {}],
    ] as const)
      expect(await refusal('POST', path, body), `${path} ${JSON.stringify(body)}`).to.deep.equal([
        400,
        'INVALID_ARGUMENT',
      ]);
    for (const [path, code, body] of [
      [at('none', '/retry'), 'VOLUME_NOT_FOUND', {}],
      [at('none', '/acknowledge'), 'VOLUME_NOT_FOUND', {}],
      ['/v1/nodes/none/fence', 'NODE_NOT_FOUND', { reason: 'x' }],
    ] as const)
      expect(await refusal('POST', path, body), path).to.deep.equal([404, code]);
  });

  it('A4 V5 C2 a released claim is gone once its node reports the volume unstaged', async () => {
    await ask('POST', '/v1/volumes', spec('data'));
    await ask('POST', at('data', '/publish'), { nodeId: 'a' });
    const use = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' };
    await ask('POST', at('data', '/claim'), { allocId: 'run-1', nodeId: 'a', ...use });
    expect(await refusal('POST', at('data', '/release'), { allocId: 'run-1' })).to.deep.equal([204, undefined]);
    await house.rest();
    const released = await get('data');
    expect(released.claims.map(({ state }) => state)).to.deep.equal(['unpublishing']);
    expect(released.publications.a?.step).to.equal('pending-node-unpublish');
    expect(released.parts).to.deep.equal([
      { id: 'lifecycle', chart: 'lifecycle', at: 'created' },
      {
        ...{ id: 'publication/a', chart: 'publication', at: 'pending-node-unpublish' },
        words: 'waits for the node to unstage it',
        why: 'alloc run-1 is being released: see stagecraft alloc status run-1 on node a',
      },
    ]);
    const unstaged = { volume: { id: 'data' }, claimGeneration: 1 };
    expect(await refusal('POST', '/v1/nodes/a/unstaged', { volume: { id: 'data' } })).to.deep.equal([
      400,
      'INVALID_ARGUMENT',
    ]);
    const other = { ...unstaged, allocId: 'run-2' };
    expect(await refusal('POST', '/v1/nodes/a/unstaged', other)).to.deep.equal([204, undefined]);
    expect((await get('data')).claims.map(({ state }) => state)).to.deep.equal(['unpublishing']);
    const own = { ...unstaged, allocId: 'run-1' };
    expect(await refusal('POST', '/v1/nodes/a/unstaged', own)).to.deep.equal([204, undefined]);
    await house.rest();
    expect(await get('data')).to.deep.include({ state: 'created', claims: [], publications: {} });
  });

  it('A4 an empty body is accepted where none is needed, also as JSON; broken JSON is refused', async () => {
    const statusOf = async (body: string): Promise<number | undefined> => {
      const headers = { 'content-type': 'application/json' };
      const call = request({ socketPath, method: 'POST', path: '/v1/nodes/c/down', headers });
      call.end(body);
      const [response] = await once(call, 'response');
      response.resume();
      return response.statusCode;
    };
    expect(await statusOf('')).to.equal(204);
    expect(await statusOf('{')).to.equal(400);
  });

  it('A4 N1 N3 nodes report, are listed, fenced and removed', async () => {
    const ids = async (): Promise<unknown[]> =>
      ((await ask('GET', '/v1/nodes')) as { id: string; state: string }[]).map(({ id, state }) => [id, state]);
    expect(await ids()).to.deep.equal(['a', 'b', 'c'].map((id) => [id, 'ready']));
    const plugins = [{ name: 'disk', nodeId: 'csi-d', maxVolumes: 3 }];
    expect(await refusal('POST', '/v1/nodes/d/report', { plugins })).to.deep.equal([204, undefined]);
    expect(await ask('GET', '/v1/nodes/d')).to.deep.equal({ id: 'd', state: 'ready', plugins });
    expect(await refusal('POST', '/v1/nodes/d/report', { plugins: [{}] })).to.deep.equal([400, 'INVALID_ARGUMENT']);
    expect(await refusal('POST', '/v1/nodes/d/fence', {})).to.deep.equal([400, 'INVALID_ARGUMENT']);
    expect(await refusal('POST', '/v1/nodes/d/fence', { reason: 'no power' })).to.deep.equal([204, undefined]);
    await house.rest();
    expect(await ask('GET', '/v1/nodes/d')).to.deep.include({ state: 'down' });
    expect(await refusal('POST', '/v1/nodes/d/remove')).to.deep.equal([204, undefined]);
    expect(await refusal('POST', '/v1/nodes/c/down')).to.deep.equal([204, undefined]);
    await house.rest();
    expect(await ids()).to.deep.equal([
      ['a', 'ready'],
      ['b', 'ready'],
      ['c', 'down'],
    ]);
    expect(await refusal('GET', '/v1/nodes/d')).to.deep.equal([404, 'NODE_NOT_FOUND']);
  });
});

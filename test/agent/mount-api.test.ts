/** API of allocs and mounts, with a runtime that has volumes, but no plugin to mount them. */
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { AllocReport, MountReport } from '../../src/api/node-routes.js';
import type { AllocVolumeRequest } from '../../src/index.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const use = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const data: AllocVolumeRequest = { name: 'd', volume: { id: 'data' }, mode: 'write', taskPath: '/data', ...use };

describe('A4 allocs and mounts through the API', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askAgent(socketPath, method, path, { ...(body && { body }) });
  const allocs = async (): Promise<AllocReport[]> => (await ask('GET', '/v1/allocs')) as AllocReport[];
  const refusal = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<[status: number | undefined, code: unknown]> => {
    const { status, code } = await answerOf(socketPath, method, path, body);
    return [status, code];
  };
  /** Waits until the alloc's volume waits. @returns the reason */
  const waiting = async (id: string): Promise<string> => {
    for (;;) {
      const alloc = (await allocs()).find(({ allocId }) => allocId === id);
      if (alloc?.waits.d !== undefined) return alloc.waits.d;
      await house.rest();
    }
  };

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
    socketPath = join(house.directory, 'agent.sock');
    const drain = async (): Promise<void> => {};
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
  });
  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  it('A4 H1 H2 the client of a prepare disconnects: the prepare goes on, and can be released', async () => {
    const body = JSON.stringify({ volumes: [data] });
    const headers = { 'content-type': 'application/json' };
    const gone = request({ socketPath, method: 'POST', path: '/v1/allocs/a%2Fb/prepare', headers });
    const broken = once(gone, 'error');
    gone.end(body);
    const reason = await waiting('a/b');
    gone.destroy(new Error('gone'));
    await broken;
    await house.rest();
    expect(reason).to.include('controller-1');
    const { volumes, ...status } = (await ask('GET', '/v1/allocs/a%2Fb')) as AllocReport;
    expect(volumes.map(({ name, state }) => [name, state])).to.deep.equal([['d', 'waiting']]);
    expect(status).to.deep.equal({ allocId: 'a/b', state: 'preparing', waits: { d: reason } });
    expect(await refusal('POST', '/v1/allocs/a%2Fb/release')).to.deep.equal([204, undefined]);
    expect(await allocs()).to.deep.equal([]);
    expect(await refusal('POST', '/v1/allocs/a%2Fb/release', { timeoutMs: 5 })).to.deep.equal([204, undefined]);
  });

  it('A4 H1 a prepare runs into its timeout: 504 with the reason, and it is undone', async () => {
    const answer = refusal('POST', '/v1/allocs/web/prepare', { volumes: [data], timeoutMs: 10_000 });
    const reason = await waiting('web');
    await house.clock.advance(10_000);
    expect(await answer).to.deep.equal([504, 'TIMEOUT']);
    const [alloc] = await allocs();
    expect(alloc).to.deep.include({ allocId: 'web', state: 'failed', waits: {} });
    expect(alloc?.error?.message).to.include(reason);
    expect((await house.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
  });

  it('A4 H1 wrong requests get their status, and nothing starts', async () => {
    const [status, code] = await refusal('POST', '/v1/allocs/web/prepare', {});
    expect([status, code]).to.deep.equal([400, 'INVALID_ARGUMENT']);
    for (const volumes of [[], {}, [{ ...data, taskPath: 'x' }], [data, data], [{ ...data, size: 1 }]])
      expect(await refusal('POST', '/v1/allocs/web/prepare', { volumes })).to.deep.equal([400, 'INVALID_ARGUMENT']);
    for (const timeoutMs of [0, '5', -1])
      expect(await refusal('POST', '/v1/allocs/web/prepare', { volumes: [data], timeoutMs })).to.deep.equal([
        400,
        'INVALID_ARGUMENT',
      ]);
    expect(await refusal('POST', `/v1/allocs/${'x'.repeat(300)}/prepare`, { volumes: [data] })).to.deep.equal([
      400,
      'INVALID_ARGUMENT',
    ]);
    expect(await allocs()).to.deep.equal([]);
    const missing = { ...data, volume: { id: 'nix' } };
    expect(await refusal('POST', '/v1/allocs/web/prepare', { volumes: [missing] })).to.deep.equal([
      404,
      'VOLUME_NOT_FOUND',
    ]);
    expect(await refusal('POST', '/v1/allocs/web/release')).to.deep.equal([204, undefined]);
  });

  it('A4 prepare of an alloc that has other volumes: 409', async () => {
    const prepared = refusal('POST', '/v1/allocs/web/prepare', { volumes: [data] });
    await waiting('web');
    const other = { ...data, taskPath: '/other' };
    expect(await refusal('POST', '/v1/allocs/web/prepare', { volumes: [other] })).to.deep.equal([
      409,
      'CLAIM_CONFLICT',
    ]);
    await ask('POST', '/v1/allocs/web/release');
    expect(await prepared).to.deep.equal([409, 'ABORTED']);
  });

  it('A4 unknown allocs and mounts: 404', async () => {
    expect(await refusal('GET', '/v1/allocs/web')).to.deep.equal([404, 'ALLOC_NOT_FOUND']);
    expect(await refusal('GET', '/v1/mounts/team/data/stats')).to.deep.equal([404, 'MOUNT_NOT_FOUND']);
    expect(await refusal('POST', '/v1/mounts/team/data/retry')).to.deep.equal([404, 'MOUNT_NOT_FOUND']);
    expect((await ask('GET', '/v1/mounts')) as MountReport[]).to.deep.equal([]);
    expect(await ask('GET', '/v1/orphaned-mounts')).to.deep.equal([]);
    for (const body of [{ path: '/etc' }, {}])
      expect(await refusal('POST', '/v1/orphaned-mounts/clean', body)).to.deep.equal([400, 'INVALID_ARGUMENT']);
  });
});

/** API of snapshots, with a runtime and a plugin in this process. */
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { GroupSnapshotReport, SnapshotPage, SnapshotReport } from '../../src/api/volume-routes.js';
import { inCommandWords } from '../../src/cli/connection.js';
import { AgentError } from '../../src/client/agent-error.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const large = '9007199254740993';

describe('A4 snapshots through the API', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askAgent(socketPath, method, path, { ...(body && { body }) });
  const refusal = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<[number | undefined, unknown]> => {
    const { status, code } = await answerOf(socketPath, method, path, body);
    return [status, code];
  };
  const done = [204, undefined];
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
    socketPath = join(house.directory, 'agent.sock');
    const drain = async (): Promise<void> => {};
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
    for (const id of ['data', 'wal'])
      await ask('POST', '/v1/volumes', spec(id, { capacity: { requiredBytes: large } }));
  });
  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  const at = (id: string, request = ''): string => `/v1/snapshots/default/${encodeURIComponent(id)}${request}`;
  const get = async (id: string): Promise<SnapshotReport> => (await ask('GET', at(id))) as SnapshotReport;
  const ids = async (query: string): Promise<[ids: string[], next: string | undefined]> => {
    const { items, next } = (await ask('GET', `/v1/snapshots?${query}`)) as SnapshotPage;
    return [items.map(({ key }) => key.id), next];
  };

  it('A4 V1 V6 a snapshot from creation to deletion; a size above 2⁵³−1 is a text', async () => {
    const asked = { id: 'a/b c', volume: { id: 'data' } };
    const made = (await ask('POST', '/v1/snapshots', asked)) as SnapshotReport;
    const key = { namespace: 'default', id: 'a/b c' };
    const volume = { namespace: 'default', id: 'data' };
    expect(made).to.deep.include({ key, state: 'ready', csiId: 'snap-1', volume, sizeBytes: large });
    expect(await get('a/b c')).to.deep.equal(made);
    const other = { ...asked, volume: { id: 'wal' } };
    expect(await refusal('POST', '/v1/snapshots', other)).to.deep.equal([409, 'SNAPSHOT_EXISTS']);
    const copy = spec('copy', { source: { volumeSnapshot: 'a/b c' } });
    expect(await ask('POST', '/v1/volumes', copy)).to.include({ state: 'created' });
    expect(await refusal('POST', at('a/b c', '/delete'))).to.deep.equal(done);
    expect(await refusal('GET', at('a/b c'))).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
    expect(await refusal('POST', at('a/b c', '/delete'))).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('A4 V1 a group snapshot from creation to deletion; its id is not found as a snapshot', async () => {
    const asked = { id: 'monday', volumes: [{ id: 'wal' }, { id: 'data' }] };
    const made = (await ask('POST', '/v1/group-snapshots', asked)) as GroupSnapshotReport;
    expect(made).to.deep.include({ state: 'ready', csiId: 'group-1' });
    expect(made.snapshots).to.deep.equal([
      { csiId: 'group-1-of-vol-1', volume: { namespace: 'default', id: 'data' }, sizeBytes: large },
      { csiId: 'group-1-of-vol-2', volume: { namespace: 'default', id: 'wal' }, sizeBytes: large },
    ]);
    const path = '/v1/group-snapshots/default/monday';
    expect(await ask('GET', path)).to.deep.equal(made);
    expect(await ask('GET', '/v1/group-snapshots')).to.deep.equal({ items: [made] });
    expect(await ids('')).to.deep.equal([[], undefined]);
    expect(await refusal('GET', at('monday'))).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
    expect(await refusal('POST', `${path}/delete`)).to.deep.equal(done);
    expect(await refusal('GET', path)).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
    const refused: unknown = await ask('GET', path).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(AgentError);
    expect(inCommandWords(refused as AgentError).message).to.equal(
      'there is no group snapshot default/monday: see stagecraft group-snapshot list',
    );
  });

  it('A4 V21 lists have pages and filters', async () => {
    for (const id of ['a', 'b', 'c']) await ask('POST', '/v1/snapshots', { id, volume: { id: 'data' } });
    const [first, next] = await ids('namespace=default&limit=2');
    expect(first).to.deep.equal(['a', 'b']);
    expect(await ids(`limit=2&after=${encodeURIComponent(next ?? '')}`)).to.deep.equal([['c'], undefined]);
    expect(await ids('state=ready&plugin=disk')).to.deep.equal([['a', 'b', 'c'], undefined]);
    for (const query of ['state=failed', 'plugin=other', 'namespace=other'])
      expect(await ids(query), query).to.deep.equal([[], undefined]);
    for (const query of ['limit=0', 'limit=x', 'state=odd', 'size=1'])
      expect(await refusal('GET', `/v1/snapshots?${query}`), query).to.deep.equal([400, 'INVALID_ARGUMENT']);
  });

  it('A4 V1 a snapshot not ready in time: TIMEOUT, no source; during its deletion not created again', async () => {
    house.plugin.unreadyFor = 1_000;
    const asked = { id: 'monday', volume: { id: 'data' } };
    const waiting = refusal('POST', '/v1/snapshots?timeoutMs=100', asked);
    while ((await refusal('GET', at('monday')))[0] === 404);
    while ((await get('monday')).state !== 'waiting');
    await house.clock.advance(100);
    expect(await waiting).to.deep.equal([504, 'TIMEOUT']);
    expect((await get('monday')).error).to.include({ code: 'SNAPSHOT_NOT_READY' });
    const copy = spec('copy', { source: { volumeSnapshot: 'monday' } });
    expect(await refusal('POST', '/v1/volumes', copy)).to.deep.equal([409, 'SNAPSHOT_NOT_READY']);
    let answer = (): void => {};
    const before = new Promise<void>((resolve) => {
      answer = resolve;
    });
    house.plugin.script = () => ({ before });
    const deleted = refusal('POST', at('monday', '/delete'));
    while ((await get('monday')).state !== 'pending-delete');
    expect(await refusal('POST', '/v1/snapshots', asked)).to.deep.equal([409, 'SNAPSHOT_DELETING']);
    answer();
    expect(await deleted).to.deep.equal(done);
  });

  it('A4 V13 a refusal by the plugin is reported and retried; leftovers are acknowledged', async () => {
    house.plugin.script = () => ({ code: 'INVALID_ARGUMENT', text: 'not this one' });
    const asked = { id: 'monday', volume: { id: 'data' } };
    expect(await refusal('POST', '/v1/snapshots', asked)).to.deep.equal([502, 'CSI_ERROR']);
    expect((await get('monday')).error).to.include({ grpcCode: 'INVALID_ARGUMENT', final: true });
    house.plugin.script = () => undefined;
    expect(await refusal('POST', at('monday', '/retry'))).to.deep.equal(done);
    await house.rest();
    expect(await get('monday')).to.include({ state: 'ready' });
    expect(await refusal('POST', at('monday', '/acknowledge'))).to.deep.equal([409, 'NOTHING_LEFT']);
    house.plugin.script = () => ({ code: 'PERMISSION_DENIED', text: 'not yours' });
    expect(await refusal('POST', at('monday', '/delete'))).to.deep.equal([502, 'CSI_ERROR']);
    expect(await refusal('POST', at('monday', '/delete'), { force: true })).to.deep.equal(done);
    expect((await get('monday')).leftovers).to.have.length(1);
    expect(await refusal('POST', '/v1/snapshots', asked)).to.deep.equal([409, 'SNAPSHOT_EXISTS']);
    expect(await refusal('POST', at('monday', '/acknowledge'))).to.deep.equal(done);
    expect(await refusal('GET', at('monday'))).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
  });

  it('A4 V2 malformed requests and unknown snapshots are refused', async () => {
    const asked = { id: 'x', volume: { id: 'data' } };
    for (const [path, body] of [
      ['/v1/snapshots', undefined],
      ['/v1/snapshots', []],
      ['/v1/snapshots', { ...asked, size: 5 }],
      ['/v1/snapshots?timeoutMs=-1', asked],
      ['/v1/group-snapshots', asked],
      ['/v1/group-snapshots', { id: 'x', volumes: [] }],
      [at('x', '/delete'), { force: 'yes' }],
    ] as const)
      expect(await refusal('POST', path, body), `${path} ${JSON.stringify(body)}`).to.deep.equal([
        400,
        'INVALID_ARGUMENT',
      ]);
    expect(await refusal('POST', '/v1/snapshots', { ...asked, volume: { id: 'none' } })).to.deep.equal([
      404,
      'VOLUME_NOT_FOUND',
    ]);
    for (const request of ['/retry', '/acknowledge', '/delete'])
      expect(await refusal('POST', at('x', request)), request).to.deep.equal([404, 'SNAPSHOT_NOT_FOUND']);
    expect(await ids('')).to.deep.equal([[], undefined]);
  });
});

/** Tests secrets with a driver on a real socket: only the driver gets them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { CsiStatus } from '../../src/csi/server.js';
import {
  createRuntime,
  fileSecrets,
  type Runtime,
  StagecraftError,
  type Volume,
  type VolumeSpec,
} from '../../src/index.js';
import { Scene } from '../testing/scene.js';

const filesBelow = (directory: string): Buffer =>
  Buffer.concat(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path)),
  );

describe('secrets of a volume', () => {
  let scene: Scene;
  const key = { id: 'data' };
  const first = 'first-p4ssw0rd';
  const rotated = 'rotated-p4ssw0rd';
  let runtime: Runtime;
  let directory: string;
  let dataDir: string;
  let given: Record<string, string>[];
  let logs: unknown[];
  let refuses: boolean;

  beforeEach(async () => {
    given = [];
    logs = [];
    refuses = false;
    scene = new Scene();
    const { folder, socketPath } = scene;
    dataDir = join(folder, 'runtime');
    directory = join(folder, 'secrets');
    mkdirSync(directory);
    await scene.server({
      CreateVolume: ({ name, secrets }) => {
        given.push({ rpc: 'CreateVolume', ...secrets });
        if (refuses) throw new CsiStatus('PERMISSION_DENIED', `'${secrets.password}' is wrong for ${secrets.user}`);
        return { volume: { volumeId: name, capacityBytes: 1n, volumeContext: {}, accessibleTopology: [] } };
      },
      DeleteVolume: ({ secrets }) => {
        given.push({ rpc: 'DeleteVolume', ...secrets });
        return {};
      },
    });
    const log = (...said: unknown[]): void => void logs.push(said);
    runtime = await createRuntime({
      nodeId: 'n1',
      dataDir,
      secrets: fileSecrets(directory),
      retry: { initialMs: 1, maxMs: 5 },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    await runtime.plugins.register({
      type: 'csi-controller',
      name: 'disk',
      allocId: 'disk-1',
      connection: { socketPath },
    });
    await runtime.plugins.waitFor('csi-controller', 'disk', { timeoutMs: 10_000 });
  });
  afterEach(async () => {
    await runtime.close();
    await scene.end();
  });

  const create = (options = {}): Promise<unknown> =>
    runtime.volumes.create(
      {
        ...key,
        plugin: 'disk',
        capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }],
        secrets: { user: 'file:user', password: { file: 'password' } },
      },
      options,
    );

  async function volumeOnce(isSo: (volume: Volume) => boolean): Promise<Volume> {
    for (;;) {
      const volume = await runtime.volumes.get(key);
      if (volume && isSo(volume)) return volume;
      await nextTurn();
    }
  }

  /** Collects everything that is visible outside of the call: store, journal, events, logs and errors. */
  async function seen(): Promise<string> {
    const entries: unknown[] = [];
    for await (const entry of runtime.journal.entries('volume/default/data')) entries.push(entry);
    const told: unknown[] = [];
    for await (const event of runtime.volumes.updates({ from: '0' })) {
      told.push(event);
      if (event.kind === 'deleted') break;
    }
    const records = [runtime.actors.list(), await runtime.volumes.get(key)];
    return JSON.stringify([entries, told, records, logs]);
  }
  it('V14 missing secret: create is refused at once; with wait it goes on once the secret exists', async () => {
    const { volumes } = runtime;
    const spec: VolumeSpec = {
      ...{ ...key, plugin: 'disk', capacity: {}, secrets: { password: 'file:new', user: 'file:new' } },
      capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }],
    };
    const refused = await volumes.create(spec).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'SECRETS_UNAVAILABLE' });
    expect(String(refused)).to.match(/password \(file:new\): there is no such file in .*\. Nothing was stored/);
    expect([await volumes.get(key), given]).to.deep.equal([undefined, []]);
    const made = volumes.create(spec, { wait: true });
    writeFileSync(join(directory, 'new'), first);
    expect((await made).state).to.equal('created');
  });

  it('V10 V19 missing secret: the volume waits, naming it, and goes on once it exists', async () => {
    writeFileSync(join(directory, 'user'), 'anna');
    const created = create({ wait: true });
    const { state, error } = await volumeOnce(({ error }) => error !== undefined);
    expect({ state, message: error?.message }).to.deep.equal({
      state: 'pending-create',
      message: `cannot resolve secrets: password (file:password): there is no such file in ${directory}`,
    });
    writeFileSync(join(directory, 'password'), first);
    await created;
    expect(given).to.deep.equal([{ rpc: 'CreateVolume', user: 'anna', password: first }]);
  });

  it('V19 the driver gets them, also after a rotation; no store, journal, event, log or error has a value', async () => {
    writeFileSync(join(directory, 'user'), 'anna-of-secrets\n');
    writeFileSync(join(directory, 'password'), `${first}\n`);
    refuses = true;
    const error: unknown = await create().catch((reason: unknown) => reason);
    expect(error)
      .to.be.instanceOf(StagecraftError)
      .and.to.include({ code: 'CSI_ERROR', grpcCode: 'PERMISSION_DENIED' });
    refuses = false;
    writeFileSync(join(directory, 'password'), `${rotated}\n`);
    await runtime.volumes.retry(key);
    await volumeOnce(({ state }) => state === 'created');
    await runtime.volumes.delete(key);
    expect(given.map(({ rpc, password }) => [rpc, password])).to.deep.equal([
      ['CreateVolume', first],
      ['CreateVolume', rotated],
      ['DeleteVolume', rotated],
    ]);
    const shown = `${await seen()} ${JSON.stringify(error)} ${String(error)}`;
    expect(shown).to.include('file:user').and.to.include("'***' is wrong for ***");
    await runtime.close();
    rmSync(directory, { recursive: true });
    const kept = filesBelow(dataDir);
    expect(kept.includes('file:user')).to.equal(true);
    for (const value of [first, rotated, 'anna-of-secrets']) {
      expect(shown).not.to.include(value);
      expect(kept.includes(value)).to.equal(false);
    }
  });
});

/** Tests snapshots, expansion and capacity against the bundled driver on a real socket: driver and records must agree. */
import { join } from 'node:path';
import { expect } from 'chai';
import { createRuntime, type Runtime } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { DriverLab, mi } from '../driver/driver-lab.js';
import { refusalOf } from '../refusal.js';
import { spec } from '../volumes/volume-house.js';

describe('snapshots by the bundled driver', () => {
  let lab: DriverLab;
  let runtime: Runtime;
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start();
    runtime = await createRuntime({ nodeId: 'n1', dataDir: join(lab.folder, 'runtime'), store: memoryStore() });
    const connection = { socketPath: lab.socketPath };
    await runtime.plugins.register({ type: 'csi-controller', name: 'disk', allocId: 'disk-1', connection });
    for (const id of ['data', 'wal']) await runtime.volumes.create(spec(id, { capacity: { requiredBytes: mi } }));
  });
  afterEach(async () => {
    await runtime.close();
    await lab.close();
  });

  const idOf = async (id: string): Promise<string | undefined> => (await runtime.volumes.get({ id }))?.csiId;

  it('V1 V2 snapshot created, and a volume from it; nothing remains after both are deleted', async () => {
    const made = await runtime.snapshots.create({ id: 'monday', volume: { id: 'data' } });
    expect(made).to.deep.include({ state: 'ready', sizeBytes: mi });
    expect(made.takenAtMs).to.be.a('number');
    expect(await lab.snapshotIds()).to.deep.equal([made.csiId]);
    const copy = await runtime.volumes.create(spec('copy', { source: { volumeSnapshot: 'monday' } }));
    expect(copy.source).to.deep.equal({ volumeSnapshot: 'monday', csiId: made.csiId });
    expect(await lab.volumeIds()).to.have.members([await idOf('data'), await idOf('wal'), copy.csiId]);
    await runtime.snapshots.delete({ id: 'monday' });
    for (const id of ['copy', 'data', 'wal']) await runtime.volumes.delete({ id });
    expect(await lab.snapshotIds()).to.deep.equal([]);
    expect(await lab.volumeIds()).to.deep.equal([]);
  });

  it('V1 group snapshot created at one moment, and deleted with all members', async () => {
    const made = await runtime.groupSnapshots.create({ id: 'monday', volumes: [{ id: 'data' }, { id: 'wal' }] });
    expect(made.state).to.equal('ready');
    expect(made.snapshots.map(({ volume }) => volume?.id)).to.have.members(['data', 'wal']);
    expect(await lab.snapshotIds()).to.have.members(made.snapshots.map(({ csiId }) => csiId));
    const [member] = made.snapshots;
    const volumeSnapshot = member?.csiId ?? '';
    const copy = await runtime.volumes.create(spec('copy', { source: { volumeSnapshot } }));
    expect(copy.state).to.equal('created');
    await runtime.groupSnapshots.delete({ id: 'monday' });
    expect(await lab.snapshotIds()).to.deep.equal([]);
  });

  it('V1 V16 volume grows but never shrinks; the free capacity can be requested', async () => {
    const grown = await runtime.volumes.expand({ id: 'data' }, { requiredBytes: 2 * mi });
    expect(grown.capacityBytes).to.equal(2 * mi);
    expect((await refusalOf(runtime.volumes.expand({ id: 'data' }, { requiredBytes: mi / 2 }))).code).to.equal(
      'INVALID_ARGUMENT',
    );
    const { availableBytes } = await runtime.volumes.capacity('disk');
    expect(Number(availableBytes)).to.be.greaterThan(0);
  });

  it('V11 driver away, then back: requests from meanwhile are done', async () => {
    await lab.stop();
    const making = runtime.snapshots.create({ id: 'monday', volume: { id: 'data' } });
    await refusalOf(runtime.snapshots.create({ id: 'monday', volume: { id: 'data' } }, { timeoutMs: 20 }));
    await lab.start();
    await runtime.snapshots.retry({ id: 'monday' });
    const made = await making;
    expect(await lab.snapshotIds()).to.deep.equal([made.csiId]);
  });
});

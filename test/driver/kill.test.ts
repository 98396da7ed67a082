/**
 * SIGKILL on the bundled driver at random moments while it creates, copies, expands and deletes: what it had answered is
 * so, what it had not is whole or not there, and the same calls again end it. `ROUNDS=200 SEED=7` for more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { CsiClient } from '../../src/csi/client.js';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/index.js';
import { mainPath } from '../scenarios/agent-process.js';
import { until } from '../until.js';
import { mi, mounted, there } from './driver-lab.js';

const rounds = Number(process.env.ROUNDS ?? 12);
const seed = Number(process.env.SEED ?? 20261121);
const workers = ['w1', 'w2', 'w3'];

interface KnownVolume {
  worker: string;
  name: string;
  bytes: number;
  source?: object;
}

interface KnownSnapshot {
  worker: string;
  bytes: number;
  groupId: string;
}

interface KnownGroup {
  worker: string;
  name: string;
  snapshotIds: string[];
  sourceVolumeIds: string[];
}

async function startProcess(folder: string, env: NodeJS.ProcessEnv = process.env): Promise<ChildProcess> {
  const place = ['--endpoint', join(folder, 'csi.sock'), '--data-dir', join(folder, 'data')];
  const args = [mainPath, 'driver', ...place, '--node-id', 'n1', '--capacity', '1Ti'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: there(child.stdout ?? undefined) }), 'line');
  expect(line).to.match(/serves/);
  return child;
}

async function killProcess(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A call that may be repeated until it is answered; only then it is noted. */
type Deed = () => Promise<void>;

describe(`${rounds} rounds of SIGKILL on the bundled driver at work, seed ${seed}`, () => {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'driver-kill-'));
  const client = new CsiClient({ socketPath: join(folder, 'csi.sock') });
  const volumes = new Map<string, KnownVolume>();
  const snapshots = new Map<string, KnownSnapshot>();
  const groups = new Map<string, KnownGroup>();
  let child: ChildProcess;
  let names = 0;

  async function start(): Promise<void> {
    child = await startProcess(folder);
  }

  const kill = (): Promise<void> => killProcess(child);

  before(start);
  after(async () => {
    client.close();
    await kill();
    rmSync(folder, { recursive: true });
  });

  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random.next() * items.length)];
  const own = <T extends { worker: string }>(worker: string, known: Map<string, T>): [string, T][] =>
    [...known].filter(([, { worker: owner }]) => owner === worker);
  const contentOf = (id: string): string => join(folder, 'data', 'content', id);

  function newName(kind: string): string {
    names += 1;
    return `${kind}-${names}`;
  }

  function create(worker: string, bytes = mi, source?: object): Deed {
    const known: KnownVolume = { worker, name: newName('volume'), bytes, ...(source && { source }) };
    return async () => {
      const id = await created(known);
      if (!source) writeFileSync(join(contentOf(id), 'file'), 'content');
      volumes.set(id, known);
    };
  }

  async function created({ name, bytes, source }: KnownVolume): Promise<string> {
    const { volume } = await client.createVolume({
      name,
      volumeCapabilities: [mounted()],
      capacityRange: { requiredBytes: bytes },
      ...(source && { volumeContentSource: source }),
    });
    return there(volume).volumeId;
  }

  function takeSnapshot(worker: string, sourceVolumeId: string): Deed {
    const name = newName('snapshot');
    return async () => {
      const { snapshot } = await client.createSnapshot({ name, sourceVolumeId });
      const { snapshotId, sizeBytes } = there(snapshot);
      snapshots.set(snapshotId, { worker, bytes: Number(sizeBytes), groupId: '' });
    };
  }

  function takeGroup(worker: string, sourceVolumeIds: string[]): Deed {
    const name = newName('group');
    return async () => {
      const { groupSnapshot } = await client.createVolumeGroupSnapshot({ name, sourceVolumeIds });
      const { groupSnapshotId, snapshots: members } = there(groupSnapshot);
      const snapshotIds = members.map(({ snapshotId }) => snapshotId);
      groups.set(groupSnapshotId, { worker, name, snapshotIds, sourceVolumeIds });
      for (const { snapshotId, sizeBytes } of members) {
        snapshots.set(snapshotId, { worker, bytes: Number(sizeBytes), groupId: groupSnapshotId });
      }
    };
  }

  /** What a worker does next, with what is its own. */
  function deedFor(worker: string): Deed {
    const [volumeId, volume] = pick(own(worker, volumes)) ?? [];
    const [snapshotId, snapshot] = pick(own(worker, snapshots)) ?? [];
    const [groupId, group] = pick(own(worker, groups)) ?? [];
    const dice = random.next();
    if (volumeId === undefined || !volume || dice < 0.2) return create(worker);
    if (dice < 0.3) return create(worker, volume.bytes, { volume: { volumeId } });
    if (dice < 0.4) return takeSnapshot(worker, volumeId);
    if (dice < 0.5)
      return takeGroup(
        worker,
        own(worker, volumes)
          .map(([id]) => id)
          .slice(0, 3),
      );
    if (dice < 0.6) {
      const bytes = volume.bytes + mi;
      return async () => {
        await client.controllerExpandVolume({ volumeId, capacityRange: { requiredBytes: bytes } });
        volume.bytes = bytes;
      };
    }
    if (dice < 0.7 && snapshotId !== undefined && snapshot)
      return create(worker, snapshot.bytes, { snapshot: { snapshotId } });
    if (dice < 0.8 && snapshotId !== undefined && snapshot?.groupId === '') {
      return async () => {
        await client.deleteSnapshot({ snapshotId });
        snapshots.delete(snapshotId);
      };
    }
    if (dice < 0.85 && groupId !== undefined && group) {
      return async () => {
        await client.deleteVolumeGroupSnapshot({ groupSnapshotId: groupId, snapshotIds: group.snapshotIds });
        groups.delete(groupId);
        for (const id of group.snapshotIds) snapshots.delete(id);
      };
    }
    return async () => {
      await client.deleteVolume({ volumeId });
      volumes.delete(volumeId);
    };
  }

  /** @returns the deed that was under way when the driver was killed */
  async function work(worker: string): Promise<Deed> {
    for (;;) {
      const deed = deedFor(worker);
      try {
        await deed();
      } catch (error) {
        if (error instanceof StagecraftError && error.answerClass === 'unknown') return deed;
        throw error;
      }
    }
  }

  async function listed(): Promise<{ capacities: Map<string, number>; snapshotIds: string[] }> {
    const { entries } = await client.listVolumes({});
    const { entries: taken } = await client.listSnapshots({});
    const capacities = entries.map(
      ({ volume }) => [there(volume).volumeId, Number(there(volume).capacityBytes)] as const,
    );
    return { capacities: new Map(capacities), snapshotIds: taken.map(({ snapshot }) => there(snapshot).snapshotId) };
  }

  const onDisk = (): string[] => readdirSync(contentOf('.'));

  /** What is listed has content, and there is no other; no copy is half of one. */
  async function expectWhole(): Promise<void> {
    const { capacities, snapshotIds } = await listed();
    expect(onDisk()).to.have.members([...capacities.keys(), ...snapshotIds]);
  }

  async function expectAsKnown(): Promise<void> {
    const { capacities, snapshotIds } = await listed();
    expect(Object.fromEntries(capacities)).to.deep.equal(
      Object.fromEntries([...volumes].map(([id, { bytes }]) => [id, bytes])),
    );
    expect(snapshotIds).to.have.members([...snapshots.keys()]);
    for (const id of onDisk()) expect(readFileSync(join(contentOf(id), 'file'), 'utf8')).to.equal('content');
    for (const [id, known] of volumes) expect(await created(known)).to.equal(id);
    for (const [id, { name, sourceVolumeIds, snapshotIds: members }] of groups) {
      const { groupSnapshot } = await client.createVolumeGroupSnapshot({ name, sourceVolumeIds });
      expect(groupSnapshot?.groupSnapshotId).to.equal(id);
      expect(groupSnapshot?.snapshots.map(({ snapshotId }) => snapshotId)).to.deep.equal(members);
    }
  }

  for (let round = 1; round <= rounds; round += 1) {
    const lifeMs = Math.floor(random.next() * 400);

    it(`round ${round}: killed after ${lifeMs} ms, all that was answered is so, and nothing else`, async () => {
      const working = Promise.all(workers.map(work));
      await Promise.race([setTimeout(lifeMs), working]); // the moment itself, not a wait for something
      await kill();
      const underWay = await working;
      await start();
      await expectWhole();
      for (const deed of underWay) await deed();
      await expectWhole();
      await expectAsKnown();
    });
  }
});

describe('the bundled driver, killed while it copies', () => {
  it('takes the copy with it, and the next one removes what there is of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'driver-kill-'));
    const client = new CsiClient({ socketPath: join(folder, 'csi.sock') });
    const content = join(folder, 'data', 'content');
    const pidFile = join(folder, 'pid');
    const slowly = `#!/bin/sh\nfor last; do :; done\nmkdir "$last"\necho $$ > '${pidFile}.new'\nmv '${pidFile}.new' '${pidFile}'\nexec sleep 1000\n`;
    mkdirSync(join(folder, 'tools'));
    writeFileSync(join(folder, 'tools', 'cp'), slowly, { mode: 0o755 });
    let child = await startProcess(folder, { ...process.env, PATH: `${join(folder, 'tools')}:${process.env.PATH}` });
    try {
      const { volume } = await client.createVolume({ name: 'a', volumeCapabilities: [mounted()] });
      const sourceVolumeId = there(volume).volumeId;
      const copying = client.createSnapshot({ name: 's', sourceVolumeId }).catch((error: unknown) => error);
      await until(() => existsSync(pidFile));
      const pid = Number(readFileSync(pidFile, 'utf8'));
      expect(isAlive(pid)).to.equal(true);
      await killProcess(child);
      expect(await copying).to.include({ answerClass: 'unknown' });
      await until(() => !isAlive(pid));
      child = await startProcess(folder);
      expect(readdirSync(content)).to.deep.equal([sourceVolumeId]);
      expect((await client.createSnapshot({ name: 's', sourceVolumeId })).snapshot?.readyToUse).to.equal(true);
    } finally {
      client.close();
      await killProcess(child);
      rmSync(folder, { recursive: true });
    }
  });

  /** Also what nobody has waited for is dead. */
  function isAlive(pid: number): boolean {
    try {
      return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
    } catch {
      return false;
    }
  }
});

/**
 * Volumes per second that the bundled driver creates and publishes, over its socket, against a bare program that makes
 * the same directories and files durable, one fsync for each file and each directory that CSI's promises need.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CsiClient } from '../../dist/src/csi/client.js';
import { byTurns, type Contender, report } from './measure.js';

const volumes = 200;
const inFlight = 16;

const volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;

async function synced(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}

async function writeRecord(directory: string, name: string): Promise<void> {
  const path = join(directory, name);
  const file = await open(`${path}.tmp`, 'w');
  await file.writeFile('{}'.padEnd(500));
  await file.sync().finally(() => file.close());
  await rename(`${path}.tmp`, path);
  await synced(directory);
}

/** A volume's directory, and its record, written once when it is made and once when it is published. */
async function bareVolume(folder: string): Promise<void> {
  const name = randomUUID();
  const content = join(folder, 'content', name);
  await mkdir(`${content}.new`);
  await synced(`${content}.new`);
  await rename(`${content}.new`, content);
  await synced(join(folder, 'content'));
  await writeRecord(join(folder, 'records'), name);
  await writeRecord(join(folder, 'records'), name);
}

async function driverVolume(client: CsiClient): Promise<void> {
  const capacityRange = { requiredBytes: 2 ** 20 };
  const request = { name: randomUUID(), capacityRange, volumeCapabilities: [volumeCapability] };
  const { volume } = await client.createVolume(request);
  await client.controllerPublishVolume({ volumeId: volume?.volumeId ?? '', nodeId: 'bench', volumeCapability });
}

const inTurns = (name: string, make: () => Promise<void>): Contender => ({
  name,
  async run() {
    let left = volumes;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await make();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    return volumes;
  },
});

export async function reportDriver(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  for (const directory of ['content', 'records']) mkdirSync(join(folder, directory));
  const socketPath = join(folder, 'csi.sock');
  const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
  const places = ['--endpoint', `unix://${socketPath}`, '--data-dir', join(folder, 'data')];
  const args = [program, 'driver', '--node-id', 'bench', '--attach', ...places];
  const driver = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(driver.stdout, 'data');
  const client = new CsiClient({ socketPath });
  try {
    const contenders = [
      inTurns('the same directories and files, made durable', () => bareVolume(folder)),
      inTurns('stagecraft driver', () => driverVolume(client)),
    ];
    report(`driver: create and publish, ${inFlight} in flight`, 'volumes/s', await byTurns(contenders));
  } finally {
    client.close();
    driver.kill();
    await once(driver, 'exit');
    rmSync(folder, { recursive: true });
  }
}

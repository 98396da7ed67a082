/**
 * What CsiClient adds to a call: calls per second against the generated grpc-js client with the same messages, and the
 * memory of many channels. The plugin is a process of its own: csi-server.ts
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import { CsiClient } from '../../dist/src/csi/client.js';
import { csi } from '../generated/csi.js';
import { controllerPublish, createVolume } from './csi-messages.js';
import type { Measured, Task } from './csi-process.js';
import { byTurns, type Contender, report } from './measure.js';

/** Short turns and many rounds: on a machine with other work a long turn meets another load than the next. */
const rounds = 15;
const leastCalls = 400;
const inFlight = [1, 16, 64, 256];
const channels = 1_000;
const secondMs = 1_000;

type Call = () => Promise<unknown>;

const fileBeside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The RPCs that are measured, each called both ways. */
function callsTo(socketPath: string): { rpcs: Record<string, { bare: Call; ours: Call }>; close(): void } {
  const client = new CsiClient({ socketPath });
  const target = `unix://${socketPath}`;
  const identity = new csi.v1.IdentityClient(target, credentials.createInsecure());
  const controller = new csi.v1.ControllerClient(target, credentials.createInsecure());
  const deadline = () => ({ deadline: Date.now() + 30 * secondMs });
  return {
    rpcs: {
      Probe: {
        bare: () => answered((done) => identity.Probe(new csi.v1.ProbeRequest(), deadline(), done)),
        ours: () => client.probe(),
      },
      CreateVolume: {
        bare: () => answered((done) => controller.CreateVolume(bareCreateVolume(), deadline(), done)),
        ours: () => client.createVolume(createVolume),
      },
      ControllerPublishVolume: {
        bare: () => answered((done) => controller.ControllerPublishVolume(barePublish(), deadline(), done)),
        ours: () => client.controllerPublishVolume(controllerPublish),
      },
    },
    close: () => {
      client.close();
      identity.close();
      controller.close();
    },
  };
}

const answered = (call: (done: (error: Error | null, answer?: unknown) => void) => void): Promise<unknown> =>
  new Promise((resolve, reject) => call((error, answer) => (error ? reject(error) : resolve(answer))));

const mapOf = (record: object = {}): Map<string, string> => new Map(Object.entries(record));

function bareCapability(): csi.v1.VolumeCapability {
  const { MountVolume, AccessMode } = csi.v1.VolumeCapability;
  const mount = new MountVolume({ fs_type: 'ext4', mount_flags: ['noatime', 'discard'] });
  return new csi.v1.VolumeCapability({
    mount,
    access_mode: new AccessMode({ mode: AccessMode.Mode.SINGLE_NODE_WRITER }),
  });
}

function bareCreateVolume(): csi.v1.CreateVolumeRequest {
  const { name = '', capacityRange, parameters, secrets, accessibilityRequirements } = createVolume;
  const topologies = (list: readonly { segments?: object | undefined }[] = []): csi.v1.Topology[] =>
    list.map(({ segments }) => new csi.v1.Topology({ segments: mapOf(segments) }));
  return new csi.v1.CreateVolumeRequest({
    name,
    capacity_range: new csi.v1.CapacityRange({
      required_bytes: String(capacityRange?.requiredBytes),
      limit_bytes: String(capacityRange?.limitBytes),
    }),
    volume_capabilities: [bareCapability()],
    parameters: mapOf(parameters),
    secrets: mapOf(secrets),
    accessibility_requirements: new csi.v1.TopologyRequirement({
      requisite: topologies(accessibilityRequirements?.requisite),
      preferred: topologies(accessibilityRequirements?.preferred),
    }),
  });
}

function barePublish(): csi.v1.ControllerPublishVolumeRequest {
  const { volumeId = '', nodeId = '', secrets, volumeContext } = controllerPublish;
  return new csi.v1.ControllerPublishVolumeRequest({
    volume_id: volumeId,
    node_id: nodeId,
    volume_capability: bareCapability(),
    secrets: mapOf(secrets),
    volume_context: mapOf(volumeContext),
  });
}

/** So many at a time, the next as soon as one is answered. */
function keepingInFlight(name: string, width: number, call: Call): Contender {
  const calls = Math.max(leastCalls, 4 * width);
  const run = async (): Promise<number> => {
    let left = calls;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await call();
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    return calls;
  };
  return { name, run };
}

async function startServer(socketPath: string): Promise<ChildProcess> {
  const args = ['--import=tsx', fileBeside('csi-server.ts'), socketPath];
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  if (server.stdout) await once(server.stdout, 'data');
  return server;
}

async function reportRates(socketPath: string): Promise<void> {
  const { rpcs, close } = callsTo(socketPath);
  for (const [rpc, { bare, ours }] of Object.entries(rpcs)) {
    for (const width of inFlight) {
      const contenders = [
        keepingInFlight('the generated grpc-js client', width, bare),
        keepingInFlight('CsiClient', width, ours),
      ];
      report(`${rpc}, ${width} in flight`, 'calls/s', await byTurns(contenders, rounds));
    }
  }
  close();
}

/** A channel each, to names of one socket: CsiClient takes each name for a plugin of its own. */
async function reportMemory(folder: string, socketPath: string): Promise<void> {
  console.log(`\n${channels.toLocaleString('en')} channels, each after one call`);
  for (let index = 0; index < channels; index += 1) symlinkSync(socketPath, join(folder, `${index}.sock`));
  for (const [task, name] of [
    ['bare', 'grpc-js client'],
    ['ours', 'CsiClient'],
  ] satisfies Array<[Task, string]>) {
    const args = ['--expose-gc', '--import=tsx', fileBeside('csi-process.ts'), task, folder, String(channels)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { heapBytes, rssBytes }: Measured = JSON.parse(stdout);
    const figures = `heap ${(heapBytes / 1_000).toFixed(1)} kB, resident ${(rssBytes / 1_000).toFixed(1)} kB`;
    console.log(`  ${`${name}: of each`.padEnd(52)} ${figures}`);
  }
}

export async function reportCsi(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  const socketPath = join(folder, 'csi.sock');
  const server = await startServer(socketPath);
  try {
    await reportRates(socketPath);
    await reportMemory(folder, socketPath);
  } finally {
    server.stdin?.end();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
}

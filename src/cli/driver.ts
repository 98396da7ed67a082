/** `stagecraft driver`: runs the bundled host-path CSI driver. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { packageVersion } from '../host/version.js';
import { collect, countIn, misuse, sizeIn } from './arguments.js';
import { print } from './output.js';
import { firstSignal } from './signals.js';

export function addDriver(program: Command): void {
  program
    .command('driver')
    .description('run the bundled host-path CSI driver')
    .option('--endpoint <url>', 'unix:///path/of/csi.sock (default: CSI_ENDPOINT of the environment)')
    .requiredOption('--node-id <id>', 'the id of this node, as NodeGetInfo answers it')
    .option('--data-dir <path>', 'directory of the volumes and their records (default: STAGECRAFT_TASK_DIR)')
    .option('--capacity <size>', 'total size of all volumes, e.g. 100Gi (default: the size of the file system)', sizeIn)
    .option('--attach', 'offer ControllerPublishVolume: volumes are published to a node before their use there')
    .option('--peer-node <id>', 'with --attach: another node besides --node-id; repeatable', collect, [])
    .option('--shared', 'with --attach: other hosts share the data directory, each with a driver of its own')
    .option('--max-volumes-per-node <n>', 'with --attach: how many volumes may be published to one node', countIn)
    .option('--get-snapshot', 'offer GetSnapshot, which is new in CSI: some callers refuse a driver that offers it')
    .action(runDriver);
}

interface DriverArguments {
  endpoint?: string;
  nodeId: string;
  dataDir?: string;
  capacity?: number;
  attach?: boolean;
  shared?: boolean;
  peerNode: string[];
  maxVolumesPerNode?: number;
  getSnapshot?: boolean;
}

async function runDriver({
  endpoint,
  dataDir,
  capacity,
  peerNode,
  shared,
  ...options
}: DriverArguments): Promise<void> {
  const target = endpoint ?? process.env.CSI_ENDPOINT;
  if (!target) throw misuse('give --endpoint, or set CSI_ENDPOINT');
  const kept = dataDir ?? process.env.STAGECRAFT_TASK_DIR;
  if (!kept) throw misuse('give --data-dir: the volumes are kept there');
  const asked = firstSignal();
  const { startDriver } = await import('../tools/driver/driver.js');
  const driver = await startDriver({
    endpoint: target,
    dataDir: resolve(kept),
    capacityBytes: capacity,
    peerNodes: peerNode,
    ...(shared && { isShared: true }),
    ...options,
  });
  print(`hostpath driver ${packageVersion()} serves ${target}, its volumes are in ${resolve(kept)}`);
  await asked;
  await driver.stop();
}

/** Content of volumes: kept while they are detached, and really copied. Written and read through published volumes. */
import { join } from 'node:path';
import type { Given } from '../../../csi/codec.js';
import type { VolumeContentSource } from '../../../csi/generated/plain.js';
import type { AccessType, Check, CheckContext } from '../context.js';
import { read, writeDevice, writeFile } from '../host.js';
import { NodeUse } from '../node-use.js';
import { type Need, Verdict } from '../verdict.js';

const [before, after] = ['stagecraft-check: before', 'stagecraft-check: after!'];

const pathIn = (use: NodeUse, target: string): string => (use.isBlock ? target : join(target, 'stagecraft-check'));

/** Publishes the volume, does the work, and takes everything back. */
async function visit(use: NodeUse, work: (path: string) => Promise<void>): Promise<void> {
  const target = await use.publish();
  await work(pathIn(use, target));
  await use.unpublish(target);
  await use.detach();
}

async function put(bench: CheckContext, { isBlock }: NodeUse, path: string, text: string): Promise<void> {
  const { status, stderr } = await (isBlock ? writeDevice : writeFile)(path, text, bench.timeoutMs);
  if (status !== 0) throw new Verdict('failed', `a published volume can't be written to: ${stderr.trim()}`);
}

async function expectContent(bench: CheckContext, path: string, text: string, what: string): Promise<void> {
  const { status, stdout, stderr } = await read(path, text.length, bench.timeoutMs);
  const came = status === 0 ? JSON.stringify(stdout.replaceAll('\0', '')) : stderr.trim();
  bench.expect(stdout === text, `${JSON.stringify(text)} ${what}`, `there is ${came}`);
}

async function written(bench: CheckContext, type: AccessType): Promise<NodeUse> {
  const use = await NodeUse.staged(bench, { accessType: type });
  await visit(use, (path) => put(bench, use, path, before));
  return use;
}

/** Publishes the volume once more on this node. */
async function returned(bench: CheckContext, { volume, isBlock }: NodeUse): Promise<NodeUse> {
  return NodeUse.staged(bench, { volume, accessType: isBlock ? 'block' : 'mount' });
}

async function restored(
  bench: CheckContext,
  type: AccessType,
  volumeContentSource: Given<VolumeContentSource>,
): Promise<NodeUse> {
  const volume = await bench.volume({ volumeCapabilities: [bench.capability(undefined, type)], volumeContentSource });
  return NodeUse.staged(bench, { accessType: type, volume });
}

const content = (type: AccessType): readonly Check[] => [
  {
    id: `content/${type}-kept`,
    rpc: 'NodePublishVolume',
    rule: 'What was written is there when the volume is published again, after it was taken off the node.',
    needs: [],
    mounts: true,
    run: async (bench) => {
      const use = await written(bench, type);
      await visit(await returned(bench, use), (path) => expectContent(bench, path, before, 'as it was written'));
    },
  },
  copied(
    type,
    'snapshot',
    'A volume made from a snapshot has the content of its source at the time of the snapshot.',
    'controller/CREATE_DELETE_SNAPSHOT',
    async (bench) => {
      const source = await written(bench, type);
      const { snapshotId } = await bench.snapshot(source.volumeId);
      await visit(await returned(bench, source), (path) => put(bench, source, path, after));
      const copy = await restored(bench, type, { snapshot: { snapshotId } });
      await visit(copy, (path) => expectContent(bench, path, before, 'as it was at the time of the snapshot'));
    },
  ),
  copied(
    type,
    'volume',
    'A volume made from another has its content, and is independent of it.',
    'controller/CLONE_VOLUME',
    async (bench) => {
      const source = await written(bench, type);
      const copy = await restored(bench, type, { volume: { volumeId: source.volumeId } });
      await visit(copy, async (path) => {
        await expectContent(bench, path, before, 'as it is in the source');
        await put(bench, copy, path, after);
      });
      await visit(await returned(bench, source), (path) =>
        expectContent(bench, path, before, 'in the source, as before'),
      );
    },
  ),
];

function copied(
  type: AccessType,
  from: 'snapshot' | 'volume',
  rule: string,
  need: Need,
  run: (bench: CheckContext) => Promise<void>,
): Check {
  return {
    id: `content/${type}-from-${from}`,
    rpc: 'CreateVolume',
    rule,
    needs: [need, 'controller/CREATE_DELETE_VOLUME'],
    mounts: true,
    run,
  };
}

export const contentChecks: readonly Check[] = [...content('mount'), ...content('block')];

/** Requests about allocs, mounts and nodes. */
import { z } from 'zod';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import type { NodePlugin } from '../../machines/node/node.js';
import type { AllocStatus, AllocVolumeStatus } from '../allocs/alloc-view.js';
import { askedVolumesSchema } from '../mounts/mount-spec.js';
import type { MountStatus, MountUserStatus } from '../mounts/mount-view.js';
import type { VolumeUsage } from '../mounts/node-port.js';
import type { OrphanedMount } from '../mounts/orphaned-mounts.js';
import type { VolumeStats } from '../mounts/volume-stats.js';
import type { NodeStatus } from '../nodes/node-manager.js';
import { nodePluginsSchema, unstagedSchema } from '../nodes/node-report.js';
import { awaitShape } from '../requests/await-options.js';
import { keySchema } from '../requests/fields.js';
import { capability, condition, type FieldsOf, failure, moment, part, texts, volumeKey } from './fields.js';
import { paths } from './paths.js';
import { route } from './route.js';
import { retrying } from './volume-routes.js';

const sharedMount = {
  name: z.string(),
  volume: volumeKey,
  taskPath: z.string(),
  readOnly: z.boolean(),
};

export const preparedMount = z
  .object({
    ...sharedMount,
    hostPath: z.string().describe('Directory on this host, or the file of a block device.'),
    isDevice: z.boolean(),
    propagation: z.string().exactOptional(),
  } satisfies FieldsOf<AllocMount>)
  .meta({ id: 'PreparedMount' });

export const allocReport = z
  .object({
    allocId: z.string(),
    state: z.enum(['preparing', 'prepared', 'recovering', 'releasing', 'released', 'failed']),
    volumes: z.array(
      z.object({
        ...sharedMount,
        mode: z.enum(['read', 'write']),
        ...capability.shape,
        state: z.enum(['waiting', 'staged', 'mounted', 'lost', 'leaving', 'detached', 'unmounted', 'failed']),
        step: z.string().describe('Step that the alloc has reached with it: docs/mounts.md.'),
        plugin: z.string().exactOptional(),
        parts: z.array(part),
        underWay: z.string().exactOptional().describe('Call that is under way.'),
        message: z.string().exactOptional(),
      } satisfies FieldsOf<AllocVolumeStatus>),
    ),
    mounts: z.array(preparedMount).exactOptional().describe('Once it is prepared.'),
    waits: texts.describe('Why volumes wait, by name.'),
    error: failure.exactOptional(),
  } satisfies FieldsOf<AllocStatus>)
  .meta({ id: 'Alloc' });

const limit = { timeoutMs: awaitShape.timeoutMs };

export const allocRoutes = {
  list: route(paths.allocs.list, { summary: 'The allocs of this node', answer: z.array(allocReport) }),
  status: route(paths.allocs.status, { summary: 'One alloc', answer: allocReport }),
  prepare: route(paths.allocs.prepare, {
    summary: 'Claims, publishes, stages and mounts the volumes of an alloc',
    body: z.strictObject({ volumes: askedVolumesSchema, ...limit, wait: z.boolean().exactOptional() }),
    bodyName: 'the volumes of the alloc',
    answer: z.array(preparedMount),
  }),
  release: route(paths.allocs.release, { summary: 'Undoes all of that', body: z.strictObject(limit) }),
};

export const mountReport = z
  .object({
    volume: volumeKey,
    state: z.string(),
    plugin: z.string(),
    csiId: z.string(),
    capability: capability.exactOptional(),
    stagingPath: z.string().exactOptional(),
    isStaged: z.boolean(),
    users: z.array(
      z.object({
        allocId: z.string(),
        state: z.string(),
        readOnly: z.boolean(),
        hostPath: z.string(),
        message: z.string().exactOptional(),
      } satisfies FieldsOf<MountUserStatus>),
    ),
    parts: z.array(part),
    underWay: z.string().exactOptional(),
    condition: condition.exactOptional(),
    error: failure.exactOptional(),
  } satisfies FieldsOf<MountStatus>)
  .meta({ id: 'Mount' });

const amount = z.union([z.number(), z.string()]);

export const statsReport = z
  .object({
    volume: volumeKey,
    at: moment,
    usage: z.array(
      z.object({
        unit: z.enum(['bytes', 'inodes']),
        total: amount,
        used: amount,
        available: amount,
      } satisfies FieldsOf<VolumeUsage>),
    ),
    condition: condition.exactOptional(),
  } satisfies FieldsOf<VolumeStats>)
  .meta({ id: 'Stats' });

export const orphanReport = z
  .object({
    path: z.string(),
    source: z.string(),
    fsType: z.string(),
    plugin: z.string().exactOptional().describe('Was to unmount it, and has not.'),
  } satisfies FieldsOf<OrphanedMount>)
  .meta({ id: 'OrphanedMount' });

export const mountRoutes = {
  list: route(paths.mounts.list, { summary: 'The volumes on this node', answer: z.array(mountReport) }),
  stats: route(paths.mounts.stats, {
    summary: 'How full a mounted volume is, asked of its plugin',
    answer: statsReport,
  }),
  retry: route(paths.mounts.retry, { ...retrying, summary: 'Repeats failed calls, and mounts lost mounts again' }),
  orphans: route(paths.mounts.orphans, { summary: 'Mounts that no record has', answer: z.array(orphanReport) }),
  cleanOrphan: route(paths.mounts.cleanOrphan, {
    summary: 'Unmounts one of them',
    body: z.strictObject({ path: z.string() }),
  }),
};

export const nodeReport = z
  .object({
    id: z.string(),
    state: z.enum(['ready', 'down', 'gone']),
    plugins: z.array(
      z.object({
        name: z.string(),
        nodeId: z.string(),
        topology: texts.exactOptional(),
        maxVolumes: z.int().exactOptional().describe('Absent: no limit.'),
      } satisfies FieldsOf<NodePlugin>),
    ),
    fence: z
      .object({
        ...{ reason: z.string(), at: moment },
        isDone: z.boolean().describe('All volumes have handled it.'),
        unread: z
          .array(z.string())
          .exactOptional()
          .describe('Volumes that could not take the fence, and may be on the node. Absent: none.'),
      })
      .exactOptional(),
  } satisfies FieldsOf<NodeStatus>)
  .meta({ id: 'Node' });

export const nodeRoutes = {
  list: route(paths.nodes.list, { summary: 'The nodes that have reported', answer: z.array(nodeReport) }),
  status: route(paths.nodes.status, { summary: 'One node', answer: nodeReport }),
  report: route(paths.nodes.report, {
    summary: 'Reports the plugins of a node, instead of the report before',
    body: z.strictObject({ plugins: nodePluginsSchema }),
    bodyName: 'the report of the node',
  }),
  down: route(paths.nodes.down, { summary: 'The node takes no volume until it reports' }),
  fence: route(paths.nodes.fence, {
    summary: 'Releases the claims of a lost node',
    body: z.strictObject({ reason: z.string() }),
  }),
  remove: route(paths.nodes.remove, { summary: 'Forgets the node' }),
  reportUnstaged: route(paths.nodes.reportUnstaged, {
    summary: 'Reports that a volume is unmounted and unstaged on the node',
    body: z.strictObject({ volume: keySchema, ...unstagedSchema.shape }),
    bodyName: 'the report',
  }),
};

/** Volumes of an alloc to prepare. */
export type AllocVolumes = z.input<typeof askedVolumesSchema>;
export type AllocReport = z.output<typeof allocReport>;
export type PreparedMount = z.output<typeof preparedMount>;
export type MountReport = z.output<typeof mountReport>;
export type StatsReport = z.output<typeof statsReport>;
export type OrphanedMountReport = z.output<typeof orphanReport>;
export type NodeReport = z.output<typeof nodeReport>;

/** Requests about volumes. */
import { z } from 'zod';
import { snapshotStates } from '../../machines/snapshot/types.js';
import type { Claim, Leftover } from '../../machines/volume/types.js';
import { volumeStates } from '../../machines/volume/types.js';
import { nameSchema, nodeIdSchema } from '../host/names.js';
import { filterShape } from '../requests/actor-pages.js';
import { retrySchema } from '../requests/await-options.js';
import { accessModeSchema, attachmentModeSchema, capabilitySchema, parametersSchema } from '../requests/fields.js';
import { groupSnapshotSchema, snapshotSchema } from '../snapshots/snapshot-variants.js';
import type { GroupMember, GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { type Capacity, capacityRequestSchema } from '../volumes/capacity.js';
import type { OrphanedVolume } from '../volumes/orphaned-volumes.js';
import type { Reconciled } from '../volumes/reconciler.js';
import { filterSchema, specSchema } from '../volumes/spec.js';
import { expandSchema } from '../volumes/volume-changing.js';
import { claimSchema } from '../volumes/volume-claiming.js';
import { availabilitySchema, type Orphans } from '../volumes/volume-manager.js';
import type { Volume, VolumePublication } from '../volumes/volume-view.js';
import {
  bytes,
  capability,
  condition,
  type FieldsOf,
  failure,
  forceBody,
  moment,
  pageSchema,
  part,
  texts,
  volumeKey,
} from './fields.js';
import { paths } from './paths.js';
import { count, route, timeoutQuery, waitQuery } from './route.js';

const capacityRange = z.object({ requiredBytes: bytes.exactOptional(), limitBytes: bytes.exactOptional() });

const claimFields = {
  allocId: z.string(),
  nodeId: z.string(),
  csiNodeId: z.string(),
  mode: z.enum(['read', 'write']),
  accessMode: accessModeSchema,
  attachmentMode: attachmentModeSchema,
};

export const claim = z
  .object({
    ...claimFields,
    generation: z.int().describe('Rises with each claim of a volume of this key.'),
    state: z.enum(['taken', 'unpublishing', 'node-detached', 'controller-detached', 'released']),
    fenced: z.string().exactOptional().describe('Why it was taken from its node, which did not report.'),
  } satisfies FieldsOf<Claim>)
  .meta({ id: 'Claim' });

const change = { failed: z.literal(true).exactOptional(), message: z.string().exactOptional() };

const attachedBy = z
  .enum(['call', 'none'])
  .exactOptional()
  .describe('Attached by a call, or without one, as the plugin needs none. Absent: not known, or nothing is attached.');

const leftover = z
  .object({
    what: z.enum(['staged', 'published', 'created']),
    nodeId: z.string().exactOptional(),
    csiNodeId: z.string().exactOptional(),
    csiId: z.string().exactOptional(),
    name: z.string().exactOptional(),
    allocId: z.string().exactOptional(),
    generation: z.int().exactOptional(),
    attachedBy,
    fenced: z.string().exactOptional(),
    message: z.string(),
  } satisfies FieldsOf<Leftover>)
  .meta({ id: 'Leftover' });

const publication = z
  .object({
    state: z.string(),
    step: z.string().describe('Exact state: docs/machines/publication.md.'),
    csiNodeId: z.string(),
    capability,
    readOnly: z.boolean(),
    heldFor: z.array(z.string()).exactOptional().describe('Allocs without a claim that may have it mounted.'),
    attachedBy,
    publishContext: texts.exactOptional(),
    message: z.string().exactOptional(),
  } satisfies FieldsOf<VolumePublication>)
  .meta({ id: 'Publication' });

const sourceId = { csiId: z.string() };

export const volumeReport = z
  .object({
    key: volumeKey,
    state: z.enum(volumeStates),
    uid: z.string().describe('A later volume of the same key has another.'),
    plugin: z.string(),
    driver: z.string().exactOptional().describe('Own name of the driver that created it.'),
    name: z.string().exactOptional().describe('Name that the plugin was given.'),
    csiId: z.string().exactOptional().describe('Id at the plugin. Absent: not created yet.'),
    context: texts.exactOptional(),
    home: z.string().exactOptional().describe('Node whose agent alone makes controller calls for it.'),
    topology: z
      .object({ requisite: z.array(texts), preferred: z.array(texts) })
      .exactOptional()
      .describe('Asked for: as its user named it, else where the nodes are that have the plugin.'),
    accessibleTopology: z.array(texts).exactOptional().describe('Where it can be used. Absent: everywhere.'),
    capacityBytes: bytes.exactOptional(),
    requested: capacityRange.exactOptional().describe('Last requested size that was granted.'),
    source: z
      .union([z.object({ volume: volumeKey, ...sourceId }), z.object({ volumeSnapshot: z.string(), ...sourceId })])
      .exactOptional(),
    external: z.literal(true).exactOptional().describe('Registered, not created: deleting it leaves it at the plugin.'),
    origin: z
      .enum(['call', 'found', 'external'])
      .exactOptional()
      .describe(
        'Made by a call, found under the id that its user gave, or external. Deleting it deletes the data of a call only.',
      ),
    parameters: texts,
    mutableParameters: texts,
    secrets: z.array(z.string()).describe('Names alone.'),
    capabilities: z.array(capability),
    publications: z.record(z.string(), publication).describe('By node.'),
    parts: z.array(part),
    claims: z.array(claim),
    waiting: z.array(z.object(claimFields)).describe('Queued claims, in order.'),
    availability: availabilitySchema,
    expansion: z.object({ capacity: capacityRange, ...change }).exactOptional(),
    modification: z.object({ mutableParameters: texts, ...change }).exactOptional(),
    nodeExpansionRequired: z.boolean().exactOptional(),
    missing: z.literal(true).exactOptional().describe('The plugin does not list it any more.'),
    attachedElsewhere: z
      .array(z.string())
      .exactOptional()
      .describe('Machines that are not among the nodes, by their CSI node ids, where it is attached.'),
    condition: condition.exactOptional(),
    deleting: z.literal(true).exactOptional(),
    leftovers: z.array(leftover).exactOptional().describe('What a forced deletion may have left.'),
    error: failure.exactOptional(),
  } satisfies FieldsOf<Volume>)
  .meta({ id: 'Volume' });

/** Requests of volumes and both kinds of snapshots. */
export const retrying = { summary: 'Repeats what failed or waits', body: retrySchema };
const deleting = { query: timeoutQuery, body: forceBody };
const acknowledging = { summary: 'Forgets the leftovers of a forced deletion' };

/** Fields of the query of a list. */
const page = {
  limit: count.max(1_000).exactOptional().describe('Items of a page. Default: 100.'),
  after: z.string().exactOptional().describe('`next` of the page before.'),
};

export const orphansReport = z
  .object({
    orphans: z.array(
      z.object({
        plugin: z.string(),
        csiId: z.string(),
        nodeId: z.string().exactOptional().describe('Node whose instance lists it, if it is not that of the answer.'),
      } satisfies FieldsOf<OrphanedVolume>),
    ),
    unknown: z
      .array(z.object({ plugin: z.string(), why: z.string() }))
      .describe('Plugins whose lists could not be read.'),
    leftOut: z
      .array(z.object({ plugin: z.string(), nodeId: z.string().exactOptional(), count: z.int(), why: z.string() }))
      .exactOptional()
      .describe(
        'Entries of lists that were left out, as CSI does not allow them; `why`: the fault of the first. Absent: none.',
      ),
    skipped: z
      .int()
      .exactOptional()
      .describe(
        'Volumes whose records can not be read: until they can, no other orphaned volumes are found. Absent: none.',
      ),
  } satisfies FieldsOf<Orphans>)
  .meta({ id: 'OrphanedVolumes' });

export const volumeRoutes = {
  list: route(paths.volumes.list, {
    summary: 'A page of volumes, in the order of their keys',
    query: filterSchema.extend(page),
    answer: pageSchema(volumeReport).meta({ id: 'VolumePage' }),
  }),
  create: route(paths.volumes.create, {
    summary: 'Creates a volume, or takes over one that exists; answers once that is done',
    query: waitQuery,
    body: specSchema.safeExtend({
      home: nodeIdSchema
        .exactOptional()
        .describe(
          'Node where it is made, if its plugin has separate volumes on each host. Default: that of this agent.',
        ),
    }),
    bodyName: 'the spec of the volume',
    answer: volumeReport,
  }),
  get: route(paths.volumes.get, { summary: 'One volume', answer: volumeReport }),
  publish: route(paths.volumes.publish, {
    summary: 'Publishes the volume to a node',
    query: waitQuery,
    body: z.strictObject({
      nodeId: nodeIdSchema,
      capability: capabilitySchema.exactOptional(),
      readOnly: z.boolean().default(false),
    }),
    answer: z.object({ publishContext: texts }),
  }),
  unpublish: route(paths.volumes.unpublish, {
    summary: 'Unpublishes the volume from a node',
    query: timeoutQuery,
    body: z.strictObject({ nodeId: nodeIdSchema }),
  }),
  expand: route(paths.volumes.expand, {
    summary: 'Makes the volume larger',
    query: timeoutQuery,
    body: expandSchema,
    bodyName: 'the capacity',
    answer: z
      .object({ capacityBytes: bytes.exactOptional(), nodeExpansionRequired: z.boolean() })
      .meta({ id: 'Expanded' }),
  }),
  modify: route(paths.volumes.modify, {
    summary: 'Changes parameters of the volume at its plugin',
    query: timeoutQuery,
    body: z.strictObject({ mutableParameters: parametersSchema }),
  }),
  delete: route(paths.volumes.delete, {
    summary: 'Deletes the volume and its content',
    ...deleting,
  }),
  claim: route(paths.volumes.claim, {
    summary: 'Claims the volume for an alloc; disconnecting gives up the place in the queue',
    body: claimSchema.omit({ signal: true }),
    bodyName: 'the claim',
    answer: claim,
  }),
  release: route(paths.volumes.release, {
    summary: 'Releases the claim of an alloc, or its place in the queue',
    body: z.strictObject({ allocId: nameSchema }),
  }),
  setAvailability: route(paths.volumes.setAvailability, {
    summary: 'Allows new use, refuses it, or asks users to release',
    body: z.strictObject({ availability: availabilitySchema }),
  }),
  retry: route(paths.volumes.retry, retrying),
  acknowledge: route(paths.volumes.acknowledge, acknowledging),
  capacity: route(paths.volumes.capacity, {
    summary: 'Free capacity at a plugin',
    query: timeoutQuery,
    body: capacityRequestSchema.extend({ plugin: nameSchema }),
    bodyName: 'the request',
    answer: z.object({
      availableBytes: bytes,
      maximumVolumeBytes: bytes.exactOptional(),
      minimumVolumeBytes: bytes.exactOptional(),
    } satisfies FieldsOf<Capacity>),
  }),
  reconcile: route(paths.volumes.reconcile, {
    summary: 'Compares the volumes with what plugins list',
    body: z.strictObject({ plugin: nameSchema.exactOptional() }),
    answer: z.array(
      z.object({ plugin: z.string(), volumes: z.int(), differing: z.array(z.string()) } satisfies FieldsOf<Reconciled>),
    ),
  }),
  orphans: route(paths.volumes.orphans, {
    summary: 'Volumes that plugins list and no record has',
    query: z.strictObject({ plugin: nameSchema.exactOptional().describe('Default: every plugin with a controller.') }),
    answer: orphansReport,
  }),
};

const snapshotBasics = {
  key: volumeKey,
  state: z.enum(snapshotStates),
  step: z.string().describe('Phase, and how far its call is: docs/machines/snapshot.md.'),
  uid: z.string(),
  plugin: z.string(),
  driver: z.string().exactOptional(),
  csiId: z.string().exactOptional(),
  takenAtMs: moment.exactOptional(),
  home: z.string().exactOptional(),
  leftovers: z.array(z.string()).exactOptional(),
  error: failure.exactOptional(),
};

export const snapshotReport = z
  .object({ ...snapshotBasics, volume: volumeKey, sizeBytes: bytes.exactOptional() } satisfies FieldsOf<Snapshot>)
  .meta({ id: 'Snapshot' });

export const groupSnapshotReport = z
  .object({
    ...snapshotBasics,
    volumes: z.array(volumeKey),
    snapshots: z.array(
      z.object({
        csiId: z.string(),
        volume: volumeKey.exactOptional(),
        sizeBytes: bytes.exactOptional(),
      } satisfies FieldsOf<GroupMember>),
    ),
  } satisfies FieldsOf<GroupSnapshot>)
  .meta({ id: 'GroupSnapshot' });

const snapshotQuery = z.strictObject({ ...filterShape(snapshotStates), ...page });

export const snapshotRoutes = {
  list: route(paths.snapshots.list, {
    summary: 'A page of snapshots',
    query: snapshotQuery,
    answer: pageSchema(snapshotReport).meta({ id: 'SnapshotPage' }),
  }),
  create: route(paths.snapshots.create, {
    summary: 'Takes a snapshot; answers once it can be used',
    query: waitQuery,
    body: snapshotSchema,
    bodyName: 'the spec of the snapshot',
    answer: snapshotReport,
  }),
  get: route(paths.snapshots.get, { summary: 'One snapshot', answer: snapshotReport }),
  delete: route(paths.snapshots.delete, { summary: 'Deletes the snapshot', ...deleting }),
  retry: route(paths.snapshots.retry, retrying),
  acknowledge: route(paths.snapshots.acknowledge, acknowledging),
};

export const groupSnapshotRoutes = {
  list: route(paths.groupSnapshots.list, {
    summary: 'A page of snapshots of several volumes',
    query: snapshotQuery,
    answer: pageSchema(groupSnapshotReport).meta({ id: 'GroupSnapshotPage' }),
  }),
  create: route(paths.groupSnapshots.create, {
    summary: 'Takes a snapshot of several volumes at one moment',
    query: waitQuery,
    body: groupSnapshotSchema,
    bodyName: 'the spec of the group snapshot',
    answer: groupSnapshotReport,
  }),
  get: route(paths.groupSnapshots.get, { summary: 'One snapshot of several volumes', answer: groupSnapshotReport }),
  delete: route(paths.groupSnapshots.delete, { summary: 'Deletes the snapshot', ...deleting }),
  retry: route(paths.groupSnapshots.retry, retrying),
  acknowledge: route(paths.groupSnapshots.acknowledge, acknowledging),
};

export type VolumeReport = z.output<typeof volumeReport>;
export type SnapshotReport = z.output<typeof snapshotReport>;
export type GroupSnapshotReport = z.output<typeof groupSnapshotReport>;
export type VolumePage = z.output<typeof volumeRoutes.list.answer>;
export type SnapshotPage = z.output<typeof snapshotRoutes.list.answer>;
export type GroupSnapshotPage = z.output<typeof groupSnapshotRoutes.list.answer>;
export type Expanded = z.output<typeof volumeRoutes.expand.answer>;
export type OrphansReport = z.output<typeof orphansReport>;

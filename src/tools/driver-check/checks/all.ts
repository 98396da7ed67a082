/**
 * All checks in their order: identity of the driver first, then volumes, then volumes on this host. Requests without a name, id
 * or path come last: a driver that does not refuse one may do anything, e.g. end, or unmount another path.
 */
import type { Check } from '../context.js';
import { capacityChecks, controllerExpandChecks } from './capacity.js';
import { statusChecks } from './common.js';
import { contentChecks } from './content.js';
import { controllerPublishChecks } from './controller-publish.js';
import { createVolumeChecks } from './create-volume.js';
import { groupSnapshotChecks } from './group-snapshots.js';
import { capabilityChecks, identityChecks, nodeInfoChecks } from './identity.js';
import { listingChecks } from './listing.js';
import { nodePublishChecks } from './node-publish.js';
import { nodeStageChecks } from './node-stage.js';
import { snapshotChecks } from './snapshots.js';
import { statsExpandChecks } from './stats-expand.js';
import { volumeChecks } from './volumes.js';

const byService: readonly Check[] = [
  ...identityChecks,
  ...capabilityChecks,
  ...nodeInfoChecks,
  ...statusChecks,
  ...createVolumeChecks,
  ...volumeChecks,
  ...controllerExpandChecks,
  ...capacityChecks,
  ...listingChecks,
  ...snapshotChecks,
  ...groupSnapshotChecks,
  ...controllerPublishChecks,
  ...nodeStageChecks,
  ...nodePublishChecks,
  ...contentChecks,
  ...statsExpandChecks,
];

const leavesOutWhich = ({ id }: Check): boolean => /\/no-(name|([a-z]+-)?id|path|target|sources?)$/.test(id);

export const checks: readonly Check[] = [
  ...byService.filter((check) => !leavesOutWhich(check)),
  ...byService.filter(leavesOutWhich),
];

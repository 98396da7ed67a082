/** Lists the machines that docs/machines/ shows, each with its source below machines/. */
import type { AnyStateMachine } from 'xstate';
import {
  allocMachine,
  allocVolumeMachine,
  expansionMachine,
  groupSnapshotMachine,
  lifecycleMachine,
  modificationMachine,
  mountMachine,
  nodeMachine,
  pluginMachine,
  pluginsMachine,
  publicationMachine,
  registryMachine,
  stagingMachine,
  targetMachine,
  taskMachine,
  volumeMachine,
  volumeSnapshotMachine,
} from '../../machines/index.js';

export interface Shown {
  machine: AnyStateMachine;
  source: string;
  /** Machine that keeps this machine as a value in its context. */
  partOf?: AnyStateMachine;
  /** Requires that the prose explains each event and condition, as for parts. */
  isExplained?: true;
}

export const shown: Shown[] = [
  { machine: registryMachine, source: 'registry/registry' },
  { machine: pluginsMachine, source: 'plugin/plugins' },
  { machine: pluginMachine, source: 'plugin/plugin' },
  { machine: taskMachine, source: 'task/task' },
  { machine: volumeMachine, source: 'volume/volume' },
  { machine: lifecycleMachine, source: 'volume/lifecycle', partOf: volumeMachine },
  { machine: publicationMachine, source: 'volume/publication', partOf: volumeMachine },
  { machine: expansionMachine, source: 'volume/change', partOf: volumeMachine },
  { machine: modificationMachine, source: 'volume/change', partOf: volumeMachine },
  { machine: volumeSnapshotMachine, source: 'snapshot/snapshot', isExplained: true },
  { machine: groupSnapshotMachine, source: 'snapshot/group', isExplained: true },
  { machine: nodeMachine, source: 'node/node' },
  { machine: mountMachine, source: 'mount/mount' },
  { machine: stagingMachine, source: 'mount/staging', partOf: mountMachine },
  { machine: targetMachine, source: 'mount/target', partOf: mountMachine },
  { machine: allocMachine, source: 'alloc/alloc' },
  { machine: allocVolumeMachine, source: 'alloc/volume-steps', partOf: allocMachine },
];

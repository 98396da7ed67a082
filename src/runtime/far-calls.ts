/** Which calls to plugins an agent makes for another one: those of the controller side. */
import type { CallMethod } from '../cluster/call-server.js';
import { anywhere, callMethods, type FarCalls } from '../cluster/instances.js';
import type { SnapshotPort } from '../snapshots/snapshot-port.js';
import type { ControllerPort } from '../volumes/controller-port.js';

interface ControllerCalls {
  controller: ControllerPort;
  snapshots: SnapshotPort;
}

const controllerNames = [
  'createVolume',
  'validateVolume',
  'deleteVolume',
  'controllerPublish',
  'controllerUnpublish',
  'controllerExpand',
  'controllerModify',
  'listVolumes',
  'getCapacity',
] as const;

const snapshotNames = [
  'createSnapshot',
  'deleteSnapshot',
  'getSnapshot',
  'listedSnapshot',
  'groupCapabilities',
  'createGroup',
  'deleteGroup',
  'getGroup',
] as const;

/** Makes the calls on the host that has the plugin, by its agent. */
export const callsAnywhere = ({ controller, snapshots }: ControllerCalls, far: FarCalls): ControllerCalls => ({
  controller: anywhere(controller, controllerNames, far),
  snapshots: anywhere(snapshots, snapshotNames, far),
});

/** Lists the calls that other agents may have made here, by name. */
export const callsOf = ({ controller, snapshots }: ControllerCalls): [string, CallMethod][] => [
  ...callMethods(controller, controllerNames),
  ...callMethods(snapshots, snapshotNames),
];

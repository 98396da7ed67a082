/**
 * One moment of a history of volumes, as data: what its store keeps, and what its driver has and is at. Another runtime goes
 * on from there, as after the end of the one before. Written and read by test/histories.
 */
import type { Leftover } from '../../machines/volume/types.js';
import type { KeptSnapshot } from '../snapshots/fake-snapshots.js';
import type { Call, FakePlugin, KeptVolume } from '../volumes/fake-plugin.js';
import type { SimulatedDriver } from './volumes-driver.js';
import type { VolumesPlan } from './volumes-plan.js';
import type { Write } from './writes.js';

export interface Moment {
  /** What was under way, in words for a person. */
  shows: string[];
  plan: VolumesPlan;
  /** Since the beginning of the history. */
  atMs: number;
  writes: Write[];
  driver: {
    volumes: KeptVolume[];
    snapshots: KeptSnapshot[];
    /** Made by calls that were not answered OK. */
    unproven: string[];
    /** It goes on with these calls, whoever asked. */
    calls: Pick<Call, 'rpc' | 'request'>[];
  };
  /** By the names that the plugin was given: what was ever reported as left behind. */
  leftovers: [name: string, left: Leftover[]][];
  snapshotLeftovers: string[];
}

const isChange = ({ rpc }: { rpc: string }): boolean => /^(Create|Delete|Controller)/.test(rpc);

/** What its driver has and is at now. Only one that locks volumes goes on with calls that were given up. */
export function driverNow({ plugin, unproven, unanswered }: SimulatedDriver): Moment['driver'] {
  const open = [...unanswered];
  const isGoingOn = ({ answer, request }: Call): boolean =>
    answer === undefined && (plugin.overlaps === 'aborted' || open.some((one) => one.request === request));
  // Nobody will hear that it was made.
  const unheard = open.flatMap(({ name, before }) => {
    const made = plugin.snapshotNamed(name)?.id;
    return made === undefined || made === before ? [] : [made];
  });
  return {
    volumes: [...plugin.volumes.values()],
    snapshots: [...plugin.snapshots.values()],
    unproven: [...unproven, ...unheard],
    calls: plugin.calls
      .filter((call) => isChange(call) && isGoingOn(call))
      .map(({ rpc, request }) => ({ rpc, request })),
  };
}

/** Above all ids that were given before: no driver gives an id twice. */
const firstId = 1_000;

/** The driver has what it had, and goes on with what it was asked before. */
export function takeUp({ driver }: Moment, { plugin, unproven, late }: SimulatedDriver): void {
  plugin.countFrom(firstId);
  for (const one of driver.volumes) plugin.volumes.set(one.id, one);
  for (const one of driver.snapshots) plugin.snapshots.set(one.id, one);
  for (const id of driver.unproven) unproven.add(id);
  for (const { id, name } of driver.snapshots) if (!unproven.has(id)) plugin.copies.answered.add(name);
  for (const { rpc, request } of driver.calls) {
    const made = (): string | undefined => plugin.snapshotNamed('name' in request ? String(request.name) : '')?.id;
    const before = made();
    const over = (): void => {
      const id = made();
      if (id !== undefined && id !== before) unproven.add(id);
    };
    late.add(request);
    callOf(plugin, rpc)(request).then(over, over);
  }
  // An earlier version was free to delete what it was copying. Calls of the present version are judged.
  plugin.wrongs.length = 0;
}

/** The method behind a call that changes something. */
function callOf(plugin: FakePlugin, rpc: Call['rpc']): (request: object) => Promise<unknown> {
  switch (rpc) {
    case 'CreateVolume':
      return (request) => plugin.createVolume(request);
    case 'DeleteVolume':
      return (request) => plugin.deleteVolume(request);
    case 'ControllerPublishVolume':
      return (request) => plugin.controllerPublishVolume(request);
    case 'ControllerUnpublishVolume':
      return (request) => plugin.controllerUnpublishVolume(request);
    case 'ControllerExpandVolume':
      return (request) => plugin.controllerExpandVolume(request);
    case 'ControllerModifyVolume':
      return (request) => plugin.controllerModifyVolume(request);
    case 'CreateSnapshot':
      return (request) => plugin.createSnapshot(request);
    case 'DeleteSnapshot':
      return (request) => plugin.deleteSnapshot(request);
    case 'CreateVolumeGroupSnapshot':
      return (request) => plugin.createVolumeGroupSnapshot(request);
    case 'DeleteVolumeGroupSnapshot':
      return (request) => plugin.deleteVolumeGroupSnapshot(request);
    default:
      throw new Error(`${rpc} changes nothing`);
  }
}

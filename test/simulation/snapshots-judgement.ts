/** What must hold of snapshots: at every commit, and at rest, beside what the plugin has. */
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { isCreateInDoubt, snapshotStateOf } from '../../machines/snapshot/states.js';
import type { SimulatedDriver } from './volumes-driver.js';

export interface SeenSnapshot {
  address: string;
  context: SnapshotContext;
}

/** By which name the plugin knows it now. */
const nameAtPlugin = ({ name, round }: SnapshotContext): string => (round > 0 ? `${name}-${round}` : name);

/** Whether there is nothing left to be done without anybody asking for it. */
export const isSnapshotSettled = ({ context }: SeenSnapshot): boolean =>
  !context.awaiting && ['ready', 'failed', 'deleted'].includes(snapshotStateOf(context));

/** Whether it needs this volume: its creation is in doubt, or it is wanted and not ready to use. */
export const needsVolume = ({ context }: SeenSnapshot, csiId: string): boolean =>
  (isCreateInDoubt(context) || snapshotStateOf(context) === 'waiting') &&
  context.spec?.sources.some((source) => source.csiId === csiId) === true;

/** Whether that may be there of which nobody knows, on record: by its id, or the name that it was asked for with. */
const isLeft = (leftovers: ReadonlySet<string>, { id, name }: { id: string; name: string }): boolean =>
  [...leftovers].some((text) => text.startsWith(`${id}: `) || text.includes(` as ${name}: `));

/** @param leftovers all that was ever said to be left behind */
export function snapshotFaults(
  snapshots: SeenSnapshot[],
  { plugin, unproven }: SimulatedDriver,
  leftovers: ReadonlySet<string>,
): string[] {
  const faults: string[] = [];
  for (const one of snapshots) {
    const { address, context } = one;
    const { csi, spec } = context;
    const fault = (what: string): void => void faults.push(`${address}: ${what}: ${JSON.stringify(context)}`);
    if (!isSnapshotSettled(one)) fault('is stuck');
    if (snapshotStateOf(context) !== 'ready') continue;
    const real = plugin.snapshots.get(csi?.csiId ?? '');
    const asked = spec?.sources.map(({ csiId }) => csiId).join();
    if (!csi?.isReady || !real) fault('is believed to be there, and is not');
    else if (real.name !== nameAtPlugin(context) || real.sources.join() !== asked) fault(`is ${JSON.stringify(real)}`);
    else if (unproven.has(real.id)) fault('was made by a call that was never answered OK');
  }
  const isKnown = ({ id, name }: { id: string; name: string }): boolean =>
    snapshots.some(({ context }) => {
      if (snapshotStateOf(context) === 'deleted') return false;
      const { csi, discards } = context;
      const isSought = isCreateInDoubt(context) && name === nameAtPlugin(context);
      return csi?.csiId === id || discards.some(({ csiId }) => csiId === id) || isSought;
    });
  for (const one of plugin.snapshots.values())
    if (!isKnown(one) && !isLeft(leftovers, one)) faults.push(`snapshot ${one.id} (${one.name}) is leaked`);
  return faults;
}

/** What is there though all were deleted. */
export function snapshotRemains(
  snapshots: SeenSnapshot[],
  { plugin }: SimulatedDriver,
  leftovers: ReadonlySet<string>,
): string[] {
  const undeleted = snapshots.filter(({ context }) => context.leftovers.length === 0);
  return [
    ...undeleted.map((one) => `${one.address} is there after it was deleted: ${JSON.stringify(one)}`),
    ...[...plugin.snapshots.values()]
      .filter((one) => !isLeft(leftovers, one))
      .map(({ id, name }) => `snapshot ${id} (${name}) is there after all were deleted`),
  ];
}

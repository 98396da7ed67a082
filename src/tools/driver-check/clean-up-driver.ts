/** Removes what an earlier, killed run of checks left behind, as far as the driver lists it. */
import { StagecraftError } from '../../errors.js';
import { DriverCalls } from './calls.js';
import { Capabilities } from './capabilities.js';
import { clearDirectory, pathsIn, takeBack, takeBackListed } from './clean-up.js';
import { type Listed, ListedThings, readInventory } from './inventory.js';
import { type CheckDriverOptions, directoriesOf, type RunDirectories, type Settings, settingsOf } from './options.js';
import { reach } from './run.js';

export interface CleanUpReport {
  removed: string[];
  /** Objects that could not be removed, each with the reason. */
  left: string[];
  /** Gaps, each with the reason: lists that the driver does not offer, objects that show no name of a run. */
  unknown: string[];
}

/** A shorter text may be part of other names. */
const shortestPrefix = 8;

/** Most objects of unknown owners that are named in a report. */
const mostNamed = 10;

/**
 * Takes back everything in the driver's lists that shows a name of the run with this prefix: volumes, their snapshots, their
 * publications on this host and by the controller. Empties the directories of that run. Touches nothing else.
 * @param options `prefix` is needed; `stagingDir` and `targetDir` as that run had them
 * @throws {StagecraftError} INVALID_ARGUMENT: an option; NOT_REACHABLE: nobody answers at an endpoint; ABORTED by `signal`
 */
export async function cleanUpDriver(options: CheckDriverOptions & { prefix: string }): Promise<CleanUpReport> {
  const settings = settingsOf(options);
  const { prefix } = settings;
  if (prefix.length < shortestPrefix)
    throw new StagecraftError(
      'INVALID_ARGUMENT',
      `the prefix '${prefix}' could be a part of others' names: give the whole one that the run told at its start`,
    );
  const calls = new DriverCalls(settings);
  calls.cancelBy(options.signal);
  try {
    await reach(calls);
    return await cleanUp(calls, settings);
  } finally {
    calls.close();
  }
}

async function cleanUp(calls: DriverCalls, settings: Settings): Promise<CleanUpReport> {
  const offers = await Capabilities.read(calls);
  const inventory = await readInventory(calls, offers);
  const things = new ListedThings(calls, inventory, settings.prefix);
  const directories = directoriesOf(settings);
  // Objects in use on this host come first: a driver may delete a volume under a mount.
  await beginUses(calls, things, directories);
  await takeBack(calls, new Set());
  const unswept: string[] = [];
  const unmounted: string[] = [];
  for (const directory of [directories.staging, directories.target]) {
    const cleared = await clearDirectory(directory, settings.timeoutMs);
    unswept.push(...cleared.left);
    unmounted.push(...cleared.unmounted.map((path) => `the mount at ${path}`));
  }
  const { removed, left, others } = await takeBackListed(calls, offers, { prefix: settings.prefix });
  const unremoved = await takeBack(calls, new Set());
  const hide = (texts: string[]): string[] => texts.map(calls.hide);
  return {
    removed: hide([...unmounted, ...removed]),
    left: hide([...unremoved, ...left, ...unswept]),
    unknown: hide([...inventory.gaps, ...nameless(others)]),
  };
}

/** Records that each volume may be staged and published at each path of that run. */
async function beginUses(calls: DriverCalls, things: ListedThings, directories: RunDirectories): Promise<void> {
  if (!calls.has('node')) return;
  const [stagingPaths, targetPaths] = [
    await pathsIn(directories.staging.paths),
    await pathsIn(directories.target.paths),
  ];
  for (const { volume } of things.volumesOfRun()) {
    const { volumeId } = volume;
    for (const stagingTargetPath of stagingPaths)
      calls.ledger.begin('NodeStageVolume', { volumeId, stagingTargetPath });
    for (const targetPath of targetPaths) calls.ledger.begin('NodePublishVolume', { volumeId, targetPath });
  }
}

function nameless(others: Listed[]): string[] {
  if (others.length === 0) return [];
  const named = others.slice(0, mostNamed).map(({ what }) => what);
  const more = others.length > mostNamed ? ` and ${others.length - mostNamed} more` : '';
  return [`whose these are, as the driver's lists show no name of that run for them: ${named.join('; ')}${more}`];
}

/** Output of `stagecraft driver-check --clean-up`. For the clean-up, see src/tools/driver-check/clean-up-driver.ts. */

import { StagecraftError } from '../errors.js';
import { oneLine, plainJson } from '../host/terminal-text.js';
import { type CleanUpReport, cleanUpDriver } from '../tools/driver-check/clean-up-driver.js';
import type { CheckDriverOptions } from '../tools/driver-check/options.js';
import type { DriverCheckArguments } from './driver-check-options.js';
import { checkOptions, throwIfUsage } from './driver-check-options.js';
import { firstSignal } from './signals.js';

export async function runDriverCleanUp(
  prefix: string,
  given: DriverCheckArguments,
  print: (text: string) => void,
): Promise<void> {
  const stop = new AbortController();
  firstSignal()
    .then(() =>
      stop.abort(new StagecraftError('ABORTED', 'ended by a signal: there may be more to remove, run it again')),
    )
    .catch(() => {});
  const report = await cleanedUp(checkOptions(given, { prefix, signal: stop.signal }));
  print(given.json ? plainJson(JSON.stringify(report, null, 2)) : textOf(report));
  if (report.left.length > 0)
    throw new StagecraftError(
      'CLEAN_UP_FAILED',
      `could not remove ${report.left.length} of the resources of run ${prefix}: use the driver's own tools`,
    );
}

async function cleanedUp(options: CheckDriverOptions & { prefix: string }): Promise<CleanUpReport> {
  try {
    return await cleanUpDriver(options);
  } catch (error) {
    throwIfUsage(error);
    throw error;
  }
}

function textOf({ removed, left, unknown }: CleanUpReport): string {
  const lines = [
    ...(removed.length === 0 ? ['nothing was removed'] : removed.map((what) => `removed: ${what}`)),
    ...left.map((what) => `still there: ${what}`),
    ...unknown.map((what) => `not known: ${what}`),
  ];
  return lines.map(oneLine).join('\n');
}

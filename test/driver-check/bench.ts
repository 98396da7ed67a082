/** Runs checks on handlers, over a real socket, and tells what came out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsiHandlers } from '../../src/csi/server.js';
import { serve } from '../../src/driver/serve.js';
import type { CheckResult } from '../../src/driver-check/check.js';
import type { CheckDriverOptions } from '../../src/driver-check/options.js';
import { checkDriver } from '../../src/driver-check/run.js';
import { newState, otherNodeId, type RightState, rightDriver } from './right-driver.js';

export const sizeBytes = 1 << 20;

export interface Scene {
  /** Of this test alone. */
  folder: string;
  endpoint: string;
  state: RightState;
}

/** @param change makes the driver wrong */
export async function withDriver<T>(
  change: (handlers: CsiHandlers, state: RightState) => CsiHandlers,
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'checked-'));
  const endpoint = `unix://${join(folder, 'csi.sock')}`;
  const state = newState(folder);
  const serving = await serve(endpoint, change(rightDriver(state), state), 100);
  try {
    return await work({ folder, endpoint, state });
  } finally {
    await serving.stop();
    rmSync(folder, { recursive: true });
  }
}

export const optionsFor = ({ endpoint, folder }: Pick<Scene, 'endpoint' | 'folder'>): CheckDriverOptions => ({
  endpoint,
  otherNodeId,
  sizeBytes,
  stagingDir: folder,
  targetDir: folder,
  parameters: { ControllerModifyVolume: { speed: 'high' } },
});

export async function resultsOf(options: CheckDriverOptions): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for await (const result of checkDriver(options)) results.push(result);
  return results;
}

/** The ids of the results that are not `passed`, each with its outcome. */
export const notPassed = (results: CheckResult[]): Record<string, string> =>
  Object.fromEntries(results.filter(({ outcome }) => outcome !== 'passed').map(({ id, outcome }) => [id, outcome]));

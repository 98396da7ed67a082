/** Runs checks on handlers, over a real socket, and tells what came out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsiHandlers } from '../../src/csi/server.js';
import { serveDriver } from '../../src/tools/driver/serve.js';
import type { CheckDriverOptions } from '../../src/tools/driver-check/options.js';
import { checkDriver } from '../../src/tools/driver-check/run.js';
import type { CheckResult } from '../../src/tools/driver-check/verdict.js';
import { newState, otherNodeId, type RightState, rightDriver } from './right-driver.js';
import { replaced } from './wrong.js';

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
  const serving = await serveDriver(endpoint, change(rightDriver(state), state), 100);
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

/** A volume_context in which callers see the name of a volume, as some drivers give it. */
export const showingNames = (handlers: CsiHandlers, state: RightState): CsiHandlers =>
  replaced(handlers, 'CreateVolume', async (request, next) => {
    const { volume } = await next(request);
    const held = state.volumes.get(volume?.volumeId ?? '');
    if (held) held.volumeContext = { name: request.name };
    return { volume: { ...volume, volumeContext: { name: request.name } } };
  });

/** A volume that no run made. */
export async function makeVolume(
  { state }: Scene,
  name: string,
  volumeContext: Record<string, string> = {},
): Promise<string> {
  const mount = { fsType: '', mountFlags: [], volumeMountGroup: '' };
  const volumeCapabilities = [{ mount, accessMode: { mode: 'SINGLE_NODE_WRITER' as const } }];
  const request = { name, volumeCapabilities, parameters: {}, secrets: {}, mutableParameters: {} };
  await rightDriver(state).CreateVolume?.(request, { signal: new AbortController().signal });
  const made = [...state.volumes.values()].find((volume) => volume.name === name);
  if (!made) throw new Error(`the driver made no volume ${name}`);
  made.volumeContext = volumeContext;
  return made.volumeId;
}

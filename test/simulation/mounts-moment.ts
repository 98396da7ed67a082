/**
 * One moment of a history of mounts, as data: what the store of its node keeps, and all that outlives a runtime. Another
 * runtime goes on from there, as after the end of the one before. Written and read by test/histories.
 */
import type { AllocNow, MountsAllocs } from './mounts-allocs.js';
import type { ClaimsNow } from './mounts-claims.js';
import type { CallNow } from './mounts-driver.js';
import type { KernelNow } from './mounts-kernel.js';
import type { MountsPlan } from './mounts-plan.js';
import type { PluginNow } from './mounts-plugin.js';
import type { MountsWorld } from './mounts-world.js';
import type { Write } from './writes.js';

export interface MountsMoment {
  /** What was under way, in words for a person. */
  shows: string[];
  plan: MountsPlan;
  /** Since the beginning of the history. */
  atMs: number;
  writes: Write[];
  kernel: KernelNow;
  plugin: PluginNow;
  /** The plugin goes on with these calls, whoever asked. */
  calls: CallNow[];
  directories: string[];
  claims: ClaimsNow;
  allocs: AllocNow[];
}

/** All that outlives a runtime, as it is now. */
export const worldNow = (
  { kernel, plugin, driver, directories, claims }: MountsWorld,
  allocs: MountsAllocs,
): Omit<MountsMoment, 'shows' | 'plan' | 'atMs' | 'writes'> => ({
  kernel: kernel.now,
  plugin: plugin.now,
  calls: driver.now,
  directories: [...directories],
  claims: claims.now,
  allocs: allocs.now,
});

/** A world is as another one was. */
export function takeUpWorld(from: MountsMoment, world: MountsWorld, allocs: MountsAllocs): void {
  world.plugin.takeUp(from.plugin);
  world.kernel.takeUp(from.kernel, world.plugin.server);
  world.driver.takeUp(from.calls);
  for (const path of from.directories) world.directories.add(path);
  world.claims.takeUp(from.claims);
  allocs.takeUp(from.allocs);
}

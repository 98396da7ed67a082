/**
 * Mounts below our directory that no record has, as a driver that died may have finished one late, and mounts that
 * their plugin does not unmount: reported, and removed only on request.
 */

import type { Tries } from '../../machines/kit/csi-types.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Logger } from '../engine/logger.js';
import { StagecraftError } from '../errors.js';
import { isWithin, type MountTable } from '../host/mount-table.js';
import type { HostTool } from './host-tool.js';
import type { MountTables } from './mount-tables.js';
import type { MountPath, MountPaths } from './paths.js';

export interface OrphanedMount {
  path: string;
  /** `major:minor`, and the path within that. */
  source: string;
  fsType: string;
  /** Plugin that was to unmount it, and has not. Absent: no record has the mount. */
  plugin?: string;
}

interface OrphanedMountsOptions {
  nodeId: string;
  engine: ActorSystem;
  paths: MountPaths;
  tables: Pick<MountTables, 'table'>;
  tool: Pick<HostTool, 'run'>;
  logger: Logger;
}

export class OrphanedMounts {
  readonly #options: OrphanedMountsOptions;
  /** Paths that were logged. */
  #told = new Set<string>();

  constructor(options: OrphanedMountsOptions) {
    this.#options = options;
  }

  async list(): Promise<OrphanedMount[]> {
    // Mounts that went since the table was read were known before; those that came since are known now.
    const before = this.#knownPaths().known;
    const table = await this.#options.tables.table();
    const { known, staying } = this.#knownPaths();
    return this.#in(table, new Set([...before, ...known]), staying);
  }

  /**
   * Unmounts an orphaned mount; keeps the file or directory under it.
   * @throws StagecraftError INVALID_ARGUMENT: no orphaned mount is at `given`; MOUNT_STAYS: the kernel refuses, as the
   *   mount is in use
   */
  async clean(given: string): Promise<void> {
    const orphans = await this.list();
    const path = given.length > 1 ? given.replace(/\/+$/, '') : given;
    if (!orphans.some((orphan) => orphan.path === path)) {
      const known = orphans.map((orphan) => orphan.path).join(', ');
      const message = `there is no orphaned mount at ${path}: ${known === '' ? 'there are none on this node' : `choose one of ${known}`}`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`path: ${message}`] });
    }
    const { status, stderr } = await this.#options.tool.run('umount', ['--no-canonicalize', path]);
    if (status !== 0) throw new StagecraftError('MOUNT_STAYS', `${path} can't be unmounted: ${stderr}`);
  }

  /** Logs each mount without a record once; the others are reported where they are to be unmounted. */
  async tell(): Promise<void> {
    const orphans = (await this.list()).filter(({ plugin }) => plugin === undefined);
    for (const { path, source, fsType } of orphans) {
      if (this.#told.has(path)) continue;
      this.#options.logger.warn({ path }, `${source} (${fsType}) is mounted at ${path}, and nobody here knows of it`);
    }
    this.#told = new Set(orphans.map(({ path }) => path));
  }

  #in({ entries }: MountTable, known: ReadonlySet<string>, staying: ReadonlyMap<string, string>): OrphanedMount[] {
    const { root } = this.#options.paths;
    // A plugin may mount something of its own below a staging.
    const placeOf = (path: string, paths: { has(path: string): boolean }): string | undefined => {
      for (let at = path; at.length > root.length; at = at.slice(0, at.lastIndexOf('/'))) if (paths.has(at)) return at;
      return undefined;
    };
    return entries
      .filter(({ path }) => path !== root && isWithin(path, root) && placeOf(path, known) === undefined)
      .map(({ path, device, root: within, fsType }) => {
        const plugin = staying.get(placeOf(path, staying) ?? '');
        return { path, source: `${device} ${within}`, fsType, ...(plugin !== undefined && { plugin }) };
      });
  }

  #knownPaths(): KnownPaths {
    const { engine, paths } = this.#options;
    const found: KnownPaths = { known: new Set(), staying: new Map() };
    for (const [, view] of new ActorsOf(engine, mountMachine).views()) {
      const { key, volume, users, staging } = view.context;
      if (!volume) continue;
      const { plugin } = volume;
      const add = ({ path }: MountPath, tries: Tries | undefined): void => {
        if (tries && isLeftMounted(tries)) found.staying.set(path, plugin);
        else found.known.add(path);
      };
      add(paths.staging(plugin, key), staging.unstageTries);
      // A mount found at a target is also unpublished before the volume is published there.
      for (const { allocId, tries } of users) add(paths.target(plugin, key, allocId), tries);
    }
    return found;
  }
}

/** Whether the plugin says that nothing is mounted, or that it has unmounted it, while the kernel shows it mounted. */
const isLeftMounted = ({ failure: { code, answerClass } }: Tries): boolean =>
  code === 'MOUNT_STAYS' || answerClass === 'already-so-if-unmounted';

interface KnownPaths {
  /** Paths where something of ours is, or may be. */
  known: Set<string>;
  /** Paths that a plugin was to unmount and has not, each with that plugin. */
  staying: Map<string, string>;
}

/** Mounts below our directory that nobody here knows of, as a driver that died may have finished one late: told of, and removed only when that is asked for. */
import { nodeOwnedPrefix } from '../../machines/addresses.js';
import type { MountContext } from '../../machines/mount-types.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { StagecraftError } from '../errors.js';
import { isWithin, type MountTable } from '../host/mount-table.js';
import type { HostTool } from './host-tool.js';
import type { MountTables } from './mount-tables.js';
import type { MountPaths } from './paths.js';

export interface Stray {
  path: string;
  /** `major:minor`, and the path within that. */
  source: string;
  fsType: string;
}

export interface StraysOptions {
  nodeId: string;
  engine: Pick<Engine, 'views'>;
  paths: MountPaths;
  tables: Pick<MountTables, 'table'>;
  tool: Pick<HostTool, 'run'>;
  logger: Logger;
}

export class Strays {
  readonly #options: StraysOptions;
  /** Those that were told of. */
  #told = new Set<string>();

  constructor(options: StraysOptions) {
    this.#options = options;
  }

  async list(): Promise<Stray[]> {
    // What has gone since the table was read was known, and what has come since is.
    const before = this.#known();
    const table = await this.#options.tables.table();
    return this.#in(table, new Set([...before, ...this.#known()]));
  }

  /**
   * Unmounts one. What it was mounted on stays.
   * @throws StagecraftError INVALID_ARGUMENT: it is none; MOUNT_STAYS: the kernel refuses, as it is in use
   */
  async clean(given: string): Promise<void> {
    const strays = await this.list();
    const path = given.length > 1 ? given.replace(/\/+$/, '') : given;
    if (!strays.some((stray) => stray.path === path)) {
      const known = strays.map((stray) => stray.path).join(', ') || 'none';
      const message = `${JSON.stringify(path)} is no mount that nobody knows of: there are ${known}`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`path: ${message}`] });
    }
    const { status, stderr } = await this.#options.tool.run('umount', ['--no-canonicalize', path]);
    if (status !== 0) throw new StagecraftError('MOUNT_STAYS', `${path} can't be unmounted: ${stderr}`);
  }

  /** Logs each once. */
  async tell(): Promise<void> {
    const strays = await this.list();
    for (const { path, source, fsType } of strays) {
      if (this.#told.has(path)) continue;
      this.#options.logger.warn({ path }, `${source} (${fsType}) is mounted at ${path}, and nobody here knows of it`);
    }
    this.#told = new Set(strays.map(({ path }) => path));
  }

  #in({ entries }: MountTable, known: ReadonlySet<string>): Stray[] {
    const { root } = this.#options.paths;
    // A plugin may mount something of its own below what is staged.
    const isKnown = (path: string): boolean => {
      for (let at = path; at.length > root.length; at = at.slice(0, at.lastIndexOf('/')))
        if (known.has(at)) return true;
      return false;
    };
    return entries
      .filter(({ path }) => path !== root && isWithin(path, root) && !isKnown(path))
      .map(({ path, device, root: within, fsType }) => ({ path, source: `${device} ${within}`, fsType }));
  }

  /** Where something of ours is, or may be. */
  #known(): Set<string> {
    const { engine, nodeId, paths } = this.#options;
    const known = new Set<string>();
    for (const [, view] of engine.views(nodeOwnedPrefix('mount', nodeId))) {
      const { key, volume, users } = view.context as MountContext;
      if (!volume) continue;
      known.add(paths.staging(volume.plugin, key).path);
      for (const { allocId } of users) known.add(paths.target(volume.plugin, key, allocId).path);
    }
    return known;
  }
}

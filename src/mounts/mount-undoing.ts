/**
 * Undoes a mount through its plugin, and looks whether it is undone: what the plugin says is no proof. A plugin that was
 * killed may have forgotten what it has mounted; what is certain to be ours (`provenAt`) is unmounted here then.
 */
import type { UndoingCall } from '../../machines/mount/calls.js';
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { MountEntry, MountTable } from '../host/mount-table.js';
import type { HostTool } from './host-tool.js';
import { coveredStill, staysMounted, stillMounted, withMountsInside } from './mount-faults.js';
import { type Evidence, observedAt, provenAt } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import type { MountPath } from './paths.js';

interface MountUndoingOptions {
  tables: Pick<MountTables, 'table'>;
  tool: Pick<HostTool, 'run'>;
  /** Id of the present boot of the host: observations of another boot prove nothing. */
  bootId: string;
  logger: Logger;
}

/** A mount that is to be undone. */
interface ToUndo {
  call: Pick<UndoingCall, 'plugin' | 'key' | 'found' | 'foundIn' | 'appeared' | 'staged'>;
  place: MountPath;
  /** State that the volume has left, as the plugin says. */
  what: 'published' | 'staged';
  /** Staging path of the volume; absent: the path itself. */
  staging?: MountPath;
}

export interface Undone {
  /** Shows that nothing is mounted there. */
  table: MountTable;
  /** The plugin has left our mount there. */
  unmounted?: true;
}

/** @throws {StagecraftError} MOUNT_STAYS: something covers the place; what `faultOf` makes of what is mounted there */
export function mustBeFree(table: MountTable, place: MountPath, faultOf: (entry: MountEntry) => unknown): void {
  const seen = observedAt(table, { path: place.path });
  if (seen.is === 'covered') throw coveredStill(place, seen.entry);
  if (seen.is !== 'gone') throw faultOf(seen.entry);
}

export class MountUndoing {
  readonly #options: MountUndoingOptions;

  constructor(options: MountUndoingOptions) {
    this.#options = options;
  }

  /**
   * Refuses to undo what something else lies over: the plugin would take that away, or see nothing of ours, and say that it
   * is done. What has replaced ours is at a path of the plugin's own.
   * @throws {StagecraftError} MOUNT_STAYS
   */
  async refuseCovered(place: MountPath, found: KernelMount | undefined): Promise<void> {
    const seen = observedAt(await this.#options.tables.table(), { path: place.path, found });
    if (seen.is === 'covered') throw coveredStill(place, seen.entry);
  }

  /**
   * Has the plugin undo it, and unmounts what that has left of ours.
   * @throws {StagecraftError} what the plugin answers; MOUNT_STAYS: something is mounted there still
   */
  async undo(undoing: ToUndo, ask: () => Promise<void>): Promise<Undone> {
    const { what, place } = undoing;
    const { tables } = this.#options;
    const refusal = await ask().then(
      () => undefined,
      async (error: unknown) => {
        if (error instanceof StagecraftError && error.answerClass === 'already-so-if-unmounted') return error;
        throw withMountsInside(error, place, await tables.table());
      },
    );
    const undone = await this.#unmountOurs(undoing);
    mustBeFree(undone.table, place, (entry) => refusal ?? stillMounted(what, place, entry));
    return undone;
  }

  /** Unmounts what is seen at the place, as long as that is certain to be ours. */
  async #unmountOurs(undoing: ToUndo): Promise<Undone> {
    const { place } = undoing;
    const evidence = this.#evidenceOf(undoing);
    const done = new Set<number>();
    for (;;) {
      const table = await this.#options.tables.table();
      const ours = provenAt(table, evidence);
      // Stops a mount that survives its umount from being unmounted for ever.
      if (!ours || done.has(ours.id)) return { table, ...(done.size > 0 && { unmounted: true }) };
      done.add(ours.id);
      this.#announce(undoing, ours);
      const why = await this.#unmount(place.path);
      if (why === undefined) continue;
      const after = await this.#options.tables.table();
      if (provenAt(after, evidence)?.id !== ours.id) continue;
      throw withMountsInside(staysMounted(undoing.what, place, why), place, after);
    }
  }

  #evidenceOf({ call, place, staging }: ToUndo): Evidence {
    const { bootId } = this.#options;
    const { found, foundIn, appeared, staged } = call;
    const isOfThisBoot = foundIn === bootId;
    return {
      path: place.path,
      ...(isOfThisBoot && { found }),
      ...(appeared?.bootId === bootId && { appeared }),
      ...(isOfThisBoot && staging && staged && { staged: { path: staging.path, found: staged } }),
    };
  }

  /** Before it is done: killed in between, it is told of twice rather than never. */
  #announce({ call: { plugin, key }, what, place: { path } }: ToUndo, { device, root, fsType }: MountEntry): void {
    const left = `${root} of ${device} (${fsType}) at ${path}`;
    const message = `${volumeName(key)}: plugin '${plugin}' says that it is not ${what} any more, and has left our mount, ${left}: it is unmounted by Stagecraft`;
    this.#options.logger.warn({ path, plugin }, message);
  }

  /** Never lazily: what is in use stays. @returns why it can't be unmounted; undefined: it is */
  async #unmount(path: string): Promise<string | undefined> {
    try {
      const { status, stderr } = await this.#options.tool.run('umount', ['--no-canonicalize', path]);
      return status === 0 ? undefined : stderr;
    } catch (error) {
      return messageOf(error);
    }
  }
}

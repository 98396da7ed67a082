/**
 * Volumes that a plugin lists and no record has: of a store that was restored from an older copy, of a deletion that was forced,
 * or of somebody else who uses the same storage. Reported, never touched.
 */

export interface OrphanedVolume {
  plugin: string;
  /** The plugin's id of the volume. */
  csiId: string;
  /** Node whose instance lists it, if that is another agent's. */
  nodeId?: string;
}

/** List of one instance of a plugin. */
export interface PluginList {
  plugin: string;
  /** Undefined: on this node. */
  node: string | undefined;
}

interface OrphanedVolumesOptions {
  /** Called when the orphans of a plugin have changed, with all that it has now. */
  changed(plugin: string, orphans: readonly OrphanedVolume[]): void;
}

export class OrphanedVolumes {
  readonly #options: OrphanedVolumesOptions;
  /** Orphans by plugin and node. */
  readonly #lists = new Map<string, OrphanedVolume[]>();

  constructor(options: OrphanedVolumesOptions) {
    this.#options = options;
  }

  /** Takes over what one list has and no record. @param isMaking a new one may be of a create call whose answer has not come */
  seen({ plugin, node }: PluginList, csiIds: readonly string[], isMaking: boolean): void {
    const name = `${plugin}\n${node ?? ''}`;
    const before = new Set(this.#lists.get(name)?.map(({ csiId }) => csiId));
    const now = csiIds.filter((csiId) => !isMaking || before.has(csiId));
    if (now.length === before.size && now.every((csiId) => before.has(csiId))) return;
    const orphans = now.map((csiId) => ({ plugin, csiId, ...(node !== undefined && { nodeId: node }) }));
    if (orphans.length > 0) this.#lists.set(name, orphans);
    else this.#lists.delete(name);
    this.#options.changed(plugin, this.of(plugin));
  }

  /** All that are known of a plugin. */
  of(plugin: string): OrphanedVolume[] {
    return this.all.filter((orphan) => orphan.plugin === plugin);
  }

  get all(): OrphanedVolume[] {
    return [...this.#lists.values()].flat();
  }

  /** A row for each plugin that has some. */
  get told(): { plugin: string; what: string }[] {
    return [...new Set(this.all.map(({ plugin }) => plugin))].map((plugin) => ({
      plugin,
      what: toldOfOrphans(plugin, this.of(plugin)),
    }));
  }

  /** Another agent compares from here on. */
  forget(): void {
    this.#lists.clear();
  }
}

const mostNamed = 5;

/** In words for logs, events and the overview. */
export function toldOfOrphans(plugin: string, orphans: readonly OrphanedVolume[]): string {
  const count = orphans.length;
  if (count === 0) return `plugin '${plugin}' lists no volumes any more that no record has`;
  const named = orphans.slice(0, mostNamed).map(({ csiId }) => csiId);
  const more = count > mostNamed ? ` and ${count - mostNamed} more` : '';
  const what = count === 1 ? 'a volume that no record has' : `${count} volumes that no record has`;
  return `plugin '${plugin}' lists ${what}: ${named.join(', ')}${more}`;
}

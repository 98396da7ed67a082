/** The kernel of a history of mounts: its mount table, and the processes that serve what is mounted. */
import { type MountEntry, MountTable } from '../../src/host/mount-table.js';

/** Process that serves a file system: what it serves stays mounted when it ends, and does not answer any more. */
export interface Server {
  isAlive: boolean;
}

/** File system, or a part of one. */
export interface Source {
  device: string;
  root: string;
  fsType: string;
  origin: string;
  /** Absent: the kernel itself. */
  server?: Server;
}

/** All that a kernel keeps, as data. */
export interface KernelNow {
  boots: number;
  ids: number;
  devices: number;
  entries: MountEntry[];
  /** By the id of the mount: whether the process that serves it is alive. */
  servers: [id: number, isAlive: boolean][];
  ofPlugin: number[];
}

const host: Source = { device: '259:1', root: '/', fsType: 'ext4', origin: '/dev/nvme0n1p1' };

export class SimulatedKernel {
  /** A table that is not readable fails whoever reads it. */
  isReadable = true;
  #boots = 1;
  #ids = 0;
  #devices = 40;
  #entries: MountEntry[] = [];
  #table: MountTable | undefined;
  readonly #servers = new Map<number, Server>();
  /** Ids of mounts that the plugin has made. */
  readonly #ofPlugin = new Set<number>();

  constructor() {
    this.#add('/', host, { isReadOnly: false });
  }

  get now(): KernelNow {
    return {
      ...{ boots: this.#boots, ids: this.#ids, devices: this.#devices, entries: this.#entries },
      servers: [...this.#servers].map(([id, { isAlive }]) => [id, isAlive]),
      ofPlugin: [...this.#ofPlugin],
    };
  }

  /** It is as another one was. @param server process that serves all that is served by a live one */
  takeUp({ boots, ids, devices, entries, servers, ofPlugin }: KernelNow, server: Server): void {
    this.#boots = boots;
    this.#ids = ids;
    this.#devices = devices;
    this.#entries = entries;
    this.#table = undefined;
    for (const [id, isAlive] of servers) this.#servers.set(id, isAlive ? server : { isAlive });
    for (const id of ofPlugin) this.#ofPlugin.add(id);
  }

  get bootId(): string {
    return `boot-${this.#boots}`;
  }

  /** Number for a file system that has no device of its own. */
  nextDevice(): string {
    this.#devices += 1;
    return `0:${this.#devices}`;
  }

  get table(): MountTable {
    this.#table ??= new MountTable(this.#entries);
    return this.#table;
  }

  /** As a process reads it. */
  async read(): Promise<MountTable> {
    if (!this.isReadable) throw new Error('the mount table can not be read');
    return this.table;
  }

  /** The mount that is seen at a path. */
  at(path: string): MountEntry | undefined {
    return this.table.at(path).at(-1);
  }

  mount(path: string, source: Source, { isReadOnly = false, ofPlugin = true } = {}): MountEntry {
    const entry = this.#add(path, source, { isReadOnly });
    if (ofPlugin) this.#ofPlugin.add(entry.id);
    return entry;
  }

  /** What a bind mount of the path would show. */
  sourceAt(path: string): Source {
    const holder = this.table.holderOf(path);
    const { device, root } = this.table.sourceOf(path, holder);
    const server = this.#servers.get(holder.id);
    return { device, root, fsType: holder.fsType, origin: holder.origin, ...(server && { server }) };
  }

  /** Whether what is seen there was made by the plugin. */
  isOfPlugin(path: string): boolean {
    const entry = this.at(path);
    return entry !== undefined && this.#ofPlugin.has(entry.id);
  }

  /** Every mount of the plugin at a path, be it that others hide it. */
  ofPluginAt(path: string): MountEntry[] {
    return this.#entries.filter((entry) => entry.path === path && this.#ofPlugin.has(entry.id));
  }

  get ofPlugin(): MountEntry[] {
    return this.#entries.filter(({ id }) => this.#ofPlugin.has(id));
  }

  isDead(path: string): boolean {
    const entry = this.at(path);
    return entry !== undefined && this.#servers.get(entry.id)?.isAlive === false;
  }

  /** Unmounts what is seen there. @returns why it stays */
  unmount(path: string): string | undefined {
    const entry = this.at(path);
    if (!entry) return 'not mounted';
    return this.remove(entry.id);
  }

  remove(id: number): string | undefined {
    if (this.#entries.some((one) => one.parentId === id && one.id !== id)) return 'target is busy';
    this.#entries = this.#entries.filter((one) => one.id !== id);
    this.#servers.delete(id);
    this.#ofPlugin.delete(id);
    this.#table = undefined;
    return undefined;
  }

  /** Nothing is mounted after it but the host's own. */
  reboot(): void {
    this.#boots += 1;
    this.#entries = [];
    this.#servers.clear();
    this.#ofPlugin.clear();
    this.#add('/', host, { isReadOnly: false });
  }

  #add(path: string, source: Source, { isReadOnly }: { isReadOnly: boolean }): MountEntry {
    this.#ids += 1;
    const { device, root, fsType, origin, server } = source;
    const parentId = path === '/' ? this.#ids : this.table.holderOf(path).id;
    const entry: MountEntry = {
      ...{ id: this.#ids, parentId, path, device, root, fsType, origin, isReadOnly },
      options: new Set([isReadOnly ? 'ro' : 'rw']),
      propagation: 'shared',
    };
    if (server) this.#servers.set(entry.id, server);
    this.#entries = [...this.#entries, entry];
    this.#table = undefined;
    return entry;
  }
}

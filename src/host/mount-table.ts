/**
 * The mount table of /proc/self/mountinfo: mounts at a path, and what a path would show if it were bound elsewhere.
 * Never looks at the disk. See proc_pid_mountinfo(5)
 */

/** Part of a file system: the same for two mounts of the same thing. */
export interface MountSource {
  /** `major:minor` */
  readonly device: string;
  /** Path within the file system. */
  readonly root: string;
}

export interface MountEntry extends MountSource {
  readonly id: number;
  readonly parentId: number;
  /** Path without symlinks. */
  readonly path: string;
  /** Options of this mount, e.g. `ro`, `noexec`; not those of its file system. */
  readonly options: ReadonlySet<string>;
  readonly propagation: Propagation;
  /** E.g. `ext4`, `fuse.sshfs`. */
  readonly fsType: string;
  /** Source as the file system names it: a device, `server:/export`, or any word. */
  readonly origin: string;
  /** Nothing can be written through it, by its own options or by those of its file system. */
  readonly isReadOnly: boolean;
}

/**
 * Propagation of mounts that are made on it. `shared`: they are seen in other mount namespaces, also if it gets
 * mounts from there.
 */
export type Propagation = 'shared' | 'slave' | 'private' | 'unbindable';

/** Options of a file system that takes no writes. Newer kernels say in their own words that ext4 has turned so. */
const readOnlyOptions: ReadonlySet<string> = new Set(['ro', 'emergency_ro', 'shutdown']);

/** Mark that the kernel adds to the root of a mount whose source was removed. */
const removedMark = '//deleted';

/** @throws Error a line that is none of mountinfo */
export const parseMountInfo = (text: string): MountEntry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map(entryOf);

function entryOf(line: string): MountEntry {
  const fields = line.split(' ');
  const [id, parentId, device, root, path, options] = fields;
  // Any number of optional fields comes before the separator; none has its name.
  const separator = fields.indexOf('-', 6);
  const fsType = separator < 0 ? undefined : fields[separator + 1];
  const fileSystemOptions = separator < 0 ? '' : (fields[separator + 3] ?? '');
  if (!id || !parentId || !device || root === undefined || path === undefined || !options || !fsType) {
    throw new Error(`not a line of a mount table: ${JSON.stringify(line)}`);
  }
  const own = new Set(options.split(','));
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescaped(root),
    path: unescaped(path),
    options: own,
    propagation: propagationOf(fields.slice(6, separator)),
    fsType: unescaped(fsType),
    origin: unescaped(fields[separator + 2] ?? ''),
    isReadOnly: own.has('ro') || fileSystemOptions.split(',').some((option) => readOnlyOptions.has(option)),
  };
}

function propagationOf(optionalFields: readonly string[]): Propagation {
  if (optionalFields.some((field) => field.startsWith('shared:'))) return 'shared';
  if (optionalFields.some((field) => field.startsWith('master:'))) return 'slave';
  return optionalFields.includes('unbindable') ? 'unbindable' : 'private';
}

/** The kernel writes blank, tab, line feed and backslash as three octal digits, in types `#` too. */
const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

export const isSameSource = (one: MountSource, other: MountSource): boolean =>
  one.device === other.device && one.root === other.root;

/** Whether one shows the source of the other, which was removed since. */
export const isRemoved = (one: MountSource, other: MountSource): boolean =>
  one.device === other.device && one.root === other.root + removedMark;

/** Whether one is the source of the other or within it, or was. */
export const isSourceWithin = (one: MountSource, other: MountSource): boolean =>
  (one.device === other.device && isWithin(one.root, other.root)) || isRemoved(one, other);

export class MountTable {
  readonly entries: readonly MountEntry[];
  readonly #paths: ReadonlySet<string>;
  /** Mounts by the mount that they are on, and by path: those that are seen first. */
  readonly #children = new Map<number | undefined, Map<string, MountEntry>>();

  constructor(entries: readonly MountEntry[]) {
    this.entries = entries;
    this.#paths = new Set(entries.map(({ path }) => path));
    const ids = new Set(entries.map(({ id }) => id));
    for (const entry of entries) {
      const parentId = ids.has(entry.parentId) && entry.parentId !== entry.id ? entry.parentId : undefined;
      const siblings = this.#children.get(parentId);
      if (!siblings) this.#children.set(parentId, new Map([[entry.path, entry]]));
      else if (!siblings.has(entry.path)) siblings.set(entry.path, entry);
    }
  }

  /** Visible mounts at just this path, the one that is seen last. */
  at(path: string): MountEntry[] {
    return this.#wayTo(path).filter((entry) => entry.path === path);
  }

  /** Whether something is mounted at just this path, hidden or not. */
  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Mount that hides all mounts at just this path; undefined: none is there, or one is visible. */
  hiderOf(path: string): MountEntry | undefined {
    return this.has(path) && this.at(path).length === 0 ? this.holderOf(path) : undefined;
  }

  /** Mount that contains the path. */
  holderOf(path: string): MountEntry {
    const holder = this.#wayTo(path).at(-1);
    if (!holder) throw new Error(`no mount holds ${path}: is /proc of this mount namespace?`);
    return holder;
  }

  /**
   * Source that a bind mount of the path would show.
   * @param path without symlinks
   * @param holder mount that contains it; default: the visible one
   */
  sourceOf(path: string, holder: MountEntry = this.holderOf(path)): MountSource {
    const within = path.slice(holder.path === '/' ? 0 : holder.path.length);
    const root = `${holder.root === '/' ? '' : holder.root}${within === '/' ? '' : within}`;
    return { device: holder.device, root: root === '' ? '/' : root };
  }

  /** Mounts on the way to the path, each on the one before. */
  #wayTo(path: string): MountEntry[] {
    const way: MountEntry[] = [];
    const directories = directoriesOn(path);
    for (;;) {
      const children = this.#children.get(way.at(-1)?.id);
      // The shorter path hides what was mounted below it before.
      const at = children && directories.find((directory) => children.has(directory));
      const next = at === undefined ? undefined : children?.get(at);
      if (!next) return way;
      way.push(next);
    }
  }
}

/** Directories from the root to the path itself. */
function directoriesOn(path: string): string[] {
  const directories = ['/'];
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) directories.push(path.slice(0, at));
  if (path !== '/') directories.push(path);
  return directories;
}

export const isWithin = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

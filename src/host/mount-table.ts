/**
 * What is mounted where, as /proc/self/mountinfo says it. Told by it: which mounts are seen at a path, and what a path
 * would show if it were bound elsewhere. Nothing here looks at the disk. See proc_pid_mountinfo(5)
 */

/** A part of a file system: what two mounts of the same thing have in common. */
export interface MountSource {
  /** `major:minor` */
  readonly device: string;
  /** Path within the file system. */
  readonly root: string;
}

export interface MountEntry extends MountSource {
  readonly id: number;
  readonly parentId: number;
  /** Where it is, without symlinks. */
  readonly path: string;
  /** Of this mount, e.g. `ro`, `noexec`; not those of its file system. */
  readonly options: ReadonlySet<string>;
  readonly propagation: Propagation;
  /** E.g. `ext4`, `fuse.sshfs`. */
  readonly fsType: string;
  /** What it is mounted from, as its file system names it: a device, `server:/export`, or any word. */
  readonly origin: string;
  /** Nothing can be written through it: by its own options, or by those of its file system. */
  readonly isReadOnly: boolean;
}

/**
 * What becomes of mounts that are made on a mount: `shared` ones are seen in other mount namespaces too, also where it
 * gets some of theirs besides.
 */
export type Propagation = 'shared' | 'slave' | 'private' | 'unbindable';

/** What the kernel adds to the root of what was removed while it was mounted. */
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
  // Before it as many optional fields as the kernel likes; none of those is called like this.
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
    isReadOnly: own.has('ro') || fileSystemOptions.split(',').includes('ro'),
  };
}

function propagationOf(optionalFields: readonly string[]): Propagation {
  if (optionalFields.some((field) => field.startsWith('shared:'))) return 'shared';
  if (optionalFields.some((field) => field.startsWith('master:'))) return 'slave';
  return optionalFields.includes('unbindable') ? 'unbindable' : 'private';
}

/** The kernel writes blank, tab, line feed and backslash as three octal digits, in types `#` too; all else as it is. */
const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

export const isSameSource = (one: MountSource, other: MountSource): boolean =>
  one.device === other.device && one.root === other.root;

/** Whether the one shows what was at the place of the other, and was removed since. */
export const isRemoved = (one: MountSource, other: MountSource): boolean =>
  one.device === other.device && one.root === other.root + removedMark;

/** Whether the one is the other, or is in it, or was. */
export const isSourceWithin = (one: MountSource, other: MountSource): boolean =>
  (one.device === other.device && isWithin(one.root, other.root)) || isRemoved(one, other);

export class MountTable {
  readonly entries: readonly MountEntry[];
  readonly #paths: ReadonlySet<string>;
  /** By the mount that they are on, and by path: those that are seen first at theirs. */
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

  /** The mounts at just this path, the one that is seen last; those that others hide are not among them. */
  at(path: string): MountEntry[] {
    return this.#wayTo(path).filter((entry) => entry.path === path);
  }

  /** Whether something is mounted at just this path, be it that others hide it. */
  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** What hides all that is mounted at just this path; undefined: nothing is, or it is seen. */
  hiderOf(path: string): MountEntry | undefined {
    return this.has(path) && this.at(path).length === 0 ? this.holderOf(path) : undefined;
  }

  /** The mount that the path is in. */
  holderOf(path: string): MountEntry {
    const holder = this.#wayTo(path).at(-1);
    if (!holder) throw new Error(`no mount holds ${path}: is /proc of this mount namespace?`);
    return holder;
  }

  /**
   * What a bind mount of the path would show.
   * @param path without symlinks
   * @param holder of which mount; default: the one that is seen there
   */
  sourceOf(path: string, holder: MountEntry = this.holderOf(path)): MountSource {
    const within = path.slice(holder.path === '/' ? 0 : holder.path.length);
    const root = `${holder.root === '/' ? '' : holder.root}${within === '/' ? '' : within}`;
    return { device: holder.device, root: root === '' ? '/' : root };
  }

  /** Through which mounts the path is reached: each is on the one before. */
  #wayTo(path: string): MountEntry[] {
    const way: MountEntry[] = [];
    const directories = directoriesOn(path);
    for (;;) {
      const children = this.#children.get(way.at(-1)?.id);
      // The shorter one hides what was mounted below it before.
      const at = children && directories.find((directory) => children.has(directory));
      const next = at === undefined ? undefined : children?.get(at);
      if (!next) return way;
      way.push(next);
    }
  }
}

/** From the root to the path itself. */
function directoriesOn(path: string): string[] {
  const directories = ['/'];
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) directories.push(path.slice(0, at));
  if (path !== '/') directories.push(path);
  return directories;
}

export const isWithin = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

/**
 * Has what is mounted below our directory be seen in other mount namespaces: plugins and workloads in containers have
 * such. The kernel does so below a shared mount. See mount_namespaces(7)
 */
import { messageOf, StagecraftError } from '../errors.js';
import { isSameSource, isWithin, type MountEntry, MountTable } from '../host/mount-table.js';
import { shellWord } from '../host/terminal-text.js';
import type { LeftBehind } from './index-files.js';
import { type MountDirectoriesOptions, makeRoot } from './mount-directories.js';

export interface PropagationOptions extends MountDirectoriesOptions {
  /** Default: whether this process is root's. */
  isRoot?: boolean;
}

export interface SharedPropagation {
  /**
   * Has the directory of all places be in a shared mount: it is made one of its own where it is not yet. Safe to repeat,
   * also after a crash at any point; once it was so, it is not looked at again. To be done before plugins are started:
   * one in a container gets the mount that the directory is in by then.
   * @throws {StagecraftError} HOST_UNFIT: it can't be had here; the message has the commands that make it so
   */
  ensureShared(): Promise<void>;
  /**
   * Takes away what `ensureShared` has made, so that the directory can be removed. Safe to repeat. To be done after plugins
   * have ended: what one in a container mounts later is not seen here any more, also after the next `ensureShared`.
   * @returns what is in the way, e.g. something that is still mounted below it
   */
  undoShared(): Promise<LeftBehind | undefined>;
}

export function hostPropagation(options: PropagationOptions): SharedPropagation {
  let isShared = false;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one at a time: two at once would each make a mount. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };

  return {
    async ensureShared() {
      if (isShared) return;
      await inTurn(async () => {
        if (!isShared) await makeShared(options);
        isShared = true;
      });
    },
    undoShared: () =>
      inTurn(() => {
        isShared = false;
        return takeAway(options);
      }),
  };
}

async function makeShared(options: PropagationOptions): Promise<void> {
  const { root, readTable, isRoot = process.getuid?.() === 0 } = options;
  makeRoot(root);
  const table = await readTable();
  const holder = table.holderOf(root);
  if (holder.propagation === 'shared') return;
  const isOwnMount = holder.path === root;
  const commands = [
    ...(isOwnMount ? [] : [['mount', '--bind', root, root] as const]),
    ['mount', '--make-rshared', root] as const,
  ];
  const run = commands.map((command) => command.map(shellWord).join(' ')).join(' && ');
  const wanted = `what is mounted below ${root} would not be seen elsewhere, since the mount at ${holder.path} is not shared`;

  const hidden = isOwnMount ? undefined : table.entries.find(({ path }) => isWithin(path, root));
  if (hidden) {
    const advice = `make that one shared, as root: mount --make-shared ${shellWord(holder.path)}`;
    throw unfit(`${wanted}; and with a mount of its own it would hide what is mounted at ${hidden.path}: ${advice}`);
  }
  if (!isRoot)
    throw unfit(
      `${wanted}: mounting needs root, so run the agent as root; if only its plugins mount, run this as root: ${run}`,
    );
  for (const [tool, ...args] of commands) {
    const { status, stderr } = await options.tool.run(tool, args).catch((cause: unknown) => {
      throw unfit(`${wanted}, and can't be made so (${messageOf(cause)}): run this on the host: ${run}`, cause);
    });
    if (status !== 0) throw unfit(`${wanted}, and can't be made so (${stderr}): run this on the host: ${run}`);
  }
}

async function takeAway({ root, readTable, tool }: MountDirectoriesOptions): Promise<LeftBehind | undefined> {
  for (;;) {
    const table = await readTable();
    const own = table.at(root).at(-1);
    if (!own || !isBoundOnItself(table, own)) return undefined;
    const below = table.entries.find(({ path }) => path !== root && isWithin(path, root));
    if (below) return { path: below.path, why: 'something is mounted there' };
    const refusal = await unmount(root, tool);
    if (refusal !== undefined) return { path: root, why: refusal };
  }
}

/** @returns reason why it stays */
async function unmount(path: string, tool: MountDirectoriesOptions['tool']): Promise<string | undefined> {
  try {
    const { status, stderr } = await tool.run('umount', ['--no-canonicalize', path]);
    return status === 0 ? undefined : stderr;
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether the mount shows what would be there without it. */
function isBoundOnItself(table: MountTable, mount: MountEntry): boolean {
  const without = new MountTable(table.entries.filter((entry) => entry !== mount));
  return isSameSource(without.sourceOf(mount.path), mount);
}

const unfit = (message: string, cause?: unknown): StagecraftError =>
  new StagecraftError('HOST_UNFIT', message, cause === undefined ? {} : { cause });

/** Paths of a task's files. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskMark } from './processes.js';

export interface TaskPaths {
  /** The data directory under the name that is short enough for sockets. */
  socketRoot: string;
  /** The data directory as the user named it. */
  dataDir: string;
}

export const pluginsDirectory = ({ socketRoot }: TaskPaths): string => join(socketRoot, 'plugins');

/** Socket of one run: the processes of two runs never share a socket. */
export const runSocketPath = (paths: TaskPaths, allocId: string): string =>
  join(pluginsDirectory(paths), allocId, 'csi.sock');

export const logPathOf = ({ dataDir }: TaskPaths, id: string): string => join(dataDir, 'logs', `${id}.log`);

/** Older log, with what was cut off last. */
export const olderLogOf = (logPath: string): string => `${logPath}.1`;

/** Directory for the plugin's own data; the same for every run of the task. */
export const taskDirOf = ({ dataDir }: TaskPaths, id: string): string => join(dataDir, 'tasks', id);

/** Marks the processes of a task of this data directory: a container may have another directory with the same path. */
export function taskMark({ dataDir }: Pick<TaskPaths, 'dataDir'>, id: string): TaskMark {
  const { dev, ino } = statSync(dataDir, { bigint: true });
  return { task: `${dataDir}#${id}`, directory: `${dev}:${ino}` };
}

/** Whether a directory below plugins/ belongs to a run of this task. */
export const isRunOf = (id: string, directory: string): boolean =>
  directory.startsWith(`${id}-`) && /^[0-9a-z]{8}$/.test(directory.slice(id.length + 1));

/** Applies the tasks of a configuration: at the start of the agent, and when its file is read again. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../errors.js';
import { oneLine } from '../host/terminal-text.js';
import type { Runtime } from '../runtime/runtime.js';
import { sharedTypes } from '../tasks/spec.js';
import type { TaskStatus } from '../tasks/task-supervisor.js';
import type { AgentConfig } from './config.js';

type Print = (line: string) => void;

/**
 * Starts the configured tasks, and removes tasks that are not configured any more.
 * @param before the configuration until now: tasks that are the same in both are left as they are
 */
export async function applyTasks(
  { tasks }: Pick<Runtime, 'tasks'>,
  config: AgentConfig,
  print: Print,
  before?: AgentConfig,
): Promise<void> {
  const wanted = new Set(config.tasks.map(({ id }) => id));
  // A task that can't be started or removed is printed, and does not hold up other tasks.
  const tried = (what: string, change: Promise<void>): Promise<void> =>
    change.catch((error: unknown) => print(`  task ${what}: ${oneLine(messageOf(error))}`));
  const isChanged = (task: AgentConfig['tasks'][number]): boolean =>
    !before?.tasks.some((one) => isDeepStrictEqual(one, task));
  const unwanted = tasks.list().filter(({ id }) => !wanted.has(id));
  for (const { id } of unwanted) print(`  task ${id} is no longer configured: removing it`);
  const remove = ({ id }: TaskStatus): Promise<void> => tried(`${id} can't be removed`, tasks.remove(id));
  // Two tasks never run one side of a plugin: the old one goes first.
  const isReplaced = ({ spec }: TaskStatus): boolean => config.tasks.some((task) => sharedTypes(task, spec).length > 0);
  await Promise.all(unwanted.filter(isReplaced).map(remove));
  await Promise.all(
    config.tasks.filter(isChanged).map((task) => tried(`${task.id} can't be started`, tasks.start(task))),
  );
  for (const task of unwanted) if (!isReplaced(task)) void remove(task);
  const where = config.file ?? 'a file stagecraft.yaml here, or with --config FILE';
  if (wanted.size === 0) print(`  no tasks: name plugins to run in ${where}`);
}

/** Keys that a running agent does not take over. */
export function lateKeys(before: AgentConfig, now: AgentConfig): string[] {
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(now));
  return [...new Set([...was.keys(), ...is.keys()])].filter(
    (key) => !isApplied(key) && !isDeepStrictEqual(was.get(key), is.get(key)),
  );
}

const isApplied = (key: string): boolean => key === 'tasks' || key === 'invalid';

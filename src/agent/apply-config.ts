/** Applies the tasks of a configuration: at the start of the agent, and when its file is read again. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../errors.js';
import { oneLine } from '../host/terminal-text.js';
import type { Runtime } from '../runtime/runtime.js';
import { sharedTypes } from '../tasks/spec.js';
import type { TaskStatus } from '../tasks/task-supervisor.js';
import type { AgentConfig } from './config.js';

type Print = (line: string) => void;
type Tasks = AgentConfig['tasks'];

/**
 * Starts the configured tasks, and removes tasks that are not configured any more.
 * @param before tasks that were applied: those that are the same are left as they are
 * @returns the tasks that are applied now; the others were refused, and are tried again with the next configuration
 */
export async function applyTasks(
  { tasks }: Pick<Runtime, 'tasks'>,
  config: AgentConfig,
  print: Print,
  before: Tasks = [],
): Promise<Tasks> {
  const wanted = new Set(config.tasks.map(({ id }) => id));
  // A task that can't be started or removed is printed, and does not hold up other tasks.
  const tried = (what: string, change: Promise<void>): Promise<boolean> =>
    change.then(
      () => true,
      (error: unknown) => {
        print(`  task ${what}: ${oneLine(messageOf(error))}`);
        return false;
      },
    );
  const isApplied = async (task: Tasks[number]): Promise<boolean> =>
    before.some((one) => isDeepStrictEqual(one, task)) || tried(`${task.id} can't be started`, tasks.start(task));
  const unwanted = tasks.list().filter(({ id }) => !wanted.has(id));
  for (const { id } of unwanted) print(`  task ${id} is no longer configured: removing it`);
  const remove = ({ id }: TaskStatus): Promise<boolean> => tried(`${id} can't be removed`, tasks.remove(id));
  // Two tasks never run one side of a plugin: the old one goes first.
  const isReplaced = ({ spec }: TaskStatus): boolean => config.tasks.some((task) => sharedTypes(task, spec).length > 0);
  await Promise.all(unwanted.filter(isReplaced).map(remove));
  const applied = await Promise.all(config.tasks.map(isApplied));
  for (const task of unwanted) if (!isReplaced(task)) void remove(task);
  const where = config.file ?? 'a file stagecraft.yaml here, or with --config FILE';
  if (wanted.size === 0) print(`  no tasks: name plugins to run in ${where}`);
  return config.tasks.filter((_, n) => applied[n]);
}

/** Keys that a running agent does not take over. */
export function lateKeys(before: AgentConfig, now: AgentConfig): string[] {
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(now));
  return [...new Set([...was.keys(), ...is.keys()])].filter(
    (key) => !isTakenOver(key) && !isDeepStrictEqual(was.get(key), is.get(key)),
  );
}

const isTakenOver = (key: string): boolean => key === 'tasks' || key === 'invalid';

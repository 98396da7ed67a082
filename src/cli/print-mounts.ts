/** Tables and details of allocs and mounts, for people. */
import { allocTrouble, waitReasonsOf, wrongsOf } from '../agent/describe-mounts.js';
import { describeMountParts } from '../agent/describe-parts.js';
import { sizeText } from '../agent/describe-volumes.js';
import type { TaskReport } from '../api/agent-routes.js';
import type { AllocReport, MountReport, OrphanedMountReport, PreparedMount, StatsReport } from '../api/node-routes.js';
import { factsTable, table } from './print.js';
import { taskTrouble } from './tasks.js';

const accessOf = ({ readOnly }: { readOnly: boolean }): string => (readOnly ? 'read-only' : 'read-write');

const keyText = ({ namespace, id }: { namespace: string; id: string }): string => `${namespace}/${id}`;

/** Formats prepared mounts, with the host path last, as it is long. */
export const preparedTable = (mounts: PreparedMount[]): string =>
  table(
    ['NAME', 'VOLUME', 'TASK PATH', 'ACCESS', 'HOST PATH'],
    mounts.map(({ name, volume, taskPath, readOnly, isDevice, hostPath }) => [
      name,
      keyText(volume),
      taskPath,
      `${accessOf({ readOnly })}${isDevice ? ', device' : ''}`,
      hostPath,
    ]),
  );

/** Describes the tasks of this node that run one of the plugins, and are not running. */
const tasksUnder = (plugins: (string | undefined)[], tasks: TaskReport[]): string[] =>
  tasks.flatMap((task) => (plugins.includes(task.spec.plugin) ? (taskTrouble(task) ?? []) : []));

const pluginsOf = ({ volumes }: AllocReport): (string | undefined)[] => volumes.map(({ plugin }) => plugin);

export const allocTable = (allocs: AllocReport[], tasks: TaskReport[], maxChars?: number): string =>
  allocs.length === 0
    ? 'there are no allocs: prepare one with stagecraft alloc prepare'
    : table(
        ['ALLOC', 'STATE', 'VOLUMES', 'TROUBLE'],
        allocs.map((alloc) => [
          alloc.allocId,
          alloc.state,
          alloc.volumes.map(({ volume }) => keyText(volume)).join(', '),
          allocTrouble(alloc) ?? tasksUnder(pluginsOf(alloc), tasks).join('; '),
        ]),
        maxChars,
      );

export function allocDetails(alloc: AllocReport, tasks: TaskReport[]): string {
  const { allocId, state, error, volumes, mounts = [] } = alloc;
  const troubles = [...wrongsOf(alloc), ...tasksUnder(pluginsOf(alloc), tasks)];
  const facts: [string, string][] = [
    ['alloc', allocId],
    ['state', error ? `${state}: ${error.message}` : state],
    ...waitReasonsOf(alloc).map((reason): [string, string] => ['waits for', reason]),
    ...troubles.map((trouble): [string, string] => ['trouble', trouble]),
    ...volumes.flatMap(({ name, parts }) =>
      describeMountParts(parts, Date.now()).map((words): [string, string] => [name, words]),
    ),
  ];
  const rows = volumes.map(({ name, volume, step, state: now, taskPath, readOnly, accessMode, attachmentMode }) => [
    name,
    keyText(volume),
    step,
    now,
    taskPath,
    [accessOf({ readOnly }), accessMode, attachmentMode].join(', '),
    mounts.find((mount) => mount.name === name)?.hostPath ?? '-',
  ]);
  return [factsTable(facts), table(['NAME', 'VOLUME', 'STEP', 'STATE', 'TASK PATH', 'ACCESS', 'HOST PATH'], rows)].join(
    '\n\n',
  );
}

/** Shows `published` as `mounted`, as for allocs: a volume that is published to a node need not be mounted there. */
const mountWord = (state: MountReport['state']): string => (state === 'published' ? 'mounted' : state);

const usersOf = ({ users, isStaged }: MountReport): string =>
  users
    .map(({ allocId, state, readOnly }) => {
      const now = state === 'wanted' ? (isStaged ? 'staged' : 'waiting') : state;
      const how = [...(now === 'published' ? [] : [now]), ...(readOnly ? ['read-only'] : [])];
      return how.length > 0 ? `${allocId} (${how.join(', ')})` : allocId;
    })
    .join(', ') || '-';

const troubleOf = ({ error, users, underWay, condition, plugin }: MountReport, tasks: TaskReport[]): string =>
  error?.message ??
  users.find(({ message }) => message !== undefined)?.message ??
  underWay ??
  (tasksUnder([plugin], tasks).join('; ') || (condition?.abnormal ? condition.message : ''));

export const mountTable = (mounts: MountReport[], tasks: TaskReport[], maxChars?: number): string =>
  mounts.length === 0
    ? 'no volume is mounted on this node'
    : table(
        ['NAMESPACE', 'ID', 'PLUGIN', 'STATE', 'ALLOCS', 'TROUBLE'],
        mounts.map((mount) => [
          mount.volume.namespace,
          mount.volume.id,
          mount.plugin,
          mountWord(mount.state),
          usersOf(mount),
          troubleOf(mount, tasks),
        ]),
        maxChars,
      );

export const orphanTable = (orphans: OrphanedMountReport[]): string =>
  orphans.length === 0
    ? 'there are no orphaned mounts'
    : table(
        ['FILE SYSTEM', 'SOURCE', 'LEFT BY', 'PATH'],
        orphans.map(({ path, source, fsType, plugin = '-' }) => [fsType, source, plugin, path]),
      );

export function statsDetails({ volume, at, usage, condition }: StatsReport): string {
  const facts: [string, string][] = [
    ['volume', keyText(volume)],
    ['at', new Date(at).toISOString()],
    ...usage.map(({ unit, total, used, available }): [string, string] => {
      const text = (count: number | string): string => (unit === 'bytes' ? sizeText(count) : String(count));
      return [unit, `${text(used)} of ${text(total)} used, ${text(available)} available`];
    }),
    ['condition', condition ? `${condition.abnormal ? 'abnormal' : 'normal'}: ${condition.message}` : 'not reported'],
  ];
  return factsTable(facts);
}

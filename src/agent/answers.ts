/**
 * The answer to each request of the API: a method of the runtime. Requests are answered when the work is done. A client that
 * disconnects cancels nothing, except its place in the queue for a claim.
 */
import { snapshotNotThere } from '../../machines/snapshot/refusals.js';
import type { SnapshotKey, SnapshotKind } from '../../machines/snapshot/types.js';
import { StagecraftError } from '../errors.js';
import type { Answers } from '../inspector/json-server.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import { definedCapability } from '../requests/fields.js';
import type { Runtime } from '../runtime/runtime.js';
import { notFoundError } from '../volumes/volume-checks.js';

/** Groups of requests that the runtime alone answers. */
export const runtimeAnswers = (runtime: Runtime): Omit<Answers, 'agent' | 'actors' | 'events'> => {
  const { allocations, cluster, groupSnapshots, mounts, nodes, plugins, snapshots, tasks, volumes } = runtime;
  const withInstances = (status: PluginStatus): PluginStatus & { instances: number } => {
    const { type, name } = status.info;
    return { ...status, instances: plugins.instances(type, name).length };
  };
  return {
    cluster: {
      status: async () => {
        const [agents, owner] = await Promise.all([cluster.agents(), cluster.owner()]);
        const { isTooOld, refusal } = runtime.leadership;
        const tooOld = isTooOld && refusal !== undefined && { tooOld: refusal };
        return { agents, ...(owner && { owner }), ...tooOld, requestsUnderWay: cluster.requestsUnderWay };
      },
    },
    plugins: {
      list: ({ query: { type, name: wanted } }) =>
        plugins
          .list(type)
          .filter(({ name }) => wanted === undefined || name === wanted)
          .map(({ type, name }) => withInstances(plugins.status(type, name))),
      status: async ({ params: { type, name }, query: { waitFor: until, ...options } }) =>
        withInstances(
          until === undefined ? plugins.status(type, name) : await plugins.waitFor(type, name, { until, ...options }),
        ),
      register: ({ body }) => {
        refuseTasked(tasks, body.allocId);
        return plugins.register(body);
      },
      deregister: ({ params: { type, name }, body: { allocId } }) => {
        plugins.forAlloc(type, name, allocId);
        refuseTasked(tasks, allocId);
        return plugins.deregister(type, name, allocId);
      },
    },
    tasks: {
      list: () => tasks.list(),
      status: ({ params: { id } }) => tasks.status(id),
      logs: ({ params: { id }, query: { lines, after } }) => {
        if (tasks.status(id).logPath === undefined) throw noLog(id);
        return tasks.readLog(id, { ...(lines !== undefined && { lines }), ...(after !== undefined && { after }) });
      },
      stop: ({ params: { id }, body }) => tasks.stop(id, body),
      remove: ({ params: { id }, body }) => tasks.remove(id, body),
      restart: ({ params: { id } }) => tasks.restart(id),
    },
    volumes: {
      list: ({ query }) => volumes.list(query),
      create: ({ body: { home, ...spec }, query }) => volumes.create(spec, { ...query, home }),
      get: ({ params }) => found(volumes.get(params), () => notFoundError(params)),
      publish: ({ params, body: { nodeId, capability, readOnly }, query }) =>
        volumes.publish(params, nodeId, {
          ...(capability && { capability: definedCapability(capability) }),
          ...{ readOnly, ...query },
        }),
      unpublish: ({ params, body, query }) => volumes.unpublish(params, body.nodeId, query),
      expand: ({ params, body, query }) => volumes.expand(params, body, query),
      modify: ({ params, body, query }) => volumes.modify(params, body.mutableParameters, query),
      delete: ({ params, body, query }) => volumes.delete(params, { ...body, ...query }),
      claim: ({ params, body, gone }) => volumes.claim(params, { ...body, signal: gone }),
      release: ({ params, body }) => volumes.release(params, body.allocId),
      setAvailability: ({ params, body }) => volumes.setAvailability(params, body.availability),
      retry: ({ params, body }) => volumes.retry(params, body),
      acknowledge: ({ params }) => volumes.acknowledge(params),
      capacity: ({ body: { plugin, ...request }, query }) => volumes.capacity(plugin, request, query),
      reconcile: ({ body }) => volumes.reconcile(body.plugin),
      orphans: ({ query }) => volumes.orphans(query.plugin),
    },
    snapshots: {
      ...changesOf(snapshots),
      list: ({ query }) => snapshots.list(query),
      create: ({ body, query }) => snapshots.create(body, query),
      get: ({ params }) => found(snapshots.get(params), () => noSnapshot('volume-snapshot', params)),
    },
    groupSnapshots: {
      ...changesOf(groupSnapshots),
      list: ({ query }) => groupSnapshots.list(query),
      create: ({ body, query }) => groupSnapshots.create(body, query),
      get: ({ params }) => found(groupSnapshots.get(params), () => noSnapshot('group-snapshot', params)),
    },
    allocs: {
      list: () => allocations.list(),
      status: ({ params }) => allocations.status(params.allocId),
      prepare: ({ params, body: { volumes, ...options } }) => allocations.prepare(params.allocId, volumes, options),
      release: ({ params, body }) => allocations.release(params.allocId, body),
    },
    mounts: {
      list: () => mounts.list(),
      stats: ({ params }) => mounts.stats(params),
      retry: ({ params, body }) => mounts.retry(params, body),
      orphans: () => mounts.orphans(),
      cleanOrphan: ({ body }) => mounts.cleanOrphan(body.path),
    },
    nodes: {
      list: () => nodes.list(),
      status: ({ params: { id } }) => nodes.status(id),
      report: ({ params: { id }, body }) => nodes.report({ id, ...body }),
      down: ({ params: { id } }) => nodes.down(id),
      fence: ({ params: { id }, body }) => nodes.fence(id, body.reason),
      remove: ({ params: { id } }) => nodes.remove(id),
      reportUnstaged: ({ params: { id }, body: { volume, ...report } }) => nodes.reportUnstaged(id, volume, report),
    },
  };
};

/** Answers of both kinds of snapshots. */
const changesOf = (
  manager: Runtime['snapshots'] | Runtime['groupSnapshots'],
): Pick<Answers['snapshots'], 'delete' | 'retry' | 'acknowledge'> => ({
  delete: ({ params, body, query }) => manager.delete(params, { ...body, ...query }),
  retry: ({ params, body }) => manager.retry(params, body),
  acknowledge: ({ params }) => manager.acknowledge(params),
});

async function found<T>(looked: Promise<T | undefined>, missing: () => StagecraftError): Promise<T> {
  const one = await looked;
  if (one !== undefined) return one;
  throw missing();
}

function noSnapshot(kind: SnapshotKind, { namespace, id }: SnapshotKey): StagecraftError {
  const { code, message } = snapshotNotThere({ kind, namespace, id });
  return new StagecraftError(code, message);
}

/** Refuses an instance that a task runs: it comes and goes with the task. */
function refuseTasked(tasks: Runtime['tasks'], allocId: string): void {
  const task = tasks.list().find((one) => one.allocId === allocId);
  if (!task) return;
  const message = `task ${task.id} runs instance ${allocId}: stop it with stagecraft task stop ${task.id}`;
  throw new StagecraftError('INVALID_ARGUMENT', message);
}

const noLog = (id: string): StagecraftError =>
  new StagecraftError(
    'LOG_UNREADABLE',
    `there is no log of task ${id} here: Stagecraft did not start its plugin, look where it was started`,
  );

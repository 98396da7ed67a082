/** Ports through which volumes, nodes and mounts see the registered plugins. */
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import type { PluginScope } from '../../machines/kit/csi-types.js';
import type { NodePlugin } from '../../machines/node/node.js';
import { chosenInstance, controllerService, type Instance, offers } from '../calls/instance-choice.js';
import type { PluginObservation, PluginPort } from '../calls/plugin-port.js';
import type { Engine } from '../engine/engine.js';
import type { NodePluginsPort } from '../nodes/node-reporter.js';
import type { PluginRegistry, SeenInstance } from '../registry/plugin-registry.js';

/** Methods of the registry that are used here. */
type Registry = Pick<PluginRegistry, 'has' | 'seen' | 'allSeen' | 'dispense' | 'lookAgain' | 'watch'>;

const none: ReadonlySet<string> = new Set();

/** Id of the task of this runtime that runs a plugin of this type; undefined: none does. */
export type TaskIdOf = (type: string, plugin: string) => string | undefined;

/** Port to the controller services of plugins. */
export function pluginPort(registry: Registry, taskIdOf: TaskIdOf): PluginPort {
  return {
    isKnown: (plugin) => types.some((type) => registry.has(type, plugin)),
    observation: (plugin) => observationOf(registry, plugin, taskIdOf),
    client: (plugin) => registry.dispense(controllerType, plugin, observationOf(registry, plugin, taskIdOf).instance),
    lookAgain: (plugin) => registry.lookAgain(controllerType, plugin),
    watch: (plugin, changed) => {
      const ends = types.map((type) => registry.watch(type, plugin, changed));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Port to the node services of plugins on this host. */
export const nodeSidePort = (registry: Registry, taskIdOf: TaskIdOf): PluginPort => ({
  isKnown: (plugin) => registry.has(nodeType, plugin),
  observation: (plugin) => nodeObservationOf(registry, plugin, taskIdOf),
  client: (plugin) => registry.dispense(nodeType, plugin),
  lookAgain: (plugin) => registry.lookAgain(nodeType, plugin),
  watch: (plugin, changed) => registry.watch(nodeType, plugin, changed),
});

/** This host as its csi-node plugins describe it. */
export const nodePluginsPort = (
  node: string,
  engine: Pick<Engine, 'observe'>,
  registry: Pick<PluginRegistry, 'registered' | 'seen'>,
): NodePluginsPort => ({
  present: () => new Map(registry.registered(nodeType).map(({ name }) => [name, nodePluginOf(registry, name)])),
  watch: (changed) => {
    const prefixes = ['plugins', 'plugin'].map((machine) => `${nodeOwnedPrefix(machine, node)}${nodeType}/`);
    return engine.observe(({ address }) => {
      if (prefixes.some((prefix) => address.startsWith(prefix))) changed();
    });
  },
});

function nodePluginOf(registry: Pick<PluginRegistry, 'seen'>, name: string): NodePlugin | undefined {
  const { healthy, fingerprint } = registry.seen(nodeType, name)?.status ?? {};
  const { nodeId, topology, maxVolumes } = fingerprint ?? {};
  if (!healthy || nodeId === undefined) return undefined;
  return {
    name,
    nodeId,
    ...(topology && Object.keys(topology).length > 0 && { topology }),
    ...(maxVolumes !== undefined && maxVolumes > 0 && { maxVolumes }),
  };
}

const controllerType = 'csi-controller';
const nodeType = 'csi-node';
const types = [controllerType, nodeType];

const absent: PluginObservation = {
  trouble: 'it is not registered',
  troubleKind: 'absent',
  pluginCapabilities: none,
  hasService: false,
  wellAtMs: 0,
};

/** Healthy by its record, but not seen healthy in this run. */
const unseen = { trouble: 'it was not seen well yet', troubleKind: 'unseen' } as const;

function observationOf(plugins: Registry, plugin: string, taskIdOf: TaskIdOf): PluginObservation {
  const instances = instancesOf(plugins, plugin, taskIdOf);
  const best = chosenInstance(instances)?.observation;
  if (!best) {
    const [task] = types.flatMap((type) => taskIdOf(type, plugin) ?? []);
    return { ...absent, trouble: `${absent.trouble}${task === undefined ? '' : `: ${absentTask(task)}`}` };
  }
  if (instances.length === 1) return best;
  return { ...best, ...(best.trouble !== undefined && troubleOf(instances)), ...offeredByOthers(best, instances) };
}

/**
 * Lists the instances that controller calls may go to, the newest first. If none of them has the service, the node side comes
 * last: it may know of one.
 */
function instancesOf(plugins: Registry, plugin: string, taskIdOf: TaskIdOf): Instance[] {
  const controllers = plugins.allSeen(controllerType, plugin).map(asController);
  const node = plugins.seen(nodeType, plugin);
  if (!node || controllers.some(({ observation }) => observation.hasService)) return controllers;
  // A task that is to bring up the controller side speaks against a node side that denies it.
  const toCome = controllers.length === 0 ? taskIdOf(controllerType, plugin) : undefined;
  return [...controllers, asNodeSide(node, toCome === undefined ? undefined : absentTask(toCome))];
}

/** Whether the plugin says that it has no controller service. */
const deniesService = ({ status }: SeenInstance): boolean =>
  status.fingerprint.pluginCapabilities?.includes(controllerService) === false;

/** An instance of a plugin without a controller service offers nothing of it, and that is known. */
const denying = (observation: Health): Instance => ({
  observation: { ...observation, capabilities: none, hasService: false },
  trouble: observation.trouble,
});

function asController(seen: SeenInstance): Instance {
  const { info, description } = seen.status;
  const observation = { ...healthOf(seen), instance: info.allocId };
  if (deniesService(seen)) return denying(observation);
  const offer = offered(seen);
  // A healthy instance says what it offers, unless its socket has no such service.
  const isSilent = seen.isSeenHealthy && !offer.capabilities;
  const trouble = isSilent
    ? `instance ${info.allocId} does not say what it offers: ${description}`
    : observation.trouble;
  const known = { ...observation, ...(trouble !== undefined && { trouble }), hasService: true, ...offer };
  return {
    observation: known,
    trouble: trouble ?? (offer.capabilities ? undefined : 'what it offers is not known yet'),
  };
}

/** @param task what the task of the controller side has not done yet, if there is one */
function asNodeSide(seen: SeenInstance, task: string | undefined): Instance {
  const observation = healthOf(seen);
  if (deniesService(seen) && task === undefined) return denying(observation);
  const missing = `its controller side is not registered: ${task ?? `register it as ${controllerType}`}`;
  const trouble = observation.trouble ?? missing;
  // The node side may be a driver with another name of its own.
  const { driver: _, ...known } = observation;
  return { observation: { ...known, trouble, hasService: true }, trouble };
}

/** Says of each instance why it can't be called. */
function troubleOf(instances: readonly Instance[]): Pick<PluginObservation, 'trouble'> {
  const isServed = instances.some(({ observation }) => observation.hasService);
  const reasons = instances.map(({ observation: { instance, hasService }, trouble = '' }) => {
    const reason = isServed && !hasService ? 'it says that the plugin has no controller service' : `${trouble}`;
    return instance === undefined || reason.startsWith('instance ') ? reason : `instance ${instance}: ${reason}`;
  });
  return { trouble: reasons.join('; ') };
}

function offeredByOthers(best: PluginObservation, all: readonly Instance[]): Pick<PluginObservation, 'offeredBy'> {
  const offeredBy: Record<string, string> = {};
  for (const { observation } of all)
    for (const capability of observation.capabilities ?? none)
      if (!offers(best, capability) && observation.instance !== undefined)
        offeredBy[capability] ??= observation.instance;
  return Object.keys(offeredBy).length > 0 ? { offeredBy } : {};
}

function nodeObservationOf(plugins: Registry, plugin: string, taskIdOf: TaskIdOf): PluginObservation {
  const seen = plugins.seen(nodeType, plugin);
  if (seen) return { ...healthOf(seen), hasService: true, ...offered(seen) };
  const task = taskIdOf(nodeType, plugin);
  const next = task === undefined ? `register it as ${nodeType}` : absentTask(task);
  return { ...absent, trouble: `its node side is not registered here: ${next}` };
}

/** In words that hold whatever its task does: a waiting call is reported once. */
const absentTask = (id: string): string => `its task ${id} has not brought it up, see stagecraft task status ${id}`;

/** Scope from the registration, else from the driver. Default for a driver that has answered: `shared`. */
function scopeOf({ status: { info, fingerprint } }: SeenInstance): PluginScope | undefined {
  const configured = info.options?.scope;
  if (configured === 'host' || configured === 'shared') return configured;
  return fingerprint.pluginName === undefined ? undefined : (fingerprint.scope ?? 'shared');
}

type Health = Omit<PluginObservation, 'hasService' | 'capabilities'>;

function healthOf(seen: SeenInstance): Health {
  const { status, isSeenHealthy } = seen;
  const scope = scopeOf(seen);
  const driver = status.fingerprint.pluginName;
  const isSole = status.info.options?.controllers === 'one';
  return {
    ...(scope && { scope }),
    ...(driver !== undefined && { driver }),
    ...(isSole && { isSole }),
    pluginCapabilities: new Set(status.fingerprint.pluginCapabilities),
    wellAtMs: isSeenHealthy ? (status.checkedAt ?? 0) : 0,
    ...(!isSeenHealthy && (status.healthy ? unseen : { trouble: status.description })),
  };
}

/** Capabilities of the service that was looked at, as far as they are known. */
function offered({ status: { fingerprint } }: SeenInstance): Pick<PluginObservation, 'capabilities'> {
  const { capabilities } = fingerprint;
  return capabilities ? { capabilities: new Set(capabilities) } : {};
}

/** Binds the effects of the volume machine to calls of plugins, each with its preconditions and its request. */
import { addressParts } from '../../machines/kit/addresses.js';
import type { CallFailure, Segments, Settled, TopologyRequirement } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type {
  AttachCall,
  CreateCall,
  ExpandCall,
  MadeCall,
  ModifyCall,
  PublishCall,
  VolumeCall,
} from '../../machines/volume/calls.js';
import { refusalOf } from '../../machines/volume/requests.js';
import { volumeParts, volumePathOf } from '../../machines/volume/states.js';
import type { CreateAnswer, VolumeInput, VolumeSpec } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ExpandAnswer, PublishAnswer } from '../../machines/volume/wishes.js';
import { givenUpAfterMs } from '../calls/call-bounds.js';
import { controllerService } from '../calls/instance-choice.js';
import type { Lacks, PluginCalls, PluginWork } from '../calls/plugin-calls.js';
import type { PluginObservation } from '../calls/plugin-port.js';
import { modeRefusal } from '../calls/plugin-refusals.js';
import { contentOf, copyOf, nodeCallsOf } from '../calls/volume-locks.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import { StagecraftError } from '../errors.js';
import type { ControllerPort } from './controller-port.js';
import type { CopySources } from './copy-sources.js';
import { type CopySource, type IdOwners, sourceKind } from './id-owners.js';
import { volumeMigrations } from './migrations.js';

export const volumesTopic = 'volumes';

interface VolumeKindOptions {
  controller: ControllerPort;
  calls: PluginCalls;
  timeoutMs: number;
  /** Longest time until a call that another agent makes begins; default: calls are made here. */
  startMs?: number;
  ids: Pick<IdOwners<typeof volumeMachine>, 'isKnown' | 'known' | 'reserve' | 'madeByCall'>;
  sources: Pick<CopySources, 'copyRefusal' | 'removalRefusal' | 'resizeRefusal'>;
  /** Topologies of the nodes that have a plugin, by node. */
  topologiesOf(plugin: string): ReadonlyMap<string, Segments>;
  /** Called when a plugin that lists published nodes refuses a call because something else is in the way. */
  lookSoon?(plugin: string): void;
}

const needs = (observation: PluginObservation, capability: string, what: string): string | undefined =>
  observation.capabilities?.has(capability) ? undefined : `the plugin does not offer ${capability}: ${what}`;

/** Refuses a spec with modes or parameters that the plugin can't be sent in any request. */
function specRefusal(
  observation: PluginObservation,
  { capabilities, mutableParameters }: VolumeSpec,
): string | undefined {
  const mode = modeRefusal(observation, capabilities);
  if (mode || !observation.hasService || Object.keys(mutableParameters).length === 0) return mode;
  return needs(observation, 'MODIFY_VOLUME', 'it knows no mutable parameters');
}

function createRefusal(observation: PluginObservation, spec: VolumeSpec): string | undefined {
  const { source } = spec;
  const unknown = specRefusal(observation, spec);
  if (unknown || !source) return unknown;
  return 'volume' in source
    ? needs(observation, 'CLONE_VOLUME', 'it makes no volume from another')
    : needs(observation, 'CREATE_DELETE_SNAPSHOT', 'it makes no volume from a snapshot');
}

/** Fails an expansion of a published volume if the plugin offers only offline expansion. */
function inUse({ pluginCapabilities }: PluginObservation, nodeIds: string[]): CallFailure | undefined {
  const isOffline =
    pluginCapabilities.has('VOLUME_EXPANSION_OFFLINE') && !pluginCapabilities.has('VOLUME_EXPANSION_ONLINE');
  if (!isOffline || nodeIds.length === 0) return undefined;
  const where = nodeIds.map((nodeId) => `node ${nodeId}`).join(', ');
  const message = `the plugin expands no volume that is in use, and it is on ${where}: unpublish it there`;
  return { code: 'VOLUME_IN_USE', message, final: false };
}

/**
 * Makes the failure of a call that can't be skipped, though the plugin's instance can't make it: the plugin has made a volume by
 * a call, so another instance has what this one lacks.
 * @param made what the plugin has done before
 */
const hasToWait = (made: string, lacks: string): CallFailure => {
  const message = `${made}, but no agent has an instance of it with ${lacks} now: the call waits until one runs the plugin with it`;
  return { code: 'PLUGIN_LACKS', message, final: false };
};

const createsAndDeletes = 'CREATE_DELETE_VOLUME';
const madeThis = 'the plugin created this volume';

const noCreation = ({ capabilities }: PluginObservation, { mayBeMade }: CreateCall): CallFailure | undefined =>
  mayBeMade && !capabilities?.has(createsAndDeletes)
    ? hasToWait('the plugin was asked to create this volume, and may have', createsAndDeletes)
    : undefined;

const noDeletion = ({ capabilities }: PluginObservation, { origin }: MadeCall): CallFailure | undefined =>
  origin === 'call' && !capabilities?.has(createsAndDeletes) ? hasToWait(madeThis, createsAndDeletes) : undefined;

const noService = ({ hasService }: PluginObservation, { origin }: MadeCall): CallFailure | undefined =>
  origin === 'call' && !hasService ? hasToWait(madeThis, 'controller service') : undefined;

const attachesAndDetaches = 'PUBLISH_UNPUBLISH_VOLUME';

/** Whether neither an attach nor a detach takes a call: the plugin offers none, and none has attached the volume. */
function needsNoCall(lacks: Lacks, { attachedBy }: AttachCall): boolean {
  if (!lacks(attachesAndDetaches)) return false;
  if (attachedBy !== 'call') return true;
  const { code, message } = hasToWait('the plugin attached this volume, or may have', attachesAndDetaches);
  throw new StagecraftError(code, message);
}

/** CSI ids that a call locks: no other call about them runs meanwhile. */
function volumesOf(src: string, { csiId, spec }: Partial<MadeCall & CreateCall>): string[] {
  const { source } = spec ?? {};
  if (source) return [copyOf(sourceKind(source), source.csiId)];
  if (csiId === undefined) return [];
  if (src === 'deleteVolume') return [csiId, contentOf('volume', csiId)];
  // An expansion also excludes calls of nodes about the volume.
  return src === 'controllerExpand' ? [csiId, nodeCallsOf(csiId), contentOf('volume', csiId)] : [csiId];
}

/** The volume of a call, as others copy from it. */
const asSource = ({ plugin, csiId, home }: MadeCall): CopySource => ({ of: 'volume', plugin, csiId, home });

export function volumeKind(options: VolumeKindOptions): ActorKind {
  const { controller, calls, timeoutMs, startMs = 0, ids, sources, lookSoon } = options;
  const effect = <TInput extends VolumeCall, TAnswer>(
    work: (input: TInput, address: string) => PluginWork<TAnswer>,
    compensates?: string[],
    about?: (input: TInput) => string,
  ): Effect => ({
    sentDeadlineMs: givenUpAfterMs(timeoutMs, { startMs }),
    atMostOnce: true,
    ...(compensates && { compensates }),
    ...(about && { about }),
    run: (run: EffectCall<TInput>) => {
      const asked = work(run.input, run.address);
      asked.volumes = volumesOf(run.src, run.input);
      return calls.run(run, asked);
    },
  });
  /**
   * Reports a refused call (FAILED_PRECONDITION) for a comparison with ListVolumes, which may show what is in the way.
   */
  const reportingFailure = <TAnswer>(
    answer: Promise<TAnswer>,
    { plugin }: VolumeCall,
    { capabilities }: PluginObservation,
  ): Promise<TAnswer> =>
    answer.catch((error: unknown) => {
      const isHindered = error instanceof StagecraftError && error.answerClass === 'repair';
      if (isHindered && capabilities?.has('LIST_VOLUMES_PUBLISHED_NODES')) lookSoon?.(plugin);
      throw error;
    });
  return {
    machine: volumeMachine,
    parts: volumeParts,
    pathOf: volumePathOf,
    refusalOf,
    migrations: volumeMigrations,
    onDemand: true,
    begin: (address, seq): VolumeInput => {
      const [, namespace = '', id = ''] = addressParts(address);
      return { namespace, id, seq };
    },
    topic: () => volumesTopic,
    effects: {
      createVolume: effect<CreateCall, CreateAnswer>((input, address) => {
        const { spec, home } = input;
        const work = spec.external ? adopting(controller, spec, spec.external) : creating(options, input, address);
        const { without, precondition } = work;
        /** Whether the plugin needs no call; what it has made by calls speaks against that. */
        const needsNone = (lacks: Lacks): CreateAnswer | undefined | Promise<CreateAnswer | undefined> => {
          const found = without?.(lacks);
          const made = found && ids.madeByCall(spec.plugin);
          if (made === undefined) return found;
          throw new StagecraftError(
            'PLUGIN_LACKS',
            hasToWait(`the plugin has created ${made}`, 'what a creation needs').message,
          );
        };
        work.without = (lacks) => (ids.isKnown ? needsNone(lacks) : ids.known().then(() => needsNone(lacks)));
        const { source, plugin } = spec;
        if (source)
          work.precondition = (observation) =>
            precondition?.(observation) ??
            sources.copyRefusal(address, [{ of: sourceKind(source), plugin, csiId: source.csiId, home }]);
        work.fault = ({ id }) => ids.reserve(address, [{ plugin: spec.plugin, csiId: id, home }]);
        return work;
      }),
      deleteVolume: effect<MadeCall, null>(
        (input) => ({
          precondition: (observation) => noDeletion(observation, input) ?? sources.removalRefusal([asSource(input)]),
          without: () => (input.origin === 'call' ? undefined : null),
          already: null,
          call: async (client, bounds, observation) => {
            await reportingFailure(controller.deleteVolume(client, { csiId: input.csiId }, bounds), input, observation);
            return null;
          },
        }),
        ['createVolume'],
      ),
      controllerPublish: effect<PublishCall, PublishAnswer>(
        (input) => ({
          attaches: true,
          precondition: (observation) => noService(observation, input),
          refusal: (observation) => modeRefusal(observation, [input.capability]),
          without: (lacks) => (needsNoCall(lacks, input) ? { publishContext: {}, isWithoutCall: true } : undefined),
          call: (client, bounds, observation) => {
            const { csiId, csiNodeId, capability, volumeContext } = input;
            const readOnly = input.readOnly && observation.capabilities.has('PUBLISH_READONLY');
            const request = { csiId, csiNodeId, capability, readOnly, volumeContext };
            return reportingFailure(controller.controllerPublish(client, request, bounds), input, observation);
          },
        }),
        ['controllerUnpublish'],
        ({ csiNodeId }) => csiNodeId,
      ),
      controllerUnpublish: effect<AttachCall, null>(
        (input) => ({
          attaches: true,
          precondition: (observation) => noService(observation, input),
          without: (lacks) => (needsNoCall(lacks, input) ? null : undefined),
          already: null,
          call: async (client, bounds) => {
            const { csiId, csiNodeId } = input;
            await controller.controllerUnpublish(client, { csiId, csiNodeId }, bounds);
            return null;
          },
        }),
        ['controllerPublish'],
        ({ csiNodeId }) => csiNodeId,
      ),
      controllerExpand: effect<ExpandCall, ExpandAnswer>((input) => ({
        refusal: (observation) => needs(observation, 'EXPAND_VOLUME', 'it cannot expand volumes'),
        precondition: (observation) => inUse(observation, input.nodeIds) ?? sources.resizeRefusal(asSource(input)),
        call: (client, bounds, observation) => {
          const { csiId, capacity, capability } = input;
          const request = { csiId, capacity, ...(capability && { capability }) };
          return reportingFailure(controller.controllerExpand(client, request, bounds), input, observation);
        },
      })),
      controllerModify: effect<ModifyCall, null>(({ csiId, mutableParameters }) => ({
        refusal: (observation) => needs(observation, 'MODIFY_VOLUME', 'it changes no parameters'),
        call: async (client, bounds) => {
          await controller.controllerModify(client, { csiId, mutableParameters }, bounds);
          return null;
        },
      })),
      awaitAdmission: calls.admission(volumesOf),
    },
  };
}

/** Creates a volume. With a plugin that creates none, the user's id becomes the CSI id. */
const creating = (
  { controller, topologiesOf }: Pick<VolumeKindOptions, 'controller' | 'topologiesOf'>,
  input: CreateCall,
  address: string,
): PluginWork<CreateAnswer> => ({
  makes: true,
  refusal: (observation) => createRefusal(observation, input.spec),
  precondition: (observation) => noCreation(observation, input),
  without: (lacks) => {
    if (!lacks(createsAndDeletes)) return undefined;
    const [, , id = ''] = addressParts(address);
    return { id, context: {}, accessibleTopology: [], isFound: true };
  },
  settle: (observation) => (hasTopology(observation) ? settledTopology(input, topologiesOf) : undefined),
  call: (client, bounds, observation) => {
    const { name, spec } = input;
    const withTopology = hasTopology(observation);
    return controller.createVolume(client, { name, spec, withTopology }, bounds);
  },
});

const hasTopology = ({ pluginCapabilities }: PluginObservation): boolean =>
  pluginCapabilities.has('VOLUME_ACCESSIBILITY_CONSTRAINTS');

/** Settles the topology of a volume whose spec names none. Undefined: it is settled, or nothing is known. */
function settledTopology(
  { plugin, home, spec, toBePlaced }: CreateCall,
  topologiesOf: VolumeKindOptions['topologiesOf'],
): Settled | undefined {
  if (!toBePlaced) return undefined;
  const topology = usualTopology(topologiesOf(plugin), { home, first: toBePlaced.first });
  return isSameData(topology, spec.topology) ? undefined : { topology };
}

/** Registers an existing volume: validates it if the plugin has a controller service, else takes it as given. */
const adopting = (
  controller: ControllerPort,
  spec: VolumeSpec,
  { csiId, context }: NonNullable<VolumeSpec['external']>,
): PluginWork<CreateAnswer> => {
  const adopted = { id: csiId, context, accessibleTopology: [] };
  return {
    makes: true,
    refusal: (observation) => specRefusal(observation, spec),
    without: (lacks) => (lacks(controllerService) ? adopted : undefined),
    call: async (client, bounds) => {
      const refusal = await controller.validateVolume(client, { csiId, spec }, bounds);
      if (refusal !== undefined) throw new StagecraftError('VOLUME_NOT_CONFIRMED', refusal, { final: true });
      return adopted;
    },
  };
};

/**
 * Anywhere that a node with the plugin is, and first where it was asked for. A volume with a home is made there only.
 * @param topologies of the nodes that have the plugin, by node
 */
export function usualTopology(
  topologies: ReadonlyMap<string, Segments>,
  { home, first }: { home: string | undefined; first: string | undefined },
): TopologyRequirement {
  const own = topologies.get(home ?? first ?? '');
  const all = [...(own ? [own] : []), ...(home === undefined ? topologies.values() : [])];
  const places = all.filter((one, index) => all.findIndex((other) => isSameData(one, other)) === index);
  return { requisite: places, preferred: places };
}

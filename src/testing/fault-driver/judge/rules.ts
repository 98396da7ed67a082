/** What a caller must not do, given what it can know: one function per rule, each for one call that begins. */
import { isDeepStrictEqual } from 'node:util';
import { gates } from '../../../csi/gates.js';
import { rpcs } from '../../../csi/generated/plain.js';
import type { RecordedCall } from '../call.js';
import { textIn } from '../subjects.js';
import { isEmpty, requiredFields } from './requirements.js';
import { type KnownUse, type KnownVolume, modeOf, objectIn, type World } from './world.js';

export type ViolationKind =
  | 'overlap'
  | 'field-missing'
  | 'not-offered'
  | 'volume-deleted'
  | 'not-attached'
  | 'not-staged'
  | 'still-attached'
  | 'still-staged'
  | 'still-published'
  | 'staged-elsewhere'
  | 'published-elsewhere'
  | 'wrong-publish-context'
  | 'wrong-volume-context';

/** What is wrong, for each kind of wrong. */
export type Findings = Partial<Record<ViolationKind, string | undefined>>;

const attach = ['PUBLISH_UNPUBLISH_VOLUME'];
const stage = ['STAGE_UNSTAGE_VOLUME'];

/** May be published to several targets on one node. */
const isShared = (mode: string): boolean => mode.startsWith('MULTI_NODE_') || mode === 'SINGLE_NODE_MULTI_WRITER';

/** Judged as the call begins, before it changes what is known. */
export function findingsOf(call: RecordedCall, world: World): Findings {
  return { ...findingsByItself(call, world), ...findingsOfOrder(call, world) };
}

function findingsByItself({ rpc, request }: RecordedCall, world: World): Findings {
  const missing = (requiredFields[rpc] ?? []).filter((field) => isEmpty(Reflect.get(request, field)));
  const capabilities = gates.get(rpc) ?? [];
  const isRefused = capabilities.length > 0 && world.offers(rpcs[rpc].service, capabilities) === false;
  return {
    'field-missing': missing.length > 0 ? `without ${missing.join(', ')}` : undefined,
    'not-offered': isRefused ? `the driver does not offer ${capabilities.join(' or ')}` : undefined,
  };
}

function findingsOfOrder(call: RecordedCall, world: World): Findings {
  const volume = world.volume(textIn(call.request, 'volumeId'));
  const { nodeId } = call;
  switch (call.rpc) {
    case 'ControllerPublishVolume':
      return { ...ofDeleted(volume), ...ofVolumeContext(call, volume) };
    case 'NodeStageVolume':
      return {
        ...findingsBeforeUse(call, world, volume),
        'staged-elsewhere': besides(volume.stagings, nodeId, textIn(call.request, 'stagingTargetPath'), 'staged'),
      };
    case 'NodePublishVolume':
      return {
        ...findingsBeforeUse(call, world, volume),
        'not-staged': notStaged(call, world, volume),
        'published-elsewhere': isShared(modeOf(call))
          ? undefined
          : besides(volume.targets, nodeId, textIn(call.request, 'targetPath'), 'published'),
      };
    case 'NodeUnstageVolume':
      return { 'still-published': inUse(volume.targets, 'published', nodeId) };
    case 'ControllerUnpublishVolume': {
      const from = textIn(call.request, 'nodeId') || undefined;
      return {
        'still-published': inUse(volume.targets, 'published', from),
        'still-staged': inUse(volume.stagings, 'staged', from),
      };
    }
    case 'DeleteVolume':
      return {
        'still-published': inUse(volume.targets, 'published'),
        'still-staged': inUse(volume.stagings, 'staged'),
        'still-attached': inUse(volume.attachments, 'attached'),
      };
    case 'ControllerExpandVolume':
    case 'ControllerModifyVolume':
    case 'NodeExpandVolume':
      return ofDeleted(volume);
    default:
      return {};
  }
}

function findingsBeforeUse(call: RecordedCall, world: World, volume: KnownVolume): Findings {
  const attached = volume.attachments.get(`${call.nodeId}\0`)?.thing.certainty ?? 'no';
  const isNeeded = world.offers('Controller', attach) === true;
  const given = objectIn(call.request, 'publishContext');
  const known = volume.publishContexts.get(call.nodeId);
  return {
    ...ofDeleted(volume),
    ...ofVolumeContext(call, volume),
    'not-attached':
      isNeeded && attached !== 'yes' ? `it is not known to be attached to ${call.nodeId} (${attached})` : undefined,
    'wrong-publish-context':
      known && !isDeepStrictEqual({ ...known }, { ...given })
        ? `with the publish context ${JSON.stringify(given)}, but ControllerPublishVolume gave ${JSON.stringify(known)}`
        : undefined,
  };
}

function notStaged({ request, nodeId }: RecordedCall, world: World, volume: KnownVolume): string | undefined {
  if (world.offers('Node', stage) !== true) return undefined;
  const path = textIn(request, 'stagingTargetPath');
  const staged = volume.stagings.get(`${nodeId}\0${path}`)?.thing.certainty ?? 'no';
  if (staged === 'yes') return undefined;
  return path ? `it is not known to be staged at ${path} (${staged})` : 'without a staging path';
}

const ofDeleted = ({ deletion }: KnownVolume): Findings => ({
  'volume-deleted': deletion.certainty === 'no' ? undefined : `it was deleted (${deletion.certainty})`,
});

function ofVolumeContext({ request }: RecordedCall, { context }: KnownVolume): Findings {
  const given = objectIn(request, 'volumeContext');
  if (!context || isDeepStrictEqual({ ...context }, { ...given })) return {};
  const text = `with the volume context ${JSON.stringify(given)}, but CreateVolume gave ${JSON.stringify(context)}`;
  return { 'wrong-volume-context': text };
}

/** Uses on this node, or on any, that are there or may be. */
function inUse(uses: ReadonlyMap<string, KnownUse>, how: string, nodeId?: string): string | undefined {
  const there = [...uses.values()].filter(
    (use) => use.thing.certainty !== 'no' && (nodeId ?? use.nodeId) === use.nodeId,
  );
  if (there.length === 0) return undefined;
  const named = there.map(({ path, thing, nodeId: on }) => `${path ? `at ${path} ` : ''}on ${on} (${thing.certainty})`);
  return `it is ${how} ${named.join(', ')}`;
}

/** The same thing at another path of this node. */
function besides(uses: ReadonlyMap<string, KnownUse>, nodeId: string, path: string, how: string): string | undefined {
  return inUse(new Map([...uses].filter(([, use]) => use.path !== path)), how, nodeId);
}

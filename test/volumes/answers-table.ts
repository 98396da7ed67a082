/**
 * Lists the calls of volumes and the answers of drivers, with the reaction that the CSI specification requires.
 * For a further call, add an entry to `subjects`.
 */
import type { RpcName } from '../../src/csi/answers.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { Volume } from '../../src/volumes/volume-view.js';
import { type AnswersScene, mib, type RealVolume } from './answers-scene.js';

/** Kind of call: prepares a volume, requests the call, and shows its result. */
export interface Subject {
  rpc: RpcName;
  name: string;
  prepare(scene: AnswersScene, id: string): Promise<unknown>;
  /** Requests the call. Resolves once it is done; rejects after a final failure. */
  ask(scene: AnswersScene, id: string): Promise<unknown>;
  /** Event of the commit that requests the call. */
  event: string;
  effect: string;
  isDone(volume: Volume | undefined): boolean;
  hasFailed(volume: Volume | undefined): boolean;
  message(volume: Volume | undefined): string | undefined;
  /** Further check of the driver's volume after the call; default: none. */
  isReal?(volume: RealVolume): boolean;
}

const failedAsAWhole = {
  hasFailed: (volume: Volume | undefined) => volume?.state === 'failed',
  message: (volume: Volume | undefined) => volume?.error?.message,
};

const failedThere = {
  hasFailed: (volume: Volume | undefined) => volume?.publications.a?.state === 'failed',
  message: (volume: Volume | undefined) => volume?.publications.a?.message,
};

const created = (scene: AnswersScene, id: string): Promise<unknown> => scene.runtime.volumes.create(scene.spec(id));

const published = async (scene: AnswersScene, id: string): Promise<unknown> => {
  await created(scene, id);
  return scene.runtime.volumes.publish({ id }, 'a');
};

const requiredBytes = 2 * mib;
const mutableParameters = { warnAbovePercent: '50' };

export const subjects: Subject[] = [
  {
    rpc: 'CreateVolume',
    name: 'creation',
    prepare: async () => undefined,
    ask: created,
    event: 'volume.create',
    effect: 'createVolume',
    isDone: (volume) => volume?.state === 'created',
    ...failedAsAWhole,
  },
  {
    rpc: 'ValidateVolumeCapabilities',
    name: 'registration of an existing volume',
    prepare: (scene, id) => scene.makeOutside(id),
    ask: (scene, id) => scene.runtime.volumes.create(scene.external(id)),
    event: 'volume.create',
    effect: 'createVolume',
    isDone: (volume) => volume?.state === 'created',
    ...failedAsAWhole,
  },
  {
    rpc: 'ControllerPublishVolume',
    name: 'publish',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.publish({ id }, 'a'),
    event: 'volume.publish',
    effect: 'controllerPublish',
    isDone: (volume) => volume?.publications.a?.state === 'published',
    ...failedThere,
  },
  {
    rpc: 'ControllerUnpublishVolume',
    name: 'unpublish',
    prepare: published,
    ask: ({ runtime }, id) => runtime.volumes.unpublish({ id }, 'a'),
    event: 'volume.unpublish',
    effect: 'controllerUnpublish',
    isDone: (volume) => volume !== undefined && volume.publications.a === undefined,
    ...failedThere,
  },
  {
    rpc: 'DeleteVolume',
    name: 'deletion',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.delete({ id }),
    event: 'volume.delete',
    effect: 'deleteVolume',
    isDone: (volume) => volume === undefined,
    ...failedAsAWhole,
  },
  {
    rpc: 'ControllerExpandVolume',
    name: 'expansion',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.expand({ id }, { requiredBytes }),
    event: 'volume.expand',
    effect: 'controllerExpand',
    isDone: (volume) => volume?.capacityBytes === requiredBytes && volume.expansion === undefined,
    hasFailed: (volume) => volume?.expansion?.message !== undefined,
    message: (volume) => volume?.expansion?.message,
    isReal: ({ capacityBytes }) => capacityBytes === requiredBytes,
  },
  {
    rpc: 'ControllerModifyVolume',
    name: 'change of parameters',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.modify({ id }, mutableParameters),
    event: 'volume.modify',
    effect: 'controllerModify',
    isDone: (volume) => volume !== undefined && volume.modification === undefined,
    hasFailed: (volume) => volume?.modification?.message !== undefined,
    message: (volume) => volume?.modification?.message,
    isReal: (volume) => volume.mutableParameters.warnAbovePercent === mutableParameters.warnAbovePercent,
  },
];

type Reaction = 'taken for done' | 'asked again' | 'failed';

export interface Answer {
  name: string;
  code: Exclude<GrpcCode, 'OK'>;
  text: string;
}

const plain: Answer['code'][] = [
  'ABORTED',
  'DEADLINE_EXCEEDED',
  'UNAVAILABLE',
  'CANCELLED',
  'UNKNOWN',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'INTERNAL',
  'DATA_LOSS',
  'NOT_FOUND',
  'INVALID_ARGUMENT',
  'ALREADY_EXISTS',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
];

export const answers: Answer[] = [
  ...plain.map((code): Answer => ({ name: code, code, text: `${code.toLowerCase()}, as told` })),
  { name: 'INTERNAL that wraps NOT_FOUND', code: 'INTERNAL', text: 'rpc error: code = NotFound desc = no such disk' },
];

const final: readonly string[] = [
  'INVALID_ARGUMENT',
  'ALREADY_EXISTS',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
];

export function reactionTo(rpc: RpcName, { code }: Answer): Reaction {
  if (code === 'NOT_FOUND') {
    if (rpc.startsWith('Delete')) return 'taken for done';
    return rpc === 'ControllerUnpublishVolume' ? 'asked again' : 'failed';
  }
  return final.includes(code) ? 'failed' : 'asked again';
}

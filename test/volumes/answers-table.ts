/**
 * The calls that volumes make, and the answers that drivers give to them: what each is to lead to, as the CSI
 * specification has it. A further call is one more entry of `subjects`.
 */
import type { RpcName } from '../../src/csi/answers.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { Volume } from '../../src/volumes/volume-view.js';
import { type AnswersScene, mib, type RealVolume } from './answers-scene.js';

/** One kind of call: what brings a volume to where it is made next, what asks for it, and what there is then. */
export interface Subject {
  rpc: RpcName;
  /** As tests name it. */
  name: string;
  prepare(scene: AnswersScene, id: string): Promise<unknown>;
  /** Resolves when it is done; rejects where that has failed for good. */
  ask(scene: AnswersScene, id: string): Promise<unknown>;
  /** The event of the commit that asks for the call. */
  event: string;
  /** The effect that makes it. */
  effect: string;
  isDone(volume: Volume | undefined): boolean;
  hasFailed(volume: Volume | undefined): boolean;
  /** Of one that has failed. */
  message(volume: Volume | undefined): string | undefined;
  /** Of what the driver has, once it is done; absent: what is compared of each volume says it all. */
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

/** Twice what it has. */
const requiredBytes = 2 * mib;
const mutableParameters = { warnAbovePercent: '50' };

export const subjects: Subject[] = [
  {
    rpc: 'CreateVolume',
    name: 'a creation',
    prepare: async () => undefined,
    ask: created,
    event: 'volume.create',
    effect: 'createVolume',
    isDone: (volume) => volume?.state === 'created',
    ...failedAsAWhole,
  },
  {
    rpc: 'ValidateVolumeCapabilities',
    name: 'the adoption of one that exists',
    prepare: (scene, id) => scene.makeOutside(id),
    ask: (scene, id) => scene.runtime.volumes.create(scene.external(id)),
    event: 'volume.create',
    effect: 'createVolume',
    isDone: (volume) => volume?.state === 'created',
    ...failedAsAWhole,
  },
  {
    rpc: 'ControllerPublishVolume',
    name: 'a publication',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.publish({ id }, 'a'),
    event: 'volume.publish',
    effect: 'controllerPublish',
    isDone: (volume) => volume?.publications.a?.state === 'published',
    ...failedThere,
  },
  {
    rpc: 'ControllerUnpublishVolume',
    name: 'the end of a publication',
    prepare: published,
    ask: ({ runtime }, id) => runtime.volumes.unpublish({ id }, 'a'),
    event: 'volume.unpublish',
    effect: 'controllerUnpublish',
    isDone: (volume) => volume !== undefined && volume.publications.a === undefined,
    ...failedThere,
  },
  {
    rpc: 'DeleteVolume',
    name: 'a deletion',
    prepare: created,
    ask: ({ runtime }, id) => runtime.volumes.delete({ id }),
    event: 'volume.delete',
    effect: 'deleteVolume',
    isDone: (volume) => volume === undefined,
    ...failedAsAWhole,
  },
  {
    rpc: 'ControllerExpandVolume',
    name: 'an expansion',
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
    name: 'a change of parameters',
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

/** What an answer is to lead to. */
export type Reaction = 'taken for done' | 'asked again' | 'failed';

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

/** Volumes and their uses, as far as a caller can know them from its answers; a lost answer leaves a `maybe`. The rules: rules.ts */
import { isDeepStrictEqual } from 'node:util';
import { type AnswerClass, answerClassOf } from '../../../csi/answers.js';
import { rpcs } from '../../../csi/generated/plain.js';
import type { GrpcCode } from '../../../csi/grpc-codes.js';
import type { RecordedCall } from '../call.js';
import { modeIn, objectIn, textIn } from '../requests.js';

/** Use of a volume: an attachment to a node, or a path there. */
export interface KnownUse {
  readonly nodeId: string;
  readonly path: string;
  readonly thing: KnownThing;
  /** True if the node was fenced: the use harms nobody any more. */
  readonly isFenced: boolean;
  /** Access mode of the call that made this use, or may have made it. */
  mode: string;
}

export interface JudgedVolume {
  readonly id: string;
  /** Known as made: the volume is certainly deleted. */
  readonly deletion: KnownThing;
  readonly attachments: Map<string, KnownUse>;
  readonly stagings: Map<string, KnownUse>;
  readonly targets: Map<string, KnownUse>;
  /** Context from the answer of CreateVolume, if it was seen. */
  context?: object;
  /** Latest context from ControllerPublishVolume, by node. */
  readonly publishContexts: Map<string, object>;
}

/** Capabilities by service. */
export type Offers = Readonly<Record<string, readonly string[]>>;

export class World {
  readonly #volumes = new Map<string, JudgedVolume>();
  readonly #fencedNodes: ReadonlySet<string>;
  #offers: Offers;

  constructor(offers: Offers, fencedNodes: readonly string[]) {
    this.#offers = offers;
    this.#fencedNodes = new Set(fencedNodes);
  }

  /** Undefined if no capabilities were answered. */
  offers(service: string, capabilities: readonly string[]): boolean | undefined {
    return this.#offers[service]?.some((name) => capabilities.includes(name));
  }

  volume(id: string): JudgedVolume {
    const known = this.#volumes.get(id) ?? newVolume(id);
    this.#volumes.set(id, known);
    return known;
  }

  begin(call: RecordedCall): void {
    const made = this.#madeBy(call);
    if (made?.thing.certainty === 'no') made.mode = modeOfCall(call);
    for (const { thing, change } of this.#changedBy(call)) thing.begin(call, change);
  }

  /** Called when the caller is answered, or waits no longer. */
  end(call: RecordedCall): void {
    const heard = callerHeard(call);
    if (!heard) return;
    for (const { thing, change } of this.#changedBy(call)) thing.end(call, change, heard);
    if (heard.answer !== 'done') return;
    const made = this.#madeBy(call);
    if (made) made.mode = modeOfCall(call);
    this.#learn(call);
  }

  /** Returns the use that a call makes or undoes. */
  useOf({ rpc, request, nodeId }: RecordedCall): KnownUse | undefined {
    const volume = this.volume(textIn(request, 'volumeId'));
    switch (rpc) {
      case 'ControllerPublishVolume':
      case 'ControllerUnpublishVolume':
        return this.#useIn(volume.attachments, textIn(request, 'nodeId'), '');
      case 'NodeStageVolume':
      case 'NodeUnstageVolume':
        return this.#useIn(volume.stagings, nodeId, textIn(request, 'stagingTargetPath'));
      case 'NodePublishVolume':
      case 'NodeUnpublishVolume':
        return this.#useIn(volume.targets, nodeId, textIn(request, 'targetPath'));
      default:
        return undefined;
    }
  }

  #useIn(uses: Map<string, KnownUse>, nodeId: string, path: string): KnownUse {
    const key = `${nodeId}\0${path}`;
    const isFenced = this.#fencedNodes.has(nodeId);
    const known = uses.get(key) ?? { nodeId, path, isFenced, thing: new KnownThing(), mode: '' };
    uses.set(key, known);
    return known;
  }

  #madeBy(call: RecordedCall): KnownUse | undefined {
    return changeOf(call) === 'make' ? this.useOf(call) : undefined;
  }

  #learn({ rpc, request, end }: RecordedCall): void {
    const answer = end?.answer ?? {};
    if (rpc.endsWith('GetCapabilities')) {
      this.#offers = { ...this.#offers, [rpcs[rpc].service]: typesIn(answer) };
    } else if (rpc === 'CreateVolume') {
      const made = objectIn(answer, 'volume');
      const id = textIn(made, 'volumeId');
      if (this.volume(id).deletion.certainty !== 'no') this.#volumes.delete(id); // made anew
      this.volume(id).context = objectIn(made, 'volumeContext');
    } else if (rpc === 'ControllerPublishVolume') {
      const { publishContexts } = this.volume(textIn(request, 'volumeId'));
      publishContexts.set(textIn(request, 'nodeId'), objectIn(answer, 'publishContext'));
    }
  }

  #changedBy(call: RecordedCall): Array<{ thing: KnownThing; change: 'make' | 'undo' }> {
    const change = changeOf(call);
    if (!change) return [];
    const volume = this.volume(textIn(call.request, 'volumeId'));
    if (call.rpc === 'DeleteVolume') return [{ thing: volume.deletion, change }];
    const isFromAll = call.rpc === 'ControllerUnpublishVolume' && textIn(call.request, 'nodeId') === '';
    const uses = isFromAll ? [...volume.attachments.values()] : [this.useOf(call)].filter((use) => use !== undefined);
    return uses.map(({ thing }) => ({ thing, change }));
  }
}

const newVolume = (id: string): JudgedVolume => ({
  id,
  deletion: new KnownThing(),
  attachments: new Map(),
  stagings: new Map(),
  targets: new Map(),
  publishContexts: new Map(),
});

function changeOf({ rpc }: RecordedCall): 'make' | 'undo' | undefined {
  switch (rpc) {
    case 'ControllerPublishVolume':
    case 'NodeStageVolume':
    case 'NodePublishVolume':
    case 'DeleteVolume':
      return 'make';
    case 'ControllerUnpublishVolume':
    case 'NodeUnstageVolume':
    case 'NodeUnpublishVolume':
      return 'undo';
    default:
      return undefined;
  }
}

export const modeOfCall = ({ request }: RecordedCall): string => modeIn(objectIn(request, 'volumeCapability'));

function typesIn(answer: object): string[] {
  const capabilities: unknown = Reflect.get(answer, 'capabilities');
  if (!Array.isArray(capabilities)) return [];
  return capabilities.map((capability: object) => textIn(objectIn(capability, 'rpc'), 'type'));
}

type Certainty = 'no' | 'maybe' | 'yes';

/** Answer that a caller got, and its time. */
interface Heard {
  readonly atMs: number;
  readonly answer: AnswerClass;
  /** Absent if the answer was lost. */
  readonly code?: GrpcCode;
}

type Change = 'make' | 'undo';

/** In-doubt call, and the knowledge before it; `several`: more than one kind of call. */
type Doubt = { readonly call: RecordedCall; readonly before: Certainty } | 'several';

/** A thing that calls make and undo: an attachment, a staging, a published target, a volume. */
class KnownThing {
  #certainty: Certainty = 'no';
  /** Knowledge before each call in flight, by its number. */
  readonly #before = new Map<number, Certainty>();
  #doubt: Doubt | undefined;

  get certainty(): Certainty {
    return this.#certainty;
  }

  /**
   * A call that makes or undoes the thing has begun: nothing is certain until its answer, unless it changes nothing.
   */
  begin({ number }: RecordedCall, change: Change): void {
    this.#before.set(number, this.#certainty);
    if (this.#certainty === (change === 'make' ? 'no' : 'yes')) this.#certainty = 'maybe';
  }

  end(call: RecordedCall, change: Change, heard: Heard): void {
    const before = this.#before.get(call.number);
    this.#before.delete(call.number);
    if (before === undefined) return;
    const settled = this.#doubtSettledBy(call, heard);
    if (isDone(heard.answer)) this.#settle(change === 'make' ? 'yes' : 'no');
    else if (settled) this.#settle(settled.before);
    else if (changedNothing.has(heard.answer)) this.#certainty = before;
    else if (this.#certainty === 'maybe') this.#doubt = this.#doubtOf(call, before);
  }

  #settle(certainty: Certainty): void {
    this.#certainty = certainty;
    this.#doubt = undefined;
  }

  /** A call repeated until its answer is final has not happened, unless that answer says that the thing exists. */
  #doubtSettledBy(call: RecordedCall, { answer, code }: Heard): Exclude<Doubt, 'several'> | undefined {
    if (answer !== 'final' || code === 'ALREADY_EXISTS' || this.#before.size > 0) return undefined;
    return this.#doubt !== 'several' && isRepeat(call, this.#doubt?.call) ? this.#doubt : undefined;
  }

  #doubtOf(call: RecordedCall, before: Certainty): Doubt {
    if (!this.#doubt) return { call, before };
    return this.#doubt !== 'several' && isRepeat(call, this.#doubt.call) ? this.#doubt : 'several';
  }
}

const isRepeat = (call: RecordedCall, of: RecordedCall | undefined): boolean =>
  call.rpc === of?.rpc && call.nodeId === of.nodeId && isDeepStrictEqual(call.request, of.request);

const isDone = (answer: AnswerClass): boolean =>
  answer === 'done' || answer === 'already-so' || answer === 'already-so-if-unmounted';

const changedNothing: ReadonlySet<AnswerClass> = new Set<AnswerClass>(['final', 'repair', 'busy']);

/** Returns the time and answer with which the call was over for its caller; undefined while the caller waits. */
export function callerHeard({ rpc, goneAtMs, end }: RecordedCall): Heard | undefined {
  if (goneAtMs !== undefined && (!end || goneAtMs < end.atMs)) return { atMs: goneAtMs, answer: 'unknown' };
  if (!end) return undefined;
  const { atMs, how, code, text } = end;
  if (how !== 'answered' || !code) return { atMs, answer: 'unknown' };
  return { atMs, answer: answerClassOf(rpc, code, text), code };
}

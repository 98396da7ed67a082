/** Volumes and their uses, as far as a caller can know them from its answers. The rules: rules.ts */
import { rpcs } from '../../../csi/generated/plain.js';
import type { RecordedCall } from '../call.js';
import { textIn } from '../subjects.js';
import { modeIn, objectIn } from './fields.js';
import { heardAt, KnownThing } from './known-thing.js';

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

export interface KnownVolume {
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
  readonly #volumes = new Map<string, KnownVolume>();
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

  volume(id: string): KnownVolume {
    const known = this.#volumes.get(id) ?? newVolume(id);
    this.#volumes.set(id, known);
    return known;
  }

  begin(call: RecordedCall): void {
    const made = this.#madeBy(call);
    if (made?.thing.certainty === 'no') made.mode = modeOf(call);
    for (const { thing, change } of this.#changedBy(call)) thing.begin(call, change);
  }

  /** Called when the caller is answered, or waits no longer. */
  end(call: RecordedCall): void {
    const heard = heardAt(call);
    if (!heard) return;
    for (const { thing, change } of this.#changedBy(call)) thing.end(call, change, heard);
    if (heard.answer !== 'done') return;
    const made = this.#madeBy(call);
    if (made) made.mode = modeOf(call);
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

const newVolume = (id: string): KnownVolume => ({
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

export const modeOf = ({ request }: RecordedCall): string => modeIn(objectIn(request, 'volumeCapability'));

function typesIn(answer: object): string[] {
  const capabilities: unknown = Reflect.get(answer, 'capabilities');
  if (!Array.isArray(capabilities)) return [];
  return capabilities.map((capability: object) => textIn(objectIn(capability, 'rpc'), 'type'));
}

/**
 * Requests as they were up to version 3 of the machines, for histories that were recorded then: each led to a commit, unless its
 * client saw before that a volume, or a node that is full, refuses it.
 */
import type { AnyEventObject } from 'xstate';
import { type NodeContext, type SlotRequest, slotRefusal } from '../../machines/node/node.js';
import { refusalOf } from '../../machines/volume/requests.js';
import type { VolumeContext, VolumeRequest } from '../../machines/volume/types.js';
import { isAbsent } from '../../machines/volume/work.js';
import type { ActorSystem } from '../../src/engine/actor-system.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import type { Engine } from '../../src/engine/engine.js';
import { StagecraftError } from '../../src/errors.js';

/** Makes a kind whose refusals are commits. */
export const committingRefusals = ({ refusalOf: _, ...kind }: ActorKind): ActorKind => kind;

/** Makes the engine of the clients. */
export function askedAsBefore(engine: Engine): ActorSystem {
  const underWay = new Map<string, number>();

  async function askVolume(address: string, event: AnyEventObject, ask: () => Promise<unknown>): Promise<unknown> {
    const before = underWay.get(address) ?? 0;
    underWay.set(address, before + 1);
    try {
      if (before === 0) refuseVolume(address, event as VolumeRequest);
      return await ask();
    } finally {
      underWay.set(address, (underWay.get(address) ?? 1) - 1);
    }
  }

  function refuseVolume(address: string, request: VolumeRequest): void {
    // The address is that of a volume.
    const context = engine.peek(address)?.context as VolumeContext | undefined;
    if (!context || isAbsent(context) || request.type === 'volume.acknowledge') return;
    const refusal = refusalOf(context, request);
    if (refusal) throw new StagecraftError(refusal.code, refusal.message, { address });
  }

  async function reserveSlot(address: string, request: SlotRequest, ask: () => Promise<unknown>): Promise<unknown> {
    const node = engine.peek(address)?.context as NodeContext | undefined;
    const refusal = node && slotRefusal(node, request);
    if (refusal) throw new StagecraftError(refusal.code, refusal.message);
    return ask();
  }

  return {
    ask: (address, event, options) => {
      const ask = (): Promise<unknown> => engine.ask(address, event, options);
      if (address.startsWith('volume/')) return askVolume(address, event, ask);
      // Only the slots of nodes ask for one.
      return event.type === 'node.reserve-slot'
        ? reserveSlot(address, event as SlotRequest & AnyEventObject, ask)
        : ask();
    },
    read: (address, signal) => engine.read(address, signal),
    readNow: (address) => engine.readNow(address),
    page: (range) => engine.page(range),
    peek: (address) => engine.peek(address),
    has: (address) => engine.has(address),
    views: (prefix) => engine.views(prefix),
    observe: (observer) => engine.observe(observer),
    follow: (topic, from, signal) => engine.follow(topic, from, signal),
    storeTrouble: (forMs) => engine.storeTrouble(forMs),
  };
}

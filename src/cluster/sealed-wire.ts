/**
 * Signs what agents send each other, so that another client of the same Redis can't ask them for anything. A signature holds
 * for one inbox, an entry of the roster for one run of one node. It hides nothing, and protects no state in the store.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RosterChanges, Wire } from '../engine/store.js';
import type { MessageOutcome } from './message-counts.js';
import { longestBytes, sealMark } from './messages.js';

/** What a signature holds for, besides the text. */
type Purpose = ['text', inbox: string] | ['entry', nodeId: string, run: string];

/**
 * Makes a wire that signs all texts and entries, and refuses those that are not signed with the same key.
 * @param refused is called for each that is refused
 */
export function sealedWire(
  wire: Wire,
  key: string | Uint8Array,
  refused: (outcome: MessageOutcome) => void = () => {},
): Wire {
  const macOf = (purpose: Purpose, text: string): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(purpose)).update(text).digest();
  const seal = (purpose: Purpose, text: string): string =>
    `${sealMark}${macOf(purpose, text).toString('base64url')}${text}`;
  /** Returns the text, or undefined if it is not signed for this. */
  const unseal = (purpose: Purpose, sealed: string): string | undefined => {
    const text = sealed.slice(sealedAt);
    const mac = Buffer.from(sealed.slice(sealMark.length, sealedAt), 'base64url');
    const isSigned =
      sealed.startsWith(sealMark) && mac.length === macBytes && timingSafeEqual(mac, macOf(purpose, text));
    if (isSigned) return text;
    refused('unsigned');
    return undefined;
  };
  const entryOf = ({ nodeId, run, entry }: Change): Change => {
    const text = entry === undefined ? undefined : unseal(['entry', nodeId, run], entry);
    return { nodeId, run, ...(text !== undefined && { entry: text }) };
  };
  return {
    post: (inbox, text) => wire.post(inbox, seal(['text', inbox], text)),
    listen: (inbox, receive, signal) =>
      wire.listen(
        inbox,
        (sealed, ageMs) => {
          if (sealed.length > longestBytes + sealedAt) return refused('too-large');
          const text = unseal(['text', inbox], sealed);
          if (text !== undefined) receive(text, ageMs);
        },
        signal,
      ),
    beat: ({ entry, ...beat }) =>
      wire.beat({
        ...beat,
        ...(entry !== undefined && { entry: seal(['entry', beat.nodeId, beat.run], entry) }),
      }),
    leave: (nodeId, run) => wire.leave(nodeId, run),
    /** A node whose entry is not signed counts as one that has left. */
    async roster(since) {
      const { changed, ...roster } = await wire.roster(since);
      const read = changed.map(entryOf);
      return { ...roster, changed: roster.isComplete ? read.filter(({ entry }) => entry !== undefined) : read };
    },
  };
}

type Change = RosterChanges['changed'][number];

const macBytes = 32;
/** Where the text begins, after the mark and the signature. */
const sealedAt = sealMark.length + Math.ceil((macBytes * 4) / 3);

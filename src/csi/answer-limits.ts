/**
 * Bounds of what a plugin answers. Each is the limit of the CSI specification with room, as drivers exceed those: ids of some
 * clouds have 280 bytes. An answer outside of them is a fault of the driver. Why these: docs/decisions/0034-answers-have-bounds.md
 */
import { maxCsiIdBytes } from '../host/name-rules.js';
import type { ReadLimits } from './fields.js';
import { rpcs } from './generated/plain.js';

/** Limit of a request, and of an answer with a list: 64 MiB. */
export const maxMessageBytes = 64 * 1024 * 1024;

/** Limit of every other answer: 4 MiB, the default of most gRPC clients. */
const maxAnswerBytes = 4 * 1024 * 1024;

const lists: ReadonlySet<string> = new Set([rpcs.ListVolumes.response, rpcs.ListSnapshots.response]);

/** @param name of the message that answers an RPC */
export const answerBytes = (name: string): number => (lists.has(name) ? maxMessageBytes : maxAnswerBytes);

/** CSI: 128 bytes for a text, 4 KiB for a map; no size or count is negative. */
const answerLimits: ReadLimits = { textBytes: maxCsiIdBytes, mapBytes: 64 * 1024, int64: [0n, 2n ** 63n - 1n] };

/** Seconds of the years 1 to 9999, as protobuf defines a Timestamp. */
const timeLimits: ReadLimits = { ...answerLimits, int64: [-62_135_596_800n, 253_402_300_799n] };

/** A storage may be shared: one entry of somebody else must not cost the whole list. */
const listLimits: ReadLimits = { ...answerLimits, leavesOutEntries: true };

const nodeLimits: ReadLimits = { ...answerLimits, zeroMeans: 'no limit' };

export function answerLimitsOf(name: string): ReadLimits {
  if (name === 'Timestamp') return timeLimits;
  if (name === rpcs.NodeGetInfo.response) return nodeLimits;
  return lists.has(name) ? listLimits : answerLimits;
}

/** For requests: a driver judges each field itself, with INVALID_ARGUMENT. */
export const noLimits: ReadLimits = {
  textBytes: Number.POSITIVE_INFINITY,
  mapBytes: Number.POSITIVE_INFINITY,
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

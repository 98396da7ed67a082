/**
 * The codes of gRPC statuses by name, what they mean for a repeat, and the error that carries them.
 * What to do about an error is for callers to decide.
 */
import { StagecraftError } from '../errors.js';

/** The names of all gRPC status codes, each at its number. */
export const grpcCodes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type GrpcCode = (typeof grpcCodes)[number];

/** Codes after which the same request fails again, whatever the call. */
const finalCodes: ReadonlySet<GrpcCode> = new Set([
  'INVALID_ARGUMENT',
  'ALREADY_EXISTS',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
]);

/** Drivers' texts are shown to people, and kept: they are cut to this. */
const maxMessageBytes = 4096;

/** The name of a status; a number that gRPC doesn't know is `UNKNOWN`, as its specification says. */
export const grpcCodeOf = (status: number): GrpcCode => grpcCodes[status] ?? 'UNKNOWN';

/** A failed call: code `CSI_ERROR` with `rpc`, `grpcCode` and `final`; `text` is cut to 4 KiB. */
export function csiError(rpc: string, grpcCode: GrpcCode, text: string): StagecraftError {
  const final = finalCodes.has(grpcCode);
  return new StagecraftError('CSI_ERROR', `${rpc}: ${cut(text, maxMessageBytes)}`, { rpc, grpcCode, final });
}

/** The first `maxBytes` of a text in UTF-8, without half a character at its end. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}

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

/** The name of a status; a number that gRPC doesn't know is `UNKNOWN`, as its specification says. */
export const grpcCodeOf = (status: number): GrpcCode => grpcCodes[status] ?? 'UNKNOWN';

/** The commonest check: a request that must be refused, and with which code. */
import type { Given } from '../../csi/codec.js';
import type { Rpcs } from '../../csi/generated/plain.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import type { UnaryRpc } from '../../csi/server.js';
import type { Answer } from '../ask.js';
import type { Check } from '../check.js';
import type { CheckContext } from '../context.js';
import type { Need } from '../verdict.js';

export interface Refusal<Rpc extends UnaryRpc> {
  /** The second part of the check's id. */
  id: string;
  rpc: Rpc;
  rule: string;
  needs?: readonly (Need | readonly Need[])[];
  expects: GrpcCode | readonly GrpcCode[];
  /** Why an OK is worth no more than a warning: nothing makes the driver refuse it. Default: it fails. */
  warnsOfOk?: string;
  request: (bench: CheckContext) => Given<Rpcs[Rpc]['request']> | Promise<Given<Rpcs[Rpc]['request']>>;
}

export const refusal = <Rpc extends UnaryRpc>({
  id,
  rpc,
  rule,
  needs = [],
  expects,
  warnsOfOk,
  request,
}: Refusal<Rpc>): Check => ({
  id: `${rpc}/${id}`,
  rpc,
  rule,
  needs,
  run: async (bench) => {
    const codes = [expects].flat();
    const { code } = await bench.refused(rpc, await request(bench), ...codes, ...(warnsOfOk ? ['OK' as const] : []));
    if (code === 'OK') bench.warn(`${warnsOfOk}, and ${codes.join(' or ')} is expected; OK came`);
  },
});

/** More than any storage has. */
export const hugeBytes = 2n ** 62n;

/**
 * Of an answer to who asked for `hugeBytes`. Storage that sets no limits may have them.
 * @param capacityBytes in the answer, where it is OK
 * @throws {Verdict} failed: another code, or a volume that is smaller
 */
export function expectNoSuchSize(
  bench: CheckContext,
  { code, report }: Pick<Answer<UnaryRpc>, 'code' | 'report'>,
  capacityBytes = 0n,
): void {
  const isRefused = code === 'OUT_OF_RANGE' || code === 'RESOURCE_EXHAUSTED';
  const isHad = code === 'OK' && capacityBytes >= hugeBytes;
  bench.expect(isRefused || isHad, 'OUT_OF_RANGE or RESOURCE_EXHAUSTED', `there came ${report.answer}`);
}

/** The longest that a name or an id may be. */
export const maxTextBytes = 128;

/** A text over the limit: the specification binds who sends it, so taking it is no more than worth a warning. */
export const overLimit = <Rpc extends UnaryRpc>({
  rpc,
  field,
  needs = [],
  request,
}: Pick<Refusal<Rpc>, 'rpc' | 'needs' | 'request'> & { field: string }): Check => ({
  id: `${rpc}/long-${field.replaceAll('_', '-')}`,
  rpc,
  rule: `A ${field} of more than ${maxTextBytes} bytes is INVALID_ARGUMENT.`,
  needs,
  run: async (bench) => {
    const { code } = await bench.ask(rpc, await request(bench));
    if (code !== 'INVALID_ARGUMENT')
      bench.warn(`callers must not send it, and INVALID_ARGUMENT is expected; ${code} came`);
  },
});

/** Names that any driver has to take, whatever it makes of them. */
export const oddName = (name: string): string => `${name} ../Größe/„ß“ 卷 %s'"\\`;

/** Common to the checks of many RPCs: refusals, texts and sizes beyond all limits, equal calls at once, the form of a status. */
import type { Given } from '../../../csi/codec.js';
import type { Rpcs } from '../../../csi/generated/plain.js';
import type { GrpcCode } from '../../../csi/grpc-codes.js';
import type { UnaryRpc } from '../../../csi/server.js';
import type { Answer } from '../ask.js';
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';

interface Refusal<Rpc extends UnaryRpc> {
  /** Second part of the check's id. */
  id: string;
  rpc: Rpc;
  rule: string;
  needs?: readonly (Need | readonly Need[])[];
  expects: GrpcCode | readonly GrpcCode[];
  /** Reason why OK is only a warning: no rule makes the driver refuse. Default: OK fails the check. */
  warnsOfOk?: string;
  request: (bench: CheckContext) => Given<Rpcs[Rpc]['request']> | Promise<Given<Rpcs[Rpc]['request']>>;
}

/** Most common check: the driver must refuse a request with a certain error code. */
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

/** Larger than any storage. */
export const hugeBytes = 2n ** 62n;

/**
 * Judges the answer to a request for `hugeBytes`. Storage without limits may accept it.
 * @param capacityBytes in the answer, if it is OK
 * @throws {Verdict} failed: another code, or a smaller volume
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

/** Longest name or id that the specification allows. */
export const maxTextBytes = 128;

/** Text over the limit: the specification binds the caller, so a driver that accepts it only gets a warning. */
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

/** Name that every driver must accept, whatever it derives from it. */
export const oddName = (name: string): string => `${name} ../Größe/„ß“ 卷 %s'"\\`;

/**
 * Judges the answers to equal calls at the same time. The specification wants them to have one effect; it recommends and does
 * not demand that drivers accept them. Call it last, after the effect of the calls was judged.
 * @throws {Verdict} warning: an answer other than OK and ABORTED
 */
export function warnUnlessBorne(bench: CheckContext, answers: readonly Answer<UnaryRpc>[]): void {
  const other = answers.find(({ code }) => code !== 'OK' && code !== 'ABORTED');
  if (other) bench.warn(`drivers should bear equal calls at once: OK or ABORTED; there came ${other.report.answer}`);
}

/** gRPC trailer with the details of a status. */
const detailsTrailer = 'grpc-status-details-bin';

/** Status codes that the client makes by itself if no answer comes. */
const withoutDriver: readonly string[] = ['DEADLINE_EXCEEDED', 'UNAVAILABLE', 'CANCELLED'];

const noDetails = (rpc: Extract<UnaryRpc, 'ValidateVolumeCapabilities' | 'NodePublishVolume'>): Check => ({
  id: `${rpc}/no-details`,
  rpc,
  rule: 'The details of a status are empty: callers see its code and its message.',
  needs: [],
  run: async (bench) => {
    const { code, trailers } = await bench.calls.trailers(rpc, {});
    if (code === 'OK') throw new Verdict('blocked', 'an empty request was not refused', bench.calls.last);
    if (withoutDriver.includes(code)) throw new Verdict('blocked', `no status came from the driver, but ${code}`);
    bench.expect(!trailers.includes(detailsTrailer), 'no details', `the trailer ${detailsTrailer} came`);
  },
});

/** Rules for every answer, checked on a refusal that any driver can give. */
export const statusChecks: readonly Check[] = [noDetails('ValidateVolumeCapabilities'), noDetails('NodePublishVolume')];

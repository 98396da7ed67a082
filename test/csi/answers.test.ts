/** What each answer means: every RPC with every code, as a table to be read beside the CSI specification. */
import { expect } from 'chai';
import { type AnswerClass, answerClassOf } from '../../src/csi/answers.js';
import { csiError } from '../../src/csi/codes.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import { type GrpcCode, grpcCodeOf, grpcCodes } from '../../src/csi/grpc-codes.js';

/**
 * `ok` done · `?` unknown outcome · `fin` final · `rep` a step before is missing · `bsy` busy · `bug` the driver's ·
 * `so` already so · `so?` already so, if nothing is mounted there · `not` not so · `new` start over with an empty token
 */
const table = `
                               ok  CAN UNK INV DEA NOT ALR PER RES FAI ABO OUT UNI INT UNA DAT AUT
GetPluginInfo                  ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
GetPluginCapabilities          ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
Probe                          ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
CreateVolume                   ok  ?   ?   fin ?   fin fin fin roo rep bsy fin fin bug ?   bug fin
DeleteVolume                   ok  ?   ?   fin ?   so  fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerPublishVolume        ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerUnpublishVolume      ok  ?   ?   fin ?   not fin fin ?   rep bsy fin fin bug ?   bug fin
ValidateVolumeCapabilities     ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ListVolumes                    ok  ?   ?   fin ?   fin fin fin ?   rep new fin fin bug ?   bug fin
GetCapacity                    ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerGetCapabilities      ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
CreateSnapshot                 ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
DeleteSnapshot                 ok  ?   ?   fin ?   so  fin fin ?   rep bsy fin fin bug ?   bug fin
ListSnapshots                  ok  ?   ?   fin ?   fin fin fin ?   rep new fin fin bug ?   bug fin
GetSnapshot                    ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerExpandVolume         ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerGetVolume            ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
ControllerModifyVolume         ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
GroupControllerGetCapabilities ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
CreateVolumeGroupSnapshot      ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
DeleteVolumeGroupSnapshot      ok  ?   ?   fin ?   so  fin fin ?   rep bsy fin fin bug ?   bug fin
GetVolumeGroupSnapshot         ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
GetMetadataAllocated           ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
GetMetadataDelta               ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
NodeStageVolume                ok  ?   ?   fin ?   not fin fin ?   rep bsy fin fin bug ?   bug fin
NodeUnstageVolume              ok  ?   ?   fin ?   so? fin fin ?   rep bsy fin fin bug ?   bug fin
NodePublishVolume              ok  ?   ?   fin ?   not fin fin ?   rep bsy fin fin bug ?   bug fin
NodeUnpublishVolume            ok  ?   ?   fin ?   so? fin fin ?   rep bsy fin fin bug ?   bug fin
NodeGetVolumeStats             ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
NodeExpandVolume               ok  ?   ?   fin ?   fin fin fin ?   fin bsy fin fin bug ?   bug fin
NodeGetCapabilities            ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
NodeGetInfo                    ok  ?   ?   fin ?   fin fin fin ?   rep bsy fin fin bug ?   bug fin
`;

const headings: Record<string, GrpcCode> = {
  ok: 'OK',
  CAN: 'CANCELLED',
  UNK: 'UNKNOWN',
  INV: 'INVALID_ARGUMENT',
  DEA: 'DEADLINE_EXCEEDED',
  NOT: 'NOT_FOUND',
  ALR: 'ALREADY_EXISTS',
  PER: 'PERMISSION_DENIED',
  RES: 'RESOURCE_EXHAUSTED',
  FAI: 'FAILED_PRECONDITION',
  ABO: 'ABORTED',
  OUT: 'OUT_OF_RANGE',
  UNI: 'UNIMPLEMENTED',
  INT: 'INTERNAL',
  UNA: 'UNAVAILABLE',
  DAT: 'DATA_LOSS',
  AUT: 'UNAUTHENTICATED',
};

const cells: Record<string, AnswerClass> = {
  ok: 'done',
  '?': 'unknown',
  fin: 'final',
  roo: 'no-room',
  rep: 'repair',
  bsy: 'busy',
  bug: 'driver-bug',
  so: 'already-so',
  'so?': 'already-so-if-unmounted',
  not: 'not-so',
  new: 'start-over',
};

const [heading = '', ...rows] = table.trim().split('\n');
const codes = heading.split(/\s+/).map((abbreviation) => headings[abbreviation]);
const meanings = new Map(
  rows.map((row) => {
    const [rpc = '', ...cellsOfRow] = row.split(/\s+/);
    return [rpc, cellsOfRow.map((cell) => cells[cell])];
  }),
);
const names = Object.keys(rpcs).filter((rpc): rpc is keyof typeof rpcs => rpc in rpcs);

describe('what the answers to CSI calls mean', () => {
  it('the table has every RPC and every code, once', () => {
    expect([...meanings.keys()]).to.deep.equal(names);
    expect(rows).to.have.length(names.length);
    expect(codes).to.deep.equal([...grpcCodes]);
  });

  for (const rpc of names) {
    it(`${rpc}: each code means what the table says`, () => {
      expect(grpcCodes.map((code) => answerClassOf(rpc, code))).to.deep.equal(meanings.get(rpc));
    });

    it(`${rpc}: an error is final where its class is, and nowhere else`, () => {
      for (const code of grpcCodes.slice(1)) {
        const answerClass = answerClassOf(rpc, code);
        expect(csiError(rpc, code, 'text')).to.include({ answerClass, final: answerClass === 'final', grpcCode: code });
      }
    });

    it(`${rpc}: INTERNAL that wraps another status is of unknown outcome`, () => {
      const text = 'failed to ask the array: rpc error: code = Unavailable desc = connection refused';
      expect(answerClassOf(rpc, 'INTERNAL', text)).to.equal('unknown');
      expect(csiError(rpc, 'INTERNAL', text)).to.include({ answerClass: 'unknown', final: false });
      expect(answerClassOf(rpc, 'INTERNAL', 'an error without a code')).to.equal('driver-bug');
      expect(answerClassOf(rpc, 'INVALID_ARGUMENT', text)).to.equal('final');
    });
  }

  it('a status that gRPC does not know is UNKNOWN', () => {
    expect([0, 5, 16, 17, 99, -1].map(grpcCodeOf)).to.deep.equal([
      'OK',
      'NOT_FOUND',
      'UNAUTHENTICATED',
      'UNKNOWN',
      'UNKNOWN',
      'UNKNOWN',
    ]);
  });
});

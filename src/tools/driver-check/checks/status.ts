/** Rules for every answer, checked on a refusal that any driver can give. */
import type { UnaryRpc } from '../../../csi/server.js';
import type { Check } from '../check.js';
import { Verdict } from '../verdict.js';

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

export const statusChecks: readonly Check[] = [noDetails('ValidateVolumeCapabilities'), noDetails('NodePublishVolume')];

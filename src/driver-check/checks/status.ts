/** What is true of every answer: looked at where any driver refuses something. */
import type { UnaryRpc } from '../../csi/server.js';
import { type Check, Verdict } from '../check.js';

/** How gRPC carries the details of a status. */
const detailsTrailer = 'grpc-status-details-bin';

const noDetails = (rpc: Extract<UnaryRpc, 'ValidateVolumeCapabilities' | 'NodePublishVolume'>): Check => ({
  id: `${rpc}/no-details`,
  rpc,
  rule: 'The details of a status are empty: callers see its code and its message.',
  needs: [],
  run: async (bench) => {
    const trailers = await bench.calls.trailers(rpc, {});
    if (!trailers) throw new Verdict('blocked', 'an empty request was not refused', bench.calls.last);
    bench.expect(!trailers.includes(detailsTrailer), 'no details', `the trailer ${detailsTrailer} came`);
  },
});

export const statusChecks: readonly Check[] = [noDetails('ValidateVolumeCapabilities'), noDetails('NodePublishVolume')];

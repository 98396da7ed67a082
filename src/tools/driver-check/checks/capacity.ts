/** Checks GetCapacity. */

import type { Check } from '../check.js';
import type { CheckContext } from '../context.js';

const rpc = 'GetCapacity';

async function capacity(bench: CheckContext, request: Parameters<typeof bench.ok<typeof rpc>>[1]): Promise<void> {
  const { availableCapacity, minimumVolumeSize, maximumVolumeSize } = await bench.ok(rpc, request);
  bench.expect(availableCapacity >= 0n, 'an available_capacity of 0 or more', `it is ${availableCapacity}`);
  const isRange =
    minimumVolumeSize === undefined || maximumVolumeSize === undefined || minimumVolumeSize <= maximumVolumeSize;
  bench.expect(
    isRange,
    'a minimum_volume_size up to the maximum',
    `they are ${minimumVolumeSize} and ${maximumVolumeSize}`,
  );
}

export const capacityChecks: readonly Check[] = [
  {
    id: `${rpc}/all`,
    rpc,
    rule: 'Asked for nothing in particular, it gives what is available, not below 0.',
    needs: ['controller/GET_CAPACITY'],
    run: (bench) => capacity(bench, {}),
  },
  {
    id: `${rpc}/for-capabilities`,
    rpc,
    rule: 'Asked for the capabilities and parameters of volumes, it gives what is available to those, not below 0.',
    needs: ['controller/GET_CAPACITY'],
    run: (bench) =>
      capacity(bench, {
        volumeCapabilities: [bench.capability()],
        parameters: bench.options.parameters.CreateVolume ?? {},
      }),
  },
];

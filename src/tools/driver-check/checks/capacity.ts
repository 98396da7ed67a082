/** GetCapacity and ControllerExpandVolume. Expansion on the node: stats-expand.ts */
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { expectNoSuchSize, hugeBytes, refusal } from './common.js';

async function capacity(bench: CheckContext, request: Parameters<typeof bench.ok<'GetCapacity'>>[1]): Promise<void> {
  const { availableCapacity, minimumVolumeSize, maximumVolumeSize } = await bench.ok('GetCapacity', request);
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
    id: 'GetCapacity/all',
    rpc: 'GetCapacity',
    rule: 'Asked for nothing in particular, it gives what is available, not below 0.',
    needs: ['controller/GET_CAPACITY'],
    run: (bench) => capacity(bench, {}),
  },
  {
    id: 'GetCapacity/for-capabilities',
    rpc: 'GetCapacity',
    rule: 'Asked for the capabilities and parameters of volumes, it gives what is available to those, not below 0.',
    needs: ['controller/GET_CAPACITY'],
    run: (bench) =>
      capacity(bench, {
        volumeCapabilities: [bench.capability()],
        parameters: bench.options.parameters.CreateVolume ?? {},
      }),
  },
];

const check = (
  id: string,
  rule: string,
  needs: readonly Need[],
  run: (bench: CheckContext) => Promise<void>,
): Check => ({
  id,
  rpc: 'ControllerExpandVolume',
  rule,
  needs,
  run,
});

const expands: readonly Need[] = ['controller/EXPAND_VOLUME'];

export const controllerExpandChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'ControllerExpandVolume',
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: expands,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({
      capacityRange: { requiredBytes: 2 * bench.options.sizeBytes },
      volumeCapability: bench.capability(),
    }),
  }),
  refusal({
    id: 'no-range',
    rpc: 'ControllerExpandVolume',
    rule: 'Without a capacity_range it is INVALID_ARGUMENT.',
    needs: expands,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ volumeId: await bench.someVolumeId(), volumeCapability: bench.capability() }),
  }),
  refusal({
    id: 'unknown',
    rpc: 'ControllerExpandVolume',
    rule: 'A volume that does not exist is NOT_FOUND.',
    needs: expands,
    expects: 'NOT_FOUND',
    request: (bench) => expansion(bench, bench.unknownId()),
  }),
  check(
    'ControllerExpandVolume/grows',
    'A volume becomes at least as large as required_bytes; again is OK, and smaller should be.',
    expands,
    async (bench) => {
      const request = expansion(bench, (await bench.volume()).volumeId);
      const asked = BigInt(2 * bench.options.sizeBytes);
      for (const what of ['', ' again']) {
        const { capacityBytes } = await bench.ok('ControllerExpandVolume', request);
        bench.expect(capacityBytes >= asked, `at least ${asked} bytes${what}`, `there are ${capacityBytes}`);
      }
      const smaller = { ...request, capacityRange: { requiredBytes: 1 } };
      const { value, report } = await bench.refused('ControllerExpandVolume', smaller, 'OK', ...refusals);
      if (value === undefined)
        return bench.warn(
          `drivers should answer OK to a size that the volume has already; there came ${report.answer}`,
        );
      const { capacityBytes } = value;
      bench.expect(capacityBytes >= asked, `still at least ${asked} bytes`, `there are ${capacityBytes}`);
    },
  ),
  check(
    'ControllerExpandVolume/node-expansion',
    'node_expansion_required is set only if the node service has EXPAND_VOLUME.',
    expands,
    async (bench) => {
      await bench.nodeId(); // blocked if the node plugin cannot be called
      const request = expansion(bench, (await bench.volume()).volumeId);
      const { nodeExpansionRequired } = await bench.ok('ControllerExpandVolume', request);
      bench.expect(
        !nodeExpansionRequired || bench.offers.has('node/EXPAND_VOLUME'),
        'no node_expansion_required',
        'the node must expand the volume, and does not offer EXPAND_VOLUME',
      );
    },
  ),
  check(
    'ControllerExpandVolume/too-large',
    'A size that is not to be had is OUT_OF_RANGE or RESOURCE_EXHAUSTED, never a smaller volume.',
    expands,
    async (bench) => {
      const request = expansion(bench, (await bench.volume()).volumeId);
      const answer = await bench.ask('ControllerExpandVolume', {
        ...request,
        capacityRange: { requiredBytes: hugeBytes },
      });
      expectNoSuchSize(bench, answer, answer.value?.capacityBytes);
    },
  ),
  check(
    'ControllerExpandVolume/offline-only',
    'A volume that is published, of a driver that expands offline only, is FAILED_PRECONDITION.',
    [...expands, 'expansion/OFFLINE', 'controller/PUBLISH_UNPUBLISH_VOLUME'],
    async (bench) => {
      if (bench.offers.has('expansion/ONLINE')) throw new Verdict('not offered', 'the driver expands online too');
      const { volumeId, volumeContext } = await bench.volume();
      const nodeId = await bench.nodeId();
      await bench.step('ControllerPublishVolume', {
        volumeId,
        nodeId,
        volumeCapability: bench.capability(),
        volumeContext,
      });
      await bench.refused('ControllerExpandVolume', expansion(bench, volumeId), 'FAILED_PRECONDITION');
    },
  ),
];

/** Error codes of a driver that refuses to shrink a volume. */
const refusals = ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'FAILED_PRECONDITION'] as const;

const expansion = (bench: CheckContext, volumeId: string) => ({
  volumeId,
  capacityRange: { requiredBytes: 2 * bench.options.sizeBytes },
  volumeCapability: bench.capability(),
});

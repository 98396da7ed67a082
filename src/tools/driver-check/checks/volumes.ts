/** Existing volumes: deleted, validated, read, modified. Expanded: capacity.ts */
import type { Given } from '../../../csi/codec.js';
import type { VolumeCapability } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal } from './common.js';

const makesVolumes: Need = 'controller/CREATE_DELETE_VOLUME';

const check = (
  id: string,
  rule: string,
  needs: readonly Need[],
  run: (bench: CheckContext) => Promise<void>,
): Check => {
  const rpc = rpcOf(id);
  return { id, rpc, rule, needs, run };
};

type Judged = 'DeleteVolume' | 'ValidateVolumeCapabilities' | 'ControllerGetVolume' | 'ControllerModifyVolume';
const judged: readonly Judged[] = [
  'DeleteVolume',
  'ValidateVolumeCapabilities',
  'ControllerGetVolume',
  'ControllerModifyVolume',
];

function rpcOf(id: string): Judged {
  const rpc = judged.find((name) => id.startsWith(`${name}/`));
  if (!rpc) throw new TypeError(`${id} names no RPC of this file`);
  return rpc;
}

const deleteChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'DeleteVolume',
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: [makesVolumes],
    expects: 'INVALID_ARGUMENT',
    request: () => ({}),
  }),
  check('DeleteVolume/absent', 'A volume that is not there is deleted: OK.', [makesVolumes], async (bench) => {
    await bench.ok('DeleteVolume', { volumeId: bench.unknownId() });
  }),
  check('DeleteVolume/repeat', 'A volume can be deleted, and once more: OK.', [makesVolumes], async (bench) => {
    const { volumeId } = await bench.volume();
    await bench.ok('DeleteVolume', { volumeId });
    await bench.ok('DeleteVolume', { volumeId });
  }),
  check(
    'DeleteVolume/frees-name',
    'After it, the name is free: the same name makes a volume again.',
    [makesVolumes],
    async (bench) => {
      const name = bench.name();
      const { volumeId } = await bench.volume({ name });
      await bench.step('DeleteVolume', { volumeId });
      await bench.ok(
        'CreateVolume',
        await bench.volumeRequest({ name, capacityRange: { requiredBytes: 2 * bench.options.sizeBytes } }),
      );
    },
  ),
  check(
    'DeleteVolume/in-use',
    'A volume that is published and can not be deleted is FAILED_PRECONDITION.',
    [makesVolumes, 'controller/PUBLISH_UNPUBLISH_VOLUME'],
    async (bench) => {
      const { volumeId, volumeContext } = await bench.volume();
      const nodeId = await bench.nodeId();
      await bench.step('ControllerPublishVolume', {
        volumeId,
        nodeId,
        volumeCapability: bench.capability(),
        volumeContext,
      });
      const { code, report } = await bench.ask('DeleteVolume', { volumeId });
      if (code === 'OK') bench.warn('it is deleted while it is in use');
      bench.expect(code === 'FAILED_PRECONDITION', 'FAILED_PRECONDITION', `there came ${report.answer}`);
    },
  ),
  check(
    'DeleteVolume/with-snapshot',
    'A volume with snapshots is FAILED_PRECONDITION, or its snapshots stay usable without it.',
    [makesVolumes, 'controller/CREATE_DELETE_SNAPSHOT'],
    async (bench) => {
      const { volumeId } = await bench.volume();
      const { snapshotId } = await bench.snapshot(volumeId);
      const { code, report } = await bench.ask('DeleteVolume', { volumeId });
      if (code === 'FAILED_PRECONDITION') return;
      bench.expect(code === 'OK', 'OK or FAILED_PRECONDITION', `there came ${report.answer}`);
      await bench.ok('CreateVolume', await bench.volumeRequest({ volumeContentSource: { snapshot: { snapshotId } } }));
    },
  ),
];

const validateChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'ValidateVolumeCapabilities',
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({ volumeCapabilities: [bench.capability()] }),
  }),
  refusal({
    id: 'no-capabilities',
    rpc: 'ValidateVolumeCapabilities',
    rule: 'Without volume_capabilities it is INVALID_ARGUMENT.',
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ volumeId: await bench.someVolumeId() }),
  }),
  refusal({
    id: 'unknown',
    rpc: 'ValidateVolumeCapabilities',
    rule: 'A volume that does not exist is NOT_FOUND.',
    expects: 'NOT_FOUND',
    request: (bench) => ({ volumeId: bench.unknownId(), volumeCapabilities: [bench.capability()] }),
  }),
  check(
    'ValidateVolumeCapabilities/confirms',
    'What a volume was made with is confirmed, and `confirmed` repeats the volume_capabilities.',
    [],
    async (bench) => {
      const { volumeId, volumeContext } = await bench.volume();
      const asked = bench.capability();
      const volumeCapabilities = [asked];
      const { confirmed } = await bench.ok('ValidateVolumeCapabilities', {
        volumeId,
        volumeContext,
        volumeCapabilities,
      });
      const came = confirmed?.volumeCapabilities.map(capabilityText).join(' and ') || 'empty';
      bench.expect(came === capabilityText(asked), capabilityText(asked), `confirmed is ${came}`);
    },
  ),
  check(
    'ValidateVolumeCapabilities/refuses',
    'What CreateVolume does not make is not confirmed.',
    [makesVolumes],
    async (bench) => {
      const { volumeId } = await bench.volume();
      const unheardOf = { mount: { fsType: 'stagecraft-check' }, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
      let isAnyRefused = false;
      for (const capability of [...bench.otherCapabilities(), unheardOf]) {
        const request = await bench.volumeRequest({ volumeCapabilities: [capability] });
        if ((await bench.ask('CreateVolume', request)).code === 'OK') continue;
        isAnyRefused = true;
        const isConfirmed = await bench.confirms(volumeId, capability);
        bench.expect(!isConfirmed, `no confirmation of ${capabilityText(capability)}`, 'it is confirmed');
      }
      if (!isAnyRefused) throw new Verdict('not offered', 'the driver makes volumes for any use');
    },
  ),
];

function capabilityText({ block, mount, accessMode }: Given<VolumeCapability>): string {
  const type = block ? 'block' : mount ? `mount${mount.fsType ? ` of ${mount.fsType}` : ''}` : 'neither type';
  return `${type} as ${accessMode?.mode ?? 'UNKNOWN'}`;
}

const getChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'ControllerGetVolume',
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: ['controller/GET_VOLUME'],
    expects: 'INVALID_ARGUMENT',
    request: () => ({}),
  }),
  refusal({
    id: 'unknown',
    rpc: 'ControllerGetVolume',
    rule: 'A volume that does not exist is NOT_FOUND.',
    needs: ['controller/GET_VOLUME'],
    expects: 'NOT_FOUND',
    request: (bench) => ({ volumeId: bench.unknownId() }),
  }),
  check(
    'ControllerGetVolume/same',
    'It gives the volume as CreateVolume did.',
    ['controller/GET_VOLUME'],
    async (bench) => {
      const { volumeId, capacityBytes } = await bench.volume();
      const { volume } = await bench.ok('ControllerGetVolume', { volumeId });
      const given = `${volume?.volumeId} of ${volume?.capacityBytes} bytes`;
      bench.expect(
        given === `${volumeId} of ${capacityBytes} bytes`,
        `${volumeId} of ${capacityBytes} bytes`,
        `it is ${given}`,
      );
    },
  ),
];

const modifyChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'ControllerModifyVolume',
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: ['controller/MODIFY_VOLUME'],
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({ mutableParameters: bench.options.parameters.ControllerModifyVolume ?? {} }),
  }),
  refusal({
    id: 'unknown',
    rpc: 'ControllerModifyVolume',
    rule: 'A volume that does not exist is NOT_FOUND.',
    needs: ['controller/MODIFY_VOLUME'],
    expects: 'NOT_FOUND',
    request: (bench) => ({
      volumeId: bench.unknownId(),
      mutableParameters: mutableParameters(bench),
    }),
  }),
  refusal({
    id: 'unknown-parameter',
    rpc: 'ControllerModifyVolume',
    rule: 'A parameter that the driver does not know is INVALID_ARGUMENT.',
    needs: ['controller/MODIFY_VOLUME'],
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({
      volumeId: (await bench.volume()).volumeId,
      mutableParameters: { 'stagecraft-check/unknown-parameter': 'x' },
    }),
  }),
  check(
    'ControllerModifyVolume/nothing-applied',
    'Of parameters of which the driver does not know one, none is applied.',
    ['controller/MODIFY_VOLUME'],
    async (bench) => {
      const { volumeId } = await bench.volume();
      const known = mutableParameters(bench);
      const before = await seen(bench, volumeId, known);
      const mixed = { ...known, 'stagecraft-check/unknown-parameter': 'x' };
      await bench.refused('ControllerModifyVolume', { volumeId, mutableParameters: mixed }, 'INVALID_ARGUMENT');
      const after = await seen(bench, volumeId, known);
      bench.expect(after === before, `the volume as before, ${before}`, `it is ${after}`);
    },
  ),
  check(
    'ControllerModifyVolume/repeat',
    'Parameters can be changed, and to the same once more: OK.',
    ['controller/MODIFY_VOLUME'],
    async (bench) => {
      const request = { volumeId: (await bench.volume()).volumeId, mutableParameters: mutableParameters(bench) };
      await bench.ok('ControllerModifyVolume', request);
      await bench.ok('ControllerModifyVolume', request);
    },
  ),
];

/** All that callers can see of a volume's mutable parameters: whether they are confirmed, and the volume itself. */
async function seen(bench: CheckContext, volumeId: string, mutableParameters: Record<string, string>): Promise<string> {
  const asked = { volumeId, volumeCapabilities: [bench.capability()], mutableParameters };
  const { value } = await bench.ask('ValidateVolumeCapabilities', asked);
  const isConfirmed = value?.confirmed !== undefined;
  const volume = bench.offers.has('controller/GET_VOLUME')
    ? (await bench.step('ControllerGetVolume', { volumeId })).volume
    : undefined;
  const context = JSON.stringify(volume?.volumeContext ?? {});
  return `${isConfirmed ? 'with' : 'without'} these parameters confirmed, its volume_context ${context}`;
}

function mutableParameters(bench: CheckContext): Record<string, string> {
  const given = bench.options.parameters.ControllerModifyVolume;
  if (given) return given;
  throw new Verdict(
    'blocked',
    'it needs parameters that can be changed: give those of ControllerModifyVolume (--parameters)',
  );
}

export const volumeChecks: readonly Check[] = [...deleteChecks, ...validateChecks, ...getChecks, ...modifyChecks];

/** Drivers that break one rule each about who they are, and about volumes on the controller's side. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsiStatus } from '../../src/csi/server.js';
import type { RightState } from './right-driver.js';
import { answers, changes, isUnknown, mistakes, refusesRepeats, replaced, type Wrong, wrong } from './wrong.js';

const volumeNamed = (state: RightState, name: string) =>
  [...state.volumes.values()].find((volume) => volume.name === name);

const identity: readonly Wrong[] = [
  answers('Probe/ready', 'Probe', () => true, { ready: false }, { timeoutMs: 300 }),
  changes('GetPluginInfo/name', 'GetPluginInfo', (info) => ({ ...info, name: 'no domain!' })),
  changes('GetPluginInfo/version', 'GetPluginInfo', (info) => ({ ...info, vendorVersion: '' })),
  changes('GetPluginInfo/stable', 'GetPluginInfo', (info, _, times) => ({ ...info, vendorVersion: `${times}` })),
  changes('GetPluginCapabilities/stable', 'GetPluginCapabilities', ({ capabilities = [] }, _, times) => ({
    capabilities: times % 2 ? capabilities : capabilities.slice(1),
  })),
  changes('GetPluginCapabilities/named', 'GetPluginCapabilities', ({ capabilities = [] }) => ({
    capabilities: [...capabilities, {}],
  })),
  changes(
    'GetPluginCapabilities/named',
    'GetPluginCapabilities',
    ({ capabilities = [] }) => ({ capabilities: [...capabilities, { volumeExpansion: { type: 'UNKNOWN' } }] }),
    { outcome: 'warning' },
  ),
  changes('ControllerGetCapabilities/stable', 'ControllerGetCapabilities', ({ capabilities = [] }, _, times) => ({
    capabilities: times % 2 ? capabilities : capabilities.slice(1),
  })),
  changes('ControllerGetCapabilities/named', 'ControllerGetCapabilities', ({ capabilities = [] }) => ({
    capabilities: [...capabilities, {}],
  })),
  changes(
    'ControllerGetCapabilities/unadvertised',
    'ControllerGetCapabilities',
    ({ capabilities = [] }) => ({ capabilities: capabilities.filter(({ rpc }) => rpc?.type !== 'GET_CAPACITY') }),
    { outcome: 'warning' },
  ),
  changes(
    'GroupControllerGetCapabilities/stable',
    'GroupControllerGetCapabilities',
    ({ capabilities = [] }, _, times) => ({
      capabilities: times % 2 ? capabilities : [],
    }),
  ),
  changes('GroupControllerGetCapabilities/named', 'GroupControllerGetCapabilities', ({ capabilities = [] }) => ({
    capabilities: [...capabilities, {}],
  })),
];

const createVolume: readonly Wrong[] = [
  answers('CreateVolume/no-name', 'CreateVolume', ({ name }) => name === '', 'INTERNAL'),
  answers(
    'CreateVolume/no-capabilities',
    'CreateVolume',
    ({ volumeCapabilities }) => volumeCapabilities.length === 0,
    'INTERNAL',
  ),
  answers(
    'CreateVolume/no-access-type',
    'CreateVolume',
    ({ volumeCapabilities: [first] }) => first !== undefined && !first.block && !first.mount,
    'INTERNAL',
  ),
  answers(
    'CreateVolume/no-access-mode',
    'CreateVolume',
    ({ volumeCapabilities: [first] }) => first !== undefined && !first.accessMode,
    'INTERNAL',
  ),
  changes('CreateVolume/answer', 'CreateVolume', ({ volume }) => ({
    volume: { ...volume, volumeContext: { x: 'x'.repeat(5000) } },
  })),
  changes('CreateVolume/size', 'CreateVolume', ({ volume }) => ({ volume: { ...volume, capacityBytes: 1 } })),
  answers('CreateVolume/no-size', 'CreateVolume', ({ capacityRange }) => !capacityRange, 'OUT_OF_RANGE'),
  wrong(
    'CreateVolume/repeat',
    'every call makes another volume',
    (right) => {
      let made = 0;
      return replaced(right, 'CreateVolume', (request, next) => {
        made += 1;
        return next({ ...request, name: request.name && `${made}-${request.name.slice(0, 100)}` });
      });
    },
    {
      also: {
        'CreateVolume/other-size': 'failed',
        'CreateVolume/other-parameters': 'warning',
        'CreateVolume/other-capability': 'failed',
        'CreateVolume/other-source-snapshot': 'failed',
        'CreateVolume/other-source-volume': 'failed',
        'CreateVolume/many-at-once': 'failed',
        'CreateVolume/long-name': 'warning',
      },
    },
  ),
  mistakes('CreateVolume/other-size', 'CreateVolume', (request, state) => {
    const there = volumeNamed(state, request.name);
    return there ? { ...request, capacityRange: { requiredBytes: there.capacityBytes, limitBytes: 0n } } : request;
  }),
  mistakes(
    'CreateVolume/other-parameters',
    'CreateVolume',
    (request, state) => ({
      ...request,
      parameters: volumeNamed(state, request.name)?.parameters ?? request.parameters,
    }),
    { outcome: 'warning' },
  ),
  answers(
    'CreateVolume/other-parameters',
    'CreateVolume',
    ({ parameters }) => Object.keys(parameters).length > 0,
    'INTERNAL',
  ),
  mistakes('CreateVolume/other-capability', 'CreateVolume', (request, state) => ({
    ...request,
    volumeCapabilities: volumeNamed(state, request.name)?.capabilities ?? request.volumeCapabilities,
  })),
  ...(['snapshot', 'volume'] as const).map((kind) =>
    mistakes(`CreateVolume/other-source-${kind}`, 'CreateVolume', (request, state) => {
      const { volumeContentSource: source, ...rest } = request;
      return volumeNamed(state, request.name) && source?.[kind] ? rest : request;
    }),
  ),
  wrong('CreateVolume/many-at-once', 'calls at once make a volume each', (right) => {
    const inFlight = new Map<string, number>();
    return replaced(right, 'CreateVolume', async (request, next) => {
      const others = inFlight.get(request.name) ?? 0;
      inFlight.set(request.name, others + 1);
      try {
        await nextTurn();
        return await next(others === 0 ? request : { ...request, name: `${others}-${request.name}` });
      } finally {
        inFlight.set(request.name, (inFlight.get(request.name) ?? 1) - 1);
      }
    });
  }),
  wrong(
    'CreateVolume/many-at-once',
    'only one call at a time is answered',
    (right) => {
      let inFlight = 0;
      return replaced(right, 'CreateVolume', async (request, next) => {
        if (inFlight > 0) throw new CsiStatus('INTERNAL', 'not now');
        inFlight += 1;
        try {
          await nextTurn();
          return await next(request);
        } finally {
          inFlight -= 1;
        }
      });
    },
    { outcome: 'warning' },
  ),
  mistakes('CreateVolume/name-128', 'CreateVolume', (request) =>
    request.name.length === 128 ? { ...request, name: request.name.slice(0, 127) } : request,
  ),
  answers('CreateVolume/odd-name', 'CreateVolume', ({ name }) => name.includes('/'), 'INVALID_ARGUMENT'),
  mistakes('CreateVolume/long-name', 'CreateVolume', (request) => ({ ...request, name: request.name.slice(0, 128) }), {
    outcome: 'warning',
  }),
  mistakes('CreateVolume/required-over-limit', 'CreateVolume', (request) => {
    const { requiredBytes = 0n, limitBytes = 0n } = request.capacityRange ?? {};
    return limitBytes > 0n && limitBytes < requiredBytes
      ? { ...request, capacityRange: { requiredBytes, limitBytes: 0n } }
      : request;
  }),
  mistakes(
    'CreateVolume/negative-size',
    'CreateVolume',
    (request) =>
      (request.capacityRange?.requiredBytes ?? 0n) < 0n
        ? { ...request, capacityRange: { requiredBytes: 0n, limitBytes: 0n } }
        : request,
    { outcome: 'warning' },
  ),
  answers(
    'CreateVolume/negative-size',
    'CreateVolume',
    ({ capacityRange }) => (capacityRange?.requiredBytes ?? 0n) < 0n,
    'INTERNAL',
  ),
  mistakes('CreateVolume/too-large', 'CreateVolume', (request) =>
    (request.capacityRange?.requiredBytes ?? 0n) > 2n ** 60n
      ? { ...request, capacityRange: { requiredBytes: 0n, limitBytes: 0n } }
      : request,
  ),
  answers(
    'CreateVolume/unknown-snapshot',
    'CreateVolume',
    ({ volumeContentSource: from }) => isUnknown(from?.snapshot?.snapshotId ?? ''),
    'INTERNAL',
  ),
  answers(
    'CreateVolume/unknown-volume',
    'CreateVolume',
    ({ volumeContentSource: from }) => isUnknown(from?.volume?.volumeId ?? ''),
    'INVALID_ARGUMENT',
  ),
  ...(['snapshot', 'volume'] as const).map((kind) =>
    changes(`CreateVolume/from-${kind}`, 'CreateVolume', ({ volume }, { volumeContentSource: from }) =>
      from?.[kind] ? { volume: { ...volume, contentSource: undefined } } : { volume },
    ),
  ),
];

const volumes: readonly Wrong[] = [
  answers('DeleteVolume/no-id', 'DeleteVolume', ({ volumeId }) => volumeId === '', {}),
  answers('DeleteVolume/absent', 'DeleteVolume', ({ volumeId }) => isUnknown(volumeId), 'NOT_FOUND'),
  refusesRepeats('DeleteVolume/repeat', 'DeleteVolume'),
  wrong('DeleteVolume/frees-name', 'a name can be used once only', (right, state) => {
    const used = new Set<string>();
    return replaced(right, 'CreateVolume', (request, next) => {
      if (used.has(request.name) && !volumeNamed(state, request.name))
        throw new CsiStatus('ALREADY_EXISTS', 'it was once');
      used.add(request.name);
      return next(request);
    });
  }),
  answers(
    'DeleteVolume/in-use',
    'DeleteVolume',
    ({ volumeId }, state) => (state.volumes.get(volumeId)?.published.size ?? 0) > 0,
    'INTERNAL',
  ),
  wrong('DeleteVolume/with-snapshot', 'a volume takes its snapshots with it', (right, state) =>
    replaced(right, 'DeleteVolume', ({ volumeId, secrets }, next) => {
      for (const snapshot of state.snapshots.values())
        if (snapshot.sourceVolumeId === volumeId) state.snapshots.delete(snapshot.snapshotId);
      return next({ volumeId, secrets });
    }),
  ),
  answers(
    'ValidateVolumeCapabilities/no-id',
    'ValidateVolumeCapabilities',
    ({ volumeId }) => volumeId === '',
    'NOT_FOUND',
  ),
  answers(
    'ValidateVolumeCapabilities/no-capabilities',
    'ValidateVolumeCapabilities',
    ({ volumeId, volumeCapabilities: list }) => volumeId !== '' && list.length === 0,
    {},
  ),
  answers(
    'ValidateVolumeCapabilities/unknown',
    'ValidateVolumeCapabilities',
    ({ volumeId }) => isUnknown(volumeId),
    {},
  ),
  changes('ValidateVolumeCapabilities/confirms', 'ValidateVolumeCapabilities', () => ({ message: 'no' })),
  changes('ValidateVolumeCapabilities/confirms', 'ValidateVolumeCapabilities', ({ confirmed }) =>
    confirmed ? { confirmed: { volumeCapabilities: [{ block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } }] } } : {},
  ),
  answers(
    'ValidateVolumeCapabilities/refuses',
    'ValidateVolumeCapabilities',
    ({ volumeCapabilities: [first] }) => first?.mount?.fsType === 'stagecraft-check',
    { confirmed: {} },
  ),
  answers('ControllerGetVolume/no-id', 'ControllerGetVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('ControllerGetVolume/unknown', 'ControllerGetVolume', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
  changes('ControllerGetVolume/same', 'ControllerGetVolume', ({ volume }) => ({
    volume: { ...volume, capacityBytes: 7 },
  })),
  answers('ControllerModifyVolume/no-id', 'ControllerModifyVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('ControllerModifyVolume/unknown', 'ControllerModifyVolume', ({ volumeId }) => isUnknown(volumeId), {}),
  answers(
    'ControllerModifyVolume/unknown-parameter',
    'ControllerModifyVolume',
    ({ mutableParameters }) => !mutableParameters.speed,
    {},
  ),
  wrong(
    'ControllerModifyVolume/nothing-applied',
    'what is known is applied before the rest is refused',
    (right, state) =>
      replaced(right, 'ControllerModifyVolume', (request, next) => {
        const { speed } = request.mutableParameters;
        const volume = state.volumes.get(request.volumeId);
        if (volume && speed !== undefined) volume.mutable = { speed };
        return next(request);
      }),
  ),
  refusesRepeats('ControllerModifyVolume/repeat', 'ControllerModifyVolume'),
  answers('ControllerExpandVolume/no-id', 'ControllerExpandVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('ControllerExpandVolume/no-range', 'ControllerExpandVolume', ({ capacityRange }) => !capacityRange, {}),
  answers(
    'ControllerExpandVolume/unknown',
    'ControllerExpandVolume',
    ({ volumeId }) => isUnknown(volumeId),
    'INTERNAL',
  ),
  changes('ControllerExpandVolume/grows', 'ControllerExpandVolume', () => ({ capacityBytes: 1 })),
  answers(
    'ControllerExpandVolume/grows',
    'ControllerExpandVolume',
    ({ capacityRange: range }) => range?.requiredBytes === 1n,
    'INVALID_ARGUMENT',
    { outcome: 'warning' },
  ),
  changes('ControllerExpandVolume/grows', 'ControllerExpandVolume', (answer, { capacityRange: range }) =>
    range?.requiredBytes === 1n ? { capacityBytes: 1 } : answer,
  ),
  refusesRepeats('ControllerExpandVolume/grows', 'ControllerExpandVolume'),
  changes('ControllerExpandVolume/node-expansion', 'NodeGetCapabilities', ({ capabilities = [] }) => ({
    capabilities: capabilities.filter(({ rpc }) => rpc?.type !== 'EXPAND_VOLUME'),
  })),
  answers(
    'ControllerExpandVolume/too-large',
    'ControllerExpandVolume',
    ({ capacityRange: range }) => (range?.requiredBytes ?? 0n) > 2n ** 60n,
    'INTERNAL',
  ),
  answers(
    'ControllerExpandVolume/too-large',
    'ControllerExpandVolume',
    ({ capacityRange: range }) => (range?.requiredBytes ?? 0n) > 2n ** 60n,
    {},
  ),
  changes('ControllerExpandVolume/offline-only', 'GetPluginCapabilities', ({ capabilities = [] }) => ({
    capabilities: [...capabilities.filter(({ service }) => service), { volumeExpansion: { type: 'OFFLINE' } }],
  })),
  answers('GetCapacity/all', 'GetCapacity', ({ volumeCapabilities: list }) => list.length === 0, {
    availableCapacity: -1,
  }),
  answers('GetCapacity/for-capabilities', 'GetCapacity', ({ volumeCapabilities: list }) => list.length > 0, {
    minimumVolumeSize: 2n,
    maximumVolumeSize: 1n,
  }),
  changes('ListVolumes/ids', 'ListVolumes', ({ entries = [] }) => ({ entries: [...entries, { volume: {} }] }), {
    also: { 'ListVolumes/pages': 'failed' },
  }),
  wrong('ListVolumes/current', 'a list tells of volumes that are gone', (right) => {
    const seen = new Set<string>();
    return replaced(right, 'ListVolumes', async (request, next) => {
      const answer = await next(request);
      for (const { volume } of answer.entries ?? []) if (volume?.volumeId) seen.add(volume.volumeId);
      return request.maxEntries === 0 && !request.startingToken && seen.size === 1
        ? { entries: [...seen].map((volumeId) => ({ volume: { volumeId } })) }
        : answer;
    });
  }),
  mistakes('ListVolumes/pages', 'ListVolumes', ({ maxEntries, startingToken }) => ({
    maxEntries,
    startingToken: startingToken === '2' ? '1' : startingToken,
  })),
  answers(
    'ListVolumes/bad-token',
    'ListVolumes',
    ({ startingToken }) => startingToken.includes('no-such'),
    'INVALID_ARGUMENT',
  ),
  answers('ListVolumes/negative-max', 'ListVolumes', ({ maxEntries }) => maxEntries < 0, {}, { outcome: 'warning' }),
  changes('ListVolumes/published-nodes', 'ListVolumes', ({ entries = [], ...more }) => ({
    ...more,
    entries: entries.map(({ volume }) => ({ volume })),
  })),
];

export const wrongControllers: readonly Wrong[] = [...identity, ...createVolume, ...volumes];

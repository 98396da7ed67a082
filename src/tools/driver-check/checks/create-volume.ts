/** CreateVolume: accepted and refused requests, and repeated ones. Content of volumes: content.ts */
import type { Given } from '../../../csi/codec.js';
import type { Volume, VolumeContentSource } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { expectNoSuchSize, hugeBytes, maxTextBytes, oddName, overLimit, refusal, warnUnlessBorne } from './common.js';

const rpc = 'CreateVolume';
const needs: readonly Need[] = ['controller/CREATE_DELETE_VOLUME'];
const longestMap = 4096;
const crowd = 10;

const mapBytes = (map: Record<string, string>): number =>
  Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

async function created(bench: CheckContext, request: Parameters<CheckContext['volumeRequest']>[0]): Promise<Volume> {
  const { volume } = await bench.ok(rpc, await bench.volumeRequest(request));
  bench.expect(volume !== undefined && volume.volumeId !== '', 'a volume with an id', 'there is none in the answer');
  return volume ?? { volumeId: '', capacityBytes: 0n, volumeContext: {}, accessibleTopology: [] };
}

const creates = (
  id: string,
  rule: string,
  run: (bench: CheckContext) => Promise<void>,
  more: readonly Need[] = [],
): Check => ({
  id: `${rpc}/${id}`,
  rpc,
  rule,
  needs: [...needs, ...more],
  run,
});

const sourceOf = (source: Given<VolumeContentSource> | undefined): string | undefined =>
  source?.snapshot?.snapshotId ?? source?.volume?.volumeId;

async function repeatsSource(bench: CheckContext, volumeContentSource: Given<VolumeContentSource>): Promise<void> {
  const { contentSource } = await created(bench, { volumeContentSource });
  const asked = sourceOf(volumeContentSource);
  bench.expect(
    sourceOf(contentSource) === asked,
    `the content_source ${asked}`,
    `it is ${sourceOf(contentSource) ?? 'absent'}`,
  );
}

async function refusesOtherSource(bench: CheckContext, volumeContentSource: Given<VolumeContentSource>): Promise<void> {
  const name = bench.name();
  await bench.volume({ name });
  await bench.refused(rpc, await bench.volumeRequest({ name, volumeContentSource }), 'ALREADY_EXISTS');
}

export const createVolumeChecks: readonly Check[] = [
  refusal({
    id: 'no-name',
    rpc,
    rule: 'Without a name it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => bench.volumeRequest({ name: '' }),
  }),
  refusal({
    id: 'no-capabilities',
    rpc,
    rule: 'Without volume_capabilities it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => bench.volumeRequest({ volumeCapabilities: [] }),
  }),
  refusal({
    id: 'no-access-type',
    rpc,
    rule: 'A capability that is neither block nor mount is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => bench.volumeRequest({ volumeCapabilities: [{ accessMode: { mode: 'SINGLE_NODE_WRITER' } }] }),
  }),
  refusal({
    id: 'no-access-mode',
    rpc,
    rule: 'A capability without an access_mode is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => bench.volumeRequest({ volumeCapabilities: [{ [bench.accessType]: {} }] }),
  }),
  creates(
    'answer',
    'The answer has a volume_id of at most 128 bytes and a volume_context of at most 4 KiB.',
    async (bench) => {
      const { volumeId, volumeContext } = await created(bench, {});
      const bytes = Buffer.byteLength(volumeId);
      bench.expect(bytes <= maxTextBytes, `at most ${maxTextBytes} bytes of id`, `there are ${bytes}`);
      const contextBytes = mapBytes(volumeContext);
      bench.expect(contextBytes <= longestMap, `at most ${longestMap} bytes of context`, `there are ${contextBytes}`);
    },
  ),
  creates(
    'size',
    'The volume is at least as large as required_bytes; 0 means that its size is not known.',
    async (bench) => {
      const { capacityBytes } = await created(bench, {});
      const asked = BigInt(bench.options.sizeBytes);
      bench.expect(
        capacityBytes === 0n || capacityBytes >= asked,
        `at least ${asked} bytes`,
        `there are ${capacityBytes}`,
      );
    },
  ),
  creates('no-size', 'Without a capacity_range the driver chooses the size.', async (bench) => {
    const { capacityRange: _, ...request } = await bench.volumeRequest();
    await bench.ok(rpc, request);
  }),
  creates('repeat', 'The same name with the same arguments is the same volume.', async (bench) => {
    const request = await bench.volumeRequest();
    const first = await created(bench, request);
    const again = await created(bench, request);
    bench.expect(again.volumeId === first.volumeId, `the volume ${first.volumeId} again`, `it is ${again.volumeId}`);
  }),
  creates('other-size', 'The same name with a size that the volume does not have is ALREADY_EXISTS.', async (bench) => {
    const name = bench.name();
    const { sizeBytes } = bench.options;
    await bench.volume({ name, capacityRange: { requiredBytes: sizeBytes, limitBytes: sizeBytes } });
    const capacityRange = { requiredBytes: 2 * sizeBytes, limitBytes: 2 * sizeBytes };
    await bench.refused(rpc, await bench.volumeRequest({ name, capacityRange }), 'ALREADY_EXISTS');
  }),
  creates(
    'other-parameters',
    'The same name with other parameters is ALREADY_EXISTS, or INVALID_ARGUMENT where the driver does not know them.',
    async (bench) => {
      const request = await bench.volumeRequest();
      await bench.step(rpc, request);
      const isNone = Object.keys(request.parameters ?? {}).length === 0;
      const parameters = isNone ? { 'stagecraft-check/other': 'x' } : {};
      const { code, report } = await bench.ask(rpc, { ...request, parameters });
      if (code === 'OK') bench.warn('it is the same volume: callers believe that it has the parameters they asked for');
      const isRefused = code === 'ALREADY_EXISTS' || code === 'INVALID_ARGUMENT';
      bench.expect(isRefused, 'ALREADY_EXISTS or INVALID_ARGUMENT', `there came ${report.answer}`);
    },
  ),
  creates(
    'other-capability',
    'The same name with a capability that the volume does not have is ALREADY_EXISTS, or INVALID_ARGUMENT where no volume has it.',
    async (bench) => {
      const request = await bench.volumeRequest();
      const { volume } = await bench.step(rpc, request);
      for (const capability of bench.otherCapabilities()) {
        if (await bench.confirms(volume?.volumeId ?? '', capability)) continue;
        const asked = { ...request, volumeCapabilities: [capability] };
        await bench.refused(rpc, asked, 'ALREADY_EXISTS', 'INVALID_ARGUMENT');
        return;
      }
      throw new Verdict('not offered', 'the driver confirms that every volume can be used in any way');
    },
  ),
  creates(
    'other-source-snapshot',
    'The same name with a content that the volume was not made from is ALREADY_EXISTS.',
    async (bench) => {
      const { snapshotId } = await bench.snapshot((await bench.volume()).volumeId);
      await refusesOtherSource(bench, { snapshot: { snapshotId } });
    },
    ['controller/CREATE_DELETE_SNAPSHOT'],
  ),
  creates(
    'other-source-volume',
    'The same name with a content that the volume was not made from is ALREADY_EXISTS.',
    async (bench) => refusesOtherSource(bench, { volume: { volumeId: (await bench.volume()).volumeId } }),
    ['controller/CLONE_VOLUME'],
  ),
  creates('many-at-once', 'Many equal calls at once make one volume; all give it, or ABORTED.', async (bench) => {
    const request = await bench.volumeRequest();
    const answers = await Promise.all(
      Array.from({ length: crowd }, () => bench.ask(rpc, request, { takesAborted: true })),
    );
    const { volumeId } = await created(bench, request);
    const ids = new Set([volumeId, ...answers.flatMap(({ value }) => value?.volume?.volumeId ?? [])]);
    bench.expect(ids.size === 1, 'one volume', `there are ${ids.size}: ${[...ids].join(', ')}`);
    warnUnlessBorne(bench, answers);
  }),
  creates(
    'name-128',
    'A name of 128 bytes works, and two of them that differ in the last byte are two volumes.',
    async (bench) => {
      const long = bench.longText(maxTextBytes - 1);
      const [first, second] = [await created(bench, { name: `${long}1` }), await created(bench, { name: `${long}2` })];
      bench.expect(first.volumeId !== second.volumeId, 'two volumes', `both are ${first.volumeId}`);
    },
  ),
  creates('odd-name', 'A name is any text: slashes, dots, blanks and all scripts work.', async (bench) => {
    await created(bench, { name: oddName(bench.name()) });
  }),
  overLimit({
    rpc,
    field: 'name',
    needs,
    request: (bench) => bench.volumeRequest({ name: bench.longText(maxTextBytes + 1) }),
  }),
  refusal({
    id: 'required-over-limit',
    rpc,
    rule: 'A required_bytes above limit_bytes is OUT_OF_RANGE or INVALID_ARGUMENT.',
    needs,
    expects: ['OUT_OF_RANGE', 'INVALID_ARGUMENT'],
    request: (bench) =>
      bench.volumeRequest({
        capacityRange: { requiredBytes: 2 * bench.options.sizeBytes, limitBytes: bench.options.sizeBytes },
      }),
  }),
  refusal({
    id: 'negative-size',
    rpc,
    rule: 'A size below 0 is INVALID_ARGUMENT or OUT_OF_RANGE.',
    needs,
    expects: ['INVALID_ARGUMENT', 'OUT_OF_RANGE'],
    warnsOfOk: 'callers must not send it',
    request: (bench) => bench.volumeRequest({ capacityRange: { requiredBytes: -1 } }),
  }),
  creates(
    'too-large',
    'A size that is not to be had is OUT_OF_RANGE or RESOURCE_EXHAUSTED, never a smaller volume.',
    async (bench) => {
      const answer = await bench.ask(rpc, await bench.volumeRequest({ capacityRange: { requiredBytes: hugeBytes } }));
      const capacityBytes = answer.value?.volume?.capacityBytes;
      // 0 means an unknown size.
      if (capacityBytes !== 0n) expectNoSuchSize(bench, answer, capacityBytes);
    },
  ),
  creates(
    'unknown-snapshot',
    'A source snapshot that does not exist is NOT_FOUND.',
    async (bench) => {
      const volumeContentSource = { snapshot: { snapshotId: bench.unknownId() } };
      await bench.refused(rpc, await bench.volumeRequest({ volumeContentSource }), 'NOT_FOUND');
    },
    ['controller/CREATE_DELETE_SNAPSHOT'],
  ),
  creates(
    'unknown-volume',
    'A source volume that does not exist is NOT_FOUND.',
    async (bench) => {
      const volumeContentSource = { volume: { volumeId: bench.unknownId() } };
      await bench.refused(rpc, await bench.volumeRequest({ volumeContentSource }), 'NOT_FOUND');
    },
    ['controller/CLONE_VOLUME'],
  ),
  creates(
    'from-snapshot',
    'A volume can be made from a snapshot, and the answer repeats the content_source.',
    async (bench) => {
      const { snapshotId } = await bench.snapshot((await bench.volume()).volumeId);
      await repeatsSource(bench, { snapshot: { snapshotId } });
    },
    ['controller/CREATE_DELETE_SNAPSHOT'],
  ),
  creates(
    'from-volume',
    'A volume can be made from another, and the answer repeats the content_source.',
    async (bench) => repeatsSource(bench, { volume: { volumeId: (await bench.volume()).volumeId } }),
    ['controller/CLONE_VOLUME'],
  ),
];

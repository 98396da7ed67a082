/** Snapshots of one volume: created, read, deleted. Their content: content.ts. Lists of them: listing.ts */

import type { Snapshot } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import type { Need } from '../verdict.js';
import { maxTextBytes, oddName, overLimit, refusal, warnUnlessBorne } from './common.js';

const rpc = 'CreateSnapshot';
const needs: readonly Need[] = ['controller/CREATE_DELETE_SNAPSHOT'];
const crowd = 10;

async function taken(bench: CheckContext, sourceVolumeId: string, name = bench.name()): Promise<Snapshot> {
  const { snapshot } = await bench.ok(rpc, bench.snapshotRequest(sourceVolumeId, { name }));
  bench.expect(
    snapshot !== undefined && snapshot.snapshotId !== '',
    'a snapshot with an id',
    'there is none in the answer',
  );
  return snapshot ?? { snapshotId: '', sourceVolumeId, sizeBytes: 0n, readyToUse: false, groupSnapshotId: '' };
}

const sourceId = async (bench: CheckContext): Promise<string> => (await bench.volume()).volumeId;

const createChecks: readonly Check[] = [
  refusal({
    id: 'no-name',
    rpc,
    rule: 'Without a name it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => bench.snapshotRequest(await bench.someVolumeId(), { name: '' }),
  }),
  refusal({
    id: 'no-source',
    rpc,
    rule: 'Without a source_volume_id it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => bench.snapshotRequest(''),
  }),
  refusal({
    id: 'unknown-source',
    rpc,
    rule: 'A source volume that does not exist is NOT_FOUND.',
    needs,
    expects: 'NOT_FOUND',
    request: (bench) => bench.snapshotRequest(bench.unknownId()),
  }),
  {
    id: `${rpc}/answer`,
    rpc,
    rule: 'The answer has the source_volume_id, the time of the cut, and a size that is not below 0.',
    needs,
    run: async (bench) => {
      const volumeId = await sourceId(bench);
      const { sourceVolumeId, creationTime, sizeBytes } = await taken(bench, volumeId);
      bench.expect(
        sourceVolumeId === volumeId,
        `the source_volume_id ${volumeId}`,
        `it is ${sourceVolumeId || 'empty'}`,
      );
      bench.expect((creationTime?.seconds ?? 0n) > 0n, 'a creation_time', 'there is none');
      bench.expect(sizeBytes >= 0n, 'a size of 0 or more', `it is ${sizeBytes}`);
    },
  },
  {
    id: `${rpc}/repeat`,
    rpc,
    rule: 'The same name with the same source is the same snapshot, cut at the same time.',
    needs,
    run: async (bench) => {
      const [volumeId, name] = [await sourceId(bench), bench.name()];
      const first = await taken(bench, volumeId, name);
      const again = await taken(bench, volumeId, name);
      bench.expect(
        again.snapshotId === first.snapshotId,
        `the snapshot ${first.snapshotId} again`,
        `it is ${again.snapshotId}`,
      );
      const [before, after] = [first.creationTime?.seconds, again.creationTime?.seconds];
      bench.expect(before === after, `the creation_time ${before} again`, `it is ${after}`);
    },
  },
  {
    id: `${rpc}/ready`,
    rpc,
    rule: 'Asked again and again, it becomes ready_to_use.',
    needs,
    run: async (bench) => {
      const request = bench.snapshotRequest(await sourceId(bench));
      const isReady = await bench.until(async () => (await bench.ok(rpc, request)).snapshot?.readyToUse);
      bench.expect(isReady, `ready_to_use within ${bench.timeoutMs} ms`, 'it was not');
    },
  },
  {
    id: `${rpc}/other-source`,
    rpc,
    rule: 'The same name with another source is ALREADY_EXISTS.',
    needs,
    run: async (bench) => {
      const { name, ...request } = bench.snapshotRequest(await sourceId(bench));
      await bench.step(rpc, { name, ...request });
      await bench.refused(rpc, { ...request, name, sourceVolumeId: await sourceId(bench) }, 'ALREADY_EXISTS');
    },
  },
  {
    id: `${rpc}/many-at-once`,
    rpc,
    rule: 'Many equal calls at once make one snapshot; all give it, or ABORTED.',
    needs,
    run: async (bench) => {
      const request = bench.snapshotRequest(await sourceId(bench));
      const answers = await Promise.all(
        Array.from({ length: crowd }, () => bench.ask(rpc, request, { takesAborted: true })),
      );
      const { snapshot } = await bench.ok(rpc, request);
      const ids = new Set([snapshot?.snapshotId, ...answers.flatMap(({ value }) => value?.snapshot?.snapshotId ?? [])]);
      bench.expect(ids.size === 1, 'one snapshot', `there are ${ids.size}: ${[...ids].join(', ')}`);
      warnUnlessBorne(bench, answers);
    },
  },
  {
    id: `${rpc}/name-128`,
    rpc,
    rule: 'A name of 128 bytes works, and two of them that differ in the last byte are two snapshots.',
    needs,
    run: async (bench) => {
      const [volumeId, long] = [await sourceId(bench), bench.longText(maxTextBytes - 1)];
      const [first, second] = [await taken(bench, volumeId, `${long}1`), await taken(bench, volumeId, `${long}2`)];
      bench.expect(first.snapshotId !== second.snapshotId, 'two snapshots', `both are ${first.snapshotId}`);
    },
  },
  {
    id: `${rpc}/odd-name`,
    rpc,
    rule: 'A name is any text: slashes, dots, blanks and all scripts work.',
    needs,
    run: async (bench) => {
      await taken(bench, await sourceId(bench), oddName(bench.name()));
    },
  },
  overLimit({
    rpc,
    field: 'name',
    needs,
    request: async (bench) => bench.snapshotRequest(await sourceId(bench), { name: bench.longText(maxTextBytes + 1) }),
  }),
];

const deleteChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'DeleteSnapshot',
    rule: 'Without a snapshot_id it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: () => ({}),
  }),
  {
    id: 'DeleteSnapshot/absent',
    rpc: 'DeleteSnapshot',
    rule: 'A snapshot that is not there is deleted: OK.',
    needs,
    run: async (bench) => {
      await bench.ok('DeleteSnapshot', { snapshotId: bench.unknownId() });
    },
  },
  {
    id: 'DeleteSnapshot/repeat',
    rpc: 'DeleteSnapshot',
    rule: 'A snapshot can be deleted, and once more: OK.',
    needs,
    run: async (bench) => {
      const { snapshotId } = await bench.snapshot(await sourceId(bench));
      await bench.ok('DeleteSnapshot', { snapshotId });
      await bench.ok('DeleteSnapshot', { snapshotId });
    },
  },
  {
    id: 'DeleteSnapshot/in-use',
    rpc: 'DeleteSnapshot',
    rule: 'A snapshot that volumes were made from is FAILED_PRECONDITION, or those volumes stay.',
    needs,
    run: async (bench) => {
      const { snapshotId } = await bench.snapshot(await sourceId(bench));
      const { volumeId } = await bench.volume({ volumeContentSource: { snapshot: { snapshotId } } });
      const { code, report } = await bench.ask('DeleteSnapshot', { snapshotId });
      if (code === 'FAILED_PRECONDITION') return;
      bench.expect(code === 'OK', 'OK or FAILED_PRECONDITION', `there came ${report.answer}`);
      await bench.ok('ValidateVolumeCapabilities', { volumeId, volumeCapabilities: [bench.capability()] });
    },
  },
];

const getChecks: readonly Check[] = [
  refusal({
    id: 'no-id',
    rpc: 'GetSnapshot',
    rule: 'Without a snapshot_id it is INVALID_ARGUMENT.',
    needs: ['controller/GET_SNAPSHOT'],
    expects: 'INVALID_ARGUMENT',
    request: () => ({}),
  }),
  refusal({
    id: 'unknown',
    rpc: 'GetSnapshot',
    rule: 'A snapshot that does not exist is NOT_FOUND.',
    needs: ['controller/GET_SNAPSHOT'],
    expects: 'NOT_FOUND',
    request: (bench) => ({ snapshotId: bench.unknownId() }),
  }),
  {
    id: 'GetSnapshot/same',
    rpc: 'GetSnapshot',
    rule: 'It gives the snapshot as CreateSnapshot did.',
    needs: ['controller/GET_SNAPSHOT', ...needs],
    run: async (bench) => {
      const made = await bench.snapshot(await sourceId(bench));
      const { snapshot } = await bench.ok('GetSnapshot', { snapshotId: made.snapshotId });
      const [asked, given] = [made, snapshot].map((one) => `${one?.snapshotId} of volume ${one?.sourceVolumeId}`);
      bench.expect(given === asked, `${asked}`, `it is ${given}`);
    },
  },
];

export const snapshotChecks: readonly Check[] = [...createChecks, ...deleteChecks, ...getChecks];

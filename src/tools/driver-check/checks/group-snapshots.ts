/** Snapshots of several volumes at the same time. */
import type { Given } from '../../../csi/codec.js';
import type { CreateVolumeGroupSnapshotRequest, VolumeGroupSnapshot } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal } from './common.js';

const needs: readonly Need[] = ['group/CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT'];

type Request = Given<CreateVolumeGroupSnapshotRequest>;
type Judged = 'CreateVolumeGroupSnapshot' | 'DeleteVolumeGroupSnapshot' | 'GetVolumeGroupSnapshot';

const check = (rpc: Judged, id: string, rule: string, run: (bench: CheckContext) => Promise<void>): Check => ({
  id: `${rpc}/${id}`,
  rpc,
  rule,
  needs,
  run,
});

async function request(bench: CheckContext, given: Request = {}): Promise<Request> {
  const sourceVolumeIds = given.sourceVolumeIds ?? [(await bench.volume()).volumeId, (await bench.volume()).volumeId];
  const parameters = bench.options.parameters.CreateVolumeGroupSnapshot ?? {};
  return { name: bench.name(), parameters, ...given, sourceVolumeIds };
}

/** Creates a group that another check step needs. */
async function group(bench: CheckContext): Promise<VolumeGroupSnapshot> {
  const { groupSnapshot } = await bench.step('CreateVolumeGroupSnapshot', await request(bench));
  if (!groupSnapshot) throw new Verdict('blocked', 'CreateVolumeGroupSnapshot gave no group', bench.calls.last);
  return groupSnapshot;
}

const membersOf = ({ snapshots }: VolumeGroupSnapshot): string[] =>
  snapshots.map(({ snapshotId }) => snapshotId).sort();

async function named(bench: CheckContext): Promise<{ groupSnapshotId: string; snapshotIds: string[] }> {
  const made = await group(bench);
  return { groupSnapshotId: made.groupSnapshotId, snapshotIds: membersOf(made) };
}

const refuses = (
  rpc: 'DeleteVolumeGroupSnapshot' | 'GetVolumeGroupSnapshot',
  id: string,
  rule: string,
  expects: 'INVALID_ARGUMENT' | 'NOT_FOUND',
  asked: (bench: CheckContext) => Promise<{ groupSnapshotId?: string; snapshotIds?: string[] }>,
): Check => refusal({ id, rpc, rule, needs, expects, request: asked });

/** A driver may ignore the list if it does not need it. */
const otherList = (rpc: 'DeleteVolumeGroupSnapshot' | 'GetVolumeGroupSnapshot'): Check =>
  refusal({
    id: 'other-list',
    rpc,
    rule: 'A list of snapshots that are not those of the group is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    warnsOfOk: 'drivers should compare the list, even if they do not need it',
    request: async (bench) => ({ ...(await named(bench)), snapshotIds: [bench.unknownId()] }),
  });

export const groupSnapshotChecks: readonly Check[] = [
  refusal({
    id: 'no-name',
    rpc: 'CreateVolumeGroupSnapshot',
    rule: 'Without a name it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => request(bench, { name: '' }),
  }),
  refusal({
    id: 'no-sources',
    rpc: 'CreateVolumeGroupSnapshot',
    rule: 'Without source_volume_ids it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => request(bench, { sourceVolumeIds: [] }),
  }),
  refusal({
    id: 'unknown-source',
    rpc: 'CreateVolumeGroupSnapshot',
    rule: 'A source volume that does not exist is NOT_FOUND.',
    needs,
    expects: 'NOT_FOUND',
    request: async (bench) => request(bench, { sourceVolumeIds: [(await bench.volume()).volumeId, bench.unknownId()] }),
  }),
  check(
    'CreateVolumeGroupSnapshot',
    'answer',
    'The group has an id, the time of the cut, and one snapshot of each source, which names the group.',
    async (bench) => {
      const asked = await request(bench);
      const { groupSnapshot } = await bench.ok('CreateVolumeGroupSnapshot', asked);
      const { groupSnapshotId = '', creationTime, snapshots = [] } = groupSnapshot ?? {};
      bench.expect(groupSnapshotId !== '', 'a group with an id', 'there is none in the answer');
      bench.expect((creationTime?.seconds ?? 0n) > 0n, 'a creation_time', 'there is none');
      const sources = snapshots
        .map(({ sourceVolumeId }) => sourceVolumeId)
        .sort()
        .join();
      const wanted = [...(asked.sourceVolumeIds ?? [])].sort().join();
      bench.expect(sources === wanted, `snapshots of ${wanted}`, `they are of ${sources || 'nothing'}`);
      const stranger = snapshots.find((snapshot) => snapshot.groupSnapshotId !== groupSnapshotId);
      bench.expect(
        !stranger,
        `the group_snapshot_id ${groupSnapshotId} in each`,
        `one has '${stranger?.groupSnapshotId}'`,
      );
    },
  ),
  check(
    'CreateVolumeGroupSnapshot',
    'repeat',
    'The same name with the same sources is the same group.',
    async (bench) => {
      const asked = await request(bench);
      const first = await bench.ok('CreateVolumeGroupSnapshot', asked);
      const again = await bench.ok('CreateVolumeGroupSnapshot', asked);
      const [before, after] = [first, again].map(({ groupSnapshot }) => groupSnapshot?.groupSnapshotId);
      bench.expect(before === after, `the group ${before} again`, `it is ${after}`);
    },
  ),
  check(
    'CreateVolumeGroupSnapshot',
    'other-sources',
    'The same name with other sources is ALREADY_EXISTS.',
    async (bench) => {
      const asked = await request(bench);
      await bench.step('CreateVolumeGroupSnapshot', asked);
      const sourceVolumeIds = (asked.sourceVolumeIds ?? []).slice(1);
      await bench.refused('CreateVolumeGroupSnapshot', { ...asked, sourceVolumeIds }, 'ALREADY_EXISTS');
    },
  ),
  check('CreateVolumeGroupSnapshot', 'ready', 'Asked again and again, it becomes ready_to_use.', async (bench) => {
    const asked = await request(bench);
    const isReady = await bench.until(
      async () => (await bench.ok('CreateVolumeGroupSnapshot', asked)).groupSnapshot?.readyToUse,
    );
    bench.expect(isReady, `ready_to_use within ${bench.timeoutMs} ms`, 'it was not');
  }),
  refuses(
    'GetVolumeGroupSnapshot',
    'no-id',
    'Without a group_snapshot_id it is INVALID_ARGUMENT.',
    'INVALID_ARGUMENT',
    async (bench) => ({ snapshotIds: [bench.unknownId()] }),
  ),
  refuses(
    'GetVolumeGroupSnapshot',
    'unknown',
    'A group that does not exist is NOT_FOUND.',
    'NOT_FOUND',
    async (bench) => ({
      groupSnapshotId: bench.unknownId(),
      snapshotIds: [bench.unknownId()],
    }),
  ),
  otherList('GetVolumeGroupSnapshot'),
  check('GetVolumeGroupSnapshot', 'same', 'It gives the group as CreateVolumeGroupSnapshot did.', async (bench) => {
    const asked = await named(bench);
    const { groupSnapshot } = await bench.ok('GetVolumeGroupSnapshot', asked);
    const given = `${groupSnapshot?.groupSnapshotId} with ${groupSnapshot && membersOf(groupSnapshot).join()}`;
    const wanted = `${asked.groupSnapshotId} with ${asked.snapshotIds.join()}`;
    bench.expect(given === wanted, wanted, `it is ${given}`);
  }),
  refuses(
    'DeleteVolumeGroupSnapshot',
    'no-id',
    'Without a group_snapshot_id it is INVALID_ARGUMENT.',
    'INVALID_ARGUMENT',
    async (bench) => ({ snapshotIds: [bench.unknownId()] }),
  ),
  otherList('DeleteVolumeGroupSnapshot'),
  check('DeleteVolumeGroupSnapshot', 'absent', 'A group that is not there is deleted: OK.', async (bench) => {
    const snapshotIds = [bench.unknownId()];
    await bench.ok('DeleteVolumeGroupSnapshot', { groupSnapshotId: bench.unknownId(), snapshotIds });
  }),
  check('DeleteVolumeGroupSnapshot', 'repeat', 'A group can be deleted, and once more: OK.', async (bench) => {
    const asked = await named(bench);
    await bench.ok('DeleteVolumeGroupSnapshot', asked);
    await bench.ok('DeleteVolumeGroupSnapshot', asked);
  }),
];

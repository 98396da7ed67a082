/** ListVolumes and ListSnapshots. A driver may hold objects of others, so only objects of this run are counted. */

import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal } from './common.js';

type Listing = 'ListVolumes' | 'ListSnapshots';

interface Page {
  ids: string[];
  nextToken: string;
}

/** Objects created to be listed in pages. */
const own = 3;
/** More pages than this mean a driver that never ends its list. */
const mostPages = 10_000;

const page = async (bench: CheckContext, rpc: Listing, maxEntries: number, startingToken: string): Promise<Page> => {
  if (rpc === 'ListVolumes') {
    const { entries, nextToken } = await bench.ok(rpc, { maxEntries, startingToken });
    return { ids: entries.map(({ volume }) => volume?.volumeId ?? ''), nextToken };
  }
  const { entries, nextToken } = await bench.ok(rpc, { maxEntries, startingToken });
  return { ids: entries.map(({ snapshot }) => snapshot?.snapshotId ?? ''), nextToken };
};

async function pages(bench: CheckContext, rpc: Listing, maxEntries: number): Promise<Page[]> {
  const all: Page[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const one: Page = await page(bench, rpc, maxEntries, token);
    all.push(one);
    bench.expect(all.length <= mostPages, 'an end of the list', `there is none after ${mostPages} pages`);
    token = one.nextToken === '' ? undefined : one.nextToken;
  }
  return all;
}

const list = async (bench: CheckContext, rpc: Listing): Promise<string[]> =>
  (await pages(bench, rpc, 0)).flatMap(({ ids }) => ids);

async function make(bench: CheckContext, rpc: Listing): Promise<string> {
  const { volumeId } = await bench.volume();
  return rpc === 'ListVolumes' ? volumeId : (await bench.snapshot(volumeId)).snapshotId;
}

async function remove(bench: CheckContext, rpc: Listing, id: string): Promise<void> {
  if (rpc === 'ListVolumes') await bench.step('DeleteVolume', { volumeId: id });
  else await bench.step('DeleteSnapshot', { snapshotId: id });
}

/** Small enough for several pages of this run's objects, large enough for a driver that holds thousands. */
const pageSize = (total: number): number => Math.max(2, Math.ceil(total / 20));

const listChecks = (rpc: Listing, gate: Need, making: Need): readonly Check[] => [
  {
    id: `${rpc}/ids`,
    rpc,
    rule: 'Each entry has an id.',
    needs: [gate],
    run: async (bench) => {
      const ids = await list(bench, rpc);
      bench.expect(!ids.includes(''), 'an id in each entry', 'there is an entry without');
    },
  },
  {
    id: `${rpc}/current`,
    rpc,
    rule: 'What is made is in the list, and what is deleted is not.',
    needs: [gate, making],
    run: async (bench) => {
      const id = await make(bench, rpc);
      bench.expect((await list(bench, rpc)).includes(id), `${id} in the list`, 'it is missing');
      await remove(bench, rpc, id);
      bench.expect(!(await list(bench, rpc)).includes(id), `${id} gone from the list`, 'it is still there');
    },
  },
  {
    id: `${rpc}/pages`,
    rpc,
    rule: 'Pages have max_entries at most, and cover everything once; the last has no next_token.',
    needs: [gate, making],
    run: async (bench) => {
      const ids: string[] = [];
      for (let made = 0; made < own; made += 1) ids.push(await make(bench, rpc));
      const maxEntries = pageSize((await list(bench, rpc)).length);
      const all = await pages(bench, rpc, maxEntries);
      const longest = Math.max(...all.map((one) => one.ids.length));
      bench.expect(longest <= maxEntries, `at most ${maxEntries} entries in a page`, `there are ${longest}`);
      const listed = all.flatMap((one) => one.ids);
      for (const id of ids) {
        const times = listed.filter((other) => other === id).length;
        bench.expect(times === 1, `${id} once in all pages of ${maxEntries}`, `it is there ${times} times`);
      }
    },
  },
  {
    id: `${rpc}/bad-token`,
    rpc,
    rule: 'A starting_token that was never given out is ABORTED.',
    needs: [gate],
    run: async (bench) => {
      await bench.refused(rpc, { startingToken: 'stagecraft-check-no-such-token' }, 'ABORTED');
    },
  },
  refusal({
    id: 'negative-max',
    rpc,
    rule: 'A max_entries below 0 is INVALID_ARGUMENT.',
    needs: [gate],
    expects: 'INVALID_ARGUMENT',
    warnsOfOk: 'callers must not send it',
    request: () => ({ maxEntries: -1 }),
  }),
];

const publishedNodes: Check = {
  id: 'ListVolumes/published-nodes',
  rpc: 'ListVolumes',
  rule: 'The published_node_ids are the nodes that a volume is published to by the controller.',
  needs: ['controller/LIST_VOLUMES', 'controller/LIST_VOLUMES_PUBLISHED_NODES', 'controller/PUBLISH_UNPUBLISH_VOLUME'],
  run: async (bench) => {
    const { volumeId, volumeContext } = await bench.volume();
    const nodeId = await bench.nodeId();
    const nodes = async (): Promise<string> => (await publishedNodesOf(bench, volumeId)).join();
    await bench.step('ControllerPublishVolume', {
      volumeId,
      nodeId,
      volumeCapability: bench.capability(),
      volumeContext,
    });
    const published = await nodes();
    bench.expect(published === nodeId, `the node ${nodeId}`, `there is ${published || 'none'}`);
    await bench.step('ControllerUnpublishVolume', { volumeId, nodeId });
    const unpublished = await nodes();
    bench.expect(unpublished === '', 'no node after ControllerUnpublishVolume', `there is ${unpublished}`);
  },
};

async function publishedNodesOf(bench: CheckContext, volumeId: string): Promise<string[]> {
  let pageCount = 0;
  for (let startingToken: string | undefined = ''; startingToken !== undefined; ) {
    pageCount += 1;
    bench.expect(pageCount <= mostPages, 'an end of the list', `there is none after ${mostPages} pages`);
    const { entries, nextToken }: Awaited<ReturnType<typeof volumesFrom>> = await volumesFrom(bench, startingToken);
    const entry = entries.find(({ volume }) => volume?.volumeId === volumeId);
    if (entry) return entry.status?.publishedNodeIds ?? [];
    startingToken = nextToken === '' ? undefined : nextToken;
  }
  throw new Verdict('blocked', `${volumeId} is not in the list`, bench.calls.last);
}

const volumesFrom = (bench: CheckContext, startingToken: string) => bench.ok('ListVolumes', { startingToken });

const snapshotFilters: readonly Check[] = [
  {
    id: 'ListSnapshots/by-id',
    rpc: 'ListSnapshots',
    rule: 'With a snapshot_id, that snapshot alone is listed.',
    needs: ['controller/LIST_SNAPSHOTS', 'controller/CREATE_DELETE_SNAPSHOT'],
    run: async (bench) => {
      await make(bench, 'ListSnapshots');
      const snapshotId = await make(bench, 'ListSnapshots');
      const { entries } = await bench.ok('ListSnapshots', { snapshotId });
      const listed = entries.map(({ snapshot }) => snapshot?.snapshotId).join();
      bench.expect(listed === snapshotId, snapshotId, `there is ${listed || 'nothing'}`);
    },
  },
  {
    id: 'ListSnapshots/by-source',
    rpc: 'ListSnapshots',
    rule: 'With a source_volume_id, the snapshots of that volume alone are listed.',
    needs: ['controller/LIST_SNAPSHOTS', 'controller/CREATE_DELETE_SNAPSHOT'],
    run: async (bench) => {
      await make(bench, 'ListSnapshots');
      const { snapshotId, sourceVolumeId } = await bench.snapshot((await bench.volume()).volumeId);
      const { entries } = await bench.ok('ListSnapshots', { sourceVolumeId });
      const listed = entries.map(({ snapshot }) => snapshot?.snapshotId).join();
      bench.expect(listed === snapshotId, snapshotId, `there is ${listed || 'nothing'}`);
    },
  },
  ...(['snapshotId', 'sourceVolumeId'] as const).map(
    (field): Check => ({
      id: `ListSnapshots/unknown-${field === 'snapshotId' ? 'id' : 'source'}`,
      rpc: 'ListSnapshots',
      rule: `With the ${field === 'snapshotId' ? 'snapshot_id' : 'source_volume_id'} of nothing, the list is empty: no error.`,
      needs: ['controller/LIST_SNAPSHOTS'],
      run: async (bench) => {
        const { entries } = await bench.ok('ListSnapshots', { [field]: bench.unknownId() });
        bench.expect(entries.length === 0, 'an empty list', `there are ${entries.length} entries`);
      },
    }),
  ),
];

export const listingChecks: readonly Check[] = [
  ...listChecks('ListVolumes', 'controller/LIST_VOLUMES', 'controller/CREATE_DELETE_VOLUME'),
  publishedNodes,
  ...listChecks('ListSnapshots', 'controller/LIST_SNAPSHOTS', 'controller/CREATE_DELETE_SNAPSHOT'),
  ...snapshotFilters,
];

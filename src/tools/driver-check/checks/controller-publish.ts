/** ControllerPublishVolume and ControllerUnpublishVolume. */
import type { Given } from '../../../csi/codec.js';
import type { ControllerPublishVolumeRequest } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal } from './common.js';

const rpc = 'ControllerPublishVolume';
const needs: readonly Need[] = ['controller/PUBLISH_UNPUBLISH_VOLUME'];
/** Most volumes created to reach the node's limit. */
const mostAttached = 16;

type Request = Given<ControllerPublishVolumeRequest>;

async function request(bench: CheckContext, given: Request = {}): Promise<Request> {
  const { volumeId, volumeContext } =
    given.volumeId === undefined ? await bench.volume() : { volumeId: given.volumeId, volumeContext: {} };
  return { volumeId, volumeContext, nodeId: await bench.nodeId(), volumeCapability: bench.capability(), ...given };
}

const refuses = (
  id: string,
  rule: string,
  expects: 'INVALID_ARGUMENT' | 'NOT_FOUND',
  given: (bench: CheckContext) => Request,
): Check => refusal({ id, rpc, rule, needs, expects, request: (bench) => request(bench, given(bench)) });

const publishChecks: readonly Check[] = [
  refuses('no-volume-id', 'Without a volume_id it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({ volumeId: '' })),
  refuses('no-node-id', 'Without a node_id it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({ nodeId: '' })),
  refuses('no-capability', 'Without a volume_capability it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({
    volumeCapability: undefined,
  })),
  refuses('unknown-volume', 'A volume that does not exist is NOT_FOUND.', 'NOT_FOUND', (bench) => ({
    volumeId: bench.unknownId(),
  })),
  refuses('unknown-node', 'A node that does not exist is NOT_FOUND.', 'NOT_FOUND', (bench) => ({
    nodeId: bench.unknownId(),
  })),
  {
    id: `${rpc}/repeat`,
    rpc,
    rule: 'A volume can be published to a node, and the same once more: OK, with the same publish_context.',
    needs,
    run: async (bench) => {
      const asked = await request(bench);
      const first = await bench.ok(rpc, asked);
      const again = await bench.ok(rpc, asked);
      const [before, after] = [JSON.stringify(first.publishContext), JSON.stringify(again.publishContext)];
      if (before !== after) bench.warn(`the publish_context was ${before} at first, then ${after}`);
    },
  },
  {
    id: `${rpc}/other-readonly`,
    rpc,
    rule: 'A volume that is published there, with another `readonly`, is ALREADY_EXISTS.',
    needs: [...needs, 'controller/PUBLISH_READONLY'],
    run: async (bench) => {
      const asked = await request(bench);
      await bench.step(rpc, asked);
      await bench.refused(rpc, { ...asked, readonly: true }, 'ALREADY_EXISTS');
    },
  },
  {
    id: `${rpc}/other-capability`,
    rpc,
    rule: 'A volume that is published there, with another volume_capability, is ALREADY_EXISTS.',
    needs,
    run: async (bench) => {
      const volumeCapabilities = [bench.capability(), bench.capability('SINGLE_NODE_READER_ONLY')];
      const { volumeId, volumeContext } = await bench.volume({ volumeCapabilities });
      const asked = await request(bench, { volumeId, volumeContext });
      await bench.step(rpc, asked);
      await bench.refused(
        rpc,
        { ...asked, volumeCapability: bench.capability('SINGLE_NODE_READER_ONLY') },
        'ALREADY_EXISTS',
      );
    },
  },
  {
    id: `${rpc}/other-node`,
    rpc,
    rule: 'A single-node volume that is published to another node is FAILED_PRECONDITION.',
    needs,
    run: async (bench) => {
      const { otherNodeId } = bench.options;
      if (otherNodeId === undefined)
        throw new Verdict('blocked', 'it needs another node that the controller knows: name it (--other-node-id)');
      const asked = await request(bench);
      await bench.step(rpc, asked);
      await bench.refused(rpc, { ...asked, nodeId: otherNodeId }, 'FAILED_PRECONDITION');
    },
  },
  {
    id: `${rpc}/attach-limit`,
    rpc,
    rule: 'One volume more than max_volumes_per_node is RESOURCE_EXHAUSTED.',
    needs,
    run: async (bench) => {
      if (!bench.calls.has('node'))
        throw new Verdict('blocked', 'the node service reports the limit: give its endpoint (--node-endpoint)');
      const { maxVolumesPerNode } = await bench.step('NodeGetInfo', {});
      if (maxVolumesPerNode === 0n) throw new Verdict('not offered', 'the node names no limit');
      if (maxVolumesPerNode > mostAttached)
        throw new Verdict(
          'blocked',
          `the limit is ${maxVolumesPerNode}, and no more than ${mostAttached} volumes are made to try it`,
        );
      for (let attached = 0n; attached < maxVolumesPerNode; attached += 1n) await bench.step(rpc, await request(bench));
      await bench.refused(rpc, await request(bench), 'RESOURCE_EXHAUSTED');
    },
  },
];

const undo = 'ControllerUnpublishVolume';

const unpublishChecks: readonly Check[] = [
  refusal({
    id: 'no-volume-id',
    rpc: undo,
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ nodeId: await bench.nodeId() }),
  }),
  {
    id: `${undo}/repeat`,
    rpc: undo,
    rule: 'A volume can be unpublished from a node, and once more: OK.',
    needs,
    run: async (bench) => {
      const asked = await request(bench);
      const { volumeId, nodeId } = asked;
      await bench.step(rpc, asked);
      await bench.ok(undo, { volumeId, nodeId });
      await bench.ok(undo, { volumeId, nodeId });
    },
  },
  {
    id: `${undo}/not-attached`,
    rpc: undo,
    rule: 'A volume that was never published to the node is unpublished: OK.',
    needs,
    run: async (bench) => {
      await bench.ok(undo, { volumeId: (await bench.volume()).volumeId, nodeId: await bench.nodeId() });
    },
  },
  {
    id: `${undo}/unknown-volume`,
    rpc: undo,
    rule: 'A volume that does not exist is OK where it is certain not to be attached, else NOT_FOUND.',
    needs,
    run: async (bench) => {
      const { code, report } = await bench.ask(undo, { volumeId: bench.unknownId(), nodeId: await bench.nodeId() });
      bench.expect(code === 'OK' || code === 'NOT_FOUND', 'OK or NOT_FOUND', `there came ${report.answer}`);
    },
  },
  {
    id: `${undo}/takes-effect`,
    rpc: undo,
    rule: 'After it, the volume can be published to the node in another way.',
    needs: [...needs, 'controller/PUBLISH_READONLY'],
    run: async (bench) => {
      const asked = await request(bench);
      await bench.step(rpc, asked);
      await bench.step(undo, { volumeId: asked.volumeId, nodeId: asked.nodeId });
      await bench.ok(rpc, { ...asked, readonly: true });
    },
  },
  {
    id: `${undo}/all-nodes`,
    rpc: undo,
    rule: 'With an empty node_id the volume is unpublished from all nodes.',
    needs: [...needs, 'controller/PUBLISH_READONLY'],
    run: async (bench) => {
      const asked = await request(bench);
      await bench.step(rpc, asked);
      await bench.ok(undo, { volumeId: asked.volumeId });
      // Only an unpublished volume may be published with other options.
      await bench.ok(rpc, { ...asked, readonly: true });
    },
  },
];

export const controllerPublishChecks: readonly Check[] = [...publishChecks, ...unpublishChecks];

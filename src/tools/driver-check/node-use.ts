/**
 * Brings one volume to this node in the order of the specification: controller publish, stage, publish. Leaves out
 * steps that the driver does not offer. The check itself makes the calls that it judges.
 */
import { mkdir } from 'node:fs/promises';
import type { Given } from '../../csi/codec.js';
import type {
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
  Volume,
  VolumeCapability,
} from '../../csi/generated/plain.js';
import type { AccessType, CheckContext, CsiAccessMode } from './context.js';

export interface UseOptions {
  accessType?: AccessType;
  mode?: CsiAccessMode;
  /** Default: a volume created for this use. */
  volume?: Volume;
}

export class NodeUse {
  readonly volume: Volume;
  readonly capability: Given<VolumeCapability>;
  readonly stagingPath: string;
  readonly #bench: CheckContext;
  readonly #nodeId: string;
  #publishContext: Record<string, string> = {};

  private constructor(bench: CheckContext, volume: Volume, capability: Given<VolumeCapability>, nodeId: string) {
    this.#bench = bench;
    this.volume = volume;
    this.capability = capability;
    this.#nodeId = nodeId;
    this.stagingPath = bench.stagingPath();
  }

  /** Publishes by the controller only. */
  static async attached(
    bench: CheckContext,
    { accessType = bench.accessType, mode, volume }: UseOptions = {},
  ): Promise<NodeUse> {
    await bench.needAccessType(accessType);
    const capability = bench.capability(mode, accessType);
    const used = volume ?? (await bench.volume({ volumeCapabilities: [capability] }));
    const use = new NodeUse(bench, used, capability, await bench.nodeId());
    await use.attach();
    if (use.isStaged) await mkdir(use.stagingPath, { mode: 0o700 });
    return use;
  }

  /** Prepares everything but the publication on this node. */
  static async staged(bench: CheckContext, options?: UseOptions): Promise<NodeUse> {
    const use = await NodeUse.attached(bench, options);
    await use.stage();
    return use;
  }

  get volumeId(): string {
    return this.volume.volumeId;
  }

  /** Tells whether the driver has a staging step. */
  get isStaged(): boolean {
    return this.#bench.offers.has('node/STAGE_UNSTAGE_VOLUME');
  }

  get isBlock(): boolean {
    return this.capability.block !== undefined;
  }

  get stageRequest(): Given<NodeStageVolumeRequest> {
    return { ...this.#common, stagingTargetPath: this.stagingPath };
  }

  publishRequest(targetPath: string): Given<NodePublishVolumeRequest> {
    return { ...this.#common, targetPath, ...(this.isStaged && { stagingTargetPath: this.stagingPath }) };
  }

  async attach(): Promise<void> {
    if (!this.#bench.offers.has('controller/PUBLISH_UNPUBLISH_VOLUME')) return;
    const { volumeId, volumeContext } = this.volume;
    const request = { volumeId, volumeContext, nodeId: this.#nodeId, volumeCapability: this.capability };
    this.#publishContext = (await this.#bench.step('ControllerPublishVolume', request)).publishContext;
  }

  async stage(): Promise<void> {
    if (this.isStaged) await this.#bench.step('NodeStageVolume', this.stageRequest);
  }

  /** @returns the target path */
  async publish(): Promise<string> {
    const target = this.#bench.targetPath();
    await this.#bench.step('NodePublishVolume', this.publishRequest(target));
    return target;
  }

  async unpublish(targetPath: string): Promise<void> {
    await this.#bench.step('NodeUnpublishVolume', { volumeId: this.volumeId, targetPath });
  }

  /** Removes the volume from this node, so that it can be copied, deleted or used again. */
  async detach(): Promise<void> {
    const { volumeId } = this;
    if (this.isStaged) await this.#bench.step('NodeUnstageVolume', { volumeId, stagingTargetPath: this.stagingPath });
    if (this.#bench.offers.has('controller/PUBLISH_UNPUBLISH_VOLUME'))
      await this.#bench.step('ControllerUnpublishVolume', { volumeId, nodeId: this.#nodeId });
  }

  get #common(): Given<NodeStageVolumeRequest> {
    return {
      volumeId: this.volumeId,
      volumeContext: this.volume.volumeContext,
      publishContext: this.#publishContext,
      volumeCapability: this.capability,
    };
  }
}

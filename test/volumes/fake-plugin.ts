/**
 * CSI plugin in this process: keeps volumes and attachments, and handles each call as its test scripts it.
 * Records in `wrongs` every call that breaks a rule on which drivers rely.
 */
import type { Fingerprint, PluginInfo } from '../../machines/plugin/plugin.js';
import type { Given } from '../../src/csi/codec.js';
import { csiError } from '../../src/csi/codes.js';
import type * as plain from '../../src/csi/generated/plain.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { Dispenser } from '../../src/registry/dispenser.js';
import { FakeSnapshots, type SnapshotRpc } from '../snapshots/fake-snapshots.js';
import { CopyJudge } from './copy-judge.js';

export interface Step {
  /** Error code of the answer; default: the result of the work. */
  code?: GrpcCode;
  text?: string;
  /** Whether the work is done; default: only without an error. */
  work?: boolean;
  before?: Promise<unknown>;
  after?: Promise<unknown>;
}

export interface Call {
  rpc: Rpc;
  /** Volume of the call: its name for a creation, else its id. */
  volume: string;
  volumes?: string[];
  snapshot?: string;
  nodeId?: string;
  request: object;
  answer?: string;
}

export interface KeptVolume {
  id: string;
  name: string;
  /** Marks a volume that existed before: it has no context. */
  isFound?: true;
  capacityBytes: bigint;
  /** CSI node ids of its attachments. */
  attached: Set<string>;
}

type Rpc =
  | 'CreateVolume'
  | 'DeleteVolume'
  | 'ControllerPublishVolume'
  | 'ControllerUnpublishVolume'
  | 'ValidateVolumeCapabilities'
  | 'ListVolumes'
  | 'GetCapacity'
  | 'ControllerExpandVolume'
  | 'ControllerModifyVolume'
  | SnapshotRpc;

export const allCapabilities = [
  'CREATE_DELETE_VOLUME',
  'PUBLISH_UNPUBLISH_VOLUME',
  'PUBLISH_READONLY',
  'LIST_VOLUMES',
  'LIST_VOLUMES_PUBLISHED_NODES',
  'GET_CAPACITY',
  'CLONE_VOLUME',
  'CREATE_DELETE_SNAPSHOT',
  'EXPAND_VOLUME',
  'MODIFY_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
];

export class FakePlugin extends FakeSnapshots implements Dispenser<FakePlugin> {
  driver = 'fake.example';
  capabilities: string[] | undefined = allCapabilities;
  pluginCapabilities = ['CONTROLLER_SERVICE', 'VOLUME_ACCESSIBILITY_CONSTRAINTS'];
  health: Pick<Fingerprint, 'healthy' | 'description'> = { healthy: true, description: 'ready' };
  readonly volumes = new Map<string, KeptVolume>();
  readonly calls: Call[] = [];
  readonly wrongs: string[] = [];
  /** Volumes with a call under way, by name, or by id if unknown. */
  readonly inFlight = new Map<string, string>();
  mostInFlight = 0;
  readonly copies = new CopyJudge();
  accessibleTopology: plain.Topology[] = [];
  capacity: plain.GetCapacityResponse = { availableCapacity: 2n ** 40n };
  /**
   * Handling of a second call for a volume during another: recorded as wrong, answered ABORTED, or allowed. A caller that was
   * killed or gave up leaves calls under way.
   */
  overlaps: 'wrong' | 'aborted' | 'allowed' = 'wrong';
  /** Whether the caller may delete a volume that is still attached, as it has recorded that; default: never. */
  mayBeLeft: (volume: KeptVolume) => boolean = () => false;
  /** Chooses the step for a call; default: success. */
  script: (call: Call) => Step | undefined = () => undefined;
  /** Block size: expansions round up to a multiple of it. */
  blockBytes = 1n;
  #ids = 0;

  connect(_: PluginInfo): FakePlugin {
    return this;
  }

  close(): void {}

  fingerprint(client: FakePlugin = this): Promise<Fingerprint> {
    return client.look();
  }

  async look(): Promise<Fingerprint> {
    const basic = { pluginName: this.driver, vendorVersion: '1', pluginCapabilities: this.pluginCapabilities };
    return { ...this.health, basic, ...(this.capabilities && { capabilities: this.capabilities }) };
  }

  /** Lists all calls that change something, as short texts. */
  told(): string[] {
    return this.calls
      .filter(({ rpc }) => rpc !== 'ListVolumes')
      .map(({ rpc, nodeId, answer = 'no answer' }) => `${rpc}${nodeId ? ` ${nodeId}` : ''}: ${answer}`);
  }

  made(name: string): KeptVolume | undefined {
    for (const volume of this.volumes.values()) if (volume.name === name) return volume;
    return undefined;
  }

  override countFrom(number: number): void {
    super.countFrom(number);
    this.#ids = number;
  }

  /** Adds a volume that was created elsewhere. */
  keeps(id: string): void {
    this.volumes.set(id, { id, name: id, capacityBytes: 1n, attached: new Set() });
  }

  createVolume(request: Given<plain.CreateVolumeRequest>): Promise<plain.CreateVolumeResponse> {
    const name = request.name ?? '';
    return this.#take('CreateVolume', { volume: name, request }, () => {
      let volume = this.made(name);
      if (!volume) {
        this.#ids += 1;
        const capacityBytes = BigInt(request.capacityRange?.requiredBytes ?? 0);
        volume = { id: `vol-${this.#ids}`, name, capacityBytes, attached: new Set() };
        this.volumes.set(volume.id, volume);
      }
      const { id, capacityBytes } = volume;
      return {
        volume: {
          volumeId: id,
          capacityBytes,
          volumeContext: { made: name },
          accessibleTopology: this.accessibleTopology,
          ...(request.volumeContentSource && {
            contentSource: request.volumeContentSource as plain.VolumeContentSource,
          }),
        },
      };
    });
  }

  deleteVolume(request: Given<plain.DeleteVolumeRequest>): Promise<void> {
    const volume = request.volumeId ?? '';
    const kept = this.volumes.get(volume);
    if (kept && kept.attached.size > 0 && !this.mayBeLeft(kept))
      this.wrongs.push(`${volume} was deleted while attached`);
    return this.#take('DeleteVolume', { volume, request }, () => void this.volumes.delete(volume));
  }

  controllerPublishVolume(
    request: Given<plain.ControllerPublishVolumeRequest>,
  ): Promise<plain.ControllerPublishVolumeResponse> {
    const { volumeId: volume = '', nodeId = '', volumeContext = {} } = request;
    const known = this.volumes.get(volume);
    if (known && !known.isFound && volumeContext.made !== known.name)
      this.wrongs.push(`${volume} was published with another context`);
    const elsewhere = [...(known?.attached ?? [])].filter((other) => other !== nodeId);
    if (elsewhere.length > 0 && request.volumeCapability?.accessMode?.mode?.startsWith('SINGLE_NODE'))
      this.wrongs.push(`${volume} was published for one node on ${nodeId} while it was on ${elsewhere.join(', ')}`);
    return this.#take('ControllerPublishVolume', { volume, nodeId, request }, () => {
      const kept = this.volumes.get(volume);
      if (!kept) throw csiError('ControllerPublishVolume', 'NOT_FOUND', `there is no ${volume}`);
      kept.attached.add(nodeId);
      return { publishContext: { device: `${volume}@${nodeId}` } };
    });
  }

  controllerUnpublishVolume(request: Given<plain.ControllerUnpublishVolumeRequest>): Promise<void> {
    const { volumeId: volume = '', nodeId = '' } = request;
    return this.#take('ControllerUnpublishVolume', { volume, nodeId, request }, () => {
      this.volumes.get(volume)?.attached.delete(nodeId);
    });
  }

  validateVolumeCapabilities(
    request: Given<plain.ValidateVolumeCapabilitiesRequest>,
  ): Promise<plain.ValidateVolumeCapabilitiesResponse> {
    const volume = request.volumeId ?? '';
    return this.#take('ValidateVolumeCapabilities', { volume, request }, () => {
      if (!this.volumes.has(volume)) throw csiError('ValidateVolumeCapabilities', 'NOT_FOUND', `there is no ${volume}`);
      const { volumeCapabilities = [] } = request;
      return {
        confirmed: {
          volumeContext: {},
          volumeCapabilities: volumeCapabilities as plain.VolumeCapability[],
          parameters: {},
          mutableParameters: {},
        },
        message: '',
      };
    });
  }

  listVolumes(request: Given<plain.ListVolumesRequest>): Promise<plain.ListVolumesResponse> {
    return this.#take('ListVolumes', { volume: '', request }, () => ({
      entries: [...this.volumes.values()].map(({ id, capacityBytes, attached }) => ({
        volume: { volumeId: id, capacityBytes, volumeContext: {}, accessibleTopology: [] },
        status: { publishedNodeIds: [...attached] },
      })),
      nextToken: '',
    }));
  }

  controllerExpandVolume(
    request: Given<plain.ControllerExpandVolumeRequest>,
  ): Promise<plain.ControllerExpandVolumeResponse> {
    const volume = request.volumeId ?? '';
    return this.#take('ControllerExpandVolume', { volume, request }, () => {
      const kept = this.volumes.get(volume);
      if (!kept) throw csiError('ControllerExpandVolume', 'NOT_FOUND', `there is no ${volume}`);
      const asked = BigInt(request.capacityRange?.requiredBytes ?? kept.capacityBytes);
      kept.capacityBytes = ((asked + this.blockBytes - 1n) / this.blockBytes) * this.blockBytes;
      return { capacityBytes: kept.capacityBytes, nodeExpansionRequired: true };
    });
  }

  getCapacity(request: Given<plain.GetCapacityRequest>): Promise<plain.GetCapacityResponse> {
    return this.#take('GetCapacity', { volume: '', request }, () => this.capacity);
  }

  controllerModifyVolume(request: Given<plain.ControllerModifyVolumeRequest>): Promise<void> {
    return this.#take('ControllerModifyVolume', { volume: request.volumeId ?? '', request }, () => undefined);
  }

  protected take<T>(
    rpc: SnapshotRpc,
    about: { volume: string; volumes?: string[]; snapshot: string; request: object },
    work: () => T,
  ): Promise<T> {
    return this.#take(rpc, about, work);
  }

  async #take<T>(rpc: Rpc, about: Omit<Call, 'rpc' | 'answer'>, work: () => T): Promise<T> {
    const call: Call = { rpc, ...about };
    this.calls.push(call);
    const isChange = rpc !== 'ListVolumes' && rpc !== 'GetCapacity';
    const { volumes = [call.volume], snapshot } = call;
    const names = volumes.map((id) => this.volumes.get(id)?.name ?? id);
    const keys = isChange ? [...names, ...(snapshot === undefined ? [] : [`snapshot ${snapshot}`])] : [];
    const busy = keys.find((key) => this.inFlight.has(key));
    if (this.overlaps === 'aborted' && busy !== undefined) {
      call.answer = 'ABORTED';
      throw csiError(rpc, 'ABORTED', `${this.inFlight.get(busy)} is under way for ${call.volume}`);
    }
    if (isChange) this.#begin(call, keys);
    this.wrongs.push(...this.copies.wrongsOf(call));
    const copy = this.copies.begin(call);
    try {
      const step = this.script(call) ?? {};
      await step.before;
      const answer = (step.work ?? step.code === undefined) ? work() : undefined;
      await step.after;
      if (step.code !== undefined) throw csiError(rpc, step.code, `${step.code}: ${step.text ?? 'as told'}`);
      call.answer = 'OK';
      copy.answered();
      return answer as T;
    } catch (error) {
      call.answer = (error as { grpcCode?: string }).grpcCode ?? String(error);
      throw error;
    } finally {
      for (const key of keys) this.inFlight.delete(key);
      copy.over();
    }
  }

  #begin({ rpc, volume, nodeId, request }: Call, keys: string[]): void {
    for (const key of keys) {
      const other = this.inFlight.get(key);
      if (other && this.overlaps === 'wrong') this.wrongs.push(`${rpc} of ${volume} while ${other} was under way`);
      this.inFlight.set(key, rpc);
    }
    if (volume === '') this.wrongs.push(`${rpc} of a volume without a name`);
    if (nodeId === '') this.wrongs.push(`${rpc} for a node without a name: ${JSON.stringify(request)}`);
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight.size);
  }
}

/** The node side of the plugin of a history of mounts: right by the CSI specification, or wrong in the ways that drivers are seen to be. */
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { Server, SimulatedKernel, Source } from './mounts-kernel.js';
import type { MountsTraits } from './mounts-plan.js';

/** What of a request to the Node service matters here, in the words of CSI. */
export interface NodeRequest {
  volumeId: string;
  stagingTargetPath?: string;
  targetPath?: string;
  volumePath?: string;
  readonly?: boolean;
  volumeCapability?: { accessMode?: { mode: string }; block?: object };
}

interface Published {
  volumeId: string;
  isReadOnly: boolean;
}

/** All that the plugin keeps, as data. */
export interface PluginNow {
  process: number;
  staged: [volumeId: string, { capability: string; path: string }][];
  published: [path: string, Published][];
}

/** Modes with one target on a node, as CSI names them. */
const oneTarget = ['SINGLE_NODE_WRITER', 'SINGLE_NODE_READER_ONLY', 'SINGLE_NODE_SINGLE_WRITER'];

/** Why a call is refused; undefined: it is done. */
export type Refused = GrpcCode | undefined;

export class SimulatedPlugin {
  readonly faults: string[] = [];
  /** Counts its processes. */
  process = 1;
  /** By volume: how it was staged, and where. */
  readonly #staged = new Map<string, { capability: string; path: string }>();
  readonly #published = new Map<string, Published>();
  readonly #traits: MountsTraits;
  readonly #kernel: SimulatedKernel;
  #server: Server = { isAlive: true };

  constructor(traits: MountsTraits, kernel: SimulatedKernel) {
    this.#traits = traits;
    this.#kernel = kernel;
  }

  get now(): PluginNow {
    return { process: this.process, staged: [...this.#staged], published: [...this.#published] };
  }

  /** It is as another one was. */
  takeUp({ process, staged, published }: PluginNow): void {
    this.process = process;
    for (const [volumeId, one] of staged) this.#staged.set(volumeId, one);
    for (const [path, one] of published) this.#published.set(path, one);
  }

  /** Its process. */
  get server(): Server {
    return this.#server;
  }

  get recorded(): string[] {
    return [...this.#staged.keys(), ...this.#published.keys()];
  }

  /** Its process ends, and another one takes its place. */
  restart(): void {
    this.process += 1;
    this.#server.isAlive = false;
    this.#server = { isAlive: true };
    if (this.#traits.forgets) this.#forget();
  }

  /** Another plugin takes its place, which knows nothing of what it has mounted. */
  replace(): void {
    this.restart();
    this.#forget();
  }

  stage({ volumeId, stagingTargetPath: path = '', volumeCapability }: NodeRequest): Refused {
    const capability = JSON.stringify(volumeCapability);
    const record = this.#staged.get(volumeId);
    const isHeld = record !== undefined && this.#targetsOf(volumeId).length > 0;
    if (isHeld && record.capability !== capability) {
      this.faults.push(`${volumeId} is staged as ${capability} while it is used as ${record.capability}`);
      return 'ALREADY_EXISTS';
    }
    const refused = isBlock(volumeCapability) ? undefined : this.#mount(path, () => this.#source(volumeId), false);
    if (refused) return refused;
    this.#staged.set(volumeId, { capability, path });
    return undefined;
  }

  unstage({ volumeId, stagingTargetPath: path = '' }: NodeRequest): Refused {
    const targets = this.#targetsOf(volumeId);
    if (targets.length > 0) this.faults.push(`${volumeId} is unstaged while it is published at ${targets.join(', ')}`);
    const isKnown = this.#staged.delete(volumeId);
    return this.#unmount(path, isKnown);
  }

  publish(request: NodeRequest): Refused {
    const { volumeId, stagingTargetPath: staging, targetPath: path = '', readonly: isReadOnly = false } = request;
    const { volumeCapability } = request;
    const isStaged = this.#staged.has(volumeId) || (staging !== undefined && this.#kernel.isOfPlugin(staging));
    if (staging !== undefined && !isStaged) return 'FAILED_PRECONDITION';
    const others = this.#targetsOf(volumeId).filter((one) => one !== path);
    const mode = volumeCapability?.accessMode?.mode ?? '';
    if (others.length > 0 && oneTarget.includes(mode))
      this.faults.push(`${volumeId} is published at ${path} as ${mode} while it is at ${others.join(', ')}`);
    const known = this.#published.get(path);
    if (known && this.#kernel.isOfPlugin(path) && known.isReadOnly !== isReadOnly) return 'ALREADY_EXISTS';
    const source = this.#sourceOfTarget(request);
    if (!source) return 'FAILED_PRECONDITION';
    const refused = this.#mount(path, source, isReadOnly && !this.#traits.isCareless);
    if (refused) return refused;
    this.#published.set(path, { volumeId, isReadOnly });
    return undefined;
  }

  unpublish({ targetPath: path = '' }: NodeRequest): Refused {
    const isKnown = this.#published.delete(path);
    return this.#unmount(path, isKnown);
  }

  expand({ volumeId, volumePath = '' }: NodeRequest): Refused {
    return this.#staged.has(volumeId) || this.#kernel.at(volumePath) ? undefined : 'NOT_FOUND';
  }

  /** Whether it is so already: then no right driver says that it can't be. */
  isDone(rpc: string, { volumeId, targetPath = '' }: NodeRequest): boolean {
    if (rpc === 'NodeStageVolume') return this.#staged.has(volumeId);
    if (rpc === 'NodePublishVolume') return this.#published.has(targetPath);
    return true;
  }

  /** Targets of a volume that are mounted by it. */
  #targetsOf(volumeId: string): string[] {
    return [...this.#published].flatMap(([path, one]) =>
      one.volumeId === volumeId && this.#kernel.ofPluginAt(path).length > 0 ? [path] : [],
    );
  }

  #mount(path: string, source: () => Source, isReadOnly: boolean): Refused {
    const { overDead } = this.#traits;
    if (this.#kernel.at(path)) {
      const isFree = this.#kernel.isDead(path) && overDead === 'covers';
      if (!isFree) return this.#kernel.isDead(path) && overDead === 'fails' ? 'INTERNAL' : undefined;
    }
    this.#kernel.mount(path, source(), { isReadOnly });
    return undefined;
  }

  #unmount(path: string, isKnown: boolean): Refused {
    const { forgets, denies } = this.#traits;
    const isMounted = this.#kernel.ofPluginAt(path).length > 0;
    const isLeft = forgets && !isKnown;
    if (!isMounted || isLeft) return denies ? 'NOT_FOUND' : undefined;
    while (this.#kernel.isOfPlugin(path)) if (this.#kernel.unmount(path) !== undefined) return 'INTERNAL';
    return undefined;
  }

  #forget(): void {
    this.#staged.clear();
    this.#published.clear();
  }

  #source(volumeId: string): Source {
    const { serves } = this.#traits;
    if (serves === 'disk') {
      const number = volumeId.charCodeAt(volumeId.length - 1);
      return { device: `8:${number}`, root: '/', fsType: 'ext4', origin: `/dev/${volumeId}` };
    }
    const device = this.#kernel.nextDevice();
    if (serves === 'share') return { device, root: '/', fsType: 'nfs4', origin: `server:/${volumeId}` };
    return { device, root: '/', fsType: 'fuse.sim', origin: volumeId, server: this.#server };
  }

  /** Undefined: what it is to be bound from is not there. */
  #sourceOfTarget({ volumeId, stagingTargetPath: staging, volumeCapability }: NodeRequest): (() => Source) | undefined {
    if (isBlock(volumeCapability))
      return () => ({ device: '0:6', root: `/sim-${volumeId}`, fsType: 'devtmpfs', origin: 'udev' });
    if (staging === undefined) return () => this.#source(volumeId);
    if (!this.#kernel.at(staging) && !this.#traits.isBlind) return undefined;
    return () => this.#kernel.sourceAt(staging);
  }
}

const isBlock = (capability: NodeRequest['volumeCapability']): boolean => capability?.block !== undefined;

/** Client of the allocs of this node, single mounts among them. */
import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocState, AllocVolume } from '../../machines/alloc/types.js';
import { allocAddress, mountAddress, singleMountAddress, singleMountAt } from '../../machines/kit/addresses.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { MountContext } from '../../machines/mount/types.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { ActorsOf } from '../engine/actors-of.js';
import { StagecraftError } from '../errors.js';
import { allocIdOf } from '../mounts/mount-spec.js';
import type { MountStatus } from '../mounts/mount-view.js';
import { ActorClient, type ActorClientPorts } from '../requests/actor-client.js';
import type { AwaitOptions } from '../requests/await-options.js';
import { type AllocStatus, type AllocView, allocStateOf, allocStatusOf, hasLost } from './alloc-view.js';
import { waitReasonsOf } from './alloc-waits.js';

export interface AllocKey {
  allocId: string;
  /** Volume of a single mount, which is an alloc of one volume. */
  single?: VolumeKey;
}

export class AllocClient extends ActorClient<typeof allocMachine, AllocKey> {
  readonly node: string;
  readonly #mounts: ActorsOf<typeof mountMachine>;

  constructor({ node, ...ports }: ActorClientPorts & { node: string }) {
    super(ports, {
      machine: allocMachine,
      keyOf: (given) => ({ allocId: allocIdOf(given) }),
      addressOf: ({ allocId, single }) =>
        single ? singleMountAddress(node, allocId, single.namespace, single.id) : allocAddress(node, allocId),
      nameOf: ({ allocId, single }) => (single ? volumeName(single) : `alloc ${allocId}`),
      describe: (view) => {
        const alloc = this.statusOf(view);
        return [alloc.state, ...waitReasonsOf(alloc), ...(alloc.error ? [alloc.error.message] : [])].join('; ');
      },
      notFound: ({ allocId }) => {
        const singles = this.singlesOf(allocId).map(volumeName).join(', ');
        const todo = singles ? `a program has mounted ${singles} for it by mounts.mount` : 'list them, or prepare it';
        return new StagecraftError('ALLOC_NOT_FOUND', `there is no alloc '${allocId}' on this node: ${todo}`);
      },
    });
    this.node = node;
    this.#mounts = new ActorsOf(ports.engine, mountMachine);
  }

  stateAt(key: AllocKey): AllocState | undefined {
    const view = this.peek(key);
    return view && allocStateOf(view.state);
  }

  /** Volumes that the alloc has, or is to have. */
  volumesAt(key: AllocKey): readonly AllocVolume[] {
    const view = this.peek(key);
    return view && allocStateOf(view.state) !== 'failed' ? view.context.volumes : [];
  }

  /** Volumes that are mounted singly for an alloc, or are to be. */
  singlesOf(allocId: string): VolumeKey[] {
    return [...this.actors.views()].flatMap(([address, { context }]) => {
      const single = context.allocId === allocId ? singleMountAt(address) : undefined;
      return single ? [single] : [];
    });
  }

  /** @param reported status of a mount here, as it is shown to users */
  statusOf(view: AllocView, reported?: (volume: VolumeKey) => MountStatus | undefined): AllocStatus {
    return allocStatusOf(view, (volume) => this.#mountAt(volume), reported);
  }

  /** Resolves once the alloc is not being released or undone. */
  async settled(key: AllocKey, limits: AwaitOptions): Promise<void> {
    if (!this.has(key)) return;
    const reached = ({ state }: AllocView): true | undefined =>
      allocStateOf(state) === 'releasing' ? undefined : true;
    const goal = key.single ? 'unmounted' : 'released';
    await this.until({ key, goal, reached, gone: true, standing: 'nothing was asked for', ...limits });
  }

  /** Whether the alloc is prepared, and a mount of it is known to be gone. */
  hasLost(key: AllocKey): boolean {
    const view = this.peek(key);
    return view !== undefined && hasLost(view, (volume) => this.#mountAt(volume));
  }

  #mountAt({ namespace, id }: VolumeKey): MountContext | undefined {
    return this.#mounts.peek(mountAddress(this.node, namespace, id))?.context;
  }
}

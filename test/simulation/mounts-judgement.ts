/** What must hold at every commit of a history of mounts, and whenever it comes to rest. Looks at public states only. */
import type { StateValue } from 'xstate';
import { addressParts, singleMountAt } from '../../machines/kit/addresses.js';
import { pathOf } from '../../machines/kit/state-path.js';
import type { MountContext } from '../../machines/mount/types.js';
import { decodeEntry, decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { Commit } from '../../src/engine/store.js';
import { type MountStatus, mountStatusOf } from '../../src/mounts/mount-view.js';
import type { MountPaths } from '../../src/mounts/paths.js';
import { keyOf } from './mounts-allocs.js';
import { pluginName, type SimulatedClaims } from './mounts-claims.js';
import type { SimulatedKernel } from './mounts-kernel.js';
import { allocIds, type MountsTraits } from './mounts-plan.js';
import type { MountUsers } from './mounts-users.js';

/** A commit of a mount, as its record has it. */
export interface CommittedSnapshot {
  address: string;
  value: StateValue;
  context: MountContext;
}

interface MountsJudgeOptions {
  kernel: SimulatedKernel;
  paths: MountPaths;
  claims: SimulatedClaims;
  users: MountUsers;
  traits: MountsTraits;
  tell(line: () => string): void;
  /** Called with each commit of a mount. */
  committed?: ((snapshot: CommittedSnapshot) => void) | undefined;
}

const resting: ReadonlySet<string> = new Set(['published', 'lost', 'failed']);
const underWay: ReadonlySet<string> = new Set(['staging', 'publishing', 'unpublishing', 'unstaging', 'expanding']);
/** How long after something was done by hand a commit may not know of it. */
const unknownMs = 60_000;

export class MountsJudge {
  readonly faults: string[] = [];
  /** By address; absent: nothing is here. */
  readonly statuses = new Map<string, MountStatus>();
  readonly #options: MountsJudgeOptions;
  /** By volume and alloc: single mounts that wait to be asked for again since the host was booted. */
  readonly #awaiting = new Set<string>();
  #disturbedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MountsJudgeOptions) {
    this.#options = options;
  }

  /** Something was unmounted that the plugin did not unmount. */
  disturbed(nowMs: number): void {
    this.#disturbedAtMs = nowMs;
  }

  committed({ address, text, journal }: Commit, nowMs: number): void {
    const { snapshot, quarantined, crashes } = decodeRecord(text);
    if (quarantined || crashes) this.faults.push(`${address} crashed: ${journal.slice(0, 2_000)}`);
    const single = singleMountAt(address);
    if (single) this.#seesSingle(`${single.id} ${addressParts(address)[2]}`, snapshot?.value);
    if (!address.startsWith('mount/')) return;
    const before = this.statuses.get(address);
    const { type } = decodeEntry(journal).event ?? {};
    if (!snapshot) {
      this.statuses.delete(address);
      this.#options.tell(() => `  ${address} is gone (${type})`);
      return;
    }
    // What is stored is what the machine made.
    const seen = { address, value: snapshot.value, context: snapshot.context as MountContext };
    this.#options.committed?.(seen);
    this.sees(seen);
    const status = this.statuses.get(address);
    this.#options.tell(() => `  ${address} (${type}) ${lineOf(status)}`);
    if (status && nowMs > this.#disturbedAtMs + unknownMs) this.faults.push(...this.#notShown(status, before));
  }

  #seesSingle(name: string, value: StateValue | undefined): void {
    if (value !== undefined && pathOf(value) === 'recovering.awaiting-prepare') this.#awaiting.add(name);
    else this.#awaiting.delete(name);
  }

  /** Takes note of a mount as it is. */
  sees({ address, value, context }: CommittedSnapshot): void {
    const status = mountStatusOf(value, context, this.#options.paths, undefined);
    if (status) this.statuses.set(address, status);
    else this.statuses.delete(address);
  }

  /** Judges that an alloc has let go, as its node says. */
  released(volume: string, allocId: string, isLast: boolean): void {
    const { kernel, paths, claims } = this.#options;
    const mountedAt = (path: string): boolean => kernel.ofPluginAt(path).length > 0;
    const key = keyOf(volume);
    if (mountedAt(paths.target(pluginName, key, allocId).path))
      this.faults.push(`alloc ${allocId} is said to have let go of ${volume}, which is mounted for it`);
    const isFenced = allocIds.some((alloc) => claims.fencedAtMs.has(`${volume} ${alloc}`));
    if (isLast && !isFenced && mountedAt(paths.staging(pluginName, key).path))
      this.faults.push(`the last alloc, ${allocId}, is said to have let go of ${volume}, which is staged`);
  }

  /** Whether nothing is left to be done without anybody asking for it. */
  get isSettled(): boolean {
    return this.#options.users.open.size === 0 && [...this.statuses.values()].every((one) => this.#isSettled(one));
  }

  /** Whether all that waits says why. */
  get isExplained(): boolean {
    return [...this.statuses.values()].every((one) => this.#isSettled(one) || isExplained(one));
  }

  /** What is not as it should be, once nothing goes wrong any more. */
  rest({ isRetried }: { isRetried: boolean }): void {
    const { users } = this.#options;
    for (const status of this.statuses.values()) this.#restOf(status, isRetried);
    for (const what of users.open.values())
      if (![...this.statuses.values()].some(isExplained)) this.faults.push(`${what} waits, and nothing says for what`);
    for (const [name, answer] of users.answered) {
      const [volume = '', alloc = ''] = name.split(' ');
      const user = this.#userOf(volume, alloc);
      if (answer.is === 'unmounted' && user) this.faults.push(`${name} was unmounted, and is ${user.state}`);
      // A mount whose claim was taken is told so later: the same request again does not ask about the claim.
      const isLost = this.#options.claims.fencedAtMs.has(name);
      if (answer.is === 'mounted' && !user && !isLost)
        this.faults.push(`${name} was mounted, and is not known any more`);
    }
    this.#restOfKernel();
  }

  /** Nothing is left of anything. */
  /** @param left records of the plugin, and directories */
  end(left: string[]): void {
    const { kernel, claims, users } = this.#options;
    for (const [address, status] of this.statuses) this.faults.push(`${address} is there still: ${lineOf(status)}`);
    for (const { path } of kernel.ofPlugin) this.faults.push(`${path} is mounted still`);
    for (const { id, holds, claims: claimed } of claims.volumes.values())
      if (holds.length + claimed.length > 0)
        this.faults.push(`${id} is kept still, for ${JSON.stringify([...holds, ...claimed])}`);
    for (const what of users.open.values()) this.faults.push(`${what} waits at the end`);
    if (left.length > 0) this.faults.push(`${left.join(', ')} is left`);
  }

  #notShown({ volume, users }: MountStatus, before: MountStatus | undefined): string[] {
    const was = new Map(before?.users.map(({ allocId, state }) => [allocId, state]));
    return users
      .filter(({ allocId, state }) => state === 'published' && was.get(allocId) !== 'published')
      .filter(({ hostPath }) => this.#options.kernel.ofPluginAt(hostPath).length === 0)
      .map(({ allocId }) => `${volume.id} is published for ${allocId}, and the kernel does not show it`);
  }

  #isSettled({ volume, state, users, underWay: call }: MountStatus): boolean {
    const rests = (user: MountStatus['users'][number]): boolean =>
      resting.has(user.state) || this.#awaiting.has(`${volume.id} ${user.allocId}`);
    return !underWay.has(state) && call === undefined && users.every(rests);
  }

  #userOf(volume: string, alloc: string): MountStatus['users'][number] | undefined {
    const status = [...this.statuses.values()].find((one) => one.volume.id === volume);
    return status?.users.find(({ allocId }) => allocId === alloc);
  }

  #restOf(status: MountStatus, isRetried: boolean): void {
    const { kernel, users, traits } = this.#options;
    const { volume, stagingPath } = status;
    const fault = (what: string): void => void this.faults.push(`${volume.id}: ${what}: ${lineOf(status)}`);
    if (!this.#isSettled(status) && !isExplained(status)) fault('is stuck');
    if (status.users.length === 0 && stagingPath !== undefined) fault('is staged for nobody');
    for (const { allocId, state, hostPath, readOnly, message } of status.users) {
      const answer = users.answered.get(`${volume.id} ${allocId}`);
      const isOther = answer?.is === 'mounted' && answer.readOnly !== readOnly;
      if (isOther) fault(`${allocId} was to have it otherwise`);
      if (state === 'failed' && message === undefined) fault(`${allocId} has failed, and nothing says why`);
      if (state === 'lost' && traits.onPluginLoss === 'remount' && isRetried && isAlone(status))
        fault(`${allocId} was retried, and is lost`);
      if (state !== 'published') continue;
      const entry = kernel.at(hostPath);
      if (!entry || kernel.ofPluginAt(hostPath).length === 0)
        fault(`${allocId} has it, and the kernel does not show it`);
      else if (kernel.isDead(hostPath)) fault(`${allocId} has what is dead`);
      else if (entry.isReadOnly !== readOnly && status.capability?.attachmentMode !== 'block-device')
        fault(`${allocId} has it ${entry.isReadOnly ? 'read-only' : 'for writing'}`);
    }
  }

  /** All that the plugin has mounted is known. */
  #restOfKernel(): void {
    const known = new Set(
      [...this.statuses.values()].flatMap(({ stagingPath, users }) => [
        stagingPath,
        ...users.filter(({ state }) => state !== 'failed').map(({ hostPath }) => hostPath),
      ]),
    );
    for (const { path } of this.#options.kernel.ofPlugin)
      if (!known.has(path)) this.faults.push(`${path} is mounted, and nobody knows of it`);
  }
}

const isAlone = ({ users }: MountStatus): boolean => users.length === 1;

/** Whether it says what it waits for. */
const isExplained = ({ error }: MountStatus): boolean => error?.code === 'MOUNT_STAYS' || error?.code === 'HOST_UNFIT';

function lineOf(status: MountStatus | undefined): string {
  if (!status) return 'has nothing';
  const { state, isStaged, stagingPath, users, underWay: call, condition, error, capability } = status;
  const who = users.map(({ allocId, state, readOnly, message }) =>
    [allocId, state, ...(readOnly ? ['read-only'] : []), ...(message ? [`(${message})`] : [])].join(' '),
  );
  const staging = isStaged ? 'staged' : stagingPath === undefined ? 'not staged' : 'perhaps staged';
  return [
    `is ${state}, ${staging}`,
    ...(capability ? [`${capability.attachmentMode} ${capability.accessMode}`] : []),
    ...who,
    ...(call === undefined ? [] : [call]),
    ...(condition ? [JSON.stringify(condition)] : []),
    ...(error ? [JSON.stringify(error)] : []),
  ].join('; ');
}

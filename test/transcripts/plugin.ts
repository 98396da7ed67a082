/** The plugin of a transcript, with both its services. Each call is done at once and answered OK, unless a plan says otherwise. */
import type { RpcName } from '../../src/csi/answers.js';
import { csiError } from '../../src/csi/codes.js';
import type { CallOptions } from '../../src/csi/csi-calls.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { messageOf, StagecraftError } from '../../src/errors.js';
import { SimulatedKernel } from '../simulation/mounts-kernel.js';
import type { MountsTraits } from '../simulation/mounts-plan.js';
import { type NodeRequest, type Refused, SimulatedPlugin } from '../simulation/mounts-plugin.js';
import type { MortalClock, Timeline } from '../simulation/timeline.js';
import { FakePlugin, type Step } from '../volumes/fake-plugin.js';

/** How one call goes. */
export interface CallPlan extends Pick<Step, 'code' | 'work'> {
  takesMs?: number;
  /** No answer ever comes. */
  isSilent?: boolean;
}

interface ScriptedPluginOptions {
  timeline: Timeline;
  begun(call: string): void;
  /** @param isHeard the caller lives */
  ended(call: string, outcome: string, isHeard: boolean): void;
}

/** Kind of plugin that stages disks, and binds from there. */
const disk: MountsTraits = {
  ...{ capabilities: {}, claiming: [], stages: true, serves: 'disk', overDead: 'fails', onPluginLoss: 'remount' },
  ...{ forgets: false, denies: false, isBlind: false, isCareless: false, isLocking: false, isRetried: false },
  ...{ faults: 0, storeOutages: 0, storeLatencyMs: 0, maxInFlight: 64, leaseTtlMs: 15_000 },
};

export class ScriptedPlugin {
  isDead = false;
  readonly kernel = new SimulatedKernel();
  readonly #options: ScriptedPluginOptions;
  readonly #controller = new FakePlugin();
  readonly #node = new SimulatedPlugin(disk, this.kernel);
  readonly #plans = new Map<string, CallPlan[]>();
  /** Ends each call that its caller waits for, as a lost connection does. */
  readonly #open = new Set<() => void>();
  /** Cancels each piece of work that is still to be done, be it that its caller has given up. */
  readonly #atWork = new Set<() => void>();

  constructor(options: ScriptedPluginOptions) {
    this.#options = options;
    // A runtime that was killed leaves calls under way.
    this.#controller.overlaps = 'allowed';
  }

  get capabilities(): Set<string> {
    return new Set([...(this.#controller.capabilities ?? []), 'STAGE_UNSTAGE_VOLUME']);
  }

  plan(rpc: string, plan: CallPlan): void {
    this.#plans.set(rpc, [...(this.#plans.get(rpc) ?? []), plan]);
  }

  die(): void {
    this.isDead = true;
    for (const cancel of this.#atWork) cancel();
    this.#atWork.clear();
    for (const lose of [...this.#open]) lose();
  }

  /** Whatever should not be: calls that break CSI's rules, plans for calls that never came. */
  faults(): string[] {
    const unused = [...this.#plans].flatMap(([rpc, plans]) =>
      plans.length > 0 ? [`no ${rpc} came for its plan`] : [],
    );
    return [...this.#controller.wrongs, ...this.#node.faults, ...unused];
  }

  /** Its methods, as a caller has them over a socket. */
  line(caller: MortalClock): object {
    const plugin = this.#controller;
    const through =
      <R extends object, A>(rpc: RpcName, work: (request: R) => Promise<A>) =>
      (request: R, options: CallOptions): Promise<A> =>
        this.#sent(caller, { rpc, request, options }, () => work(request));
    const mounting = (rpc: RpcName, work: (request: NodeRequest) => Refused, answer = {}) =>
      through(rpc, async (request: NodeRequest) => {
        const code = work(request);
        if (code) throw csiError(rpc, code, `${code}: refused`);
        return answer;
      });
    return {
      createVolume: through('CreateVolume', plugin.createVolume.bind(plugin)),
      deleteVolume: through('DeleteVolume', plugin.deleteVolume.bind(plugin)),
      controllerPublishVolume: through('ControllerPublishVolume', plugin.controllerPublishVolume.bind(plugin)),
      controllerUnpublishVolume: through('ControllerUnpublishVolume', plugin.controllerUnpublishVolume.bind(plugin)),
      controllerExpandVolume: through('ControllerExpandVolume', plugin.controllerExpandVolume.bind(plugin)),
      controllerModifyVolume: through('ControllerModifyVolume', plugin.controllerModifyVolume.bind(plugin)),
      listVolumes: through('ListVolumes', plugin.listVolumes.bind(plugin)),
      nodeStageVolume: mounting('NodeStageVolume', (request) => this.#node.stage(request)),
      nodeUnstageVolume: mounting('NodeUnstageVolume', (request) => this.#node.unstage(request)),
      nodePublishVolume: mounting('NodePublishVolume', (request) => this.#node.publish(request)),
      nodeUnpublishVolume: mounting('NodeUnpublishVolume', (request) => this.#node.unpublish(request)),
      nodeExpandVolume: mounting('NodeExpandVolume', (request) => this.#node.expand(request), { capacityBytes: 0n }),
    };
  }

  #sent<A>(
    caller: MortalClock,
    { rpc, request, options }: { rpc: RpcName; request: object; options: CallOptions },
    work: () => Promise<A>,
  ): Promise<A> {
    if (!caller.isAlive) return new Promise(() => {});
    const { timeline, begun, ended } = this.#options;
    const call = `${rpc} ${this.#aboutIn(request)}`;
    const { takesMs = 0, isSilent, code, work: isDone = code === undefined } = this.#plans.get(rpc)?.shift() ?? {};
    begun(call);
    return new Promise((resolve, reject) => {
      const end = (outcome: string, hear: () => void): void => {
        if (!this.#open.delete(lose)) return;
        cancelLimit();
        ended(call, outcome, caller.isAlive);
        caller.whenAwake(hear);
      };
      const fail = (status: GrpcCode, why: string): void =>
        end(status, () => reject(csiError(rpc, status, `${status}: ${why}`)));
      const lose = (): void => fail('UNAVAILABLE', 'connection lost');
      this.#open.add(lose);
      const cancelLimit = timeline.after(options.timeoutMs ?? 0, () => {
        if (caller.isAlive) fail('DEADLINE_EXCEEDED', 'no answer in time');
      });
      options.signal?.addEventListener('abort', () => fail('CANCELLED', 'the call was given up'), { once: true });
      if (this.isDead) {
        fail('UNAVAILABLE', 'connection refused');
        return;
      }
      this.#after(takesMs, async () => {
        const answer = isDone ? await work() : undefined;
        if (isSilent) return;
        if (code) fail(code, 'as the transcript says');
        else end('OK', () => resolve(answer as A));
      }).catch((error: unknown) => fail(codeOf(error), messageOf(error)));
    });
  }

  /** Never, where the plugin dies before that. */
  #after(ms: number, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.timeline.after(ms, () => {
        this.#atWork.delete(cancel);
        resolve(work());
      });
      this.#atWork.add(cancel);
    });
  }

  /** The plugin's name of the volume, and where. */
  #aboutIn(request: { name?: string; volumeId?: string; nodeId?: string }): string {
    const { name, volumeId = '', nodeId } = request;
    const volume = name ?? this.#controller.volumes.get(volumeId)?.name ?? volumeId;
    return nodeId === undefined ? volume : `${volume} on ${nodeId}`;
  }
}

const codeOf = (error: unknown): GrpcCode =>
  ((error instanceof StagecraftError && error.grpcCode) || 'INTERNAL') as GrpcCode;

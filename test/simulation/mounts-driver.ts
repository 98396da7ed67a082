/**
 * The lines from the runtimes of a history to the plugin of their host: the plugin outlives every runtime, and goes on with a
 * call when its caller is dead. What becomes of a call is drawn from the seed, the call, and how often it was made.
 */
import type { RpcName } from '../../src/csi/answers.js';
import { csiError } from '../../src/csi/codes.js';
import type { CallOptions } from '../../src/csi/csi-calls.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { chance } from './dice.js';
import type { HistoryTranscript } from './history-transcript.js';
import type { MountsTraits } from './mounts-plan.js';
import type { NodeRequest, Refused, SimulatedPlugin } from './mounts-plugin.js';
import type { Timeline } from './timeline.js';

/** A runtime that makes calls. */
export interface NodeCaller {
  name: string;
  isAlive: boolean;
  /** Another runtime has taken its place, and it has had time to see that. */
  isReplaced: boolean;
  whenAwake(hear: () => void): void;
  /** It may end here. */
  passed(of: 'plugin', moment: 'before' | 'after'): void;
}

interface NodeDriverOptions {
  seed: number;
  timeline: Timeline;
  traits: MountsTraits;
  plugin: SimulatedPlugin;
  /** Names a path for people. */
  nameOf(path: string): string;
  /** Called before a publish is done. */
  publishing(caller: NodeCaller, path: string): void;
  transcript: HistoryTranscript;
}

/** A call that the plugin is at, as data. */
export interface CallNow {
  rpc: RpcName;
  request: NodeRequest;
}

interface Open extends CallNow {
  fail(): void;
  /** What it was asked for is not done yet, and will be. */
  isToWork: boolean;
}

/** Kinds of an attempt that goes wrong, before anything is done. */
const passing: readonly GrpcCode[] = ['UNAVAILABLE', 'ABORTED', 'INTERNAL', 'UNKNOWN', 'FAILED_PRECONDITION'];
/** The same, of one that is done all the same. */
const doubtful: readonly GrpcCode[] = ['UNAVAILABLE', 'INTERNAL', 'UNKNOWN', 'CANCELLED'];
const refusing: readonly GrpcCode[] = ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'PERMISSION_DENIED', 'UNIMPLEMENTED'];
const lateMs = 20_000;
/** How long it is at a call that was begun before: less than any call has. */
const lateOneMs = 2_000;
const windowMs = 60_000;
/** With full jitter and delays of at most 4 s: more than this many in a minute is no backoff. */
const mostInWindow = 60;

export class NodeDriver {
  readonly faults: string[] = [];
  calls = 0;
  isDead = false;
  /** Nothing goes wrong any more. */
  isWell = false;
  spell: { code: GrpcCode; works: boolean } | undefined;
  readonly #options: NodeDriverOptions;
  readonly #made = new Map<string, number>();
  readonly #attempts = new Map<string, number[]>();
  readonly #excuses: number[] = [];
  readonly #inFlight = new Map<NodeCaller, Map<string, string>>();
  readonly #locked = new Set<string>();
  #open = new Set<Open>();

  constructor(options: NodeDriverOptions) {
    this.#options = options;
  }

  /** Something has begun from which on attempts may come sooner. */
  excuse(): void {
    this.#excuses.push(this.#options.timeline.monotonicMs);
  }

  /** Its process ends, with all calls under way. */
  die(): void {
    this.#options.plugin.restart();
    this.#drop();
  }

  /** Another plugin takes its place. */
  replace(): void {
    this.#options.plugin.replace();
    this.#drop();
  }

  #drop(): void {
    const open = this.#open;
    this.#open = new Set();
    this.#locked.clear();
    for (const one of open) one.fail();
  }

  /** Methods of the Node service, as one caller has them over its socket. */
  line(caller: NodeCaller): object {
    const { plugin } = this.#options;
    const through =
      (rpc: RpcName, work = (request: NodeRequest): Refused => this.#work(rpc, request), answer: object = {}) =>
      (request: NodeRequest, options: CallOptions): Promise<object> =>
        this.#sent(caller, { rpc, request, options, work, answer });
    return {
      nodeStageVolume: through('NodeStageVolume'),
      nodeUnstageVolume: through('NodeUnstageVolume'),
      nodePublishVolume: through('NodePublishVolume', (request) => {
        this.#options.publishing(caller, request.targetPath ?? '');
        return plugin.publish(request);
      }),
      nodeUnpublishVolume: through('NodeUnpublishVolume'),
      nodeExpandVolume: through('NodeExpandVolume', undefined, { capacityBytes: 2n }),
    };
  }

  /** Calls that it is at, and that change something yet. */
  get now(): CallNow[] {
    return [...this.#open].filter(({ isToWork }) => isToWork).map(({ rpc, request }) => ({ rpc, request }));
  }

  /** Goes on with calls of a runtime before: their volumes are locked until it is done. */
  takeUp(calls: readonly CallNow[]): void {
    for (const { rpc, request } of calls) {
      this.#locked.add(request.volumeId);
      this.#options.timeline.after(lateOneMs, () => {
        this.#locked.delete(request.volumeId);
        this.#work(rpc, request);
      });
    }
  }

  #work(rpc: RpcName, request: NodeRequest): Refused {
    const { plugin } = this.#options;
    switch (rpc) {
      case 'NodeStageVolume':
        return plugin.stage(request);
      case 'NodeUnstageVolume':
        return plugin.unstage(request);
      case 'NodePublishVolume':
        return plugin.publish(request);
      case 'NodeUnpublishVolume':
        return plugin.unpublish(request);
      case 'NodeExpandVolume':
        return plugin.expand(request);
      default:
        throw new Error(`${rpc} is no call to a node`);
    }
  }

  #sent(caller: NodeCaller, { rpc, request, options, work, answer }: Sent): Promise<object> {
    if (!caller.isAlive) return new Promise(() => {});
    const { timeline, transcript, nameOf } = this.#options;
    const { volumeId, targetPath, stagingTargetPath, volumePath } = request;
    const what = `${rpc} ${nameOf(targetPath ?? volumePath ?? stagingTargetPath ?? volumeId)}`;
    caller.passed('plugin', 'before');
    if (!caller.isAlive) return new Promise(() => {});
    if (caller.isReplaced) this.faults.push(`${caller.name} called ${what} after it was replaced`);
    this.#count(what);
    const own = this.#inFlight.get(caller) ?? new Map<string, string>();
    this.#inFlight.set(caller, own);
    const other = own.get(volumeId);
    if (other !== undefined) this.faults.push(`${caller.name} called ${what} while ${other} was in flight`);
    own.set(volumeId, what);
    transcript.call(`${caller.name}: csi ${what}${request.readonly ? ' (read-only)' : ''}`, request);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (told: string, hear: () => void): void => {
        if (isOver) return;
        isOver = true;
        own.delete(volumeId);
        cancel();
        if (!caller.isAlive) return;
        transcript.call(`${caller.name}: csi ${what} → ${told}`);
        caller.passed('plugin', 'after');
        caller.whenAwake(hear);
      };
      const fail = (code: GrpcCode, text: string): void =>
        end(code, () => reject(csiError(rpc, code, `${code}: ${text}`)));
      const cancel = timeline.after(options.timeoutMs ?? 0, () =>
        fail('DEADLINE_EXCEEDED', `no answer within ${options.timeoutMs} ms`),
      );
      options.signal?.addEventListener('abort', () => fail('CANCELLED', 'the call was given up'), { once: true });
      if (this.isDead) return fail('UNAVAILABLE', 'connection refused');
      const done = (code: Refused): void => (code ? fail(code, 'refused') : end('OK', () => resolve(answer)));
      this.#carryOut({ rpc, request, work, done, lost: () => fail('UNAVAILABLE', 'connection lost') });
    });
  }

  /** Does the work, now or later, or not; calls back with the answer once there is one. */
  #carryOut({ rpc, request, work, done, lost }: Carried): void {
    const { timeline, traits } = this.#options;
    const { volumeId } = request;
    const fate = this.#fateOf(rpc, request);
    if (traits.isLocking && this.#locked.has(volumeId)) {
      done('ABORTED');
      return;
    }
    if (traits.isLocking) this.#locked.add(volumeId);
    this.calls += 1;
    const cancels: (() => void)[] = [];
    const open: Open = {
      ...{ rpc, request, isToWork: fate.works },
      fail: () => {
        for (const cancel of cancels) cancel();
        lost();
      },
    };
    this.#open.add(open);
    const later = (ms: number, next: () => void): void =>
      void (ms > 0 ? cancels.push(timeline.after(ms, next)) : next());
    later(fate.beforeMs, () => {
      const result = fate.works ? work(request) : undefined;
      open.isToWork = false;
      later(fate.afterMs, () => {
        this.#open.delete(open);
        this.#locked.delete(volumeId);
        done(result ?? fate.code);
      });
    });
  }

  #count(what: string): void {
    const nowMs = this.#options.timeline.monotonicMs;
    const since = (times: number[]): number[] => times.filter((at) => at > nowMs - windowMs);
    const attempts = [...since(this.#attempts.get(what) ?? []), nowMs];
    this.#attempts.set(what, attempts);
    const most = mostInWindow + 8 * since(this.#excuses).length;
    if (attempts.length === most + 1) this.faults.push(`${what} was called ${attempts.length} times within a minute`);
  }

  #fateOf(rpc: RpcName, request: NodeRequest): Fate {
    const { seed, traits, nameOf, plugin } = this.#options;
    const { volumeId, targetPath = '' } = request;
    const what = `${rpc} ${volumeId} ${nameOf(targetPath)}`;
    const nth = (this.#made.get(what) ?? 0) + 1;
    this.#made.set(what, nth);
    const dice = (word: string): number => chance(seed, what, nth, word);
    const pick = (codes: readonly GrpcCode[]): GrpcCode => codes[Math.floor(dice('code') * codes.length)] ?? 'UNKNOWN';
    const beforeMs = Math.floor(dice('ms') * (dice('slow') < 0.7 ? 20 : 4_000));
    const well: Fate = { beforeMs, afterMs: 0, works: true, code: undefined };
    if (this.isWell) return well;
    if (this.spell) {
      const { code, works } = this.spell;
      // A right driver says neither of these of what it has mounted.
      const isLie = !works && isFinal(code) && plugin.isDone(rpc, request);
      return isLie ? well : { ...well, works, code };
    }
    if (dice('fault') >= traits.faults) return well;
    const kind = dice('kind');
    if (kind < 0.25) return { ...well, works: false, code: pick(passing) };
    if (kind < 0.5) return { ...well, code: pick(doubtful) };
    if (kind < 0.6) return plugin.isDone(rpc, request) ? well : { ...well, works: false, code: pick(refusing) };
    // It hangs: done before its caller gives up, long after that, or never.
    if (kind < 0.8) return { ...well, afterMs: lateMs };
    if (kind < 0.9 && traits.isLocking) return { ...well, beforeMs: 5_000 + Math.floor(dice('late') * lateMs) };
    return { beforeMs: lateMs, afterMs: 0, works: false, code: 'INTERNAL' };
  }
}

/** What becomes of a call. */
interface Fate {
  beforeMs: number;
  afterMs: number;
  works: boolean;
  /** Absent: as the work answers. */
  code: Refused;
}

interface Sent {
  rpc: RpcName;
  request: NodeRequest;
  options: CallOptions;
  work(request: NodeRequest): Refused;
  answer: object;
}

interface Carried extends Pick<Sent, 'rpc' | 'request' | 'work'> {
  done(code: Refused): void;
  lost(): void;
}

const isFinal = (code: GrpcCode): boolean =>
  [...refusing, 'NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED'].includes(code);

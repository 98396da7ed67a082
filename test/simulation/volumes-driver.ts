/**
 * The plugin of a history of volumes, and the lines to it: the driver outlives every runtime, and goes on with what it
 * was asked when whoever asked is dead. What becomes of a call is told by seed, call and how often it was made.
 */

import type { RpcName } from '../../src/csi/answers.js';
import { csiError } from '../../src/csi/codes.js';
import type { CallOptions } from '../../src/csi/csi-calls.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { secretsIn, withoutSecrets } from '../../src/csi/secrets.js';
import { StagecraftError } from '../../src/errors.js';
import { type Call, FakePlugin, type Step } from '../volumes/fake-plugin.js';
import { chance } from './dice.js';
import type { HistoryTranscript } from './history-transcript.js';
import type { Timeline } from './timeline.js';

/** Whoever makes calls. */
export interface Caller {
  name: string;
  /** Another one has taken its place, and it has had time to see that. */
  isReplaced: boolean;
  /** Hands it an answer, now, once it is awake, or never. */
  whenAwake(hear: () => void): void;
  isAlive: boolean;
}

interface DriverOptions {
  seed: number;
  timeline: Timeline;
  faults: number;
  isLocking: boolean;
  /** It may say NOT_FOUND of what is attached. */
  denies: boolean;
  transcript: HistoryTranscript;
}

/** Answers to a call that was not done, whatever was done before. */
const passing: GrpcCode[] = ['UNAVAILABLE', 'ABORTED', 'INTERNAL', 'UNKNOWN', 'FAILED_PRECONDITION', 'DATA_LOSS'];
/** Answers to one that may have been done. */
const doubtful: GrpcCode[] = ['UNAVAILABLE', 'INTERNAL', 'UNKNOWN', 'CANCELLED', 'RESOURCE_EXHAUSTED'];
const refusing: GrpcCode[] = ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'PERMISSION_DENIED', 'UNIMPLEMENTED'];
const lateMs = 20_000;
/** Less than any call has. */
const lateOneMs = 2_000;
const windowMs = 60_000;
/** With full jitter and delays of at most 4 s: more than this many in a minute is no backoff. */
const mostInWindow = 60;

const isOfSnapshots = (rpc: RpcName): boolean => rpc === 'CreateSnapshot' || rpc === 'CreateVolumeGroupSnapshot';
/** A call without room makes nothing. An earlier call may have made it, and taken the room. */
const makesNothing = (rpc: RpcName, code: GrpcCode): boolean =>
  code === 'RESOURCE_EXHAUSTED' && (isOfSnapshots(rpc) || rpc === 'CreateVolume');

/** What a call is about: its name in the telling, and all that nobody else may ask about meanwhile. */
interface About {
  name: string;
  keys: string[];
}

/** A call whose caller waits for the answer. */
interface Unanswered {
  caller: Caller;
  rpc: RpcName;
  request: object;
  /** Name of the snapshot that it may make, and the id of the one that had it before. */
  name: string;
  before: string | undefined;
}

interface Open {
  fail(error: Error): void;
}

export class SimulatedDriver {
  readonly plugin = new FakePlugin();
  readonly faults: string[] = [];
  /** Snapshots, by id, that were made by a call that was not answered OK: what is in them nobody knows. */
  readonly unproven = new Set<string>();
  readonly unanswered = new Set<Unanswered>();
  /** Requests that it was asked before its caller died: it is slow with these. */
  readonly late = new Set<object>();
  isDead = false;
  /** Nothing goes wrong any more. */
  isWell = false;
  spell: { code: GrpcCode; works: boolean } | undefined;
  /** What a volume's secret has to be, by its name; absent: none is asked for. */
  accepts: (secrets: Record<string, string>) => boolean = () => true;
  readonly #options: DriverOptions;
  readonly #made = new Map<string, number>();
  readonly #attempts = new Map<string, number[]>();
  readonly #excuses: number[] = [];
  readonly #inFlight = new Map<Caller, Map<string, string>>();
  readonly #open = new Set<Open>();

  constructor(options: DriverOptions) {
    this.#options = options;
    this.plugin.overlaps = options.isLocking ? 'aborted' : 'allowed';
    this.plugin.script = (call) => this.#stepOf(call);
    this.plugin.copies.isHeard = (asked) =>
      [...this.unanswered].some(({ request, caller }) => request === asked && caller.isAlive);
  }

  /** Something began anew that attempts may begin anew with. */
  excuse(): void {
    this.#excuses.push(this.#options.timeline.monotonicMs);
  }

  /** Its process ends, with all that it was at. */
  die(): void {
    this.isDead = true;
    for (const open of [...this.#open]) open.fail(new Error('the driver has died'));
  }

  /** The driver's methods as one caller sees them, a socket between them. */
  line(caller: Caller): object {
    const { plugin } = this;
    const through =
      <R extends object, A>(rpc: RpcName, work: (request: R) => Promise<A>) =>
      (request: R, options: CallOptions): Promise<A> =>
        this.#sent(caller, { rpc, request, options }, () => work(request));
    return {
      createVolume: through('CreateVolume', plugin.createVolume.bind(plugin)),
      deleteVolume: through('DeleteVolume', plugin.deleteVolume.bind(plugin)),
      controllerPublishVolume: through('ControllerPublishVolume', plugin.controllerPublishVolume.bind(plugin)),
      controllerUnpublishVolume: through('ControllerUnpublishVolume', plugin.controllerUnpublishVolume.bind(plugin)),
      controllerExpandVolume: through('ControllerExpandVolume', plugin.controllerExpandVolume.bind(plugin)),
      controllerModifyVolume: through('ControllerModifyVolume', plugin.controllerModifyVolume.bind(plugin)),
      listVolumes: through('ListVolumes', plugin.listVolumes.bind(plugin)),
      createSnapshot: through('CreateSnapshot', plugin.createSnapshot.bind(plugin)),
      deleteSnapshot: through('DeleteSnapshot', plugin.deleteSnapshot.bind(plugin)),
      getSnapshot: through('GetSnapshot', plugin.getSnapshot.bind(plugin)),
      listSnapshots: through('ListSnapshots', plugin.listSnapshots.bind(plugin)),
      createVolumeGroupSnapshot: through('CreateVolumeGroupSnapshot', plugin.createVolumeGroupSnapshot.bind(plugin)),
      deleteVolumeGroupSnapshot: through('DeleteVolumeGroupSnapshot', plugin.deleteVolumeGroupSnapshot.bind(plugin)),
      getVolumeGroupSnapshot: through('GetVolumeGroupSnapshot', plugin.getVolumeGroupSnapshot.bind(plugin)),
      groupControllerGetCapabilities: (options: CallOptions) =>
        this.#sent(caller, { rpc: 'GroupControllerGetCapabilities', request: {}, options }, () =>
          plugin.groupControllerGetCapabilities(),
        ),
    };
  }

  #sent<A>(
    caller: Caller,
    { rpc, request, options }: { rpc: RpcName; request: object; options: CallOptions },
    work: () => Promise<A>,
  ): Promise<A> {
    if (!caller.isAlive) return new Promise(() => {});
    const { timeline, transcript } = this.#options;
    const { name, keys } = this.#aboutIn(request);
    const what = `${rpc} ${name}${'nodeId' in request ? ` on ${request.nodeId}` : ''}`;
    // What only reads changes nothing, and what follows from it is refused as it is to be committed.
    if (caller.isReplaced && rpc !== 'ListVolumes')
      this.faults.push(`${caller.name} called ${what} after it was replaced`);
    this.#count(what);
    const own = this.#inFlight.get(caller) ?? new Map<string, string>();
    this.#inFlight.set(caller, own);
    for (const key of keys) {
      const other = own.get(key);
      if (other !== undefined) this.faults.push(`${caller.name} called ${what} while ${other} was in flight`);
      own.set(key, rpc);
    }
    const before = this.plugin.snapshotNamed(name)?.id;
    const unanswered = { caller, rpc, request, name, before };
    this.unanswered.add(unanswered);
    transcript.call(`${caller.name}: csi ${what}`, request);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (hear: () => void, told: string): void => {
        if (isOver) return;
        isOver = true;
        this.unanswered.delete(unanswered);
        for (const key of keys) own.delete(key);
        cancel();
        const made = this.plugin.snapshotNamed(name)?.id;
        if (made !== undefined && made !== before && (told !== 'OK' || !caller.isAlive)) this.unproven.add(made);
        transcript.call(`${caller.name}: csi ${what} → ${told}`);
        caller.whenAwake(hear);
      };
      const secrets = secretsIn(rpc, request);
      const fail = (code: GrpcCode, text: string): void =>
        end(() => reject(csiError(rpc, code, withoutSecrets(`${code}: ${text}`, secrets))), code);
      const late = (): void => fail('DEADLINE_EXCEEDED', `no answer within ${options.timeoutMs} ms`);
      const cancel = timeline.after(options.timeoutMs ?? 0, late);
      options.signal?.addEventListener('abort', () => fail('CANCELLED', 'the call was given up'), { once: true });
      if (this.isDead) return fail('UNAVAILABLE', 'connection refused');
      work().then(
        (answer) => end(() => resolve(answer), 'OK'),
        (error: unknown) => {
          if (error instanceof StagecraftError) fail((error.grpcCode ?? 'UNKNOWN') as GrpcCode, error.message);
          else fail('UNAVAILABLE', 'connection lost');
        },
      );
    });
  }

  #aboutIn(request: object): About {
    const fields = request as Partial<Record<string, unknown>>;
    const ofVolume = (id: unknown): string => this.plugin.volumes.get(String(id))?.name ?? String(id);
    const ofSnapshot = (id: unknown): string => this.plugin.snapshots.get(String(id))?.name ?? String(id);
    const { name, volumeId, sourceVolumeId, sourceVolumeIds, snapshotId, groupSnapshotId } = fields;
    const sources = Array.isArray(sourceVolumeIds) ? sourceVolumeIds : sourceVolumeId ? [sourceVolumeId] : [];
    const about =
      groupSnapshotId !== undefined || snapshotId !== undefined
        ? ofSnapshot(groupSnapshotId ?? snapshotId)
        : volumeId === undefined
          ? name
          : ofVolume(volumeId);
    return about === undefined
      ? { name: '', keys: [] }
      : { name: String(about), keys: [String(about), ...sources.map(ofVolume)] };
  }

  #count(what: string): void {
    const nowMs = this.#options.timeline.monotonicMs;
    const since = (times: number[]): number[] => times.filter((at) => at > nowMs - windowMs);
    const attempts = [...since(this.#attempts.get(what) ?? []), nowMs];
    this.#attempts.set(what, attempts);
    const most = mostInWindow + 8 * since(this.#excuses).length;
    if (attempts.length === most + 1) this.faults.push(`${what} was called ${attempts.length} times within a minute`);
  }

  /** Rejects where the driver dies meanwhile. */
  #after(ms: number): Promise<void> {
    const passed = new Promise<void>((resolve, reject) => {
      const open: Open = {
        fail: (error) => {
          this.#open.delete(open);
          cancel();
          reject(error);
        },
      };
      const cancel = this.#options.timeline.after(ms, () => {
        this.#open.delete(open);
        resolve();
      });
      this.#open.add(open);
    });
    passed.catch(() => {}); // it may not come to where this is waited for
    return passed;
  }

  #stepOf(call: Call): Step {
    const { seed, faults, isLocking, denies } = this.#options;
    const { rpc, volume, nodeId = '', request } = call;
    if (this.late.has(request)) return { before: this.#after(lateOneMs) };
    const kept = this.plugin.volumes.get(volume) ?? this.plugin.made(volume);
    const what = `${rpc} ${kept?.name ?? volume} ${nodeId}`;
    const nth = (this.#made.get(what) ?? 0) + 1;
    this.#made.set(what, nth);
    const dice = (word: string): number => chance(seed, what, nth, word);
    const pick = (codes: GrpcCode[]): GrpcCode => codes[Math.floor(dice('code') * codes.length)] ?? 'UNKNOWN';
    const secrets = 'secrets' in request ? (request.secrets as Record<string, string>) : {};
    if (!this.accepts(secrets)) {
      const said = Object.values(secrets).join();
      return { code: dice('denied') < 0.5 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED', text: `not with ${said}` };
    }
    const ms = dice('slow') < 0.7 ? Math.floor(dice('ms') * 20) : Math.floor(dice('ms') * 4_000);
    const before = ms > 0 ? { before: this.#after(ms) } : {};
    if (this.isWell) return before;
    // To anything else it would be a lie.
    const mayDeny = denies && rpc === 'ControllerUnpublishVolume';
    const isSpelled = this.spell && (this.spell.code !== 'NOT_FOUND' || mayDeny);
    if (this.spell && isSpelled) {
      const { code, works } = this.spell;
      return { ...before, code, work: works && !makesNothing(rpc, code) };
    }
    if (dice('fault') >= faults) return before;
    const kind = dice('kind');
    if (kind < 0.25) return { ...before, code: pick(passing) };
    const lost = isOfSnapshots(rpc) ? doubtful.filter((code) => code !== 'RESOURCE_EXHAUSTED') : doubtful;
    if (kind < 0.5) {
      const code = pick(lost);
      return { ...before, code, work: !makesNothing(rpc, code) };
    }
    if (kind < 0.6) return this.#isDone(call) ? before : { ...before, code: pick(refusing) };
    if (kind < 0.65 && mayDeny) return { ...before, code: 'NOT_FOUND' };
    // It hangs: done before its caller gives up, long after that, or never.
    if (kind < 0.8) return { ...before, after: this.#after(lateMs) };
    if (kind < 0.9 && isLocking) return { before: this.#after(5_000 + Math.floor(dice('late') * lateMs)) };
    return { before: this.#after(lateMs), code: 'INTERNAL' };
  }

  /** Whether it is as the call asks for: then no right driver says that it can't be. */
  #isDone({ rpc, volume, nodeId = '', snapshot = '' }: Call): boolean {
    const kept = this.plugin.volumes.get(volume) ?? this.plugin.made(volume);
    if (isOfSnapshots(rpc)) return this.plugin.snapshotNamed(snapshot) !== undefined;
    if (rpc === 'CreateVolume') return kept !== undefined;
    if (rpc === 'ControllerPublishVolume') return kept?.attached.has(nodeId) === true;
    return true;
  }
}

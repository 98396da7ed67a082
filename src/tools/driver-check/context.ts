/**
 * A check, and its tools: calls with judged answers, and prepared volumes. An answer against the rule under test fails the
 * check; a failed step on the way there blocks it.
 */
import { join } from 'node:path';
import type { Given } from '../../csi/codec.js';
import type * as plain from '../../csi/generated/plain.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import type { UnaryRpc } from '../../csi/server.js';
import { type Answer, type CheckAskOptions, callLine } from './ask.js';
import type { DriverCalls } from './calls.js';
import type { Capabilities } from './capabilities.js';
import { type CheckNeeds, Verdict } from './verdict.js';

/** A check: a rule of the specification, and what decides whether the driver keeps it. The checks: checks/ */
export interface Check extends CheckNeeds {
  /** `<rpc>/<what>`, or `content/<what>`; stays the same. */
  readonly id: string;
  /** Rule of the specification, in one sentence. */
  readonly rule: string;
  /** Returns if the driver keeps the rule, else throws a {@link Verdict}. */
  run(bench: CheckContext): Promise<void>;
}

type Request<Rpc extends UnaryRpc> = Given<plain.Rpcs[Rpc]['request']>;
type Response<Rpc extends UnaryRpc> = plain.Rpcs[Rpc]['response'];

export type AccessType = 'mount' | 'block';
export type CsiAccessMode = plain.VolumeCapabilityAccessModeMode;

interface CheckContextOptions {
  calls: DriverCalls;
  offers: Capabilities;
  /** Beginning of the names of everything that the run creates. */
  prefix: string;
  /** Values of `parameters` by RPC, and of `mutableParameters` for ControllerModifyVolume. */
  parameters: Readonly<Record<string, Record<string, string>>>;
  /** Undefined: both, mount first. */
  accessType: AccessType | undefined;
  fsType: string;
  sizeBytes: number;
  /** Directories that only this run uses. */
  stagingDir: string;
  targetDir: string;
  /** Id of a second node that the controller knows, if one was given. */
  otherNodeId: string | undefined;
  /** Topology of the volumes; undefined: that of the node. */
  topology: Readonly<Record<string, string>> | undefined;
}

/** Pause between two polls, in milliseconds. */
const lookPauseMs = 200;

export class CheckContext {
  readonly calls: DriverCalls;
  readonly offers: Capabilities;
  readonly options: CheckContextOptions;
  #names = 0;
  readonly #taken = new Map<AccessType, boolean>();

  constructor(options: CheckContextOptions) {
    this.calls = options.calls;
    this.offers = options.offers;
    this.options = options;
  }

  get timeoutMs(): number {
    return this.calls.timeoutMs;
  }

  /** Returns any answer; the check judges it. */
  ask<Rpc extends UnaryRpc>(rpc: Rpc, request: Request<Rpc>, options?: CheckAskOptions): Promise<Answer<Rpc>> {
    return this.calls.ask(rpc, request, options);
  }

  /** @throws {Verdict} failed: any answer but OK */
  async ok<Rpc extends UnaryRpc>(rpc: Rpc, request: Request<Rpc>, options?: CheckAskOptions): Promise<Response<Rpc>> {
    const answer = await this.ask(rpc, request, options);
    if (answer.value) return answer.value;
    throw new Verdict('failed', expectedBut('OK', answer), answer.report);
  }

  /** @throws {Verdict} failed: any other code */
  async refused<Rpc extends UnaryRpc>(rpc: Rpc, request: Request<Rpc>, ...codes: GrpcCode[]): Promise<Answer<Rpc>> {
    const answer = await this.ask(rpc, request, { takesAborted: codes.includes('ABORTED') });
    if (codes.includes(answer.code)) return answer;
    throw new Verdict('failed', expectedBut(codes.join(' or '), answer), answer.report);
  }

  /** @throws {Verdict} failed, with the last call */
  expect(holds: boolean, expected: string, came: string): void {
    if (!holds) throw new Verdict('failed', `expected ${expected}, but ${came}`, this.calls.last);
  }

  /** @throws {Verdict} warning, with the last call */
  warn(why: string): never {
    throw new Verdict('warning', why, this.calls.last);
  }

  /**
   * Makes a preparing call.
   * @throws {Verdict} blocked: any answer but OK, or the RPC timed out before
   */
  async step<Rpc extends UnaryRpc>(rpc: Rpc, request: Request<Rpc>): Promise<Response<Rpc>> {
    if (this.calls.hung.has(rpc))
      throw new Verdict('blocked', `${rpc}, which comes before it, gave no answer in time before`);
    const answer = await this.ask(rpc, request);
    if (answer.value) return answer.value;
    throw new Verdict('blocked', `${rpc}, which comes before it, failed: ${callLine(answer.report)}`, answer.report);
  }

  /** Returns an unused name of this run. */
  name(): string {
    this.#names += 1;
    return `${this.options.prefix}-${this.#names}`;
  }

  /** Returns a name or id of the given length. */
  longText(bytes: number): string {
    return `${this.name()}-`.padEnd(bytes, 'x');
  }

  /** Returns an id that no driver has created. */
  unknownId(): string {
    return `${this.name()}-unknown`;
  }

  /** Access type of volumes if the check does not say otherwise. */
  get accessType(): AccessType {
    return this.options.accessType ?? 'mount';
  }

  capability(mode: CsiAccessMode = 'SINGLE_NODE_WRITER', type = this.accessType): Given<plain.VolumeCapability> {
    const access = type === 'block' ? { block: {} } : { mount: { fsType: this.options.fsType } };
    return { ...access, accessMode: { mode } };
  }

  /** Capabilities that the volume may lack: the other access type, use on several nodes. */
  otherCapabilities(): Given<plain.VolumeCapability>[] {
    const otherType = this.accessType === 'mount' ? 'block' : 'mount';
    return [this.capability('SINGLE_NODE_WRITER', otherType), this.capability('MULTI_NODE_MULTI_WRITER')];
  }

  /**
   * Tells whether ValidateVolumeCapabilities confirms this use.
   * @throws {Verdict} blocked
   */
  async confirms(volumeId: string, capability: Given<plain.VolumeCapability>): Promise<boolean> {
    const { code, value, report } = await this.ask('ValidateVolumeCapabilities', {
      volumeId,
      volumeCapabilities: [capability],
    });
    if (code === 'OK') return value?.confirmed !== undefined;
    if (code === 'INVALID_ARGUMENT') return false;
    throw new Verdict('blocked', `what the volume can do is not known: ${callLine(report)}`, report);
  }

  async volumeRequest(given: Request<'CreateVolume'> = {}): Promise<Request<'CreateVolume'>> {
    return {
      name: this.name(),
      capacityRange: { requiredBytes: this.options.sizeBytes },
      volumeCapabilities: [this.capability()],
      parameters: this.options.parameters.CreateVolume ?? {},
      ...(await this.#topology()),
      ...given,
    };
  }

  /** Creates a volume as a preparing step. */
  async volume(given: Request<'CreateVolume'> = {}): Promise<plain.Volume> {
    if (!this.offers.has('controller/CREATE_DELETE_VOLUME'))
      throw new Verdict('blocked', 'it needs a volume, and the driver does not offer controller/CREATE_DELETE_VOLUME');
    const { volume } = await this.step('CreateVolume', await this.volumeRequest(given));
    if (!volume?.volumeId) throw new Verdict('blocked', 'CreateVolume gave no volume id', this.calls.last);
    return volume;
  }

  /** Returns the id of an existing volume if one can be created: for requests that are refused before any lookup. */
  async someVolumeId(): Promise<string> {
    return this.offers.has('controller/CREATE_DELETE_VOLUME') ? (await this.volume()).volumeId : this.unknownId();
  }

  snapshotRequest(sourceVolumeId: string, given: Request<'CreateSnapshot'> = {}): Request<'CreateSnapshot'> {
    return { name: this.name(), sourceVolumeId, parameters: this.options.parameters.CreateSnapshot ?? {}, ...given };
  }

  /** Creates a snapshot and waits until it is ready, as a preparing step. */
  async snapshot(sourceVolumeId: string): Promise<plain.Snapshot> {
    const request = this.snapshotRequest(sourceVolumeId);
    const isReady = await this.until(async () => (await this.step('CreateSnapshot', request)).snapshot?.readyToUse);
    const { snapshot } = await this.step('CreateSnapshot', request);
    if (isReady && snapshot?.snapshotId) return snapshot;
    throw new Verdict('blocked', `the snapshot was not ready within ${this.timeoutMs} ms`, this.calls.last);
  }

  /** Polls for as long as a call may take. */
  async until(look: () => Promise<boolean | undefined>): Promise<boolean> {
    const untilMs = performance.now() + this.timeoutMs;
    while (!(await look())) {
      if (performance.now() > untilMs) return false;
      await new Promise((resolve) => setTimeout(resolve, lookPauseMs));
    }
    return true;
  }

  async nodeId(): Promise<string> {
    if (!this.calls.has('node'))
      throw new Verdict(
        'blocked',
        'it needs a node id, which the node service tells: name its endpoint (--node-endpoint)',
      );
    return (await this.step('NodeGetInfo', {})).nodeId;
  }

  /**
   * Requires this access type. A type chosen by option counts as available.
   * @throws {Verdict} not offered: the driver has no such volumes, or the option chose the other type
   */
  async needAccessType(type: AccessType): Promise<void> {
    const { accessType } = this.options;
    if (accessType !== undefined && accessType !== type)
      throw new Verdict('not offered', `only ${accessType} was asked for`);
    if (accessType === type) return;
    if (!this.#taken.has(type)) this.#taken.set(type, await this.#takes(type));
    if (!this.#taken.get(type)) throw new Verdict('not offered', `the driver takes no volumes of type ${type}`);
  }

  async #takes(type: AccessType): Promise<boolean> {
    if (!this.offers.has('controller/CREATE_DELETE_VOLUME')) return type === this.accessType;
    const request = await this.volumeRequest({ volumeCapabilities: [this.capability('SINGLE_NODE_WRITER', type)] });
    return (await this.ask('CreateVolume', request)).code === 'OK';
  }

  stagingPath(): string {
    return join(this.options.stagingDir, `s${this.#count()}`);
  }

  targetPath(): string {
    return join(this.options.targetDir, `t${this.#count()}`);
  }

  #count(): number {
    this.#names += 1;
    return this.#names;
  }

  /**
   * Returns a topology that makes the volume usable on the host of the checks. `preferred` repeats it, as callers send both, and
   * some drivers read that one only.
   */
  async #topology(): Promise<Request<'CreateVolume'>> {
    if (!this.offers.has('plugin/VOLUME_ACCESSIBILITY_CONSTRAINTS')) return {};
    const { topology } = this.options;
    const place = topology ? { segments: topology } : await this.#nodeTopology();
    return place ? { accessibilityRequirements: { requisite: [place], preferred: [place] } } : {};
  }

  async #nodeTopology(): Promise<plain.Topology | undefined> {
    return this.calls.has('node') ? (await this.step('NodeGetInfo', {})).accessibleTopology : undefined;
  }
}

function expectedBut(expected: string, { code, report }: Answer<UnaryRpc>): string {
  return `expected ${expected}, but came ${code === 'OK' ? 'OK' : report.answer}`;
}

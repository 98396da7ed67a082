/**
 * Runs runtimes in real time against one driver that fails on command, over a real socket. Kills a runtime at a chosen commit;
 * the next one starts on its store. Reads the driver's true state from its disk, not by calls.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotStateOf } from '../../machines/snapshot/states.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { RpcName } from '../../src/csi/answers.js';
import { CsiClient } from '../../src/csi/client.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { type FaultyServer, type RecordedCall, serveFaulty, violationsIn } from '../../src/testing/index.js';
import { topologyKey } from '../../src/tools/driver/identity.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';
import type { Volume } from '../../src/volumes/volume-view.js';
import { Cable, type Moment } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { eventually } from '../until.js';

/** Folder in memory if possible: a kill of a runtime, unlike one of the host, loses no files. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const plugin = 'disk';
/** CSI node ids, by name of the node. */
export const nodes = { a: 'node-a', b: 'node-b' };
export const topology = { [topologyKey]: nodes.a };

const retry = { initialMs: 5, maxMs: 50 };

export const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
export const mib = 1_048_576;

export interface RealVolume {
  id: string;
  name: string;
  capacityBytes: number;
  mutableParameters: Record<string, string>;
  attached: string[];
}

export class AnswersScene {
  readonly folder: string;
  readonly driver: FaultyServer;
  readonly client: CsiClient;
  readonly #options: Partial<RuntimeOptions>;
  #runtime: Runtime | undefined;
  #data = inMemory();
  #store = this.#data.store();
  #cable = new Cable(this.#store);
  #volumes = 0;
  #heard = 0;
  #before = new Set<string>();
  /** CSI ids of volumes made outside, by id. */
  readonly #outside = new Map<string, string>();

  private constructor(folder: string, driver: FaultyServer, options: Partial<RuntimeOptions>) {
    this.folder = folder;
    this.driver = driver;
    this.client = new CsiClient({ socketPath: join(folder, 'csi.sock') });
    this.#options = options;
  }

  static async start(options: Partial<RuntimeOptions> = {}): Promise<AnswersScene> {
    const folder = mkdtempSync(join(root, 'answers-'));
    const driver = await serveFaulty({
      socketPath: join(folder, 'csi.sock'),
      nodeId: nodes.a,
      dataDir: join(folder, 'driver'),
      mounts: 'memory',
      attach: true,
      peerNodes: [nodes.b],
    });
    return new AnswersScene(folder, driver, options);
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  /** Begins a new scenario: checks only calls from here on. @returns id of its volume */
  begin(): string {
    this.#volumes += 1;
    this.driver.clear();
    this.#heard = this.driver.calls().length;
    this.#before = new Set(this.#kept().map(({ id }) => id));
    return `v${this.#volumes}`;
  }

  /** Starts a runtime on an empty store, with the plugin and the nodes. */
  async furnish(): Promise<void> {
    await this.#runtime?.close();
    this.#data = inMemory();
    await this.#open();
    const connection = { socketPath: join(this.folder, 'csi.sock') };
    await this.runtime.plugins.register({ type: 'csi-controller', name: plugin, allocId: 'disk-1', connection });
    for (const [id, nodeId] of Object.entries(nodes))
      await this.runtime.nodes.report({ id, plugins: [{ name: plugin, nodeId, topology }] });
    await this.runtime.plugins.waitFor('csi-controller', plugin);
  }

  cutAt(moment: Moment): void {
    this.#cable.cutAt(moment);
  }

  get whenCut(): Promise<void> {
    return this.#cable.whenCut;
  }

  /**
   * Kills the runtime, if it still runs, and starts the next one after the driver has seen the end of all calls.
   * @param meanwhile runs between the two runtimes
   */
  async succeed(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    this.#cable.cutNow();
    await this.runtime.close().catch(() => {}); // It can't write its end to the store.
    for (const { number, end } of this.#calls()) if (!end) await this.driver.waitForGone(number);
    await this.#data.bury(this.#store);
    await meanwhile();
    await this.#open();
  }

  spec(id: string): VolumeSpec {
    return { id, plugin, capacity: { requiredBytes: mib }, capabilities: [capability] };
  }

  /** Creates a volume at the driver, outside of the runtime. */
  async makeOutside(id: string): Promise<void> {
    const { volume } = await this.client.createVolume({
      name: `outside-${id}`,
      capacityRange: { requiredBytes: mib },
      volumeCapabilities: [{ mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } }],
    });
    this.#outside.set(id, volume?.volumeId ?? '');
  }

  /** Makes the spec that registers a volume made outside. */
  external(id: string): VolumeSpec {
    return { id, plugin, capabilities: [capability], external: { csiId: this.#outside.get(id) ?? '' } };
  }

  /** Waits until the volume meets the condition. @throws Error if it never does */
  async becomes(id: string, isSo: (volume: Volume | undefined) => boolean): Promise<Volume | undefined> {
    let volume: Volume | undefined;
    await eventually(`volume ${id} is as expected`, async () => {
      volume = await this.runtime.volumes.get({ id });
      return isSo(volume);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(volume)}, the calls: ${this.told().join(', ')}`);
    });
    return volume;
  }

  /** Whether the volume's machine rests: only a request makes it call again. */
  isAtRest(id: string): Promise<boolean> {
    return this.isIdle(volumeAddress('default', id));
  }

  /** Whether the machine of a volume or a snapshot rests. */
  async isIdle(address: string): Promise<boolean> {
    const { snapshot } = await this.runtime.journal.replay(address);
    if (!snapshot) return false;
    if (!address.startsWith('volume/'))
      return ['ready', 'failed'].includes(snapshotStateOf(snapshot.context as SnapshotContext));
    return (snapshot.context as VolumeContext).work === null;
  }

  /** Waits for the next call of this RPC in this scenario. */
  async called(rpc: RpcName): Promise<RecordedCall> {
    for (;;) {
      const call = await this.driver.waitForCall(rpc);
      if (call.number > this.#heard) return call;
    }
  }

  get isCalled(): boolean {
    return this.#calls().some(({ end }) => !end);
  }

  calls(rpc: RpcName): RecordedCall[] {
    return this.#calls().filter((call) => call.rpc === rpc);
  }

  /** Returns the code or other end of each call of an RPC, in order. */
  ends(rpc: RpcName): string[] {
    return this.calls(rpc).map(({ end }) => end?.code ?? end?.how ?? 'under way');
  }

  told(): string[] {
    return this.#calls()
      .filter(({ rpc }) => /Volume/.test(rpc))
      .map(({ rpc, end }) => `${rpc} ${end?.code ?? end?.how ?? 'under way'}`);
  }

  /** Volumes that the driver has gained in this scenario. */
  real(): RealVolume[] {
    return this.#kept().filter(({ id }) => !this.#before.has(id));
  }

  /**
   * Checks that the driver has exactly the recorded volume, and that all calls were allowed.
   * @param isReal further condition for the driver's volume
   */
  async checkSettled(id: string, isReal: (volume: RealVolume) => boolean = () => true): Promise<void> {
    const volume = await this.runtime.volumes.get({ id });
    await this.checkSettledOf([id]);
    const real = this.real();
    if (volume?.capacityBytes !== undefined) expect(real[0]?.capacityBytes).to.equal(volume.capacityBytes);
    expect(real.every(isReal), JSON.stringify(real)).to.equal(true);
  }

  async checkSettledOf(ids: string[]): Promise<void> {
    const volumes = await Promise.all(ids.map((id) => this.runtime.volumes.get({ id })));
    const believed = volumes.flatMap((volume) => {
      if (volume?.csiId === undefined) return [];
      const published = Object.values(volume.publications).filter(({ state }) => state === 'published');
      return [{ id: volume.csiId, attached: published.map(({ csiNodeId }) => csiNodeId) }];
    });
    expect(this.real().map(({ id, attached }) => ({ id, attached }))).to.have.deep.members(believed);
    this.checkCalls();
  }

  /** Checks that all calls were allowed, and that all scripted faults happened. */
  checkCalls(): void {
    expect(violationsIn(this.#judged()).map(({ text }) => text)).to.deep.equal([]);
    expect(this.driver.stepsLeft, 'faults that were not met').to.equal(0);
    expect(this.runtime.actors.quarantined()).to.deep.equal([]);
  }

  async end(): Promise<void> {
    try {
      await this.#runtime?.close();
    } finally {
      this.client.close();
      await this.driver.stop();
      rmSync(this.folder, { recursive: true });
    }
  }

  async #open(): Promise<void> {
    this.#store = this.#data.store();
    this.#cable = new Cable(this.#store);
    this.#runtime = await createRuntime({
      nodeId: 'controller-1',
      dataDir: join(this.folder, 'data'),
      store: this.#cable,
      fingerprint: { intervalMs: 500 },
      retry,
      ...this.#options,
    });
  }

  #calls(): RecordedCall[] {
    return this.driver.calls().slice(this.#heard);
  }

  /** Calls of this scenario, with all earlier answers about capabilities. */
  #judged(): RecordedCall[] {
    return this.driver.calls().filter(({ rpc }, index) => index >= this.#heard || rpc.endsWith('GetCapabilities'));
  }

  #kept(): RealVolume[] {
    return this.records('volumes').map((record) => {
      const { publications, ...volume } = record as RealVolume & { publications: object };
      const { id, name, capacityBytes, mutableParameters } = volume;
      return { id, name, capacityBytes, mutableParameters, attached: Object.keys(publications) };
    });
  }

  /** Reads the driver's records of one kind from its disk, in the order of file names. */
  records(kind: 'volumes' | 'snapshots' | 'groups'): unknown[] {
    const directory = join(this.folder, 'driver', kind);
    return readdirSync(directory)
      .filter((file) => file.endsWith('.json'))
      .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')));
  }
}

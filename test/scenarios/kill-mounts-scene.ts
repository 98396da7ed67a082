/**
 * An agent that prepares and releases an alloc of two volumes, and the driver of those on real mounts, each a process that
 * is killed and comes up again; beside them another alloc that keeps what it has all the time. What is asked of them, and
 * what has to be so then: kill-mounts-suite.ts
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AllocMount } from '../../dist/machines/alloc/volume-steps.js';
import type { VolumeSpec } from '../../dist/src/index.js';
import { type FaultDriver, faultDriver } from '../../dist/src/testing/index.js';
import { StagecraftError } from '../../src/errors.js';
import type { AllocVolumeRequest } from '../../src/mounts/mount-spec.js';
import { builtProgram } from '../built.js';
import { eventually, within } from '../until.js';
import { mainPath, pluginPids } from './agent-process.js';
import type {
  Belief,
  MatrixAgentOptions,
  MatrixAnswer,
  MatrixAsk,
  MatrixMoment,
  MatrixStep,
  Mortal,
} from './kill-mounts-agent.js';
import { Reader, unmountBelow } from './kill-mounts-host.js';

const agentPath = builtProgram(new URL('./kill-mounts-agent.ts', import.meta.url));

/** Who is killed leaves its files whole: they need no disk. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Where nothing is to go wrong, a call has time. */
const longTimeoutMs = 20_000;
/** What undoes a call that nobody hears of any more waits for as long as that may go on. */
const shortTimeoutMs = 1_000;

const lookEveryMs = 2;

const driverCommand = [process.execPath, mainPath, 'driver', '--node-id', 'node-1', '--attach'];

const file = { attachmentMode: 'file-system' } as const;

/** By their ids. */
const usages = {
  shared: { accessMode: 'single-node-multi-writer', ...file },
  files: { accessMode: 'single-node-writer', ...file },
  more: { accessMode: 'single-node-single-writer', ...file },
  block: { accessMode: 'single-node-writer', attachmentMode: 'block-device' },
} as const;

export type VolumeId = keyof typeof usages;

/** The driver that fails on command, or the bundled one as it is, a task of the agent's. */
export type DrivenBy = 'script' | 'task';

export const keeper = 'keeper';
export const comer = 'comer';

const specOf = (id: VolumeId): VolumeSpec => ({
  id,
  plugin: 'disk',
  capacity: { requiredBytes: 1_048_576 },
  capabilities: [usages[id]],
});

const requestOf = (id: VolumeId): AllocVolumeRequest => ({
  name: id,
  volume: { id },
  mode: 'write',
  taskPath: `/${id}`,
  ...usages[id],
});

interface Waiting {
  resolve(answer: MatrixAnswer): void;
  reject(error: unknown): void;
}

export class MatrixScene {
  readonly folder: string;
  /** Null: it is a task of the agent's. */
  readonly driver: FaultDriver | null;
  /** Those that the alloc which comes and goes has. */
  readonly ids: VolumeId[];
  #agent: ChildProcess;
  #ready: Promise<unknown>;
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();
  #reader: Reader | undefined;
  #isEnding = false;
  #timeoutMs: number;

  private constructor(folder: string, driver: FaultDriver | null, ids: VolumeId[], timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.folder = folder;
    this.driver = driver;
    this.ids = ids;
    [this.#agent, this.#ready] = this.#start();
  }

  /** Resolves when the keeper has its volume, and those of the other are made. */
  static async start(ids: VolumeId[], drivenBy: DrivenBy, timeoutMs = longTimeoutMs): Promise<MatrixScene> {
    const folder = mkdtempSync(join(root, 'mounts-'));
    mkdirSync(join(folder, 'data'));
    const socketPath = join(folder, 'csi.sock');
    const driver =
      drivenBy === 'script'
        ? await faultDriver({ socketPath, nodeId: 'node-1', dataDir: join(folder, 'driver'), attach: true })
        : null;
    const scene = new MatrixScene(folder, driver, ids, timeoutMs);
    try {
      await scene.ask({ op: 'await-driver' });
      for (const id of new Set<VolumeId>(['shared', ...ids])) await scene.create(id);
      scene.#reader = new Reader((await scene.keep())[0]?.hostPath ?? '', 'what the keeper has written');
      return scene;
    } catch (error) {
      await scene.end();
      throw error;
    }
  }

  /** From here on things go wrong, and the agent is not to wait for them for long. */
  async beImpatient(): Promise<void> {
    this.#timeoutMs = shortTimeoutMs;
    await this.restartAgent();
    await this.keep();
  }

  /** Kills it, and resolves once another one is being started. */
  async restartAgent(): Promise<void> {
    const before = this.#ready;
    this.#agent.kill('SIGKILL');
    await eventually('the agent is started again', () => this.#ready !== before);
  }

  /** Of all mounts. */
  get csiDir(): string {
    return join(this.#dataDir, 'csi');
  }

  get #dataDir(): string {
    return join(this.folder, 'data');
  }

  get reader(): Reader {
    if (!this.#reader) throw new Error('the keeper has nothing yet');
    return this.#reader;
  }

  async create(id: VolumeId): Promise<void> {
    await this.ask({ op: 'create', spec: specOf(id) });
  }

  async delete(id: VolumeId): Promise<void> {
    await this.ask({ op: 'delete', id });
  }

  /** The keeper has what is its own; where it had it before, it has got over what was. */
  async keep(): Promise<AllocMount[]> {
    const { mounts = [] } = await this.ask({ op: 'prepare', allocId: keeper, volumes: [requestOf('shared')] });
    return mounts;
  }

  async prepare(): Promise<AllocMount[]> {
    const { mounts = [] } = await this.ask({ op: 'prepare', allocId: comer, volumes: this.ids.map(requestOf) });
    return mounts;
  }

  async release(): Promise<void> {
    await this.ask({ op: 'release', allocId: comer });
  }

  async look(): Promise<Belief> {
    const { belief } = await this.ask({ op: 'look' });
    if (!belief) throw new Error('it did not tell what it believes');
    return belief;
  }

  /** From here on steps are counted. */
  async arm(moment: MatrixMoment | null): Promise<void> {
    const { pid } = this.driver ?? {};
    await this.ask({ op: 'arm', moment, ...(pid !== undefined && { driverPid: pid }) });
  }

  /** Kills the processes of the task that is the driver. */
  killTask(): void {
    for (const pid of pluginPids({ dataDir: this.#dataDir })) process.kill(pid, 'SIGKILL');
  }

  /** Those since it was armed. */
  async steps(): Promise<MatrixStep[]> {
    return (await this.ask({ op: 'steps' })).steps ?? [];
  }

  /** Whether the agent, which has not died since it was armed, has killed who it was to kill. */
  async isMet(): Promise<boolean> {
    return (await this.ask({ op: 'steps' })).isMet === true;
  }

  /**
   * Does what kills those. Resolves when they are up again.
   * @returns whether it was answered before the agent died
   */
  async through(dying: readonly Mortal[], work: () => Promise<unknown>): Promise<'answered' | 'agent died'> {
    const { driver } = this;
    const revived =
      driver && dying.includes('driver') ? within('the driver was killed', this.#revive(driver)) : undefined;
    const outcome = work().then(
      () => 'answered' as const,
      (error: unknown) => {
        if (error instanceof StagecraftError && error.code === 'AGENT_LOST') return 'agent died' as const;
        throw error;
      },
    );
    await Promise.all([revived, outcome]);
    await this.#ready;
    return outcome;
  }

  /** Resolves with the number of the call that hangs by the script then, without anybody who waits for it. */
  async killAgentDuring(rpc: string): Promise<number> {
    const hanging = (): number | undefined =>
      this.driver?.calls().findLast((call) => call.rpc === rpc && call.step?.hang !== undefined && !call.end)?.number;
    await eventually(`${rpc} hangs`, () => hanging() !== undefined);
    this.#agent.kill('SIGKILL');
    return hanging() ?? 0;
  }

  /** Resolves when the agent has answered that it is done. @throws StagecraftError what it answered; AGENT_LOST */
  async ask(ask: MatrixAsk): Promise<MatrixAnswer> {
    await this.#ready;
    this.#asked += 1;
    const number = this.#asked;
    const answered = new Promise<MatrixAnswer>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      if (this.#agent.connected)
        this.#agent.send({ number, ask }, () => {}); // one that dies first is heard of by its end
      else reject(died());
    });
    return within(`${ask.op} was answered`, answered);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#reader?.close();
    this.#agent.kill('SIGKILL');
    await this.driver?.stop();
    this.killTask();
    unmountBelow(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Resolves when the driver has died and was started again. */
  async #revive(driver: FaultDriver): Promise<void> {
    const { pid } = driver;
    while (driver.pid === pid && !this.#isEnding) await pause(lookEveryMs);
    if (!this.#isEnding) await driver.start();
  }

  #start(): [ChildProcess, Promise<unknown>] {
    const options: MatrixAgentOptions = {
      dataDir: this.#dataDir,
      driver: this.driver ? { socketPath: this.driver.socketPath } : { command: driverCommand },
      timeoutMs: this.#timeoutMs,
    };
    const agent = fork(agentPath, [JSON.stringify(options)], { execArgv: [] });
    const ready = new Promise<void>((resolve, reject) => {
      agent.on('message', (message: MatrixAnswer | 'ready') => {
        if (message === 'ready') resolve();
        else this.#answered(message);
      });
      agent.once('exit', (code, signal) => {
        reject(new Error(`the agent ended before it was ready: ${signal ?? code}`));
        for (const { reject } of this.#waiting.values()) reject(died());
        this.#waiting.clear();
        if (!this.#isEnding && signal === 'SIGKILL') [this.#agent, this.#ready] = this.#start();
      });
    });
    ready.catch(() => {}); // told to whoever waits for it
    return [agent, ready];
  }

  #answered({ number, failed, ...answer }: MatrixAnswer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (failed) waiting?.reject(new StagecraftError(failed.code, failed.message));
    else waiting?.resolve({ number, ...answer });
  }
}

const died = (): StagecraftError => new StagecraftError('AGENT_LOST', 'the agent died before it answered');

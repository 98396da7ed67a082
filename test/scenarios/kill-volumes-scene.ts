/**
 * An agent that embeds the runtime and the driver of its volumes, each a process that is killed and comes up again, and
 * what is asked of the agent from outside. Who asks for what: kill-volumes-users.ts
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FaultDriver, faultDriver, type Step } from '../../dist/src/testing/index.js';
import type { Random } from '../../src/engine/random.js';
import { StagecraftError } from '../../src/errors.js';
import { topologyKey } from '../../src/tools/driver/identity.js';
import { builtProgram } from '../built.js';
import type { Answer, Ask, VolumeAgentOptions } from './kill-volumes-agent.js';

const agentPath = builtProgram(new URL('./kill-volumes-agent.ts', import.meta.url));

/** Who is killed leaves its files whole: they need no disk. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export const nodes = { a: 'node-a', b: 'node-b' };

export type Victim = 'agent' | 'driver' | 'driver, then agent' | 'agent, then driver';

/** What a call may meet on top: each but a refusal for good. */
const faults: Step[] = [
  { code: 'ABORTED', text: 'busy' },
  { code: 'UNAVAILABLE', text: 'it restarts', work: true },
  { code: 'DEADLINE_EXCEEDED', text: 'it took too long' },
  { code: 'INTERNAL', text: 'a bug', work: true },
  { code: 'FAILED_PRECONDITION', text: 'not yet' },
  { breakOff: 'before' },
  { breakOff: 'after' },
  { hang: 'before' },
  { hang: 'after' },
  { die: 'before' },
  { die: 'after' },
];
const rpcs = ['CreateVolume', 'DeleteVolume', 'ControllerPublishVolume', 'ControllerUnpublishVolume'] as const;
const faultsPerRound = 4;

/** What the driver has of a volume, as it is on its disk. */
interface RealVolume {
  id: string;
  attached: string[];
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

export class VolumeScene {
  readonly folder: string;
  readonly driver: FaultDriver;
  #agent: ChildProcess;
  /** Resolves when the agent that runs now takes requests. */
  #ready: Promise<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  private constructor(folder: string, driver: FaultDriver) {
    this.folder = folder;
    this.driver = driver;
    [this.#agent, this.#ready] = this.#start();
  }

  static async start(): Promise<VolumeScene> {
    const folder = mkdtempSync(join(root, 'kill-volumes-'));
    const driver = await faultDriver({
      socketPath: join(folder, 'csi.sock'),
      nodeId: nodes.a,
      dataDir: join(folder, 'driver'),
      mounts: 'memory',
      attach: true,
      peerNodes: [nodes.b],
    });
    return new VolumeScene(folder, driver);
  }

  get dataDir(): string {
    return join(this.folder, 'data');
  }

  /**
   * Resolves when the agent has answered that it is done.
   * @throws StagecraftError what it answered; ABORTED: it died before
   */
  async ask(ask: Ask): Promise<void> {
    const agent = await this.#readyAgent();
    this.#asked += 1;
    const number = this.#asked;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      // An agent that dies later rejects all that wait. After its exit it may still count as connected.
      if (agent.connected && !hasEnded(agent)) agent.send({ number, ask }, () => {});
      else reject(died());
    });
  }

  /** Faults that the next calls meet. */
  setFaults(random: Random): void {
    for (let n = 0; n < faultsPerRound; n += 1) this.driver.script(pick(random, rpcs), pick(random, faults));
  }

  /** SIGKILL; who was killed comes up again, and a driver that has died by itself before. */
  async strike(victim: Victim): Promise<void> {
    const agentDies = victim.includes('agent');
    if (victim.startsWith('driver')) await this.driver.kill();
    if (agentDies) await this.#killAgent();
    if (victim === 'agent, then driver') await this.driver.kill();
    if (agentDies) [this.#agent, this.#ready] = this.#start();
    await this.#revive();
    await this.#ready;
  }

  /** No fault is to come: a call in flight may have met one already that ends the driver later, so it is ended now. */
  async endFaults(): Promise<void> {
    this.driver.clear();
    await this.driver.kill();
    await this.#revive();
  }

  async #revive(): Promise<void> {
    if (this.driver.pid === undefined) await this.driver.start();
  }

  async endAgent(): Promise<void> {
    await this.#ready;
    await this.#killAgent();
  }

  real(): RealVolume[] {
    const directory = join(this.folder, 'driver', 'volumes');
    return readdirSync(directory)
      .filter((file) => file.endsWith('.json'))
      .map((file) => {
        const { id, publications } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
        return { id, attached: Object.keys(publications) };
      });
  }

  async end(): Promise<void> {
    this.#agent.kill('SIGKILL');
    await this.driver.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** One that is not ready yet may not hear what it is asked. */
  async #readyAgent(): Promise<ChildProcess> {
    let ready: Promise<unknown>;
    do {
      ready = this.#ready;
      await ready;
    } while (ready !== this.#ready);
    return this.#agent;
  }

  async #killAgent(): Promise<void> {
    const agent = this.#agent;
    if (hasEnded(agent)) return;
    const exit = once(agent, 'exit');
    agent.kill('SIGKILL');
    await exit;
  }

  #start(): [ChildProcess, Promise<unknown>] {
    const options: VolumeAgentOptions = {
      dataDir: this.dataDir,
      socketPath: this.driver.socketPath,
      nodes,
      topology: { [topologyKey]: nodes.a },
    };
    const agent = fork(agentPath, [JSON.stringify(options)], { execArgv: [] });
    const ready = new Promise<void>((resolve, reject) => {
      agent.on('message', (message: Answer | 'ready') => {
        if (message === 'ready') resolve();
        else this.#answered(message);
      });
      agent.once('exit', () => {
        reject(died());
        for (const { reject } of this.#waiting.values()) reject(died());
        this.#waiting.clear();
      });
    });
    ready.catch(() => {}); // told to whoever waits for it
    return [agent, ready];
  }

  #answered({ number, failed }: Answer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (failed) {
      const { code, message, outcome } = failed;
      waiting?.reject(new StagecraftError(code, message, outcome && { outcome }));
    } else waiting?.resolve();
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const died = (): StagecraftError => new StagecraftError('AGENT_LOST', 'the agent died before it answered');

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;

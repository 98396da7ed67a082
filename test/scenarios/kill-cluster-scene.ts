/** Agents as processes on one Redis with one driver behind the plugins of some of them, and what has to be so whatever dies. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import { StagecraftError } from '../../src/errors.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import type { RecordedCall } from '../../src/tools/fault-driver/call.js';
import { builtProgram } from '../built.js';
import { eventually } from '../until.js';
import type { Ask, ClusterAgentOptions, Told } from './kill-cluster-agent.js';
import { Scene } from './redis-scene.js';

export const nodes = ['node-1', 'node-2'];
/** Limit of a call at its plugin. */
const timeoutMs = 2_500;

export interface Seen {
  state: string;
  published: Record<string, string>;
  waiting: number;
  csiId?: string;
}

/** Error of a request whose agent has died. */
export const lost = 'AGENT_LOST';

export class ClusterAgent {
  readonly nodeId: string;
  isFrozen = false;
  readonly #process: ChildProcess;
  readonly #asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #isOpen = false;
  #numbers = 0;

  constructor(options: ClusterAgentOptions) {
    this.nodeId = options.nodeId;
    const path = builtProgram(new URL('./kill-cluster-agent.ts', import.meta.url));
    this.#process = fork(path, [JSON.stringify(options)], { execArgv: [] });
    this.#process.on('error', () => undefined);
    this.#process.on('message', (told: Told) => this.#hear(told));
    this.#process.on('exit', () => {
      for (const { reject } of this.#asked.values())
        reject(Object.assign(new Error(`${this.nodeId} died`), { code: lost }));
      this.#asked.clear();
    });
  }

  async open(): Promise<this> {
    await eventually(`${this.nodeId} is open`, () => {
      if (this.isGone) throw new Error(`${this.nodeId} ended before it was open`);
      return this.#isOpen;
    });
    return this;
  }

  get isGone(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** @throws Error with the code of the answer, or AGENT_LOST */
  ask(ask: Ask): Promise<unknown> {
    this.#numbers += 1;
    const number = this.#numbers;
    const answer = new Promise<unknown>((resolve, reject) => this.#asked.set(number, { resolve, reject }));
    answer.catch(() => {}); // may be looked at later
    if (this.isGone) this.#asked.get(number)?.reject(Object.assign(new Error('it is dead'), { code: lost }));
    else this.#process.send({ number, ask }, () => undefined);
    return answer;
  }

  async seen(id: string): Promise<Seen | undefined> {
    return (await this.ask({ op: 'get', id })) as Seen | undefined;
  }

  freeze(): void {
    this.isFrozen = true;
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.isFrozen = false;
    this.#process.kill('SIGCONT');
  }

  /** Asks it to end in order. */
  terminate(): void {
    this.#process.kill('SIGTERM');
  }

  async kill(): Promise<void> {
    if (this.isGone) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  #hear(told: Told): void {
    if (told.kind === 'open') {
      this.#isOpen = true;
      return;
    }
    const asked = this.#asked.get(told.number);
    this.#asked.delete(told.number);
    const { failed } = told;
    if (failed) asked?.reject(Object.assign(new Error(failed.message), { code: failed.code }));
    else asked?.resolve(told.value);
  }
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof StagecraftError || error instanceof Error ? String(Reflect.get(error, 'code')) : undefined;

export class ClusterScene {
  readonly scene: Scene;
  readonly store: RedisStoreOptions;
  readonly driver: FaultDriver;
  readonly #agents: ClusterAgent[] = [];

  private constructor(scene: Scene, store: RedisStoreOptions, driver: FaultDriver) {
    this.scene = scene;
    this.store = store;
    this.driver = driver;
  }

  static async start(store: RedisStoreOptions): Promise<ClusterScene> {
    const scene = new Scene();
    const folder = scene.directory();
    const driver = await faultDriver({
      ...{ socketPath: join(folder, 'csi.sock'), nodeId: 'node-1', peerNodes: ['node-2'], attach: true },
      dataDir: join(folder, 'data'),
    });
    scene.atEnd(() => driver.stop());
    return new ClusterScene(scene, store, driver);
  }

  agent(nodeId: string, plugins: string[], dataDir = join(this.scene.directory(), 'data')): Promise<ClusterAgent> {
    const agent = new ClusterAgent({
      ...{ store: this.store, nodeId, plugins, socketPath: this.driver.socketPath, timeoutMs, dataDir },
    });
    this.#agents.push(agent);
    return agent.open();
  }

  /** Mutating calls about volumes, of all instances. */
  get calls(): RecordedCall[] {
    return this.driver.calls().filter(({ rpc }) => changing.has(rpc));
  }

  async end(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.kill()));
    await this.scene.clear();
  }

  /** The laws over all instances: D5. */
  judge(): void {
    // The same call may be repeated elsewhere while nothing was heard of it.
    const repeats = /^call \d+, (\w+).*: call \d+, \1, is under way/;
    const violations = this.driver.violations().map(({ text }) => text);
    expect(violations.filter((text) => !repeats.test(text))).to.deep.equal([]);
    const { calls } = this;
    const volumeOf = volumesOf(calls);
    for (const call of calls) {
      const undone = undoes.get(call.rpc);
      const earlier = calls.filter((one) => one.rpc === undone && one.number < call.number);
      for (const one of earlier.filter((other) => volumeOf(other) === volumeOf(call))) {
        const mayLastUntilMs = Math.min(one.end?.atMs ?? Number.POSITIVE_INFINITY, one.beganAtMs + timeoutMs);
        const what = `call ${call.number}, ${call.rpc}, while call ${one.number}, ${one.rpc}, may be under way`;
        expect(call.beganAtMs, what).to.be.at.least(mayLastUntilMs);
      }
    }
  }
}

const undoes = new Map([
  ['ControllerUnpublishVolume', 'ControllerPublishVolume'],
  ['ControllerPublishVolume', 'ControllerUnpublishVolume'],
  ['DeleteVolume', 'CreateVolume'],
]);
const changing = new Set([...undoes.keys(), ...undoes.values()]);

/** Tells which calls are about one volume: a CreateVolume names it, and its answer, or that of a repeat, has the id. */
function volumesOf(calls: RecordedCall[]): (call: RecordedCall) => unknown {
  const ids = new Map<unknown, unknown>();
  for (const { rpc, request, end } of calls)
    if (rpc === 'CreateVolume' && end?.answer) ids.set(nameIn(request), idIn(Reflect.get(end.answer, 'volume')));
  return ({ rpc, request }) => (rpc === 'CreateVolume' ? ids.get(nameIn(request)) : idIn(request));
}

const nameIn = (request: object): unknown => Reflect.get(request, 'name');
const idIn = (holder: unknown): unknown => Reflect.get(Object(holder), 'volumeId');

/**
 * One node whose driver, agent and store are killed and come up again: the processes, the strikes, and how it is afterwards.
 * What is struck when: kill-plan.ts
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../src/engine/store.js';
import { messageOf } from '../../src/errors.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { builtProgram } from '../built.js';
import { RedisProcess } from '../redis/servers.js';
import { askAgent } from '../support/ask-agent.js';
import { eventually } from '../until.js';
import { AgentProcess, mainPath, makePlace, type Place, pluginPids, removePlace } from './agent-process.js';
import { moments, type Program, type Strike } from './kill-plan.js';
import { durable } from './redis-scene.js';

const followingAgentPath = builtProgram(new URL('./kill-following-agent.ts', import.meta.url));

/** The process that serves the plugin, and the instance as which it is registered. */
export interface Served {
  pid: number;
  allocId: string;
}

export class KillScene {
  readonly place: Place;
  /** Where followers write what they have heard. */
  readonly heardDirectory: string;
  /** Absent for the embedded store. */
  readonly server: RedisProcess | undefined;
  #agent: AgentProcess;
  /** Lines of the agent that were said before the last strike. */
  #said = 0;
  /** Pids that were killed since the plugin was last found healthy. */
  readonly #killed = new Set<number>();

  private constructor(server: RedisProcess | undefined) {
    this.server = server;
    // The driver is to die often; only its pauses must stay short.
    const restart = { maxRestarts: 1_000_000, backoff: { initialMs: 10, maxMs: 100 } };
    this.place = makePlace({ restart }, { ...(server && { store: { redis: { url: server.url } } }) });
    this.heardDirectory = join(this.place.directory, 'heard');
    mkdirSync(this.heardDirectory);
    this.#agent = this.#start('follower');
  }

  static async start(store: 'lmdb' | 'redis'): Promise<KillScene> {
    return new KillScene(store === 'redis' ? await RedisProcess.start({ config: durable }) : undefined);
  }

  /** What the node's state is in: not open yet, and not to be opened while an agent runs. */
  store(): Store {
    return this.server ? redisStore(this.server.url) : lmdbStore(join(this.place.dataDir, 'state'));
  }

  async strike({ victim, moment, delayMs, successor }: Strike): Promise<void> {
    if (moment) await this.#agent.line(moments[moment], this.#said);
    await pause(delayMs); // the moment itself, not a wait for something
    this.#said = this.#agent.lines.length;
    switch (victim) {
      case 'driver':
        return this.#killDriver();
      case 'agent':
        return this.#killAgent(successor);
      case 'driver, then agent':
        this.#killDriver();
        return this.#killAgent(successor);
      case 'agent, then driver':
        return this.#killAgent(successor, () => this.#killDriver());
      case 'store':
        return this.#killStore();
    }
  }

  /**
   * Resolves when the plugin is healthy, and what serves it is the one process that there is and none that was killed.
   * @throws Error if that takes too long, with what the agent said
   */
  async healthy(): Promise<Served> {
    await this.#agent.ready();
    let served: Served | undefined;
    const isServed = async () => {
      served = await this.#served();
      return served;
    };
    await eventually('the plugin is healthy again', isServed).catch((cause: unknown) => {
      throw new Error(`${messageOf(cause)}; the agent said:\n${this.#agent.lines.join('\n')}`, { cause });
    });
    if (!served) throw new Error('what serves it is not known');
    this.#killed.clear();
    return served;
  }

  /** Resolves when the agent is gone, and no other comes after it. */
  async endAgent(): Promise<void> {
    await this.#agent.kill('SIGKILL');
  }

  /** As an operator drains a node: resolves when an agent has stopped all, and ended. */
  async drain(): Promise<void> {
    this.#agent = this.#start('stagecraft agent');
    await this.#agent.ready();
    await askAgent(this.place.socketPath, 'POST', '/v1/drain');
    await this.#agent.exited;
  }

  async remove(): Promise<void> {
    removePlace(this.place, this.#agent);
    await this.server?.remove();
  }

  async #served(): Promise<Served | undefined> {
    const { info } = await this.#agent.healthy();
    const [pid, another] = pluginPids(this.place);
    if (pid === undefined || another !== undefined || this.#killed.has(pid)) return undefined;
    return isRunOf(pid, info.allocId) ? { pid, allocId: info.allocId } : undefined;
  }

  #start(program: Program): AgentProcess {
    const follower = [followingAgentPath, '--heard', this.heardDirectory];
    return new AgentProcess(this.place, program === 'follower' ? follower : [mainPath, 'agent']);
  }

  #killDriver(): void {
    for (const pid of pluginPids(this.place)) {
      process.kill(pid, 'SIGKILL');
      this.#killed.add(pid);
    }
  }

  async #killAgent(successor: Program, meanwhile: () => void = () => {}): Promise<void> {
    await this.#agent.kill('SIGKILL');
    meanwhile();
    this.#agent = this.#start(successor);
    this.#said = 0;
  }

  async #killStore(): Promise<void> {
    await this.#agent.ready(); // one that finds no store as it starts ends by itself
    await this.server?.kill();
    await this.server?.run();
  }
}

/** Whether this process was started as the run that is registered so. */
function isRunOf(pid: number, allocId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`STAGECRAFT_TOKEN=${allocId}.`);
  } catch {
    return false; // it is gone
  }
}

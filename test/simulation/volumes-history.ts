/** One history of volumes: users, nodes, a plugin and a store with their troubles, runtime after runtime; then peace. */

import { isDeepStrictEqual } from 'node:util';
import { StateMachine } from 'xstate';
import * as machines from '../../machines/index.js';
import { clusterOwnedPrefixes, volumeAddress } from '../../machines/kit/addresses.js';
import type { Leftover } from '../../machines/volume/types.js';
import type { PluginPort } from '../../src/calls/plugin-port.js';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import type { Logger } from '../../src/engine/logger.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { allCapabilities } from '../volumes/fake-plugin.js';
import { HistoryTranscript, type TranscriptOptions } from './history-transcript.js';
import { PluginObservations } from './plugin-observations.js';
import { isSnapshotSettled, type SeenSnapshot, snapshotFaults, snapshotRemains } from './snapshots-judgement.js';
import { memory, type Subject, type SubjectKind } from './stores.js';
import { Timeline } from './timeline.js';
import { SimulatedDriver } from './volumes-driver.js';
import { CommitJudge, isSettled, leaks, restFaults, type SeenVolume } from './volumes-judgement.js';
import { VolumesLife } from './volumes-life.js';
import { lineOfSnapshot, lineOfVolume } from './volumes-lines.js';
import { driverNow, type Moment, takeUp } from './volumes-moment.js';
import { csiNodeIdOf, nodeIds, type Step, type VolumesPlan } from './volumes-plan.js';
import { SimulatedSecrets } from './volumes-secrets.js';
import { Users } from './volumes-users.js';
import { type Witness, witness } from './witness.js';
import { type Write, withWrites, writeAgain } from './writes.js';

const addressOf = ({ context: { key } }: SeenVolume): string => volumeAddress(key.namespace, key.id);
const chunkMs = 5_000;
const startAgainMs = 1_000;
/** Longest: a hung call, what it compensates, a lease; then backoff. */
const peaceMs = 120_000;
/** Longest between two looks at a snapshot that is not ready. */
const lookMs = 60_000;

interface VolumesEnd {
  faults: string[];
  transcript: string[];
  /** How much there was of it. */
  calls: number;
  commits: number;
  lives: number;
}

interface HistoryOptions extends TranscriptOptions {
  /** Called with each commit that was written, in order. */
  committed?(commit: Commit, run: VolumesRun): void;
  /** Called with each write that the store has taken, in order. */
  written?(write: Write): void;
  /** Where it goes on from another history; default: it begins. Then no step of its plan is done. */
  from?: Moment;
  /** Default: memory. */
  stores?: SubjectKind;
  /** Limits that differ from those of an engine by default. */
  policy?: Partial<ActorPolicy>;
  /** Plays a history that was recorded with version 3, or an earlier one: asked-as-before.ts */
  isAskedAsBefore?: boolean;
}

const presentVersions = new Map<string, string | undefined>(
  Object.values(machines).flatMap((one) => (one instanceof StateMachine ? [[one.id, one.version]] : [])),
);

export async function volumesHistory(plan: VolumesPlan, options: HistoryOptions = {}): Promise<VolumesEnd> {
  const run = new VolumesRun(plan, options);
  return run.run();
}

class VolumesRun {
  readonly #plan: VolumesPlan;
  readonly #calls = { now: 0 };
  readonly #timeline = new Timeline(() => this.#calls.now > 0);
  readonly #transcript: HistoryTranscript;
  readonly #options: HistoryOptions;
  readonly #driver: SimulatedDriver;
  readonly #observations: PluginObservations;
  readonly #secrets: SimulatedSecrets;
  readonly #judge: CommitJudge;
  readonly #witness: Witness;
  readonly #users: Users;
  readonly #lives: VolumesLife[] = [];
  #subject: Subject | undefined;
  #isOver = false;

  constructor(plan: VolumesPlan, options: HistoryOptions) {
    const { seed, traits } = plan;
    const timeline = this.#timeline;
    const transcript = new HistoryTranscript(timeline, options);
    this.#transcript = transcript;
    this.#plan = plan;
    this.#options = options;
    timeline.monotonicMs = options.from?.atMs ?? 0;
    const { faults, isLocking } = traits;
    // On a node that was given up on record, the runtime may take that for an answer.
    const denies = !plan.steps.some((step) => step.do === 'node' && step.change !== 'report');
    this.#driver = new SimulatedDriver({ seed, timeline, faults, isLocking, denies, transcript });
    const { plugin } = this.#driver;
    const offered = [...allCapabilities, ...(traits.snapshots?.finds ?? [])];
    plugin.capabilities = offered.filter((one) => !traits.lacks.includes(one));
    if (traits.lacks.includes('CREATE_DELETE_VOLUME'))
      for (const id of Object.keys(traits.modes))
        plugin.volumes.set(id, { id, name: id, isFound: true, capacityBytes: 1n, attached: new Set() });
    this.#observations = new PluginObservations(timeline, new Set(plugin.capabilities));
    this.#secrets = new SimulatedSecrets(timeline);
    plugin.mayBeLeft = ({ name }) => this.#isLeft(name, 'published');
    this.#driver.accepts = (secrets) => this.#secrets.areRight(secrets);
    plugin.unreadyFor = traits.snapshots?.unreadyFor ?? 0;
    this.#witness = witness(timeline, this.#calls);
    this.#judge = new CommitJudge({
      secrets: () => this.#secrets.values,
      changed: (volume) => {
        transcript.state(() => lineOfVolume(volume));
        this.#users.saw(volume);
      },
      snapshotChanged: (snapshot) => {
        transcript.state(() => lineOfSnapshot(snapshot));
        this.#users.snapshots.saw(snapshot);
      },
    });
    plugin.copies.neededFor = (id) => this.#judge.needing(id);
    this.#users = new Users({
      seed,
      timeline,
      traits,
      tell: (line) => transcript.answer(line),
      life: () => (this.#life?.state === 'up' ? this.#life : undefined),
      heard: (text) => this.#judge.scan(text, 'an error'),
    });
  }

  async run(): Promise<VolumesEnd> {
    const { from, stores = memory } = this.#options;
    this.#subject = await stores.make(() => this.#timeline.monotonicMs);
    try {
      if (from) await this.#goOn(from);
      else await this.#live();
      await this.#end();
    } catch (error) {
      this.#users.faults.push(`the history broke off: ${error instanceof Error ? error.stack : error}`);
    }
    this.#isOver = true;
    for (const life of this.#lives) life.kill();
    this.#observations.end();
    await this.#subject.dispose();
    return {
      faults: this.#faults(),
      transcript: this.#transcript.lines,
      calls: this.#driver.plugin.calls.length,
      commits: this.#witness.count(),
      lives: this.#lives.length,
    };
  }

  /** Since the beginning of the history. */
  get atMs(): number {
    return this.#timeline.monotonicMs;
  }

  /** What a runtime would find here, were this one to end now. */
  moment(shows: string[], writes: Write[]): Moment {
    return {
      shows,
      plan: this.#plan,
      atMs: this.#timeline.monotonicMs,
      writes,
      driver: driverNow(this.#driver),
      leftovers: [...this.#judge.leftovers],
      snapshotLeftovers: [...this.#judge.snapshotLeftovers],
    };
  }

  /** Everything that was under way comes to its end. */
  async #goOn(from: Moment): Promise<void> {
    if (!this.#subject) throw new Error('it has no store');
    this.#driver.isWell = true;
    this.#isOver = true;
    takeUp(from, this.#driver);
    for (const [name, left] of from.leftovers) this.#judge.leftovers.set(name, left);
    for (const text of from.snapshotLeftovers) this.#judge.snapshotLeftovers.add(text);
    const store = this.#witness.before(this.#subject.connect());
    await this.#passing(store.open().then(() => writeAgain(store, from.writes)));
    await this.#passing(this.#up());
    for (const volume of await this.#volumes()) this.#judge.sees(addressOf(volume), volume);
    for (const snapshot of await this.#snapshots()) this.#judge.seesSnapshot(snapshot);
    await this.#makePeace();
    await this.#untilAllSeen(true);
    await this.#readJournals();
  }

  /** The journal of each actor leads to what it is, from the entry on that has migrated it. */
  async #readJournals(): Promise<void> {
    const { engine } = this.#must;
    // An actor at rest is migrated when somebody asks for it.
    for (const address of this.#witness.commits.keys()) await this.#passing(engine.read(address));
    for (const [address, commits] of this.#witness.commits) {
      const { snapshot, machine, version } = decodeRecord(commits.at(-1)?.text ?? '');
      // An actor that an older version has deleted is not migrated: only that version reads its journal.
      if (!snapshot && version !== presentVersions.get(machine)) continue;
      const replayed = await this.#passing(engine.journals.replay(address));
      if (!isDeepStrictEqual(replayed.snapshot, snapshot))
        this.#users.faults.push(`the journal of ${address} leads to ${JSON.stringify(replayed)}`);
    }
  }

  async #live(): Promise<void> {
    await this.#passing(this.#up());
    await this.#users.reportNodes();
    for (const step of this.#plan.steps) this.#timeline.after(step.atMs, () => this.#do(step));
    await this.#timeline.rest(undefined, (this.#plan.steps.at(-1)?.atMs ?? 0) + 1_000);
    await this.#makePeace();
    await this.#untilAllSeen(this.#plan.traits.isRetried);
  }

  /** Until all is settled, and what somebody has detached is known. */
  async #untilAllSeen(isRetried: boolean): Promise<void> {
    await this.#untilSettled(isRetried);
    if (!this.#plan.steps.some((step) => step.do === 'detach')) return;
    // Only now it can be known that all is seen.
    this.#users.do({ atMs: 0, do: 'reconcile' });
    await this.#untilSettled(isRetried);
  }

  /** All is as it should be, and all is deleted. */
  async #end(): Promise<void> {
    await this.#judgeRest();
    await this.#deleteSnapshots();
    await this.#users.deleteAll(() => this.#untilSettled(true));
    if (this.#plan.traits.limit !== undefined) {
      await this.#users.fillNodes(() => this.#untilSettled(true));
      await this.#users.deleteAll(() => this.#untilSettled(true));
    }
    await this.#judgeRest();
    for (const { context, state } of await this.#volumes())
      if (context.leftovers.length === 0)
        this.#users.faults.push(
          `${context.key.id} is there after it was deleted: ${JSON.stringify({ state, context })}`,
        );
    const left = [...this.#driver.plugin.volumes.values()].filter(
      ({ name, isFound }) => !isFound && !this.#isLeft(name, 'created'),
    );
    for (const { id, name } of left) this.#users.faults.push(`${id} (${name}) is there after all were deleted`);
  }

  async #deleteSnapshots(): Promise<void> {
    if (!this.#plan.traits.snapshots) return;
    await this.#users.snapshots.deleteAll(() => this.#untilSettled(true));
    const { snapshotLeftovers } = this.#judge;
    this.#users.faults.push(...snapshotRemains(await this.#snapshots(), this.#driver, snapshotLeftovers));
  }

  get #life(): VolumesLife | undefined {
    return this.#lives.at(-1);
  }

  get #must(): VolumesLife {
    if (!this.#life) throw new Error('nobody is there');
    return this.#life;
  }

  #isLeft(name: string, what: Leftover['what']): boolean {
    return this.#judge.leftovers.get(name)?.some((one) => one.what === what) === true;
  }

  #faults(): string[] {
    const { plugin, faults } = this.#driver;
    return [...plugin.wrongs, ...faults, ...this.#judge.faults, ...this.#witness.faults, ...this.#users.faults];
  }

  /** Nothing goes wrong from here on, and somebody is there. */
  async #makePeace(): Promise<void> {
    this.#transcript.call('peace');
    this.#driver.isWell = true;
    this.#driver.isDead = false;
    this.#driver.spell = undefined;
    this.#secrets.trouble = undefined;
    this.#observations.mend();
    this.#isOver = true;
    this.#life?.spare();
    if (this.#life?.state !== 'up' && this.#life?.state !== 'opening') {
      for (const life of this.#lives) life.kill();
      await this.#passing(this.#up());
    }
    await this.#timeline.rest(() => this.#life?.state === 'up', chunkMs);
    await this.#users.reportNodes();
  }

  async #untilSettled(isRetried: boolean): Promise<void> {
    const endMs = this.#timeline.monotonicMs + peaceMs + (this.#plan.traits.snapshots?.unreadyFor ?? 0) * lookMs;
    do await this.#timeline.rest(undefined, chunkMs);
    while (this.#timeline.monotonicMs < endMs && !(await this.#isSettled()));
    if (isRetried && (await this.#users.retryFailed())) await this.#untilSettled(false);
  }

  async #isSettled(): Promise<boolean> {
    return (await this.#volumes()).every(isSettled) && (await this.#snapshots()).every(isSnapshotSettled);
  }

  async #snapshots(): Promise<SeenSnapshot[]> {
    if (!this.#plan.traits.snapshots) return [];
    const { engine } = this.#must;
    const pages = clusterOwnedPrefixes
      .filter((prefix) => prefix.endsWith('snapshot/'))
      .map((prefix) => engine.page({ prefix, limit: 100 }));
    const found = await this.#passing(Promise.all(pages));
    return found.flatMap(({ rows }) =>
      // What is at these addresses was made by the machines of snapshots.
      rows.map(([address, { context }]) => ({ address, context: context as SeenSnapshot['context'] })),
    );
  }

  async #volumes(): Promise<SeenVolume[]> {
    const { rows } = await this.#passing(this.#must.engine.page({ prefix: 'volume/', limit: 100 }));
    // What is at this address was made by the machine of volumes.
    return rows.map(([, { state, context }]) => ({ state, context: context as SeenVolume['context'] }));
  }

  /** Time passes until it is done. */
  async #passing<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    await this.#timeline.rest(() => isDone, peaceMs);
    return done;
  }

  async #judgeRest(): Promise<void> {
    const { plugin } = this.#driver;
    const volumes = await this.#volumes();
    for (const volume of volumes)
      this.#users.faults.push(...restFaults(volume, plugin, this.#judge.leftovers.get(volume.context.name) ?? []));
    this.#users.faults.push(...leaks(volumes, plugin, this.#judge.leftovers));
    const { snapshotLeftovers } = this.#judge;
    this.#users.faults.push(...snapshotFaults(await this.#snapshots(), this.#driver, snapshotLeftovers));
    const contextOf = (id: string): SeenVolume['context'] | undefined =>
      volumes.find(({ context }) => context.key.id === id)?.context;
    this.#users.faults.push(...this.#users.ledger.broken(contextOf));
  }

  async #up(): Promise<void> {
    const before = this.#life;
    if (!this.#subject || before?.state === 'opening' || before?.state === 'up') return;
    if (before?.state === 'dead') await this.#subject.crash();
    const others = [...this.#lives];
    // None is called as one before the moment: names and chance come of the number.
    const number = this.#lives.length + (this.#options.from ? 101 : 1);
    const { seed, traits } = this.#plan;
    const tell = (line: string): void => this.#transcript.call(line);
    const life = new VolumesLife({
      seed,
      number,
      timeline: this.#timeline,
      store: this.#seen(this.#witness.before(this.#written(this.#subject.connect()))),
      traits,
      plugins: (caller): PluginPort => this.#observations.port(caller, () => this.#driver.line(caller)),
      secrets: this.#secrets,
      logger: this.#logger(),
      tell,
      policy: this.#options.policy ?? {},
      isAskedAsBefore: this.#options.isAskedAsBefore ?? false,
    });
    this.#lives.push(life);
    if (this.#isOver) life.spare();
    tell(`${life.name} begins`);
    this.#driver.excuse();
    try {
      await life.begin(() => {
        for (const other of others) other.isReplaced = true;
      });
    } catch (error) {
      // As a runtime that can't start: whoever started it tries again.
      tell(`${life.name} does not come up: ${error}`);
      life.kill();
      this.#timeline.after(startAgainMs, () => void this.#up());
    }
  }

  #written(store: Store): Store {
    const { written } = this.#options;
    return written ? withWrites(store, written) : store;
  }

  #seen(store: Store): Store {
    return {
      ...store,
      commit: async (items) => {
        const results = await store.commit(items);
        for (const [at, item] of items.entries()) {
          if (results[at]?.status !== 'done') continue;
          this.#judge.committed(item);
          this.#options.committed?.(item, this);
        }
        return results;
      },
      appendTopic: (topic, entries) => {
        for (const { text } of entries) {
          this.#judge.scan(text, 'an event');
          this.#transcript.answer(`  broadcast: ${text}`);
        }
        return store.appendTopic(topic, entries);
      },
    };
  }

  #logger(): Logger {
    const hear = (fields: object, line: string): void => this.#judge.scan(`${JSON.stringify(fields)} ${line}`, 'a log');
    return { debug: () => {}, info: hear, warn: hear, error: hear };
  }

  #do(step: Step): void {
    if (this.#isOver) return;
    switch (step.do) {
      case 'spell':
        this.#transcript.call(`spell: ${step.code}${step.works ? ', done all the same' : ''}, for ${step.forMs} ms`);
        this.#driver.spell = step;
        this.#timeline.after(step.forMs, () => {
          if (this.#driver.spell === step) this.#driver.spell = undefined;
        });
        break;
      case 'plugin':
        this.#transcript.call(`the plugin is ${step.is} for ${step.forMs} ms`);
        if (step.is === 'dead') this.#driver.die();
        this.#observations.worsen(step.is, step.forMs, () => {
          if (step.is === 'dead') this.#driver.isDead = false;
        });
        break;
      case 'secrets':
        this.#transcript.call(`secrets are ${step.are} for ${step.forMs} ms`);
        this.#secrets.worsen(step.are, step.forMs);
        break;
      case 'detach':
        this.#detach(step);
        break;
      case 'crash':
      case 'freeze':
        if (this.#life?.state === 'up') this.#endLife(this.#life, step);
        break;
      default:
        this.#driver.excuse();
        this.#users.do(step);
    }
  }

  /** From this node, or from another one where it is. */
  #detach({ volume, node }: Extract<Step, { do: 'detach' }>): void {
    const attached = this.#driver.plugin.volumes.get(this.#users.csiIdOf(volume) ?? '')?.attached ?? new Set();
    const nodes = [node, ...nodeIds].filter((one) => attached.has(csiNodeIdOf(one)));
    const [found] = nodes;
    if (found === undefined) return;
    this.#transcript.call(`somebody takes ${volume} from ${found}`);
    this.#users.lost(volume, found);
    attached.delete(csiNodeIdOf(found));
  }

  #endLife(life: VolumesLife, { do: how, calls, moment, downMs }: Extract<Step, { do: 'crash' | 'freeze' }>): void {
    const { leaseTtlMs } = this.#plan.traits;
    life.endAt({
      how,
      calls,
      moment,
      ended: () => {
        this.#users.forget();
        if (how === 'crash') {
          this.#later(downMs, () => void this.#up());
          return;
        }
        this.#later(leaseTtlMs + 1, () => void this.#up());
        this.#later(leaseTtlMs + 1 + downMs, () => life.thaw());
      },
    });
  }

  #later(ms: number, work: () => void): void {
    this.#timeline.after(ms, () => {
      if (!this.#isOver) work();
    });
  }
}

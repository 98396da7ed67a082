/**
 * Random lives of a mount, under plain XState, over a model of a driver and its kernel: uses come and go, answers are lost,
 * calls have to wait, the host is killed at any moment, and so is what serves the staging path. A use that has let go has left nothing behind,
 * what is used is there, and nothing is made over what is dead. Each seed tells its story when it fails.
 */

import { expect } from 'chai';
import { createActor, fromPromise, SimulatedClock, type Snapshot } from 'xstate';
import { callUnderWay } from '../../../machines/kit/call.js';
import type { AdmissionOutcome, CallOutcome } from '../../../machines/kit/csi-types.js';
import type { NodePublishAnswer, NodeUnpublishAnswer, StageAnswer } from '../../../machines/mount/calls.js';
import { mountMachine } from '../../../machines/mount/mount.js';
import { isDead, isStaged, type Staging } from '../../../machines/mount/staging.js';
import { hasNoTarget, isWanted } from '../../../machines/mount/target.js';
import type { MountObservation, StagingObservation } from '../../../machines/mount/types.js';
import { isStagingOwed } from '../../../machines/mount/work.js';
import { seededRandom } from '../../../src/testing/seeded-random.js';
import { stamped } from '../stamped.js';
import { type Answer, done, failed, interrupted, late, mustWait, notBegun, wait } from './random-answers.js';

const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const volume = { uid: 'u', plugin: 'disk', csiId: 'v', volumeContext: {}, publishContext: {}, secrets: {} };
const allocs = ['a', 'b', 'c'];
const found = { device: '8:1', root: '/v' };
const bootId = 'b';

const effects: Record<string, string> = {
  stage: 'nodeStage',
  publish: 'nodePublish',
  unpublish: 'nodeUnpublish',
  unstage: 'nodeUnstage',
};

interface OpenCall {
  call: string;
  allocId: string;
  /** A publish that may have been done before. */
  isRepeat: boolean;
}

/** `own`: a process of its own serves it, so that it outlives its staging path. */
type Target = 'living' | 'dead' | 'own';

interface Observation {
  users: MountObservation[];
  staging: StagingObservation[];
}

/** One life: what is asked, what happens in truth, what is believed. */
class Life {
  readonly story: string[] = [];
  /** Steps after which a call waited. */
  waited = 0;
  readonly #chance: () => number;
  readonly #clock = new SimulatedClock();
  /** In truth. */
  #staging: 'none' | 'living' | 'dead' = 'none';
  readonly #targets = new Map<string, Target>();
  /** Whom the driver keeps a record of: a mount that vanishes leaves that. */
  readonly #recorded = new Set<string>();
  /** That the staging path is dead was told, and believed. */
  #isTold = false;
  /** Whose claims may have been lost as the host was down. */
  readonly #unconfirmed = new Set<string>();
  /** Seen, and not told yet. */
  #observation: Observation | undefined;
  /** Who had it a moment ago, and of these, who could use it. */
  #published: string[] = [];
  #served: string[] = [];
  #open: (OpenCall & { answer: (outcome: Answer) => void }) | undefined;
  /** A call waits until this is called. */
  #admit: ((outcome: AdmissionOutcome) => void) | undefined;
  #actor;
  #crash: unknown;
  readonly #stages: boolean;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#chance = () => random.next();
    this.#stages = this.#chance() < 0.8;
    this.#actor = this.#start(undefined);
  }

  #start(snapshot: Snapshot<unknown> | undefined) {
    const call = (name: string) =>
      fromPromise<CallOutcome<never>, object>(
        ({ input }) =>
          new Promise((resolve) => {
            const { allocId = '', isRepeat = false } = input as { allocId?: string; isRepeat?: boolean };
            if (this.#open) this.#fault(`${name} is asked while ${this.#open.call} is in flight`);
            if (this.#isTold && (name === 'stage' || name === 'publish')) this.#fault(`${name} over what is dead`);
            if (name === 'publish' && this.#unconfirmed.has(allocId))
              this.#fault(`publish ${allocId}, whose claim may be lost`);
            // The model gives each call an answer of its own type.
            const answer = (outcome: Answer): void => resolve(outcome as CallOutcome<never>);
            this.#open = { call: name, allocId, isRepeat, answer };
          }),
      );
    const awaitAdmission = fromPromise<AdmissionOutcome, object>(
      () =>
        new Promise((resolve) => {
          if (this.#open) this.#fault(`a call waits while ${this.#open.call} is in flight`);
          this.#admit = resolve;
        }),
    );
    const machine = mountMachine.provide({
      actors: {
        awaitAdmission: awaitAdmission as never,
        nodeStage: call('stage') as never,
        nodePublish: call('publish') as never,
        nodeUnpublish: call('unpublish') as never,
        nodeUnstage: call('unstage') as never,
      },
    });
    const logic = stamped(machine, () => ({ at: this.#clock.now(), random: this.#chance() }));
    const options = { input: { node: 'n', namespace: 'default', id: 'data' }, clock: this.#clock };
    const actor = createActor(logic, snapshot ? { ...options, snapshot } : options);
    actor.subscribe({
      error: (fault) => {
        this.#crash = fault;
      },
    });
    actor.start();
    return actor;
  }

  /** Told at the end of the step: a throw in a call would be taken for its failure. */
  #fault(what: string): void {
    this.#crash ??= new Error(what);
  }

  get context() {
    return this.#actor.getSnapshot().context;
  }

  async step(isQuiet: boolean): Promise<void> {
    const dice = this.#chance();
    const allocId = allocs[Math.floor(this.#chance() * allocs.length)] ?? 'a';
    if (isQuiet || dice < 0.4) await this.#answer(isQuiet);
    else if (dice < 0.55) this.#use(allocId);
    else if (dice < 0.67) this.#leave(allocId);
    else if (dice < 0.73) await this.#kill();
    else if (dice < 0.77) this.#vanish(allocId);
    else if (dice < 0.82) this.#die();
    else if (dice < 0.83) this.#unmountDead();
    else if (dice < 0.84) this.#remake();
    else if (dice < 0.88) this.#observation = this.#look(this.#chance() < 0.7);
    else if (dice < 0.95) this.#tell(this.#observation ?? this.#look(this.#chance() < 0.7));
    else if (dice < 0.97) this.#ask('mount.retry');
    else if (dice < 0.98) this.#ask('mount.hasten');
    else this.#pass(1_000);
    if (isQuiet) this.#pass(600_000);
    for (let turn = 0; turn < 6; turn += 1) await Promise.resolve();
    this.#check();
  }

  /** Plain XState forgets its timers when it is restored; an engine doesn't. */
  #pass(delayMs: number): void {
    this.#clock.increment(delayMs);
    this.#actor.send({ type: 'settle' });
  }

  #use(allocId: string): void {
    this.story.push(`use ${allocId}`);
    this.#unconfirmed.delete(allocId);
    this.#actor.send({ type: 'mount.use', volume, capability, allocId, readOnly: false });
  }

  #leave(allocId: string): void {
    this.story.push(`leave ${allocId}`);
    this.#actor.send({ type: 'mount.leave', allocId });
  }

  /** Somebody unmounts it by hand, and the comparison finds that. */
  #vanish(allocId: string): void {
    const user = this.context.users.find((one) => one.allocId === allocId);
    if (user?.at !== 'published' || !this.#targets.delete(allocId)) return;
    this.story.push(`vanished ${allocId}`);
    const observation = { number: user.number, is: 'missing' as const, isMended: this.#chance() < 0.7 };
    this.#actor.send({ type: 'mount.observed', users: [observation], staging: [], isStart: false });
  }

  #ask(type: 'mount.retry' | 'mount.hasten'): void {
    this.story.push(type);
    this.#actor.send({ type });
  }

  /** What serves the staging path ends, and with it what is bound from there. */
  #die(): void {
    if (this.#staging !== 'living') return;
    this.story.push('the staging path is dead');
    this.#staging = 'dead';
    for (const [allocId, target] of this.#targets) if (target === 'living') this.#targets.set(allocId, 'dead');
  }

  /** Somebody unmounts it by hand, but nothing that is bound from it. */
  #unmountDead(): void {
    if (this.#staging !== 'dead') return;
    this.story.push('the dead staging path is unmounted by hand');
    this.#staging = 'none';
  }

  /** Its plugin mounts what is dead anew by itself. */
  #remake(): void {
    if (this.#staging !== 'dead') return;
    this.story.push('the dead staging path is made anew by its plugin');
    this.#staging = 'living';
    this.#isTold = false;
  }

  /** As the comparison does it. */
  #look(isMended: boolean): Observation {
    const { users, staging } = this.context;
    return {
      users: users.flatMap(({ allocId, at, number }) =>
        at === 'published' && this.#targets.get(allocId) === 'dead' ? [{ number, is: 'dead', isMended }] : [],
      ),
      staging: staging.at === 'not-needed' ? [] : this.#lookAtStaging(staging, isMended),
    };
  }

  #lookAtStaging(staging: Staging, isMended: boolean): StagingObservation[] {
    const { number } = staging;
    if (this.#staging === 'dead') return [{ number, isMended, isDead: true }];
    const isKept = this.context.users.some((user) => user.at === 'published');
    if (this.#staging === 'living') return isDead(staging) && isKept ? [{ number, isMended, isGone: true }] : [];
    if (isStaged(staging)) return [{ number, isMended }];
    return isDead(staging) ? [{ number, isMended, isGone: true }] : [];
  }

  #tell(observation: Observation): void {
    this.story.push(`told ${JSON.stringify(observation)}`);
    this.#observation = undefined;
    const { number } = this.context.staging;
    if (observation.staging.some((one) => one.isGone && one.number === number)) this.#isTold = false;
    this.#actor.send({ type: 'mount.observed', ...observation, isStart: false });
    if (isDead(this.context.staging) && this.#staging === 'dead') this.#isTold = true;
  }

  /** The host is killed, and started again on what was committed; the call in flight may have been done. */
  async #kill(): Promise<void> {
    const inFlight = this.#open;
    this.story.push(`killed${inFlight ? ` in ${inFlight.call} ${inFlight.allocId}` : ''}`);
    this.#open = undefined;
    const { value, context } = this.#actor.getSnapshot();
    this.#actor.stop();
    // What undoes it is asked only once it can't be under way any more: by then it was done, or never is.
    if (inFlight && this.#chance() < 0.5) this.#work(inFlight);
    // As an engine does it: what was in flight is taken up as a further run, which knows nothing of the one before.
    const kept = {
      status: 'active',
      value,
      context,
      historyValue: {},
      children: {},
      output: undefined,
      error: undefined,
    };
    this.#actor = this.#start(JSON.parse(JSON.stringify(kept)) as Snapshot<unknown>);
    const effect = inFlight && effects[inFlight.call];
    if (this.#waits) this.#admit = (output) => this.#admitted(output);
    if (effect)
      this.#actor.send({ type: `xstate.error.actor.${effect}`, error: interrupted, actorId: effect } as never);
    this.#actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    for (const { allocId } of this.context.users) {
      this.#unconfirmed.add(allocId);
      if (this.#chance() < 0.8) this.#confirm(allocId);
    }
  }

  /** As the engine does it in the next runtime. */
  #admitted(output: AdmissionOutcome): void {
    this.#actor.send({ type: 'xstate.done.actor.admission', output, actorId: 'admission' } as never);
  }

  #confirm(allocId: string): void {
    this.#unconfirmed.delete(allocId);
    this.#actor.send({ type: 'mount.confirm', allocId });
  }

  get #waits(): boolean {
    return this.#actor.getSnapshot().value === 'waiting-for-plugin';
  }

  /** The wait of a call ends, or is for something else by now. */
  #wait(isQuiet: boolean): void {
    const dice = isQuiet ? 1 : this.#chance();
    const how = dice < 0.2 ? 'waits for something else' : dice < 0.4 ? 'waited too long' : 'is let in';
    this.story.push(`  the call ${how}`);
    if (dice < 0.2) this.#actor.send({ type: 'wait.changed', ...wait });
    else this.#admit?.(dice < 0.4 ? late : { status: 'admitted' });
  }

  async #answer(isQuiet: boolean): Promise<void> {
    if (this.#waits) return this.#wait(isQuiet);
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const dice = isQuiet ? 1 : this.#chance();
    if (dice < 0.05) return this.#told(open, 'has to wait', mustWait);
    if (dice < 0.08) return this.#told(open, 'is to be asked again', { status: 'call-again' });
    if (dice < 0.1) return this.#told(open, 'not done, no answer', failed(false));
    if (dice < 0.2) {
      this.#work(open);
      return this.#told(open, 'done, no answer', failed(false));
    }
    if (dice < 0.27) return this.#told(open, 'refused for good', failed(true));
    if (dice < 0.3) return this.#told(open, 'a step is missing', failed(false, 'repair'));
    if (dice < 0.33) return this.#told(open, 'a step is missing, and nothing is called', notBegun);
    this.#told(open, 'done', this.#work(open));
  }

  #told(open: OpenCall & { answer: (outcome: Answer) => void }, how: string, outcome: Answer): void {
    this.story.push(`  ${open.call} ${open.allocId}: ${how}`);
    open.answer(outcome);
  }

  /** As a good driver does it. */
  #work({ call, allocId, isRepeat }: OpenCall): Answer {
    if (call === 'stage') {
      if (!this.#stages) return done({ isStaged: false, bootId } satisfies StageAnswer);
      // Some take what is dead for staged.
      if (this.#staging === 'dead' && this.#chance() < 0.5) return failed(false);
      if (this.#staging === 'none') this.#staging = 'living';
      return done({ isStaged: true, found, bootId } satisfies StageAnswer);
    }
    if (call === 'publish') return this.#publish(allocId, isRepeat);
    if (call === 'unpublish') {
      this.#targets.delete(allocId);
      this.#recorded.delete(allocId);
      return done({} satisfies NodeUnpublishAnswer);
    }
    if (this.#recorded.size > 0) this.#fault(`unstaged under ${[...this.#recorded].join(', ')}`);
    this.#staging = 'none';
    this.#isTold = false;
    return done({});
  }

  /** Some bind from what is dead, some don't. One that may have been made before is taken as it is. */
  #publish(allocId: string, isRepeat: boolean): Answer {
    if (this.#stages && this.#staging === 'none') return failed(false, 'repair');
    const dice = this.#chance();
    if (this.#staging === 'dead' && dice < 0.5) return failed(false);
    this.#recorded.add(allocId);
    const made = this.#stages && dice > 0.8 ? 'own' : this.#staging === 'dead' ? 'dead' : 'living';
    if (!isRepeat || !this.#targets.has(allocId)) this.#targets.set(allocId, made);
    return done({ found, bootId } satisfies NodePublishAnswer);
  }

  /** What must be so at every moment. */
  #check(): void {
    if (this.#crash !== undefined) throw this.#crash;
    const { users } = this.context;
    const called = callUnderWay(this.context);
    if (called?.kind !== this.#open?.call || (called?.allocId ?? '') !== (this.#open?.allocId ?? ''))
      throw new Error('another call is in flight than its record says');
    if (this.#waits && (this.#open || !this.context.awaiting)) throw new Error('it waits, and does not');
    if (!this.#waits && this.context.awaiting) throw new Error('it does not wait, and says so');
    if (this.#waits) this.waited += 1;
    for (const allocId of this.#recorded) {
      const user = users.find((one) => one.allocId === allocId);
      if (!user || hasNoTarget(user))
        throw new Error(`${allocId} is ${user?.at ?? 'let go'}, and its driver takes it for mounted`);
    }
    for (const { allocId, at } of users)
      if (at === 'published' && !this.#targets.has(allocId)) throw new Error(`${allocId} is not mounted`);
    const isHeld =
      users.some(({ at }) => at !== 'failed') ||
      isStagingOwed(this.context) ||
      this.context.staging.at === 'not-needed';
    if (this.#staging !== 'none' && !isHeld && !this.#open) throw new Error('nobody has it, and it is staged');
    for (const { allocId, at, next } of users) {
      const isServed = this.#isServed(allocId);
      if (next && isServed && this.#served.includes(allocId))
        throw new Error(`it is taken from ${allocId}, who has it`);
      const isNew = at === 'published' && !this.#published.includes(allocId);
      if (isNew && this.#isTold && !isServed) throw new Error(`${allocId} is given what is known to be dead`);
    }
    this.#published = users.filter(({ at }) => at === 'published').map(({ allocId }) => allocId);
    this.#served = this.#published.filter((allocId) => this.#isServed(allocId));
  }

  #isServed(allocId: string): boolean {
    const target = this.#targets.get(allocId);
    return target === 'living' || target === 'own';
  }

  /** Nothing goes wrong any more: whoever wants it has it, but for who waits for one that has it over a dead staging path. */
  async rest(): Promise<void> {
    this.story.push('nothing goes wrong any more');
    for (const { allocId } of this.context.users) this.#confirm(allocId);
    for (let turn = 0; turn < 60; turn += 1) {
      this.#tell(this.#look(true));
      await this.step(true);
    }
    const { users } = this.context;
    const isKept = this.#staging === 'dead' && users.some(({ at }) => at === 'published');
    for (const user of users) {
      const { allocId, at } = user;
      const isLeft = at === 'published' ? !this.#isServed(allocId) : at !== 'failed' && at !== 'lost';
      if (isLeft && !(isKept && isWanted(user))) throw new Error(`${allocId} is ${at} for ever`);
    }
  }

  /** Everybody has left, everything is answered: nothing is there. */
  async end(): Promise<void> {
    for (const allocId of allocs) this.#leave(allocId);
    for (let turn = 0; turn < 60; turn += 1) await this.step(true);
    expect(this.context.users).to.deep.equal([]);
    expect([this.#staging, [...this.#targets], [...this.#recorded]]).to.deep.equal(['none', [], []]);
    expect(this.context.volume).to.equal(null);
    this.#actor.stop();
  }
}

/** @returns after how many steps a call waited */
async function live(seed: number): Promise<number> {
  const life = new Life(seed);
  try {
    for (let step = 0; step < 60; step += 1) await life.step(false);
    await life.rest();
    await life.end();
    return life.waited;
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}\n${life.story.join('\n')}`);
  }
}

describe('random lives of a mount', () => {
  const seeds = Number(process.env.HISTORIES ?? 60);
  it(`M2 M3 M5 M6 M7 ${seeds} of them: no remains of users that left, nothing taken from the others`, async () => {
    let waited = 0;
    for (let seed = 1; seed <= seeds; seed += 1) waited += await live(seed);
    expect(waited).to.be.greaterThan(seeds);
  });
});

/**
 * Random lives of a mount, under plain XState, over a model of a driver and its kernel: uses come and go, answers are lost,
 * the host is killed at any moment. A use that has let go has left nothing behind, and what is used is there. Each seed
 * tells its story when it fails.
 */
import { expect } from 'chai';
import { createActor, fromPromise, SimulatedClock, type Snapshot } from 'xstate';
import type { CallOutcome } from '../../machines/csi-types.js';
import { mountMachine } from '../../machines/mount.js';
import type { NodePublishAnswer, NodeUnpublishAnswer, StageAnswer } from '../../machines/mount-calls.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { stamped } from './stamped.js';

const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const volume = { uid: 'u', plugin: 'disk', csiId: 'v', volumeContext: {}, publishContext: {}, secrets: {} };
const allocs = ['a', 'b', 'c'];
const found = { device: '8:1', root: '/v' };
const bootId = 'b';

type Answer = CallOutcome<unknown>;
const done = (answer: object): Answer => ({ status: 'done', answer });
const failed = (final: boolean, answerClass = final ? 'final' : 'unknown'): Answer => ({
  status: 'failed',
  failure: { code: 'CSI_ERROR', message: 'no', final, answerClass },
});
const anew: Answer = {
  status: 'failed',
  failure: { code: 'CALL_ANEW', message: 'again', final: false },
  retry: { initialMs: 0, maxMs: 0 },
  anew: true,
};

const effects: Record<string, string> = {
  stage: 'nodeStage',
  publish: 'nodePublish',
  unpublish: 'nodeUnpublish',
  unstage: 'nodeUnstage',
};

/** One life: what is asked, what happens in truth, what is believed. */
class Life {
  readonly story: string[] = [];
  readonly #chance: () => number;
  readonly #clock = new SimulatedClock();
  /** In truth. */
  #isStaged = false;
  readonly #targets = new Set<string>();
  #open: { call: string; allocId: string; answer: (outcome: Answer) => void } | undefined;
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
            const { allocId = '' } = input as { allocId?: string };
            if (this.#open) throw new Error(`${name} is asked while ${this.#open.call} is in flight`);
            // The model gives each call an answer of its own type.
            const answer = (outcome: Answer): void => resolve(outcome as CallOutcome<never>);
            this.#open = { call: name, allocId, answer };
          }),
      );
    const machine = mountMachine.provide({
      actors: {
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

  get context() {
    return this.#actor.getSnapshot().context;
  }

  async step(isQuiet: boolean): Promise<void> {
    const dice = this.#chance();
    const allocId = allocs[Math.floor(this.#chance() * allocs.length)] ?? 'a';
    if (isQuiet || dice < 0.45) await this.#answer(isQuiet);
    else if (dice < 0.6) this.#use(allocId);
    else if (dice < 0.8) this.#leave(allocId);
    else if (dice < 0.88) await this.#kill();
    else if (dice < 0.94) this.#vanish(allocId);
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
    this.#actor.send({ type: 'mount.use', volume, capability, allocId, readOnly: false, isClaimed: true });
  }

  #leave(allocId: string): void {
    this.story.push(`leave ${allocId}`);
    this.#actor.send({ type: 'mount.leave', allocId });
  }

  /** Somebody unmounts it by hand, and the comparison finds that. */
  #vanish(allocId: string): void {
    const user = this.context.users.find((one) => one.allocId === allocId);
    if (user?.state !== 'published' || !this.#targets.delete(allocId)) return;
    this.story.push(`vanished ${allocId}`);
    const sight = { number: user.number, is: 'missing' as const, isMended: this.#chance() < 0.7 };
    this.#actor.send({ type: 'mount.observed', users: [sight], staging: [], isStart: false });
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
    if (effect) this.#actor.send({ type: `xstate.done.actor.${effect}`, output: anew, actorId: effect } as never);
    this.#actor.send({ type: 'mount.observed', users: [], staging: [], isStart: true });
    for (const { allocId } of this.context.users)
      if (this.#chance() < 0.8) this.#actor.send({ type: 'mount.confirm', allocId });
  }

  async #answer(isQuiet: boolean): Promise<void> {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const dice = isQuiet ? 1 : this.#chance();
    if (dice < 0.1) return this.#told(open, 'not done, no answer', failed(false));
    if (dice < 0.2) {
      this.#work(open);
      return this.#told(open, 'done, no answer', failed(false));
    }
    if (dice < 0.27) return this.#told(open, 'refused for good', failed(true));
    if (dice < 0.3) return this.#told(open, 'a step is missing', failed(false, 'repair'));
    this.#told(open, 'done', this.#work(open));
  }

  #told(
    open: { call: string; allocId: string; answer: (outcome: Answer) => void },
    how: string,
    outcome: Answer,
  ): void {
    this.story.push(`  ${open.call} ${open.allocId}: ${how}`);
    open.answer(outcome);
  }

  /** As a good driver does it. */
  #work({ call, allocId }: { call: string; allocId: string }): Answer {
    if (call === 'stage') {
      if (!this.#stages) return done({ isStaged: false, bootId } satisfies StageAnswer);
      this.#isStaged = true;
      return done({ isStaged: true, found, bootId } satisfies StageAnswer);
    }
    if (call === 'publish') {
      if (this.#stages && !this.#isStaged) return failed(false, 'repair');
      this.#targets.add(allocId);
      return done({ found, bootId } satisfies NodePublishAnswer);
    }
    if (call === 'unpublish') {
      this.#targets.delete(allocId);
      return done({} satisfies NodeUnpublishAnswer);
    }
    if (this.#targets.size > 0) throw new Error(`unstaged under ${[...this.#targets].join(', ')}`);
    this.#isStaged = false;
    return done({});
  }

  /** What must be so at every moment. */
  #check(): void {
    if (this.#crash !== undefined) throw this.#crash;
    const { users } = this.context;
    const states = new Map(users.map(({ allocId, state }) => [allocId, state]));
    for (const allocId of this.#targets) {
      const state = states.get(allocId);
      if (state === undefined || state === 'failed' || state === 'detached')
        throw new Error(`${allocId} is ${state ?? 'let go'}, and its target is mounted`);
    }
    for (const [allocId, state] of states)
      if (state === 'published' && !this.#targets.has(allocId)) throw new Error(`${allocId} is not mounted`);
    const isHeld = users.some(({ state }) => state !== 'failed') || this.context.staging.state !== 'none';
    if (this.#isStaged && !isHeld && !this.#open) throw new Error('nobody has it, and it is staged');
  }

  /** Everybody has left, everything is answered: nothing is there. */
  async end(): Promise<void> {
    for (const allocId of allocs) this.#leave(allocId);
    for (let turn = 0; turn < 60; turn += 1) await this.step(true);
    expect(this.context.users).to.deep.equal([]);
    expect([this.#isStaged, [...this.#targets]]).to.deep.equal([false, []]);
    expect(this.context.volume).to.equal(null);
    this.#actor.stop();
  }
}

async function live(seed: number): Promise<void> {
  const life = new Life(seed);
  try {
    for (let step = 0; step < 60; step += 1) await life.step(false);
    await life.end();
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}\n${life.story.join('\n')}`);
  }
}

describe('random lives of a mount', () => {
  const seeds = Number(process.env.MOUNT_LIVES ?? 200);
  it(`M2 M3 M5 M6 M7 ${seeds} of them: nothing is left behind by who has let go, nothing taken from who has not`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) await live(seed);
  }).timeout(60_000 + seeds * 20);
});

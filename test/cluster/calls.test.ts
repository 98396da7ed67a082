/** Calls made by other agents, over a wire that loses, doubles, delays and reorders, while agents freeze, close and come again. */
import { expect } from 'chai';
import { startMs } from '../../src/cluster/call-server.js';
import { putWithinMs } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { type CallAgent, CallWorld, type CallWorldOptions, type Tracked, timeoutMs } from './call-world.js';

const outcomeOf = ({ end }: Tracked): string | undefined =>
  end?.error instanceof StagecraftError ? end.error.outcome : undefined;

describe('calls that another agent makes', () => {
  let world: CallWorld;
  let owner: CallAgent;
  let callee: CallAgent;

  const begin = async (options: Partial<CallWorldOptions> = {}): Promise<void> => {
    world = new CallWorld({ seed: 1, ...options });
    owner = await world.agent('owner');
    callee = await world.agent('callee');
    await owner.cluster.roster.follow();
  };
  beforeEach(() => begin());

  /** Calls once, and returns what became of it after a while. */
  const called = async (forMs = 1_000, number = world.call(owner, callee)): Promise<Tracked> => {
    await world.clock.advance(forMs);
    return world.tracked(number);
  };

  it('D3 nothing fails: made once, and answered', async () => {
    const { made, end } = await called();
    expect(made).to.have.lengthOf(1);
    expect(end?.value).to.equal('done 0');
  });

  it('D7 the agent is frozen before it has read the call: in doubt at once, and never made after it wakes', async () => {
    callee.freeze();
    const number = world.call(owner, callee);
    const { end } = await called(9_000, number);
    expect(outcomeOf(world.tracked(number))).to.equal('unknown');
    expect(end?.atMs).to.be.below(startMs + timeoutMs);
    callee.thaw();
    expect((await called(60_000, number)).made).to.deep.equal([]);
  });

  it('D7 frozen for less than counts as away, and too late: answered as not made', async () => {
    callee.freeze();
    const number = world.call(owner, callee);
    await world.clock.advance(5_500);
    callee.thaw();
    const { made, end } = await called(1_000, number);
    expect(made).to.deep.equal([]);
    expect(outcomeOf(world.tracked(number))).to.equal('refused');
    expect(String(end?.error)).to.include('late');
  });

  it('D7 frozen while it fetches the secrets: not begun after it wakes', async () => {
    world.secretsMs = () => 1_000;
    const number = world.call(owner, callee);
    await world.clock.advance(500);
    callee.freeze();
    await world.clock.advance(9_000);
    callee.thaw();
    expect((await called(60_000, number)).made).to.deep.equal([]);
  });

  it('D5 the agent closes while it makes the call: in doubt, and the call is ended', async () => {
    world.workMs = () => 5_000;
    const number = world.call(owner, callee);
    await world.clock.advance(100);
    await callee.close();
    const { made } = await called(100, number);
    expect(made.map(({ endedMs }) => endedMs)).to.deep.equal([100]);
    expect(outcomeOf(world.tracked(number))).to.equal('unknown');
  });

  it('D5 the agent ends before a call is sent: not made', async () => {
    await callee.close();
    expect(outcomeOf(world.tracked(world.call(owner, callee)))).to.equal(undefined);
    const tracked = await called();
    expect(outcomeOf(tracked)).to.equal('refused');
    expect(tracked.made).to.deep.equal([]);
  });

  it('D5 a new run of the agent is there: a call to the one before is not made by it', async () => {
    await callee.close();
    const again = await world.agent('callee', '2');
    const number = world.call(owner, callee);
    const tracked = await called(1_000, number);
    expect(outcomeOf(tracked)).to.equal('refused');
    expect((await called(1_000, world.call(owner, again))).end?.value).to.equal('done 1');
    expect(tracked.made).to.deep.equal([]);
  });

  it('D5 the agent counts as away while the call is being posted: in doubt, since it may arrive', async () => {
    await begin({ longestPutMs: putWithinMs });
    callee.freeze();
    await world.clock.advance(5_900);
    const number = world.call(owner, callee);
    await world.clock.advance(1_500);
    callee.thaw();
    const tracked = await called(60_000, number);
    if (tracked.made.length > 0) expect(outcomeOf(tracked)).not.to.equal('refused');
    expect(outcomeOf(tracked)).to.equal('unknown');
  });

  it('D5 answers lost for longer than they are kept: never told as not made', async () => {
    const number = world.call(owner, callee, { limitMs: 120_000 });
    await world.clock.advance(5);
    expect(world.tracked(number).made).to.have.lengthOf(1);
    world.wires.cut('owner/');
    await world.clock.advance(100_000);
    world.wires.heal();
    const { made, end } = await called(60_000, number);
    expect(end?.value).to.equal('done 0');
    expect(made).to.have.lengthOf(1);
  });

  it('D5 a call comes while the agent closes: not made', async () => {
    await begin({ longestPutMs: 1_000 });
    const number = world.call(owner, callee);
    void callee.close();
    const tracked = await called(20_000, number);
    expect(tracked.made).to.deep.equal([]);
    expect(tracked.end).not.to.equal(undefined);
  });

  it('D5 refused for its unknown age, and sent again before the answer came: not made either', async () => {
    world.unknownAges = 1;
    world.wires.freeze('owner/');
    const number = world.call(owner, callee);
    await world.clock.advance(10);
    world.unknownAges = 0;
    await world.clock.advance(2_000);
    world.wires.thaw('owner/');
    const tracked = await called(60_000, number);
    expect(outcomeOf(tracked)).to.equal('refused');
    expect(tracked.made).to.deep.equal([]);
  });

  it('D5 a plugin that never answers: the call is ended by its limit', async () => {
    world.workMs = () => Number.POSITIVE_INFINITY;
    const { made, end, declaredMs } = await called(startMs + timeoutMs + 1);
    expect(made).to.have.lengthOf(1);
    expect(made[0]?.endedMs).to.be.at.most(declaredMs + startMs + timeoutMs);
    expect(end).not.to.equal(undefined);
  });

  it('D5 the caller gives up while the agent fetches the secrets: not made', async () => {
    world.secretsMs = () => 1_000;
    const stop = new AbortController();
    const number = world.call(owner, callee, stop);
    await world.clock.advance(500);
    stop.abort(new Error('left'));
    expect((await called(20_000, number)).made).to.deep.equal([]);
  });

  describe('over a bad wire, while agents freeze, close and come again', () => {
    /** @returns how many calls were made, refused and in doubt */
    async function live(seed: number): Promise<Record<string, number>> {
      const dice = { lost: 0.15, doubled: 0.1, delayed: 0.1, overtaken: 0.1, failed: 0.1, longestDelayMs: 9_000 };
      world = new CallWorld({ seed, faults: dice, longestPutMs: putWithinMs });
      world.unknownAges = 0.02;
      const { random, clock, wires } = world;
      const upTo = (most: number): number => Math.floor(random.next() * most);
      world.workMs = () => upTo(random.next() < 0.1 ? 30_000 : 500);
      world.secretsMs = () => (random.next() < 0.3 ? upTo(6_000) : 0);
      owner = await world.agent('owner');
      const callees = [await world.agent('a'), await world.agent('b')];
      await owner.cluster.roster.follow();
      const stops: AbortController[] = [];
      for (let step = 0; step < 120; step += 1) {
        const at = upTo(callees.length);
        const one = callees[at];
        if (!one) throw new Error('no agent');
        const dial = random.next();
        if (dial < 0.7) {
          const stop = new AbortController();
          stops.push(stop);
          world.call(owner, one, stop);
        } else if (dial < 0.76) one.isFrozen ? one.thaw() : one.freeze();
        else if (dial < 0.78) owner.isFrozen ? owner.thaw() : owner.freeze();
        else if (dial < 0.8) wires.flush();
        else if (dial < 0.83) stops[upTo(stops.length)]?.abort(new Error('left'));
        else if (dial < 0.86 && !one.isFrozen) {
          void one.close();
          callees[at] = await world.agent(one.nodeId, String(step + 2));
        }
        await clock.advance(upTo(2_000));
      }
      wires.heal();
      for (const one of [owner, ...callees]) if (one.isFrozen) one.thaw();
      await clock.advance(120_000);
      return judged(seed);
    }

    function judged(seed: number): Record<string, number> {
      const counts: Record<string, number> = { made: 0, refused: 0, unknown: 0, answered: 0 };
      for (const [number, tracked] of world.calls.entries()) {
        const what = `seed ${seed}, call ${number}: ${JSON.stringify(tracked)} ${tracked.end?.error ?? ''}`;
        const { made, end, declaredMs } = tracked;
        const outcome = outcomeOf(tracked);
        expect(end, `${what}: has ended`).not.to.equal(undefined);
        expect(made.length, `${what}: once`).to.be.at.most(1);
        for (const { begunMs } of made) expect(begunMs - declaredMs, `${what}: in time`).to.be.at.most(startMs);
        if (outcome === 'refused') expect(made, `${what}: never made`).to.deep.equal([]);
        if (end?.value !== undefined) expect(end.value, what).to.equal(`done ${number}`);
        if (end?.value !== undefined) expect(made, what).to.have.lengthOf(1);
        counts.made = (counts.made ?? 0) + made.length;
        const how = outcome ?? (end?.value === undefined ? 'other' : 'answered');
        counts[how] = (counts[how] ?? 0) + 1;
      }
      return counts;
    }

    const seeds = Number(process.env.SEEDS ?? 40);
    it(`D5 ${seeds} worlds: at most once, in time or never, and never made where told so`, async () => {
      const all: Record<string, number> = {};
      for (let seed = 1; seed <= seeds; seed += 1)
        for (const [how, count] of Object.entries(await live(seed))) all[how] = (all[how] ?? 0) + count;
      // All ends do occur: otherwise nothing was tried.
      for (const how of ['answered', 'refused', 'unknown']) expect(all[how], JSON.stringify(all)).to.be.above(seeds);
    });
  });
});

/** Requests between agents over a wire that loses, doubles, delays and reorders, while owners come and go. */
import { expect } from 'chai';
import { Cluster } from '../../src/cluster/cluster.js';
import { MessageCounts } from '../../src/cluster/message-counts.js';
import { decodeMessage, encodeMessage } from '../../src/cluster/messages.js';
import { type OwnerRoute, ownWork, RequestClient } from '../../src/cluster/request-client.js';
import { type Method, RequestServer } from '../../src/cluster/request-server.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import { onAnyAgent } from '../../src/runtime/any-agent.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';
import { MemoryWires } from '../support/memory-wire.js';

/** Numbers from a seed. */
function diceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const notOurs = new StagecraftError('NOT_LEADER', 'another one works on volumes');

/** Agents that request, owners that answer, and a wire between them. */
class World {
  readonly clock: SimulatedClock = simulatedClock();
  readonly readers = new Map<string, (text: string) => void>();
  route: OwnerRoute | undefined;
  /** Fate of each text: the delays at which it arrives; none: it is lost. */
  fate: () => number[] = () => [1];

  readonly wire = {
    post: async (inbox: string, text: string): Promise<boolean> => {
      for (const delayMs of this.fate()) this.clock.after(delayMs, () => this.readers.get(inbox)?.(text));
      return this.readers.has(inbox);
    },
  };

  client(inbox: string): RequestClient {
    let send = 0;
    const { wire, clock } = this;
    const client = new RequestClient({
      ...{ wire, clock, inbox, nextSend: () => ++send },
      route: async () => this.route,
      refusal: () => notOurs,
    });
    this.readers.set(inbox, (text) => {
      const message = decodeMessage(text);
      if (typeof message !== 'string') client.receive(message);
    });
    return client;
  }

  /** An owner takes over: the one before answers `moved` from now on, or is dead. */
  owner(number: number, methods: Record<string, Method>, before?: { isDead: boolean }, epoch = number): RequestServer {
    const inbox = `owner-${number}`;
    const { wire, clock } = this;
    const server = new RequestServer({
      ...{ wire, clock, methods: new Map(Object.entries(methods)) },
      epoch: () => (this.route?.inbox === inbox ? epoch : undefined),
    });
    if (before?.isDead) this.readers.delete(`owner-${number - 1}`);
    this.readers.set(inbox, (text) => {
      const message = decodeMessage(text);
      if (typeof message === 'string') return;
      if (message.type === 'request' || message.type === 'cancel') server.receive(message, 0);
    });
    this.route = { inbox, epoch };
    return server;
  }
}

describe('requests between agents', () => {
  let world: World;

  beforeEach(() => {
    world = new World();
  });

  it('D1 values and errors arrive as they were, sizes above 2⁵³ too', async () => {
    const client = world.client('a');
    const failed = new StagecraftError('CSI_ERROR', 'no', {
      ...{ address: 'volume/default/x', rpc: 'CreateVolume', grpcCode: 'INTERNAL', final: false },
      ...{ answerClass: 'unknown', outcome: 'unknown', faults: ['a: b'] },
    });
    world.owner(1, {
      same: async ([value]) => value,
      fail: async () => {
        throw failed;
      },
      nothing: async () => undefined,
    });
    const given = { bytes: 2n ** 60n, list: [1, null, { deep: true }], text: '$bigint' };
    const asked = [client.request('same', [given], {}), client.request('nothing', [], {})];
    const refused = refusalOf(client.request('fail', [], {}));
    const unknown = refusalOf(client.request('none', [], {}));
    await world.clock.advance(100);
    expect(await Promise.all(asked)).to.deep.equal([given, undefined]);
    const there = await refused;
    expect({ ...there, message: there.message }).to.deep.equal({ ...failed, message: 'no' });
    expect((await unknown).code).to.equal('INVALID_ARGUMENT');
  });

  it('D5 a removal that the owner before has done, asked again of the next one: done; else not found', async () => {
    const gone = async (): Promise<never> => {
      throw new StagecraftError('NODE_NOT_FOUND', 'there is no such node');
    };
    world.owner(1, { 'nodes.remove': () => new Promise(() => {}) });
    const asker = world.client('asker');
    const asked = asker.request('nodes.remove', [], {});
    await world.clock.advance(100);
    world.owner(2, { 'nodes.remove': gone }, { isDead: true });
    await world.clock.advance(1_000);
    expect(await asked).to.equal(undefined);
    const late = refusalOf(asker.request('nodes.remove', [], {}));
    await world.clock.advance(1_000);
    expect((await late).code).to.equal('NODE_NOT_FOUND');
  });

  it('D6 requests come all the time while the owner dies: the next one gets them as soon as it is known', async () => {
    world.owner(1, { work: async () => 1 });
    const client = world.client('asker');
    const answers: unknown[] = [];
    const ask = (): void => void client.request('work', [], {}).then((answer) => answers.push(answer));
    for (let times = 0; times < 20; times += 1) {
      ask();
      await world.clock.advance(100);
    }
    // Its inbox outlives it.
    world.readers.set('owner-1', () => {});
    for (let times = 0; times < 20; times += 1) {
      if (times === 10) world.owner(2, { work: async () => 2 });
      ask();
      await world.clock.advance(100);
    }
    expect(answers).to.deep.equal([...Array(20).fill(1), ...Array(20).fill(2)]);
  });

  it('D5 an owner is none for a while, and is the same again: it is asked again soon, and a removal it has done is done', async () => {
    let epoch: number | undefined = 1;
    let exists = true;
    const { wire, clock } = world;
    const remove = async (): Promise<void> => {
      if (!exists) throw new StagecraftError('NODE_NOT_FOUND', 'there is no such node');
      exists = false;
      epoch = undefined;
    };
    const server = new RequestServer({
      wire,
      clock,
      methods: new Map([['nodes.remove', remove]]),
      epoch: () => epoch,
    });
    world.readers.set('owner', (text) => {
      const message = decodeMessage(text);
      if (typeof message !== 'string' && message.type === 'request') server.receive(message, 0);
    });
    world.route = { inbox: 'owner', epoch: 1 };
    const deleted = world.client('asker').request('nodes.remove', [], {});
    await clock.advance(100);
    epoch = 1;
    await clock.advance(600);
    expect(await deleted).to.equal(undefined);
  });

  it('D11 a request that is older than allowed is not worked on: its sender is told at once, and asks again', async () => {
    let works = 0;
    const server = world.owner(1, { work: async () => ++works });
    const late = JSON.parse(
      encodeMessage({ type: 'request', from: 'gone', send: 1, id: 'gone:1', epoch: 1, method: 'work', args: [] }),
    );
    expect(server.receive(late, 10_001)).to.equal('late');
    await world.clock.advance(100);
    expect(works).to.equal(0);
    expect(server.receive(late, 10_000)).to.equal('accepted');
    await world.clock.advance(100);
    expect(works).to.equal(1);
  });

  it('D5 once the next owner is asked, only its answer counts: nobody works on the request after that', async () => {
    const begun: number[] = [];
    const work =
      (epoch: number): Method =>
      async () => {
        begun.push(epoch);
        return epoch;
      };
    const delays = [1, 3_000, 5_000];
    world.fate = () => [delays.shift() ?? 1];
    world.owner(1, { work: work(1) });
    const asked = world.client('asker').request('work', [], {});
    const answered = asked.then((answer) => ({ answer, begun: [...begun] }));
    await world.clock.advance(100);
    world.owner(2, { work: work(2) });
    await world.clock.advance(30_000);
    expect(await answered).to.deep.equal({ answer: 2, begun: [1, 2] });
    expect(begun).to.deep.equal([1, 2]);
  });

  it('D5 D6 two owners with one epoch, as after a failover: the next one is asked at once, and only its answer counts', async () => {
    world.owner(1, { work: async () => 'former' });
    const delays = [1, 3_000, 2_000];
    world.fate = () => [delays.shift() ?? 1];
    const asked = world.client('asker').request('work', [], {});
    const answered = asked.then((answer) => ({ answer, atMs: world.clock.monotonicMs() }));
    await world.clock.advance(100);
    const sinceMs = world.clock.monotonicMs();
    world.owner(2, { work: async () => 'next' }, undefined, 1);
    await world.clock.advance(30_000);
    const { answer, atMs } = await answered;
    expect(answer).to.equal('next');
    expect(atMs - sinceMs).to.be.below(3_000);
  });

  it('D5 a term ends while a request waits: it is ended, and its sender told to ask the next owner', async () => {
    const signals: AbortSignal[] = [];
    const wait: Method = (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const server = world.owner(1, { work: wait });
    const asked = world.client('asker').request('work', [], {});
    await world.clock.advance(100);
    world.owner(2, { work: async () => 'next' });
    server.termOver();
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    await world.clock.advance(200);
    expect(await asked).to.equal('next');
  });

  it('D1 the largest request that is taken is answered, however high its numbers are', async () => {
    const client = world.client('asker');
    world.owner(123_456, { work: async () => 'done' });
    let outcome: unknown = 'refused';
    for (let bytes = 2 ** 20 - 100; outcome === 'refused'; bytes -= 1) {
      const asked = client.request('work', ['x'.repeat(bytes)], {}).catch(() => 'refused');
      await world.clock.advance(10);
      outcome = await Promise.race([asked, 'no answer']);
    }
    expect(outcome).to.equal('done');
  });

  it('D5 an owner that was replaced, and is one again, does not work on what it was sent before', async () => {
    let epoch = 1;
    let works = 0;
    const { wire, clock } = world;
    const methods = new Map([['work', async () => ++works]]);
    const server = new RequestServer({ wire, clock, methods, epoch: () => epoch });
    const told: string[] = [];
    world.readers.set('asker', (text) => told.push(Reflect.get(Object(decodeMessage(text)), 'type')));
    const asked = { from: 'asker', send: 1, id: 'asker:1', method: 'work', args: [] };
    const receive = (sentFor: number) => server.receive({ type: 'request', epoch: sentFor, ...asked }, 0);
    epoch = 3;
    receive(1);
    await clock.advance(100);
    expect({ works, told }).to.deep.equal({ works: 0, told: ['moved'] });
    receive(3);
    await clock.advance(100);
    expect({ works, told }).to.deep.equal({ works: 1, told: ['moved', 'answer'] });
  });

  it('D11 answers are kept for repeats up to a size in all: the oldest go first', async () => {
    let works = 0;
    const server = world.owner(1, { work: async () => `${++works} ${'x'.repeat(1_000_000)}` });
    const asked = (n: number) =>
      JSON.parse(
        encodeMessage({ type: 'request', from: 'a', send: n, id: `a:${n}`, epoch: 1, method: 'work', args: [] }),
      );
    for (let n = 1; n <= 40; n += 1) server.receive(asked(n), 0);
    await world.clock.advance(100);
    server.receive(asked(40), 0);
    await world.clock.advance(100);
    expect(works, 'the newest is kept').to.equal(40);
    server.receive(asked(1), 0);
    await world.clock.advance(100);
    expect(works, 'the oldest is done again').to.equal(41);
  });

  it('D1 agents whose node has the longest name ask as others do', async () => {
    world.owner(1, { work: async () => 'done' });
    const asked = world.client(`${'n'.repeat(256)}/${'0'.repeat(36)}`).request('work', [], {});
    await world.clock.advance(100);
    expect(await asked).to.equal('done');
  });

  it('D7 an owner that was frozen while it worked says moved: its answer may be from what it remembers', async () => {
    let answer = (_: string): void => {};
    world.owner(1, {
      work: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const asked = world.client('asker').request('work', [], {});
    await world.clock.advance(100);
    world.owner(2, { work: async () => 'new' });
    answer('old');
    await world.clock.advance(1_000);
    expect(await asked).to.equal('new');
  });

  for (const seed of Array.from({ length: 40 }, (_, index) => index + 1))
    it(`D5 each request has one outcome, that of the last owner that worked on it (seed ${seed})`, async () => {
      const die = diceOf(seed);
      world.fate = () => {
        const chance = die();
        if (chance < 0.15) return [];
        const delays = [1 + Math.floor(die() * 800)];
        return chance < 0.3 ? [...delays, 1 + Math.floor(die() * 2_000)] : delays;
      };
      const done = new Map<string, number[]>();
      const running = new Map<string, number>();
      const methods = (epoch: number): Record<string, Method> => ({
        work: async ([name]) => {
          const key = `${epoch} ${name}`;
          running.set(key, (running.get(key) ?? 0) + 1);
          await new Promise<void>((resolve) => world.clock.after(1 + die() * 3_000, resolve));
          if (world.route?.inbox !== `owner-${epoch}`) throw notOurs;
          done.set(String(name), [...(done.get(String(name)) ?? []), epoch]);
          return { name, epoch };
        },
      });
      world.owner(1, methods(1));
      const askers = ['a', 'b', 'c'].map((inbox) => world.client(inbox));
      const outcomes: { name: string; answer?: unknown }[] = [];
      let epoch = 1;
      for (let step = 0; step < 60; step += 1) {
        const name = `${step}`;
        const asker = askers[Math.floor(die() * askers.length)];
        const outcome: (typeof outcomes)[number] = { name };
        outcomes.push(outcome);
        void asker?.request('work', [name], {}).then((answer) => {
          outcome.answer = answer;
        });
        if (die() < 0.1) {
          epoch += 1;
          world.owner(epoch, methods(epoch), { isDead: die() < 0.5 });
        }
        await world.clock.advance(Math.floor(die() * 400));
      }
      await world.clock.advance(120_000);
      for (const { name, answer } of outcomes) {
        expect(answer, name).to.have.property('name', name);
        expect(done.get(name), name).to.include(Reflect.get(Object(answer), 'epoch'));
      }
      // A repeat joins the work, or gets its answer: no owner does it twice.
      expect([...running].filter(([, times]) => times > 1)).to.deep.equal([]);
    });

  it('D2 who waits is told what the owner waits for, and who does not wait any more is forgotten', async () => {
    const client = world.client('a');
    const signals: AbortSignal[] = [];
    world.owner(1, {
      wait: (_, { signal, onWait }) => {
        signals.push(signal);
        onWait('the plugin is away');
        return new Promise(() => {});
      },
    });
    const told: (string | null)[] = [];
    const stop = new AbortController();
    const waiting = refusalOf(
      client.request('wait', [], { signal: stop.signal, onWait: (reason) => told.push(reason) }),
    );
    await world.clock.advance(60_000);
    expect(told).to.deep.equal(['the plugin is away']);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    stop.abort();
    expect((await waiting).code).to.equal('ABORTED');
    await world.clock.advance(100);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('D2 a caller that dies leaves nothing waiting: after half a minute its request is withdrawn', async () => {
    const client = world.client('a');
    const signals: AbortSignal[] = [];
    world.owner(1, {
      wait: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    void client.request('wait', [], {}).catch(() => {});
    await world.clock.advance(1_000);
    world.readers.delete('a');
    client.close(new StagecraftError('RUNTIME_CLOSED', 'killed'));
    await world.clock.advance(45_000);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('D2 a limit holds where nobody owns, and says why', async () => {
    const client = world.client('a');
    const waiting = refusalOf(client.request('work', [], { timeoutMs: 5_000 }));
    await world.clock.advance(6_000);
    expect(await waiting).to.include({ code: 'TIMEOUT' });
    expect((await waiting).message).to.include(notOurs.message);
  });

  it('D1 the store is away: after five seconds STORE_UNAVAILABLE, with what is known of the request', async () => {
    const { wire, clock } = world;
    let isAway = true;
    const route = async (): Promise<OwnerRoute | undefined> => {
      if (isAway) throw new Error('connection refused');
      return world.route;
    };
    const client = new RequestClient({ wire, clock, inbox: 'a', nextSend: () => 1, route, refusal: () => notOurs });
    const never = refusalOf(client.request('work', [], {}));
    await clock.advance(6_000);
    expect(await never).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
    isAway = false;
    world.owner(1, { work: () => new Promise(() => {}) });
    const sent = refusalOf(client.request('work', [], {}));
    await clock.advance(1_000);
    isAway = true;
    await clock.advance(7_000);
    expect(await sent).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
  });

  it('D6 an agent that takes over itself is told so, and does the work', async () => {
    let refusal: StagecraftError | undefined = notOurs;
    const { wire, clock } = world;
    const client = new RequestClient({
      wire,
      clock,
      inbox: 'a',
      nextSend: () => 1,
      route: async () => undefined,
      refusal: () => refusal,
    });
    const asked = client.request('work', [], {});
    await clock.advance(1_000);
    refusal = undefined;
    await clock.advance(1_000);
    expect(await asked).to.equal(ownWork);
  });

  it('D12 stores of one process have no inboxes, and every request on them is local', async () => {
    const stores = [memoryStore(), lmdbStore('/nowhere')];
    expect(stores.map(({ wire }) => wire)).to.deep.equal([undefined, undefined]);
    const side = { volumes: {}, snapshots: {}, groupSnapshots: {}, nodes: {} };
    const { volumes, nodes } = onAnyAgent(side as Parameters<typeof onAnyAgent>[0], undefined);
    expect(volumes).to.equal(side.volumes);
    expect(nodes).to.equal(side.nodes);
  });

  it('D11 what is no message is refused with why: no JSON, other fields, another format, too large', () => {
    const good = encodeMessage({ type: 'moved', id: 'a:1' });
    expect(decodeMessage(good)).to.deep.equal({ type: 'moved', id: 'a:1' });
    expect(decodeMessage('x'.repeat(2 ** 20 + 1))).to.equal('too-large');
    expect(decodeMessage(good.replace('"format":1', '"format":2'))).to.equal('newer');
    for (const text of [
      ...['', 'null', '[]', '{', '{"format":1}', '{"format":"1"}'],
      good.replace('"moved"', '"other"'),
      good.replace('"a:1"', '7'),
      JSON.stringify({
        format: 1,
        type: 'request',
        from: 'a',
        send: 1,
        id: 'a:1',
        epoch: 1,
        method: 'm',
        args: 'none',
      }),
      JSON.stringify({ format: 1, type: 'waits', id: 'a:1', reason: 7 }),
      JSON.stringify({ format: 1, type: 'answer', id: 'a:1', error: { code: 7 } }),
    ])
      expect(decodeMessage(text), text).to.equal('malformed');
    const odd = decodeMessage('{"format":1,"type":"answer","id":"a:1","value":{"__proto__":{"polluted":true}}}');
    expect(odd).to.have.property('type', 'answer');
    expect(Reflect.get({}, 'polluted')).to.equal(undefined);
  });

  it('D11 each message is counted by what became of it', async () => {
    const { clock } = world;
    const wires = new MemoryWires({ clock, random: seededRandom(1) });
    const messages = new MessageCounts();
    const cluster = new Cluster({
      ...{ wire: wires.wire(), messages, nodeId: 'a', run: '1', clock, logger: silentLogger },
      route: async () => undefined,
      refusal: () => undefined,
      epoch: () => 1,
      released: () => undefined,
    });
    cluster.serve('wait', () => new Promise(() => {}));
    const entry = { host: 'h', version: '1', startedAtMs: 0, plugins: {} };
    await cluster.start({ entry: () => entry, watch: () => () => {}, noticed: () => {} });
    const request = (send: number): string =>
      encodeMessage({ type: 'request', from: 'b', send, id: `b:${send}`, epoch: 1, method: 'wait', args: [] });
    const sent = [
      ...['{', 'x'.repeat(2 ** 20 + 1), '{"format":2}'],
      encodeMessage({ type: 'answer', id: 'a/1:1', value: 'too late' }),
      encodeMessage({ type: 'answer', id: 'a/former:1', value: 'for another run' }),
      ...Array.from({ length: 1_001 }, (_, at) => request(at + 1)),
      request(7),
      encodeMessage({ type: 'cancel', from: 'b', send: 1_002, id: 'b:1' }),
    ];
    for (const text of sent) await wires.wire().post('a/1', text);
    await clock.advance(10);
    expect(Object.fromEntries(messages.list().map(({ outcome, count }) => [outcome, count]))).to.deep.equal({
      ...{ accepted: 1_001, malformed: 1, 'too-large': 1, newer: 1, unsigned: 0, foreign: 1 },
      ...{ repeated: 1, late: 1, flooding: 1 },
    });
    await cluster.stop();
  });

  it('D11 what is too large, or no data, is refused before it is sent, and an answer like that is an error', async () => {
    const client = world.client('a');
    const circle: { self?: object } = {};
    circle.self = circle;
    world.owner(1, {
      same: async ([value]) => value,
      large: async () => 'x'.repeat(2 ** 20),
      circle: async () => circle,
    });
    expect(await refusalOf(client.request('same', ['x'.repeat(2 ** 20)], {}))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await refusalOf(client.request('same', [circle], {}))).to.include({ code: 'INVALID_ARGUMENT' });
    const answers = [refusalOf(client.request('large', [], {})), refusalOf(client.request('circle', [], {}))];
    await world.clock.advance(100);
    for (const answer of answers) expect(await answer).to.include({ code: 'CALL_FAILED' });
  });

  it('D11 a sender that floods is capped, and others are served', async () => {
    let begun = 0;
    world.owner(1, {
      work: () => {
        begun += 1;
        return new Promise(() => {});
      },
      quick: async () => 'done',
    });
    const flood = world.client('flood');
    for (let count = 0; count < 1_500; count += 1) void flood.request('work', [count], {}).catch(() => {});
    await world.clock.advance(2_000);
    expect(begun).to.equal(1_000);
    const other = world.client('other').request('quick', [], {});
    await world.clock.advance(100);
    expect(await other).to.equal('done');
  });
});

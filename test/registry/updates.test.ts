/** Following the changes of plugins: who gets which events, from where on, and how it ends. */
import { expect } from 'chai';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import { FakeKind, unhealthy } from './fake-kind.js';
import { device, House, inShort, nodeId, refusal, take } from './house.js';

/** Collects until it ends; the promise tells how. */
function collect(events: AsyncIterable<PluginEvent>): { got: string[]; ended: Promise<void> } {
  const got: string[] = [];
  const ended = (async () => {
    for await (const event of events) got.push(inShort(event));
  })();
  return { got, ended };
}

describe('plugin updates', () => {
  let house: House;

  beforeEach(async () => {
    house = await new House().open();
  });

  afterEach(() => house.dispose());

  describe('what a subscriber gets', () => {
    for (const text of ['{"ty', 'null']) {
      it(`R10 an event that is damaged to ${text}: EVENT_DAMAGED, and from where to go on to get the others`, async () => {
        await house.register(device('a1'), device('a2'));
        const read = house.store.readTopic.bind(house.store);
        house.store.readTopic = async (...asked) => {
          const page = await read(...asked);
          return { ...page, rows: page.rows.map((row) => (row.cursor === 2 ? { ...row, text } : row)) };
        };
        await house.restart();
        const { got, ended } = collect(house.plugins.updates('device', { from: '0' }));
        const error = await refusal(() => ended);
        expect(error).to.include({ code: 'EVENT_DAMAGED', oldest: 'plugins/worker-1@2' });
        expect(error.message).to.match(
          /^event plugins\/worker-1@2 was damaged in the store \(.+\): list the present state, go on from plugins\/worker-1@2$/,
        );
        expect(got).to.deep.equal(['registered a1']);
        const [next] = await take(house.plugins.updates('device', { from: 'plugins/worker-1@2' }), 1);
        expect(next?.id).to.equal('plugins/worker-1@3');
      });
    }

    it('R10 every event from its call on, in one order, and none from before', async () => {
      await house.register(device('a1'));
      const { got } = collect(house.plugins.updates());
      await house.register(device('a2'));
      await house.plugins.deregister('device', 'gpu', 'a2');
      await house.rest();
      expect(got).to.deep.equal([
        'registered a2',
        'a2 unknown → true: ready',
        'deregistered a2',
        'promoted a1 for a2',
        'a2 healthy → false: shut down',
      ]);
    });

    it('R10 "now" is the moment of the call, not of the first next()', async () => {
      const events = house.plugins.updates();
      await house.register(device('a1'));
      expect((await take(events, 1)).map(inShort)).to.deep.equal(['registered a1']);
    });

    it('R10 an event says when, what and which; ids rise', async () => {
      const at = house.clock.now();
      await house.register(device('a1', { version: '3' }));
      const info = device('a1', { version: '3' });
      const events = await house.events();
      expect(events.map(({ id, ...rest }) => rest)).to.deep.equal([
        { at, kind: 'registered', info },
        { at, kind: 'health', info, was: 'unknown', healthy: true, description: 'ready' },
      ]);
      const ids = events.map(({ id }) => Number(id.split('@')[1]));
      expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b));
    });

    it('R10 after an event id: what came after it, also while the subscriber was away', async () => {
      await house.register(device('a1'), device('a2'));
      const all = await house.events();
      const [first] = all;
      if (!first) throw new Error('nothing was told');
      const later = await take(house.plugins.updates(undefined, { from: first.id }), all.length - 1);
      expect(later).to.deep.equal(all.slice(1));
    });

    it('R10 of one type only: just its events, whatever happens in others', async () => {
      await house.runtime.close();
      await house.open({ dispensers: { device: house.kind, driver: new FakeKind() } });
      const drivers = collect(house.plugins.updates('driver'));
      const printers = collect(house.plugins.updates('printer'));
      await house.register(device('a1'), device('b1', { type: 'driver' }), device('a2'));
      expect(drivers.got).to.deep.equal(['registered b1', 'b1 unknown → true: ready']);
      expect(printers.got).to.deep.equal([]);
    });

    it('R10 all subscribers see the same order', async () => {
      const many = Array.from({ length: 5 }, () => collect(house.plugins.updates()));
      const ids = Array.from({ length: 20 }, (_, n) => `a${n}`);
      await Promise.all(ids.map((allocId) => house.plugins.register(device(allocId, { name: allocId }))));
      await house.rest();
      const told = await house.told();
      expect(told).to.have.lengthOf(40);
      for (const { got } of many) expect(got).to.deep.equal(told);
    });

    it('R10 a subscriber that reads nothing delays nobody, and misses nothing', async () => {
      const slow = house.plugins.updates()[Symbol.asyncIterator]();
      const quick = collect(house.plugins.updates());
      await house.register(device('first'));
      await slow.next();
      for (let n = 0; n < 600; n += 1) await house.plugins.register(device(`a${n}`, { name: `n${n}` }));
      await house.rest();
      const told = await house.told();
      expect(quick.got).to.deep.equal(told);
      for (const line of told.slice(1)) {
        const { value } = await slow.next();
        expect(value && inShort(value)).to.equal(line);
      }
    });

    it('R10 a cursor from before what is kept: CURSOR_EXPIRED with the oldest one there is', async () => {
      await house.register(device('a1'), device('a2'));
      await house.store.trimTopic(`plugins/${nodeId}`, 2);
      const error = await refusal(() => take(house.plugins.updates(undefined, { from: '0' }), 1));
      expect(error.code).to.equal('CURSOR_EXPIRED');
      expect(error.message).to.include('3');
      const kept = await take(house.plugins.updates(undefined, { from: 'plugins/worker-1@2' }), 1);
      expect(kept.map(({ id }) => id)).to.deep.equal(['plugins/worker-1@3']);
    });

    it('R10 options where the type belongs: INVALID_ARGUMENT, with how it is called', async () => {
      const { code, message } = await refusal(() => house.plugins.updates(JSON.parse('{"from":"0"}')));
      expect(code).to.equal('INVALID_ARGUMENT');
      expect(message).to.include('updates(undefined, { from, signal })');
    });

    for (const from of ['', 'x', '-1', '1.5', 'NaN', 'Infinity', '9007199254740993']) {
      it(`R10 '${from}' is no event id: INVALID_ARGUMENT`, async () => {
        expect(await refusal(() => house.plugins.updates('device', { from }))).to.have.property(
          'code',
          'INVALID_ARGUMENT',
        );
      });
    }
  });

  describe('health', () => {
    it('I9 told only when it changes, with the whole instance, the state before and after, and why', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      await house.clock.advance(60_000);
      house.kind.find = () => ({ ...unhealthy, description: 'worn out more' });
      await house.clock.advance(60_000);
      house.kind.find = () => ({ healthy: true, description: 'mended' });
      await house.clock.advance(60_000);
      house.kind.find = () => ({ healthy: true, description: 'better than ever' });
      await house.clock.advance(60_000);
      const health = (await house.events()).filter(({ kind }) => kind === 'health');
      expect(health.map(inShort)).to.deep.equal(['a1 unknown → false: worn out', 'a1 unhealthy → true: mended']);
      expect(health.map(({ info }) => info)).to.deep.equal([device('a1'), device('a1')]);
      expect(house.plugins.status('device', 'gpu').description).to.equal('better than ever');
    });
  });

  describe('how it ends', () => {
    it('R10 leaving the loop while events are still coming: the rest is not asked for', async () => {
      for (let n = 0; n < 5; n += 1) await house.plugins.register(device(`a${n}`));
      await house.rest();
      expect(await take(house.plugins.updates(undefined, { from: '0' }), 3)).to.have.lengthOf(3);
    });

    it('R10 return() while next() waits: both are answered at once', async () => {
      const events = house.plugins.updates()[Symbol.asyncIterator]();
      const next = events.next();
      await house.rest();
      expect(await events.return?.()).to.deep.equal({ done: true, value: undefined });
      expect(await next).to.deep.equal({ done: true, value: undefined });
      expect(await events.next()).to.deep.equal({ done: true, value: undefined });
    });

    it('R10 aborting its signal while next() waits: the loop ends without an error', async () => {
      const stop = new AbortController();
      const { got, ended } = collect(house.plugins.updates(undefined, { signal: stop.signal }));
      await house.register(device('a1'));
      stop.abort();
      await ended;
      await house.register(device('a2'));
      expect(got).to.deep.equal(['registered a1', 'a1 unknown → true: ready']);
    });

    it('R10 a signal that is aborted already: nothing is told', async () => {
      const signal = AbortSignal.abort();
      const { got, ended } = collect(house.plugins.updates(undefined, { from: '0', signal }));
      await ended;
      expect(got).to.deep.equal([]);
    });

    it('R10 aborting during delivery: what is not handed out yet is not handed out', async () => {
      await house.register(device('a1'), device('a2'), device('a3'));
      const stop = new AbortController();
      const got: string[] = [];
      for await (const event of house.plugins.updates(undefined, { from: '0', signal: stop.signal })) {
        got.push(inShort(event));
        stop.abort();
      }
      expect(got).to.deep.equal(['registered a1']);
    });

    it('R10 return() and abort, in either order and twice, are clean; others go on', async () => {
      const others = collect(house.plugins.updates());
      for (const order of [
        ['return', 'abort'],
        ['abort', 'return'],
        ['return', 'return'],
        ['abort', 'return', 'abort', 'return'],
      ]) {
        const stop = new AbortController();
        const events = house.plugins.updates(undefined, { signal: stop.signal })[Symbol.asyncIterator]();
        const next = events.next();
        for (const step of order) {
          if (step === 'abort') stop.abort();
          else await events.return?.();
        }
        expect(await next).to.deep.equal({ done: true, value: undefined });
      }
      await house.register(device('a1'));
      expect(others.got[0]).to.equal('registered a1');
    });

    it('R10 the runtime closes: every loop ends without an error', async () => {
      const ends = [collect(house.plugins.updates()), collect(house.plugins.updates('device'))];
      await house.runtime.close();
      await Promise.all(ends.map(({ ended }) => ended));
    });

    it('R10 a subscriber that never reads holds nothing up, also at the end', async () => {
      house.plugins.updates();
      await house.register(device('a1'));
      await house.runtime.close();
    });
  });
});

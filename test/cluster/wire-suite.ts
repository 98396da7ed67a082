/** Contract of the port `Wire`, for every implementation. */
import { expect } from 'chai';
import type { RosterChanges, Wire } from '../../src/engine/store.js';

export interface WireHarness {
  /** Makes the wire of a further process. */
  wire(): Promise<Wire>;
  /** Lets time pass on the store's clock. */
  elapse(ms: number): Promise<void>;
  /** Milliseconds on the clock of the readers. */
  nowMs(): number;
  /** Lets work go on until it is so. */
  until(what: string, isSo: () => unknown | Promise<unknown>): Promise<void>;
  /** Loses all that the store holds. */
  flush(): Promise<void>;
  dispose(): Promise<void>;
}

const awayAfterMs = 6_000;
const keptMs = 600_000;

export function wireSuite(name: string, start: () => Promise<WireHarness>): void {
  describe(`wire, ${name}`, () => {
    let harness: WireHarness;
    let stop: AbortController;

    beforeEach(async () => {
      harness = await start();
      stop = new AbortController();
    });
    afterEach(async () => {
      stop.abort();
      await harness.dispose();
    });

    describe('inboxes', () => {
      it('D1 every text is heard once, in the order of its sender, in each of many inboxes', async () => {
        const senders = [await harness.wire(), await harness.wire()];
        const inboxes = ['a', 'b', 'c', 'd', 'e'];
        const heard = new Map(inboxes.map((inbox): [string, string[]] => [inbox, []]));
        for (const [inbox, texts] of heard)
          await (await harness.wire()).listen(inbox, (text) => texts.push(text), stop.signal);
        const count = 200;
        await Promise.all(
          senders.map(async (wire, sender) => {
            for (let at = 0; at < count; at += 1)
              for (const inbox of inboxes) expect(await wire.post(inbox, `${sender} ${at}`)).to.equal(true);
          }),
        );
        await harness.until('all is heard', () => [...heard.values()].every((texts) => texts.length >= 2 * count));
        const expected = Array.from({ length: count }, (_, at) => at);
        for (const texts of heard.values())
          for (const sender of [0, 1]) {
            const own = texts.filter((text) => text.startsWith(`${sender} `)).map((text) => Number(text.slice(2)));
            expect(own).to.deep.equal(expected);
          }
      });

      it('D5 an inbox that nobody ever made takes nothing, and its sender knows', async () => {
        expect(await (await harness.wire()).post('nobody', 'text')).to.equal(false);
      });

      it('D5 an inbox whose reader has stopped takes nothing, and its sender knows', async () => {
        const wire = await harness.wire();
        await wire.listen('a', () => {}, stop.signal);
        stop.abort();
        await harness.until('its inbox is gone', async () => !(await wire.post('a', 'text')));
      });

      it('D7 a text is believed to be at least as old as it is', async () => {
        const [sender, reader] = [await harness.wire(), await harness.wire()];
        const heard: { text: string; ageMs: number; heardMs: number }[] = [];
        await reader.listen('a', (text, ageMs) => heard.push({ text, ageMs, heardMs: harness.nowMs() }), stop.signal);
        const putMs = new Map<string, number>();
        for (let at = 0; at < 50; at += 1) {
          await sender.post('a', String(at));
          putMs.set(String(at), harness.nowMs());
          // Half of the texts come while the reader waits, the others while it has something to read.
          if (at % 2 === 0) await harness.until('it is heard', () => heard.length > at);
        }
        await harness.until('all are heard', () => heard.length === 50);
        for (const { text, ageMs, heardMs } of heard) expect(ageMs).to.be.at.least(heardMs - (putMs.get(text) ?? 0));
        expect(heard.filter(({ ageMs }) => Number.isFinite(ageMs))).not.to.have.lengthOf(0);
      });

      it('D5 all that the store held is lost: once the reader is told by its next beat, texts arrive again', async () => {
        const [sender, reader] = [await harness.wire(), await harness.wire()];
        const heard: string[] = [];
        await reader.listen('a', (text) => heard.push(text), stop.signal);
        await reader.beat({ nodeId: 'n', run: '1', awayAfterMs, entry: 'e' });
        await harness.flush();
        expect(await reader.beat({ nodeId: 'n', run: '1', awayAfterMs })).to.equal(false);
        await harness.until('its inbox is back', () => sender.post('a', 'after'));
        await harness.until('it is heard', () => heard.includes('after'));
      });
    });

    describe('roster', () => {
      let wire: Wire;
      const beat = (nodeId: string, run: string, entry?: string): Promise<boolean> =>
        wire.beat({ nodeId, run, awayAfterMs, ...(entry !== undefined && { entry }) });
      const shown = ({ changed }: RosterChanges): string[] =>
        changed.map(({ nodeId, run, entry }) => `${nodeId} ${run} ${entry ?? 'left'}`).sort();

      beforeEach(async () => {
        wire = await harness.wire();
      });

      it('D9 a beat without an entry is refused until one is given, and writes nothing', async () => {
        expect(await beat('a', '1')).to.equal(false);
        expect(shown(await wire.roster(0))).to.deep.equal([]);
        expect(await beat('a', '1', 'x')).to.equal(true);
        expect(await beat('a', '1')).to.equal(true);
        expect(shown(await wire.roster(0))).to.deep.equal(['a 1 x']);
      });

      it('D9 two nodes: a reader of another process gets both, then what has changed and nothing else', async () => {
        const reader = await harness.wire();
        expect(await reader.roster(0)).to.deep.include({ isComplete: true, changed: [] });
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const first = await reader.roster(0);
        expect(first).to.deep.include({ isComplete: true, away: new Map() });
        expect(shown(first)).to.deep.equal(['a 1 x', 'b 2 y']);
        await beat('a', '1');
        await beat('b', '2', 'y');
        const second = await reader.roster(first.version);
        expect(second).to.deep.equal({ ...first, isComplete: false, changed: [] });
        await beat('b', '2', '');
        const third = await reader.roster(second.version);
        expect(third.isComplete).to.equal(false);
        expect(shown(third)).to.deep.equal(['b 2 ']);
        expect(shown(await reader.roster(first.version))).to.deep.equal(['b 2 ']);
        expect(shown(await reader.roster(0))).to.deep.equal(['a 1 x', 'b 2 ']);
      });

      it('D9 a node that has left is gone, and a reader hears of it; another run can not make it leave', async () => {
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const { version } = await wire.roster(0);
        await wire.leave('a', 'another');
        await wire.leave('nobody', '1');
        expect((await wire.roster(version)).changed).to.deep.equal([]);
        await wire.leave('a', '1');
        const after = await wire.roster(version);
        expect(shown(after)).to.deep.equal(['a 1 left']);
        expect(shown(await wire.roster(0))).to.deep.equal(['b 2 y']);
        expect(await beat('a', '1')).to.equal(false);
        await wire.leave('a', '1');
        expect((await wire.roster(after.version)).changed).to.deep.equal([]);
      });

      it('D9 the next run of a node takes its place, and beats of the one before are refused', async () => {
        await beat('a', '1', 'x');
        const { version } = await wire.roster(0);
        expect(await beat('a', '2')).to.equal(false);
        await beat('a', '2', 'x');
        expect(shown(await wire.roster(version))).to.deep.equal(['a 2 x']);
        expect(await beat('a', '1')).to.equal(false);
        await wire.leave('a', '1');
        expect(shown(await wire.roster(0))).to.deep.equal(['a 2 x']);
      });

      it('D9 a node without a beat is away for as long as it is silent, and no more once it beats', async () => {
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const { version } = await wire.roster(0);
        await harness.elapse(awayAfterMs);
        await beat('b', '2');
        const { away, changed } = await wire.roster(version);
        expect(changed).to.deep.equal([]);
        expect([...away.keys()]).to.deep.equal(['a']);
        expect(away.get('a')).to.be.at.least(awayAfterMs);
        await beat('a', '1');
        expect((await wire.roster(version)).away).to.deep.equal(new Map());
      });

      it('D9 a node that is silent for ten minutes is removed, and a reader hears of it', async () => {
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const { version } = await wire.roster(0);
        await harness.elapse(keptMs);
        await beat('b', '2');
        const after = await wire.roster(version);
        expect(after).to.deep.include({ away: new Map(), isComplete: false });
        expect(shown(after)).to.deep.equal(['a 1 left']);
        expect(await beat('a', '1')).to.equal(false);
        expect((await wire.roster(after.version)).changed).to.deep.equal([]);
      });

      it('D9 a reader that has not read since a node was forgotten gets all entries', async () => {
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const { version } = await wire.roster(0);
        await wire.leave('a', '1');
        const since = (await wire.roster(version)).version;
        await harness.elapse(keptMs);
        await beat('b', '2');
        expect(await wire.roster(since)).to.deep.include({ isComplete: false, changed: [] });
        const late = await wire.roster(version);
        expect(late.isComplete).to.equal(true);
        expect(shown(late)).to.deep.equal(['b 2 y']);
        await beat('a', '3', 'z');
        expect(shown(await wire.roster(since))).to.deep.equal(['a 3 z']);
      });

      it('D5 a lost roster: its readers get all that is there, however much has been written since', async () => {
        await beat('a', '1', 'x');
        await beat('b', '2', 'y');
        const { version } = await wire.roster(0);
        await harness.flush();
        const empty = await wire.roster(version);
        expect(empty).to.deep.include({ isComplete: true, changed: [] });
        expect(await beat('a', '1')).to.equal(false);
        for (const entry of ['x', 'y', 'z']) await beat('a', '1', entry);
        const after = await wire.roster(version);
        expect(after.isComplete).to.equal(true);
        expect(shown(after)).to.deep.equal(['a 1 z']);
        expect(shown(await wire.roster(empty.version))).to.deep.equal(['a 1 z']);
      });
    });
  });
}

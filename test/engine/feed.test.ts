/** The live feed: what it says of each step of an actor, to whom, and that it says nothing while nobody listens. */
import { expect } from 'chai';
import { partChanges } from '../../machines/kit/parts.js';
import type { FeedRecord } from '../../src/engine/feed.js';
import { deskKind, deskTopic, noteTo, say, tell } from './desk.js';
import { Lab } from './lab.js';
import { type ManualEffect, manualEffect } from './manual-effect.js';
import { napMs, type WorkerContext, workerKind } from './worker.js';

describe('the live feed', () => {
  let lab: Lab;
  let work: ManualEffect;
  let records: FeedRecord[];
  let stop: () => void;

  beforeEach(() => {
    lab = new Lab();
    work = manualEffect();
    records = [];
    stop = lab.feed.watch((record) => records.push(record));
  });

  const start = async () => (await lab.start([deskKind, workerKind({ work })])).engine;

  /** Kinds and phases of the records of one actor so far. */
  const saidOf = (address: string): string[] =>
    records
      .filter((record) => record.address === address)
      .map((one) => ('phase' in one ? `${one.kind} ${one.phase}` : one.kind));

  it('X1 an actor that begins and asks for an effect: begun, its input, its state, the effect', async () => {
    const engine = await start();
    void engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.rest();
    expect(saidOf('worker/a')).to.deep.equal([
      'actor begun',
      'event',
      'snapshot',
      'effect requested',
      'effect started',
    ]);
    expect(records.find(({ kind }) => kind === 'snapshot')).to.deep.include({ commit: 1, state: 'working' });
    expect(records.find(({ kind }) => kind === 'event')).to.have.nested.property('entry.event.job', 'dig');
  });

  it('35.2 X1 a state has two paths for people, its own and that before: from value and context', async () => {
    const pathOf = (value: unknown, { results }: WorkerContext): string => `${value}, ${results.length} results`;
    const { engine } = await lab.start([deskKind, { ...workerKind({ work }), pathOf }]);
    void engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.rest();
    work.last.finish('a hole');
    await lab.rest();
    const paths = records.flatMap((one) => (one.kind === 'snapshot' ? [[one.pathBefore, one.path]] : []));
    expect(paths).to.deep.equal([
      [undefined, 'working, 0 results'],
      ['working, 0 results', 'idle, 1 results'],
    ]);
  });

  it('X1 an effect that calls, and its result: the moment the request went out is in feed and journal', async () => {
    const engine = await start();
    void engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.rest();
    await lab.clock.advance(7);
    const sentAtMs = lab.clock.now();
    work.last.sent();
    await lab.clock.advance(5);
    records = [];
    work.last.finish('a hole');
    await lab.rest();
    expect(saidOf('worker/a')).to.deep.equal(['effect result', 'event', 'snapshot', 'effect left']);
    const [, { entry }] = records as [FeedRecord, FeedRecord & { kind: 'event' }];
    expect([entry.sentAtMs, entry.at]).to.deep.equal([sentAtMs, sentAtMs + 5]);
    const journal = [];
    for await (const one of engine.journals.entries('worker/a')) journal.push(one);
    expect(journal.map((one) => one.sentAtMs)).to.deep.equal([undefined, sentAtMs]);
  });

  it('X1 timers, messages and broadcasts are told with the commit that asks for them', async () => {
    const engine = await start();
    void engine.ask('worker/a', { type: 'nap' });
    void engine.ask('desk/a', tell(noteTo('desk/b', 'hello')));
    void engine.ask('desk/a', say('good day'));
    await lab.rest();
    expect(records.find(({ kind }) => kind === 'timer')).to.deep.include({
      phase: 'set',
      dueAtMs: lab.clock.now() + napMs,
    });
    expect(records.find(({ kind }) => kind === 'message')).to.deep.include({ address: 'desk/a', to: 'desk/b' });
    expect(records.find(({ kind }) => kind === 'broadcast')).to.deep.include({ topic: deskTopic });
    await lab.clock.advance(napMs);
    expect(saidOf('worker/a').slice(-3)).to.deep.equal(['event', 'snapshot', 'timer cleared']);
  });

  it('X1 a machine that throws: a crash with its error and event; no snapshot', async () => {
    const engine = await start();
    await engine.ask('desk/a', say('hello'));
    records = [];
    await engine.ask('desk/a', { type: 'breakAction' }).catch(() => {});
    expect(saidOf('desk/a')).to.deep.equal(['event', 'crash']);
    expect(records.at(-1)).to.deep.include({ kind: 'crash', error: 'the action broke' });
  });

  it('X1 quarantined, released, deleted: each is said once', async () => {
    const engine = await start();
    await engine.ask('desk/a', say('hello'));
    for (let at = 0; at < 6; at += 1) await engine.ask('desk/a', { type: 'breakAction' }).catch(() => {});
    await engine.release('desk/a');
    await engine.ask('desk/a', { type: 'close' });
    await lab.rest();
    const phases = saidOf('desk/a').filter((said) => said.startsWith('actor'));
    expect(phases).to.deep.equal([
      'actor begun',
      'actor quarantined',
      'actor loaded',
      'actor released',
      'actor deleted',
    ]);
  });

  it('X1 a restart: each actor is loaded, nothing before it is repeated', async () => {
    const engine = await start();
    await engine.ask('worker/a', { type: 'nap' });
    records = [];
    await start();
    expect(saidOf('worker/a')).to.deep.equal(['actor loaded']);
  });

  it('X1 numbers rise by one, also while several listen, and only while anybody listens', async () => {
    const engine = await start();
    const others: number[] = [];
    const stopOther = lab.feed.watch(({ seq }) => others.push(seq));
    await engine.ask('desk/a', say('one'));
    expect(others).to.deep.equal(records.map(({ seq }) => seq));
    expect(others).to.deep.equal(others.map((_, at) => at + 1));
    stop();
    stopOther();
    expect(lab.feed.isWatched).to.equal(false);
    await engine.ask('desk/a', say('two'));
    lab.feed.watch((record) => records.push(record));
    await engine.ask('desk/a', say('three'));
    expect(records.map(({ seq }) => seq)).to.deep.equal(records.map((_, at) => at + 1));
  });

  it('X1 a listener that throws: logged; the others and the actor go on', async () => {
    stop();
    lab.feed.watch(() => {
      throw new Error('the page is gone');
    });
    lab.feed.watch((record) => records.push(record));
    const engine = await start();
    await engine.ask('desk/a', say('one'));
    expect(saidOf('desk/a')).to.include('snapshot');
    expect(lab.logged.map(({ message }) => message)).to.include('an inspector threw: the page is gone');
  });

  it('X1 parts: those that came, went, or are in another state; no others', () => {
    const part = (id: string, at: string, why?: string) => ({ id, chart: 'x', at, ...(why && { why }) });
    const before = [part('a', 'on'), part('b', 'on'), part('c', 'on'), part('d', 'on', 'busy')];
    const after = [part('a', 'on'), part('b', 'off'), part('d', 'on', 'idle'), part('e', 'on')];
    expect(partChanges(before, after)).to.deep.equal([
      { id: 'b', before: 'on', part: part('b', 'off') },
      { id: 'd', before: 'on', part: part('d', 'on', 'idle') },
      { id: 'e', part: part('e', 'on') },
      { id: 'c', before: 'on' },
    ]);
  });
});

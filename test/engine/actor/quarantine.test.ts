/** Records that cannot be read: reported, refused, unchanged to the byte; all other actors run. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createMachine } from 'xstate';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import type { Commit } from '../../../src/engine/store.js';
import { deskKind, deskMachine, note, noteTo, tell } from '../desk.js';
import { failureOf, Lab, type Life, watched } from '../lab.js';
import { manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

const seed = 4;

describe('quarantine', () => {
  let lab: Lab;
  let life: Life;
  let text: string;

  beforeEach(async () => {
    lab = new Lab();
    await start();
    await life.engine.ask('desk/a', note('one'));
    await life.engine.ask('desk/b', note('one'));
    text = (await lab.data.load('desk/a'))?.text ?? '';
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work: manualEffect() })]);
  };

  /** Writes to the store as a runtime of another version could have. */
  const plant = async (address: string, more: Partial<Commit>): Promise<void> => {
    const { seq = 0, epoch = 1, owner = 'planter' } = (await lab.data.load(address)) ?? {};
    const commit: Commit = { address, commitId: `planted.${seq}`, expectedSeq: seq, epoch, owner, text, journal: '{}' };
    expect(await lab.data.commit([{ ...commit, ...more }])).to.deep.equal([{ status: 'done' }]);
  };

  const damages: [string, (text: string) => string][] = [
    ['bad JSON', (good) => good.slice(0, -1)],
    ['no text', () => ''],
    ['no object', () => '"format"'],
    ['a list', () => '[]'],
    ['an unknown format', (good) => good.replace('"format":1', '"format":2')],
    ['no format', (good) => good.replace('"format":1,', '')],
    ['an unknown version of its machine', (good) => good.replace('"version":"1"', '"version":"0"')],
    ['another machine', (good) => good.replace('"machine":"desk"', '"machine":"table"')],
    ['an unknown state', (good) => good.replace('"value":"open"', '"value":"ajar"')],
    ['no context', (good) => good.replace('"context":{', '"contents":{')],
    ['effects of another shape', (good) => good.replace('"effects":[]', '"effects":[null]')],
    ['timers of another shape', (good) => good.replace('"timers":[]', '"timers":[{"id":"x"}]')],
    ['answers of another shape', (good) => good.replace('"answers":[]', '"answers":{}')],
    ['senders of another shape', (good) => good.replace('"received":{}', '"received":{"desk/b":7}')],
  ];
  for (const [what, damage] of damages) {
    it(`record with ${what}: reported, refused, unchanged to the byte; other actors run`, async () => {
      expect(damage(text)).to.not.equal(text);
      await plant('desk/a', { text: damage(text) });
      const before = await lab.data.load('desk/a');
      await start();
      expect(life.report).to.deep.equal({ actors: 1, quarantined: ['desk/a'] });
      expect(await failureOf(life.engine.ask('desk/a', note('two')))).to.include({
        code: 'ACTOR_QUARANTINED',
        address: 'desk/a',
      });
      await life.engine.ask('desk/b', tell(noteTo('desk/a', 'hello')));
      expect(await life.engine.ask('desk/b', { type: 'read' })).to.deep.equal(['one']);
      await lab.stop(life.engine);
      expect(await lab.data.load('desk/a')).to.deep.equal(before);
      expect(lab.logged[0]).to.deep.include({
        level: 'error',
        fields: { address: 'desk/a', code: 'ACTOR_QUARANTINED' },
      });
    });
  }

  it('34.15 event nested more than 64 levels deep: refused, and nothing is written', async () => {
    const nested = JSON.parse(`${'{"in":'.repeat(64)}1${'}'.repeat(64)}`);
    const before = await lab.data.load('desk/a');
    const error = await failureOf(life.engine.ask('desk/a', { ...note('deep'), nested }));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.message).to.include('nested more than 64 levels deep');
    expect(await lab.data.load('desk/a')).to.deep.equal(before);
  });

  it('unreadable record loaded on demand: the caller gets the reason', async () => {
    await plant('desk/a', { text: '{' });
    life = await lab.start([deskKind], { prefixes: [] });
    const error = await failureOf(life.engine.ask('desk/a', note('two')));
    expect(error).to.include({ code: 'ACTOR_QUARANTINED' });
    expect(error.message).to.include("its record can't be read");
  });

  it('record repaired: the messages owed to the actor arrive', async () => {
    await plant('desk/a', { text: '{' });
    await start();
    await life.engine.ask('desk/b', tell(noteTo('desk/a', 'first')));
    await life.engine.ask('desk/b', tell(noteTo('desk/a', 'second')));
    await start();
    await plant('desk/a', { text });
    await start();
    expect(life.engine.peek('desk/a')?.context).to.deep.include({ notes: ['one', 'first', 'second'] });
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('record of a machine that is not hosted here: reported, and other actors run', async () => {
    await plant('stranger/x', { text });
    await start();
    expect(life.report).to.deep.equal({ actors: 2, quarantined: ['stranger/x'] });
  });

  it('unreadable tombstone: requests are refused, and no actor is created over it', async () => {
    await plant('desk/a', { text: '{', gone: true });
    await start();
    expect(await failureOf(life.engine.ask('desk/a', note('two')))).to.include({ code: 'ACTOR_QUARANTINED' });
    expect(await lab.data.load('desk/a')).to.include({ text: '{', gone: true });
  });

  it('ended actor of an older version created again: has the new version', async () => {
    await life.engine.ask('desk/a', { type: 'close' });
    const renewed: ActorKind = { ...deskKind, machine: createMachine({ ...deskMachine.config, version: '2' }) };
    const kind = { ...renewed, machine: renewed.machine.provide(deskMachine.implementations) };
    life = await lab.start([kind], { prefixes: ['desk/a'] });
    await life.engine.ask('desk/a', note('anew'));
    life = await lab.start([kind], { prefixes: ['desk/a'] });
    expect(life.report).to.deep.equal({ actors: 1, quarantined: [] });
  });

  it('unreadable outbox: actor quarantined, and no later message of it overtakes', async () => {
    const owed = (to: string, said: string): string => JSON.stringify({ messages: [noteTo(to, said)], events: [] });
    await plant('desk/a', { outbox: owed('desk/b', 'before') });
    await plant('desk/a', { outbox: '{' });
    await plant('desk/a', { outbox: owed('desk/b', 'after') });
    await start();
    expect(life.report).to.deep.equal({ actors: 1, quarantined: ['desk/a'] });
    expect(await life.engine.ask('desk/b', { type: 'read' })).to.deep.equal(['one', 'before']);
    expect(await failureOf(life.engine.ask('desk/a', note('two')))).to.include({ code: 'ACTOR_QUARANTINED' });
    const { rows } = await lab.data.unsettled({ prefix: '', limit: 9 });
    expect(rows.map(({ seq }) => seq)).to.deep.equal([3, 4]);
  });

  it('records damaged at random: each actor runs or is quarantined, and every caller gets a reply', async () => {
    const damage = fc.record({ path: fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), value: fc.jsonValue() });
    const states = fc.constantFrom('work', 'nap', 'leave');
    const property = fc.asyncProperty(
      states,
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      async (type, damages) => {
        lab = new Lab();
        await start();
        await life.engine.ask('worker/a', { type, job: 'dig' }, { requestId: 'r1' });
        const good: object = JSON.parse((await lab.data.load('worker/a'))?.text ?? '');
        await plant('worker/a', { text: JSON.stringify(damages.reduce(damaged, good)) });
        const before = await lab.data.load('worker/a');
        await start();
        const outcomes = ['leave', 'nap', 'again'].map((event) =>
          watched(life.engine.ask('worker/a', { type: event })),
        );
        await lab.rest();
        expect(outcomes.map(({ state }) => state)).to.not.include('open');
        const isQuarantined = outcomes.some(({ error }) => error?.code === 'ACTOR_QUARANTINED');
        expect(life.report.quarantined).to.deep.equal(isQuarantined ? ['worker/a'] : []);
        if (isQuarantined) expect(await lab.data.load('worker/a')).to.deep.equal(before);
        await lab.stop(life.engine);
      },
    );
    await fc.assert(property, { seed, numRuns: 300 });
  });
});

/** Returns a copy with one value replaced; the path counts keys at each level. */
function damaged(whole: object, { path, value }: { path: number[]; value: unknown }): object {
  const [step = 0, ...rest] = path;
  const entries = Object.entries(whole);
  const [key, inner] = entries[step % Math.max(entries.length, 1)] ?? ['new', undefined];
  const replaced = rest.length > 0 && inner instanceof Object ? damaged(inner, { path: rest, value }) : value;
  const copy = entries.map(([name, content]) => [name, name === key ? replaced : content]);
  return Array.isArray(whole) ? copy.map(([, content]) => content) : Object.fromEntries(copy);
}

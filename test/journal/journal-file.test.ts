/** Exported journals: written, opened, replayed and checked anywhere; a damaged file is refused with line and reason. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { checkJournal } from '../../src/journal/check-journal.js';
import { journalLines } from '../../src/journal/export-journal.js';
import { openJournal } from '../../src/journal/journal-file.js';
import type { EntryLine } from '../../src/journal/journal-text.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const address = 'volume/default/data';

describe('exported journals', () => {
  let house: VolumeHouse;
  let file: string;
  let lines: string[];

  before(async () => {
    house = await new VolumeHouse().furnish();
    const { volumes } = house.runtime;
    const work = (async () => {
      await volumes.create(spec('data'));
      await volumes.publish({ id: 'data' }, 'a');
      await volumes.unpublish({ id: 'data' }, 'a');
    })();
    await house.rest();
    await work;
    const entries = (of: string) => house.runtime.journal.entries(of);
    lines = [];
    for await (const line of journalLines({ addresses: [address, 'node/a'], entries, at: 7, stagecraft: '1.2.3' }))
      lines.push(line);
  });

  after(() => house.dispose());

  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'stagecraft-journal-')), 'journal.ndjson');
  });

  afterEach(() => rmSync(join(file, '..'), { recursive: true }));

  const opened = (written: readonly string[] = lines) => {
    writeFileSync(file, written.join(''));
    return openJournal(file);
  };

  /** The lines with one of them changed. */
  const changed = (at: number, change: (line: Record<string, unknown>) => void): string[] =>
    lines.map((line, index) => {
      if (index !== at) return line;
      const value = JSON.parse(line);
      change(value);
      return `${JSON.stringify(value)}\n`;
    });

  it('J4 without addresses: volumes that are in no memory too, and deleted ones as long as they are kept', async () => {
    const work = (async () => {
      for (const id of ['resting', 'deleted']) await house.runtime.volumes.create(spec(id));
      await house.runtime.volumes.delete({ id: 'deleted' });
      await house.restart();
    })();
    await house.rest();
    await work;
    const inMemory = house.runtime.actors.list().map((actor) => actor.address);
    expect(inMemory).not.to.include.members(['volume/default/resting']);
    const all: string[] = [];
    for await (const line of house.runtime.journal.export()) all.push(line);
    const journal = await opened(all);
    const addresses = journal.actors.map((actor) => actor.address);
    expect(addresses).to.include.members(['volume/default/resting', 'volume/default/deleted', 'node/a', address]);
    expect(new Set(addresses).size).to.equal(addresses.length);
    expect((await journal.replay('volume/default/deleted')).snapshot).to.equal(undefined);
  });

  it('J4 a journal of two actors: what it is, which actors, all their entries', async () => {
    const journal = await opened();
    expect(journal.head).to.include({ format: 'stagecraft-journal', version: 1, at: 7, stagecraft: '1.2.3' });
    expect(journal.actors.map((actor) => actor.address)).to.deep.equal([address, 'node/a']);
    const read: JournalEntry[] = [];
    for await (const { after: _, ...entry } of journal.entries(address)) read.push(entry);
    const original: JournalEntry[] = [];
    for await (const entry of house.runtime.journal.entries(address)) original.push(entry);
    expect(read).to.deep.equal(original);
  });

  it('J4 J6 replayed from the file: the same state at each seq as from the live runtime', async () => {
    const journal = await opened();
    const [{ last = 0 } = {}] = journal.actors;
    expect(last).to.be.greaterThan(5);
    for (let to = 1; to <= last; to += 1)
      expect(await journal.replay(address, to)).to.deep.equal(await house.runtime.journal.replay(address, { to }));
  });

  it('J5 checked by the version that wrote it: every entry is compared, none differs', async () => {
    const journal = await opened();
    const [{ entries = 0 } = {}] = journal.actors;
    expect(await checkJournal(address, journal.entries(address))).to.deep.equal({
      address,
      compared: entries,
      skipped: 0,
    });
  });

  it('J5 another state was expected: the first divergence, with what was expected and what came', async () => {
    const at = lines.findIndex((line) => line.includes('"csi":{'));
    const { seq } = JSON.parse(lines[at] ?? '');
    const journal = await opened(
      changed(at, ({ after }) => Object.assign((after as { set: { csi: object } }).set.csi, { id: 'another' })),
    );
    const { divergence } = await checkJournal(address, journal.entries(address));
    expect(divergence).to.deep.include({ seq, path: 'csi.id', expected: 'another' });
  });

  it('J7 a crash that does not happen any more is a divergence', async () => {
    const entries = async function* (): AsyncGenerator<EntryLine> {
      for await (const entry of (await opened()).entries(address))
        yield entry.seq === 2 ? { ...entry, kind: 'crash', error: 'it threw' } : entry;
    };
    const { divergence } = await checkJournal(address, entries());
    expect(divergence).to.deep.equal({ seq: 2, path: 'error', expected: 'it threw', got: undefined });
  });

  const last = () => lines.length - 1;
  const faults: [title: string, written: () => string[], why: string][] = [
    ['an empty file', () => [], 'line 1: the file is empty'],
    ['something else', () => ['hello\n'], 'line 1: is no line of a journal'],
    ['JSON that is no journal', () => ['{"a":1}\n'], 'line 1: is not the beginning of a journal'],
    ['a newer format', () => changed(0, (head) => Object.assign(head, { version: 2 })), 'line 1: has format 2'],
    ['cut off between lines', () => lines.slice(0, 6), 'line 6: the journal was cut off'],
    ['cut off within a line', () => [...lines.slice(0, 5), lines[5]?.slice(0, 40) ?? ''], 'line 6: is no line'],
    ['two lines exchanged', () => lines.toSpliced(3, 2, lines[4] ?? '', lines[3] ?? ''), 'were reordered'],
    ['a line left out', () => lines.toSpliced(4, 1), 'the journal had'],
    ['an actor twice', () => lines.toSpliced(last(), 0, lines[1] ?? ''), `${address} was there before`],
    ['more after its end', () => [...lines, lines[2] ?? ''], 'nothing may follow'],
    ['an entry without an actor', () => lines.toSpliced(1, 1), 'no actor was named before it'],
    [
      'an entry without a time',
      () => changed(3, (entry) => Reflect.deleteProperty(entry, 'at')),
      'line 4: is no entry',
    ],
    ['an unknown source', () => changed(3, (entry) => Object.assign(entry, { source: { kind: 'me' } })), 'source'],
    [
      'a key of every object',
      () => lines.with(3, '{"__proto__":{"seq":1}}\n'),
      "line 4: is no line of a journal: it has a key '__proto__'",
    ],
    [
      'deep nesting',
      () => lines.with(3, `{"seq":1,"event":${'['.repeat(10_000)}${']'.repeat(10_000)}}\n`),
      'line 4: is nested more than 200',
    ],
  ];
  for (const [title, written, why] of faults) {
    it(`J4 ${title}: refused with line and reason`, async () => {
      const error = await refusalOf(opened(written()));
      expect(error).to.include({ code: 'JOURNAL_BROKEN' });
      expect(error.message).to.contain(why);
    });
  }

  it('J4 a line that never ends: refused at the limit, without reading on', async () => {
    const error = await refusalOf(openJournal('/dev/zero'));
    expect(error.message).to.contain('line 1: is longer than 16777216 characters');
  });

  it('J4 no such file: INVALID_ARGUMENT names it', async () => {
    const error = await refusalOf(openJournal('/nowhere/journal.ndjson'));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.message).to.contain('/nowhere/journal.ndjson');
  });

  it('J4 an actor that is not in it: ACTOR_NOT_FOUND names those that are', async () => {
    const error = await refusalOf((await opened()).replay('volume/default/other'));
    expect(error).to.include({ code: 'ACTOR_NOT_FOUND' });
    expect(error.message).to.contain(address);
  });
});

/** The past of an actor over the API: its journal in pages both ways, moments, what-if, and exports. */
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { JournalPage, MomentAnswer, MomentPage, WhatIf } from '../../src/api/actor-routes.js';
import { AgentError } from '../../src/client/agent-error.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { openJournal } from '../../src/journal/journal-file.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const address = 'volume/default/data';
const path = encodeURIComponent(address);

describe('journals over the API', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: () => Promise<void>;
  const entries: JournalEntry[] = [];

  before(async () => {
    house = await new VolumeHouse().furnish();
    socketPath = join(house.directory, 'agent.sock');
    const { runtime } = house;
    closeApi = await serveApi({ runtime, socketPath, version: '0', storeKind: 'lmdb', drain: async () => {} });
    let failures = 2;
    house.plugin.script = ({ rpc }) => {
      failures -= rpc === 'ControllerPublishVolume' ? 1 : 0;
      return rpc === 'ControllerPublishVolume' && failures >= 0 ? { code: 'INTERNAL', text: 'no luck' } : undefined;
    };
    const creating = runtime.volumes.create(spec('data'));
    await house.rest();
    await creating;
    const publishing = runtime.volumes.publish({ id: 'data' }, 'a');
    await house.clock.advance(10_000);
    await publishing;
    for await (const entry of runtime.journal.entries(address)) entries.push(entry);
  });

  after(async () => {
    await closeApi();
    await house.dispose();
  });

  const ask = <T>(from: string): Promise<T> => askAgent(socketPath, 'GET', from) as Promise<T>;
  const whatIf = (body: object): Promise<WhatIf> =>
    askAgent(socketPath, 'POST', '/v1/what-if', { body }) as Promise<WhatIf>;

  it('J1 the journal in pages backward and forward: the same entries, each once', async () => {
    const newest = await ask<JournalPage>(`/v1/journal/${path}?limit=3`);
    expect(newest).to.deep.include({ first: 1, last: entries.length, entries: entries.slice(-3) });
    expect(newest).not.to.have.property('after');
    const backward = [...newest.entries];
    for (let { before } = newest; before !== undefined; ) {
      const page: JournalPage = await ask<JournalPage>(`/v1/journal/${path}?limit=3&before=${before}`);
      backward.unshift(...page.entries);
      ({ before } = page);
    }
    expect(backward).to.deep.equal(entries);
    const forward: JournalPage['entries'] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: JournalPage = await ask<JournalPage>(`/v1/journal/${path}?limit=3&after=${after}`);
      forward.push(...page.entries);
      ({ after } = page);
    }
    expect(forward).to.deep.equal(entries);
  });

  it('J2 a moment: state, context, parts, effects and timers as they were, with health and its history line', async () => {
    const failed = entries.find(({ event }) => event?.output?.failure);
    const { seq = 0 } = failed ?? {};
    const moment = await ask<MomentAnswer>(`/v1/moments/${path}?seq=${seq}`);
    const { snapshot, effects, timers } = await house.runtime.journal.replay(address, { to: seq });
    expect(moment).to.deep.include({ address, seq, entry: failed, effects, timers, health: 'in-doubt' });
    expect(moment.snapshot).to.deep.equal({ value: snapshot?.value, context: snapshot?.context });
    expect(moment.timers).not.to.be.empty;
    expect(moment.line).to.include({ attempt: 1, code: 'INTERNAL' });
    expect(moment.parts.map(({ id }) => id)).to.include('publication/a');
  });

  it('J2 moments in pages: those of the single requests', async () => {
    const page = await ask<MomentPage>(`/v1/moments/${path}?from=3&limit=4`);
    expect(page.moments.map(({ seq }) => seq)).to.deep.equal([3, 4, 5, 6]);
    expect(page).to.include({ before: 3, after: 6 });
    for (const moment of page.moments)
      expect(moment).to.deep.equal(await ask<MomentAnswer>(`/v1/moments/${path}?seq=${moment.seq}`));
  });

  it('J3 what-if: the first failed publish answered OK; the live volume is not touched', async () => {
    const [failed, ok] = [entries.find(({ event }) => event?.output?.failure), entries.at(-1)];
    const { seq = 0 } = failed ?? {};
    const { moments, endedAt } = await whatIf({ address, edits: [{ edit: seq, event: ok?.event }] });
    expect(moments.map((moment) => [moment.seq, moment.line.after, moment.health])).to.deep.equal([
      [seq, 'published', 'healthy'],
    ]);
    expect(endedAt).to.include({ seq: seq + 1 });
    expect((await ask<JournalPage>(`/v1/journal/${path}`)).entries).to.deep.equal(entries);
  });

  it('J3 a course with more moments than asked for is cut, and says so', async () => {
    const again = { edit: 1, event: entries[0]?.event };
    expect(await whatIf({ address, edits: [again], limit: 2 })).to.include({ isCut: true });
    expect((await whatIf({ address, edits: [again] })).moments).to.have.length(entries.length);
  });

  it('J4 an export over the API is a journal that replays to the same state', async () => {
    const file = join(house.directory, 'export.ndjson');
    const text = await new Promise<string>((resolve, reject) => {
      get({ socketPath, path: `/v1/journal-export?address=${path}&address=node%2Fa` }, (response) => {
        let all = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          all += part;
        });
        response.on('end', () => resolve(all)).on('error', reject);
      });
    });
    writeFileSync(file, text);
    const journal = await openJournal(file);
    expect(journal.actors.map((actor) => actor.address)).to.deep.equal([address, 'node/a']);
    expect(await journal.replay(address)).to.deep.equal(await house.runtime.journal.replay(address));
  });

  const faults: [title: string, method: 'GET' | 'POST', path: string, status: number, message: RegExp][] = [
    ['an actor that never was', 'GET', '/v1/journal/volume%2Fdefault%2Fx', 404, /no actor volume\/default\/x/],
    ['moments of an actor that never was', 'GET', '/v1/moments/volume%2Fdefault%2Fx?seq=1', 404, /no actor/],
    ['an export of an actor that never was', 'GET', '/v1/journal-export?address=node%2Fx', 404, /no actor node\/x/],
    ['a seq that is not there', 'GET', `/v1/moments/${path}?seq=999`, 400, /has no entry 999: it has 1 to \d+/],
    ['a seq that is no number', 'GET', `/v1/moments/${path}?seq=one`, 400, /seq: must be a whole number/],
    ['pages of both ways at once', 'GET', `/v1/journal/${path}?after=1&before=5`, 400, /after or before, not both/],
    ['a what-if without edits', 'POST', '/v1/what-if', 400, /edits: is missing/],
  ];
  for (const [title, method, to, status, message] of faults)
    it(`J1 ${title}: refused, with what to do`, async () => {
      const refused = await askAgent(socketPath, method, to).then(undefined, (error: AgentError) => error);
      expect(refused).to.be.instanceOf(AgentError);
      expect(refused).to.have.property('message').that.matches(message);
      expect(await answerOf(socketPath, method, to)).to.include({ status });
    });
});

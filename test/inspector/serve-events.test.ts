/** `GET /v1/events` over a real connection: live, resumed, filtered, with many followers. */
import { expect } from 'chai';
import { type Inspector, serveInspector } from '../../src/inspector/serve-inspector.js';
import { until } from '../until.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

interface Got {
  id: string;
  event: string;
  data: { kind: string; address: string; topic: string };
}

describe('events over HTTP', () => {
  let house: VolumeHouse;
  let inspector: Inspector;
  let ends: (() => void)[];

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    inspector = await serveInspector(house.runtime);
    ends = [];
  });

  afterEach(async () => {
    for (const end of ends) end();
    await inspector.close();
    await house.dispose();
  });

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  const ask = (query: string, lastId?: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${new URL(inspector.url).origin}/v1/events${query}`, {
      headers: {
        authorization: `Bearer ${inspector.token}`,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      },
      ...(signal && { signal }),
    });

  /** Events of a stream, read until it ends. The first id alone is the place where it begins. */
  async function* read(answer: Response): AsyncGenerator<Partial<Got>, void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const lines = block.split('\n').filter((line) => !line.startsWith(':'));
        if (lines.length === 0) continue;
        const fields = lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]);
        const { data, ...rest } = Object.fromEntries(fields);
        yield { ...rest, ...(data !== undefined && { data: JSON.parse(data) }) };
      }
    }
  }

  /** Follows in the background. Resolves once the stream has begun. */
  async function follow(query = '', lastId?: string): Promise<Got[]> {
    const stop = new AbortController();
    ends.push(() => stop.abort());
    const events: Got[] = [];
    const stream = read(await ask(query, lastId, stop.signal));
    await stream.next();
    void (async () => {
      for await (const event of stream) events.push(event as Got);
    })().catch(() => {});
    return events;
  }

  const isCreated = ({ data: { kind, address } }: Got, id: string): boolean =>
    kind === 'created' && address === `volume/default/${id}`;

  it('what happens from now on, with its topic, its kind, its actor and an id', async () => {
    const events = await follow();
    await create('data');
    await until(() => events.some((one) => isCreated(one, 'data')));
    const [first] = events;
    expect(first?.event).to.equal('volumes');
    expect(first?.data).to.include({ topic: 'volumes', address: 'volume/default/data' });
    expect(first?.id).to.contain('@');
  });

  it('resumed with Last-Event-ID: exactly the events after it, then those that happen', async () => {
    const before = await follow();
    for (const id of ['a', 'b']) await create(id);
    await until(() => before.some((one) => isCreated(one, 'b')));
    const resumed = await follow('', before[0]?.id);
    await create('c');
    await until(() => [before, resumed].every((list) => list.some((one) => isCreated(one, 'c'))));
    expect(resumed.map(({ id }) => id)).to.deep.equal(before.slice(1).map(({ id }) => id));
  });

  it('filters by topic, kind, address and plugin', async () => {
    const [volumes, created, addressed, planned, none] = await Promise.all([
      follow('?topic=volumes,nodes'),
      follow('?kind=created'),
      follow('?address=volume/default/b'),
      follow('?plugin=disk'),
      follow('?plugin=other'),
    ]);
    for (const id of ['a', 'b']) await create(id);
    await until(() => [volumes, created, addressed].every((list) => list?.some((one) => isCreated(one, 'b'))));
    expect(created?.map(({ data }) => data.kind)).to.deep.equal(['created', 'created']);
    expect(new Set(addressed?.map(({ data }) => data.address))).to.deep.equal(new Set(['volume/default/b']));
    expect(planned?.length).to.be.above(0);
    expect(none).to.deep.equal([]);
  });

  it('follow=false: what is kept, and the end', async () => {
    await create('data');
    const events: Partial<Got>[] = [];
    for await (const event of read(await ask('?follow=false&topic=volumes'))) events.push(event);
    expect(events.map(({ data }) => data?.kind)).to.include('created');
  });

  it('a hundred followers, some from the beginning on: each gets every event once, in order', async () => {
    await create('first');
    const lists = await Promise.all(Array.from({ length: 100 }, (_, i) => follow(i % 2 === 0 ? '?from=0' : '')));
    for (const id of ['a', 'b', 'c']) await create(id);
    await until(() => lists.every((list) => list.some((one) => isCreated(one, 'c'))));
    const whole = lists[0]?.map(({ id }) => id) ?? [];
    expect(new Set(whole).size).to.equal(whole.length);
    for (const [i, list] of lists.entries()) {
      const ids = list.map(({ id }) => id);
      expect(ids, `follower ${i}`).to.deep.equal(i % 2 === 0 ? whole : whole.slice(-ids.length));
    }
  });

  it('bad input: an unknown topic, no id, an id of another node: refused before anything is sent', async () => {
    for (const query of ['?topic=other', '?from=nothing', '?from=b@volumes-1', '?follow=perhaps']) {
      const answer = await ask(query);
      expect(answer.status, query).to.equal(400);
      expect(await answer.json(), query).to.include({ code: 'INVALID_ARGUMENT' });
    }
  });

  it('the agent ends: so do its followers, with the reason', async () => {
    const answer = await ask('');
    const stream = read(answer);
    await stream.next();
    const closing = inspector.close();
    const { value } = await stream.next();
    expect(value).to.deep.include({ event: 'error' });
    await closing;
  });
});

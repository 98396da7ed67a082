/** `stagecraft/client` against a running API. */
import { expect } from 'chai';
import { AgentError, type Client, createClient } from '../../src/client/index.js';
import { openJournal } from '../../src/index.js';
import { serveInspector } from '../../src/inspector/index.js';
import { spec } from '../volumes/volume-house.js';
import { ApiHouse } from './api-house.js';

const key = { namespace: 'default', id: 'data' };

describe('A4 the client', () => {
  let api: ApiHouse;
  let agent: Client;

  beforeEach(async () => {
    api = await new ApiHouse().open();
    agent = createClient({ socketPath: api.socketPath });
  });
  afterEach(() => api.dispose());

  const refusal = (asked: Promise<unknown>): Promise<AgentError> =>
    asked.then(
      () => expect.fail('it was answered'),
      (error) => error,
    );

  it('A4 a volume from creation to deletion', async () => {
    const made = await agent.volumes.create({ body: spec('data'), query: { timeoutMs: 60_000 } });
    expect(made).to.deep.include({ key, state: 'created' });
    const { publishContext } = await agent.volumes.publish({ params: key, body: { nodeId: 'a' } });
    expect(publishContext).to.deep.equal({ device: 'vol-1@csi-a' });
    const { items } = await agent.volumes.list({ query: { node: 'a', limit: 10 } });
    expect(items.map((volume) => volume.state)).to.deep.equal(['published']);
    expect(await agent.volumes.unpublish({ params: key, body: { nodeId: 'a' } })).to.equal(undefined);
    await agent.volumes.delete({ params: key });
    const gone = await refusal(agent.volumes.get({ params: key }));
    expect(gone).to.be.instanceOf(AgentError);
    expect(gone).to.include({ code: 'VOLUME_NOT_FOUND' });
  });

  it('A4 names of any characters arrive as they are', async () => {
    const odd = { namespace: 'a/b', id: 'c d%?#ü' };
    await agent.volumes.create({ body: spec(odd.id, { namespace: odd.namespace }) });
    expect((await agent.volumes.get({ params: odd })).key).to.deep.equal(odd);
    const { lines } = await agent.actors.history({
      params: { address: ['volume', odd.namespace, odd.id].map(encodeURIComponent).join('/') },
    });
    expect(lines[0]?.seq).to.equal(1);
  });

  it('A4 an error has the whole answer of the agent', async () => {
    await agent.volumes.create({ body: spec('data') });
    const error = await refusal(agent.volumes.create({ body: spec('data', { plugin: 'other' }) }));
    expect(error.answer).to.include({ code: error.code, message: error.message });
    expect(error.answer.address).to.equal('volume/default/data');
  });

  it('A4 events come one by one, and go on after one that was seen', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    let last = '';
    const asked = agent.events.follow({ query: { topic: 'volumes', from: '0' }, signal: stop.signal });
    await agent.volumes.create({ body: spec('data') });
    for await (const event of asked) {
      seen.push(event.kind);
      last = event.id;
      if (event.kind === 'created') break;
    }
    await agent.volumes.delete({ params: key });
    for await (const event of agent.events.follow({ query: { topic: 'volumes', from: last, follow: false } }))
      seen.push(event.kind);
    expect(seen).to.deep.equal(['created', 'deleted']);
  });

  it('J4 an exported journal comes piece by piece, and can be read', async () => {
    await agent.volumes.create({ body: spec('data') });
    const file = `${api.house.directory}/journal.ndjson`;
    const { writeFile } = await import('node:fs/promises');
    await writeFile(file, agent.actors.exportJournals({ query: { address: 'volume/default/data' } }));
    expect((await openJournal(file)).actors.map(({ address }) => address)).to.deep.equal(['volume/default/data']);
    const missing = agent.actors.exportJournals({ query: { address: ['volume/default/none'] } });
    expect(await refusal(missing[Symbol.asyncIterator]().next())).to.include({ code: 'ACTOR_NOT_FOUND' });
  });

  it('A4 a request can be aborted', async () => {
    const stop = new AbortController();
    const asked = refusal(
      agent.plugins.status({
        params: { type: 'csi-node', name: 'none' },
        query: { waitFor: 'healthy' },
        signal: stop.signal,
      }),
    );
    stop.abort();
    expect(await asked).to.include({ code: 'ABORTED' });
  });

  it('A4 without an agent: the error says where it was looked for, and advice can be added', async () => {
    const socketPath = `${api.house.directory}/none.sock`;
    const away = await refusal(createClient({ socketPath }).agent.status());
    expect(away).to.include({ code: 'NOT_REACHABLE' });
    expect(away.message).to.include(socketPath);
    const explain = ({ code }: AgentError): Error => new RangeError(`explained ${code}`);
    expect(await refusal(createClient({ socketPath, explain }).agent.status())).to.be.instanceOf(RangeError);
    expect(() => createClient({})).to.throw(TypeError, /give the socketPath/);
  });

  it('X6 it reads through the link of the page, and not without its token', async () => {
    const inspector = await serveInspector(api.house.runtime);
    try {
      const { actors } = await createClient({ url: inspector.url }).actors.overview();
      expect(actors.address).to.include('node/a');
      const bare = inspector.url.replace(/\?.*/, '');
      expect(await refusal(createClient({ url: bare }).actors.overview())).to.include({ code: 'UNAUTHORIZED' });
    } finally {
      await inspector.close();
    }
  });
});

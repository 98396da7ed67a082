/** The listener for browsers with a real runtime: what it serves, whom it refuses, and the live feed. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { Overview } from '../../src/api/actor-routes.js';
import type { FeedMessage } from '../../src/inspector/feed-message.js';
import { type Inspector, serveInspector } from '../../src/inspector/serve-inspector.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

/** Words of a failure. */
const failureOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'none',
    (error: unknown) => String(error),
  );

describe('the listener for browsers', () => {
  let house: VolumeHouse;
  let inspector: Inspector;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    inspector = await serveInspector(house.runtime, { version: '0', mostViewers: 2 });
  });

  afterEach(async () => {
    await inspector.close();
    await house.dispose();
  });

  const base = (): string => new URL(inspector.url).origin;
  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${inspector.token}` });

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  /** A viewer, and all messages that it has got. */
  async function view(query = '', headers = bearer()): Promise<{ socket: WebSocket; messages: FeedMessage[] }> {
    const socket = new WebSocket(`${base().replace('http', 'ws')}/v1/feed${query}`, { headers });
    const messages: FeedMessage[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    await once(socket, 'open');
    return { socket, messages };
  }

  it('X2 the overview, an actor and its history, with the token of the link', async () => {
    await create('data');
    const answer = await fetch(`${base()}/v1/overview`, { headers: bearer() });
    const { actors } = (await answer.json()) as Overview;
    expect(actors.address).to.include('volume/default/data');
    for (const path of ['/v1/actors/', '/v1/history/']) {
      const one = await fetch(`${base()}${path}${encodeURIComponent('volume/default/data')}`, { headers: bearer() });
      expect(one.status, path).to.equal(200);
    }
  });

  it('X6 without the token nothing is read, and nothing may frame or sniff what is', async () => {
    const refused = await fetch(`${base()}/v1/overview`);
    expect(refused.status).to.equal(401);
    expect(await refused.json()).to.include({ code: 'UNAUTHORIZED' });
    expect(refused.headers.get('content-security-policy')).to.contain("frame-ancestors 'none'");
    expect(refused.headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('X6, 34.12 an address opened in a browser without the token: a page with a field for it, no JSON', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const path of ['/v1/overview', '/none', '/v1/overview?token=wrong-wrong-wrong-wrong']) {
      const answer = await fetch(`${base()}${path}`, { headers: { accept } });
      expect(answer.status, path).to.equal(401);
      expect(answer.headers.get('content-type'), path).to.contain('text/html');
      const text = await answer.text();
      expect(text, path).to.contain('<input name="token"').and.not.contain('wrong-wrong');
      expect(answer.headers.get('content-security-policy'), path).to.contain("form-action 'self'");
    }
    const refused = await fetch(`${base()}/v1/actors/send`, { method: 'POST', headers: { accept } });
    expect(await refused.json()).to.include({ code: 'UNAUTHORIZED' });
  });

  it('X6, 34.12 the page needs no token, and sets no cookie; a ticket for its feed does', async () => {
    const page = await fetch(inspector.url);
    expect(page.headers.get('set-cookie')).to.equal(null);
    expect((await fetch(`${base()}/v1/tickets`, { method: 'POST' })).status).to.equal(401);
    const answer = await fetch(`${base()}/v1/tickets`, { method: 'POST', headers: bearer() });
    const { ticket } = (await answer.json()) as { ticket: string };
    const { messages } = await view(`?ticket=${ticket}`, {});
    await until(() => messages.length > 0);
    expect(await failureOf(view(`?ticket=${ticket}`, {}))).to.contain('401');
  });

  it('X6, 34.12 a ticket with a POST is refused, and makes no other ticket; a GET takes it', async () => {
    const made = await fetch(`${base()}/v1/tickets`, { method: 'POST', headers: bearer() });
    const { ticket } = (await made.json()) as { ticket: string };
    for (const path of ['/v1/tickets', '/v1/actors/send']) {
      const answer = await fetch(`${base()}${path}?ticket=${ticket}`, { method: 'POST' });
      expect(answer.status, path).to.equal(401);
    }
    expect((await fetch(`${base()}/v1/overview?ticket=${ticket}`)).status).to.equal(200);
  });

  it('X6, 34 a path that is no path of a URL is refused as any other, and never with 500', async () => {
    const { host, hostname, port } = new URL(inspector.url);
    for (const [path, status] of [
      [`//[?token=${inspector.token}`, 404],
      ['//[', 401],
      ['//[?token=%', 401],
    ] as const) {
      const raw = connect(Number(port), hostname);
      raw.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
      const [answer] = await once(raw, 'data');
      expect(String(answer), path).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      raw.destroy();
    }
  });

  it('X6, 34 no answer repeats the token of the link', async () => {
    for (const path of ['/none', '/v1/none', '/v1/actors/none', '/v1/feed', '/%']) {
      const answer = await fetch(`${base()}${path}?token=${inspector.token}`);
      expect(await answer.text(), path).not.to.contain(inspector.token);
    }
  });

  it('X6 a foreign page can not read, nor open the feed', async () => {
    const foreign = { ...bearer(), origin: 'https://evil.example' };
    expect((await fetch(`${base()}/v1/overview`, { headers: foreign })).status).to.equal(403);
    expect(await failureOf(view('', foreign))).to.contain('403');
  });

  it('X6 the feed without a token, and a WebSocket at another path, are refused', async () => {
    expect(await failureOf(view('', {}))).to.contain('401');
    const socket = new WebSocket(`${base().replace('http', 'ws')}/v1/other`, { headers: bearer() });
    const [error] = await once(socket, 'error');
    expect(String(error)).to.contain('404');
  });

  it('X6 an address that others can reach, and a short token, are refused', async () => {
    for (const listen of ['0.0.0.0:0', '192.0.2.1:80', 'example.com:80', '127.0.0.1', '127.0.0.1:99999'])
      expect(await refusalOf(serveInspector(house.runtime, { listen })), listen).to.include({
        code: 'INVALID_ARGUMENT',
      });
    expect(await refusalOf(serveInspector(house.runtime, { token: 'short' }))).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('X1 hello, then batches of records, and the actors that they have changed', async () => {
    const { messages } = await view();
    await until(() => messages.length > 0);
    expect(messages[0]).to.include({ type: 'hello', nodeId: house.runtime.nodeId });
    await create('data');
    const isCreated = (): boolean =>
      messages.some((message) => message.type === 'batch' && message.changed.some(({ state }) => state === 'created'));
    await until(isCreated);
    const records = messages.flatMap((message) => (message.type === 'batch' ? message.records : []));
    const seqs = records.map(({ seq }) => seq);
    expect(seqs).to.deep.equal(seqs.toSorted((a, b) => a - b));
    expect(records.map(({ kind }) => kind)).to.include.members(['event', 'snapshot', 'effect']);
  });

  it('X1 filters by kind and by address', async () => {
    const { messages } = await view('?kind=effect&address=volume/default/b');
    for (const id of ['a', 'b']) await create(id);
    const records = (): { address: string; kind: string }[] =>
      messages.flatMap((message) => (message.type === 'batch' ? message.records : []));
    await until(() => records().length > 0);
    for (const { address, kind } of records())
      expect({ address, kind }).to.deep.equal({ address: 'volume/default/b', kind: 'effect' });
  });

  it('X1 one viewer more than are allowed is refused; a closed one leaves its place', async () => {
    const { socket } = await view();
    await view();
    expect(await failureOf(view())).to.contain('503');
    socket.close();
    await once(socket, 'close');
    await view();
  });

  it('X6 a client that is gone before its WebSocket is refused ends nothing', async () => {
    const { hostname, port } = new URL(inspector.url);
    const request = 'GET /v1/feed HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    for (let client = 0; client < 5; client += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      await new Promise<void>((resolve) => socket.write(request, () => resolve()));
      socket.resetAndDestroy();
      const answer = await fetch(`${base()}/healthz`, { headers: bearer() });
      expect(answer.status).to.equal(200);
    }
  });

  it('bad input: a viewer that says anything is dropped, and so is one that speaks no WebSocket', async () => {
    const { socket } = await view();
    socket.send('{"type":"__proto__"}');
    const [code] = await once(socket, 'close');
    expect(code).to.equal(1008);
    const raw = connect(Number(new URL(inspector.url).port), '127.0.0.1');
    raw.write('\x00\x01garbage\r\n\r\n');
    const [text] = await once(raw, 'data');
    expect(String(text)).to.contain('400').and.contain('"code":"INVALID_ARGUMENT"');
  });

  it('X2 a page that is not built: says how to build it', async () => {
    const bare = await serveInspector(house.runtime, { page: house.directory });
    try {
      const answer = await fetch(bare.url);
      expect(answer.status).to.equal(404);
      expect(await answer.text()).to.contain('npm run build');
    } finally {
      await bare.close();
    }
  });
});

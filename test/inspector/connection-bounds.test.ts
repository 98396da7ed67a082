/** What a client can hold of a server without having shown that it may ask: a little time, and one of a few connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { FastifyInstance } from 'fastify';
import { boundConnections, jsonServer } from '../../src/inspector/json-server.js';

const times = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 };

describe('bounds of connections', () => {
  let server: FastifyInstance;
  const clients: Socket[] = [];

  beforeEach(() => {
    server = jsonServer(times);
    server.post('/', () => ({}));
    server.get('/', () => ({}));
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await server.close();
  });

  async function listen(): Promise<void> {
    await server.listen({ port: 0, host: '127.0.0.1' });
  }

  async function open(text = ''): Promise<Socket> {
    const { port } = server.server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    clients.push(client);
    await once(client, 'connect');
    if (text !== '') client.write(text);
    return client;
  }

  /** Reads what comes until the server has ended the connection. */
  async function said(client: Socket): Promise<string> {
    let text = '';
    for await (const part of client) text += part;
    return text;
  }

  it('34.13 a head or a body that does not come in time is answered with 408, and the connection ends', async () => {
    await listen();
    const body = 'content-type: application/json\r\ncontent-length: 5\r\n\r\n{';
    for (const part of ['', 'GET / HTTP/1.1\r\nhost: x\r\n', `POST / HTTP/1.1\r\nhost: x\r\n${body}`])
      expect(await said(await open(part)), part).to.match(/^HTTP\/1.1 408 .*"code":"INVALID_ARGUMENT"/s);
  });

  it('34.13 a client that leaves its end open after a refusal keeps no connection of the server', async () => {
    await listen();
    expect(await said(await open('no http\r\n\r\n'))).to.contain('400 Bad Request');
    const closed = new Promise<number>((resolve) => server.server.getConnections((_, count) => resolve(count)));
    expect(await closed).to.equal(0);
  });

  it('34.13 of unknown connections the oldest is closed for a new one; a known one stays', async () => {
    const take = boundConnections(server.server, 3);
    server.addHook('onRequest', async ({ raw }) => {
      take(raw.socket);
    });
    await listen();
    const known = await open('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(known, 'data');
    const [oldest, ...others] = [await open(), await open(), await open()];
    await open();
    expect(await said(oldest ?? known)).to.equal('');
    for (const client of [known, ...others]) {
      client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      expect(String((await once(client, 'data'))[0])).to.contain('200 OK');
    }
  });

  it('34 a header expect that no server here knows is refused with a reason', async () => {
    await listen();
    const client = await open('GET / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n');
    expect(await said(client)).to.match(/^HTTP\/1.1 417 .*"message":"the agent can not do what 'expect: tea' asks/s);
  });

  it('34 a path that is no path of a URL is refused with a reason, and never with 500', async () => {
    await listen();
    for (const path of ['//[', '/%', '/%ff', '*', '//', '/\\', 'http://[/', '/?%', '//[?token=secret'])
      for (const method of ['GET', 'POST']) {
        const client = await open(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
        const text = await said(client);
        expect(text, path)
          .to.match(/^HTTP\/1.1 (200|400|404) /)
          .and.not.contain('secret');
      }
  });
});

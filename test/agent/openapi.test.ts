/** The routes of the agent, docs/openapi.json, docs/http-api.md and the client: all say the same. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openapiDocument } from '../../src/api/openapi.js';
import { methodAndUrl, paths } from '../../src/api/paths.js';
import { AgentError, type Client, createClient } from '../../src/client/index.js';
import { askAgent } from '../support/ask-agent.js';
import { checkDocumented } from '../support/documented.js';
import { ApiHouse } from './api-house.js';

const all = Object.entries(paths).flatMap(([group, routes]) =>
  Object.entries<string>(routes).map(([name, path]) => ({ id: `${group}.${name}`, path, ...methodAndUrl(path) })),
);

/** As docs/http-api.md writes the names in a path. */
const written = (url: string): string =>
  url
    .replace(':namespace/:id', 'NAMESPACE/ID')
    .replace(/:(id|type|name|address)\b/g, (_, name: string) => name.toUpperCase())
    .replace(':allocId', 'ALLOC');

describe('A4 the document of the API', () => {
  const api = new ApiHouse();
  let agent: Client;

  before(async () => {
    await api.open();
    agent = createClient({ socketPath: api.socketPath });
  });
  after(() => api.dispose());

  it('A4 it names every request once, and the agent gives it', async () => {
    const document = (await agent.agent.openapi()) as Awaited<ReturnType<typeof openapiDocument>>;
    expect(document).to.deep.equal(JSON.parse(JSON.stringify(await openapiDocument())));
    expect(document).to.deep.equal(JSON.parse(readFileSync('docs/openapi.json', 'utf8')));
    const { paths: documented, openapi } = document as { paths: Record<string, object>; openapi: string };
    expect(openapi).to.equal('3.1.0');
    const listed = Object.entries(documented).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).to.deep.equal(all.map(({ id, path }) => `${id} ${path.replace(/:(\w+)/g, '{$1}')}`).sort());
  });

  const text = readFileSync('docs/http-api.md', 'utf8');
  for (const { path, method, url } of all) {
    it(`A4 ${path} is in docs/http-api.md, and the agent serves it`, async () => {
      expect(text).to.include(`\`${method} ${written(url)}`);
      if (url === '/v1/drain' || url === '/v1/events') return;
      const at = url.replace(/:\w+/g, 'none');
      const answer = await askAgent(api.socketPath, method, at).catch((error: unknown) => error);
      if (answer instanceof AgentError) expect(answer.message).not.to.match(/^the agent has no /);
    });
  }

  it('A4 the tests of all answers see a field that is not described, and one that is missing', () => {
    const good = { status: 'ok' };
    checkDocumented('GET', '/healthz', good);
    expect(() => checkDocumented('GET', '/healthz', { ...good, more: 1 })).to.throw(/additional properties/);
    expect(() => checkDocumented('GET', '/healthz', {})).to.throw(/required property 'status'/);
    expect(() => checkDocumented('GET', '/v1/none', good)).to.throw(/has no GET/);
  });

  it('A4 a field of a query that no request knows is refused, with those that there are', async () => {
    const refused: unknown = await askAgent(api.socketPath, 'GET', '/v1/volumes?idprefix=a').catch(
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(AgentError).with.property('code', 'INVALID_ARGUMENT');
    expect(refused)
      .to.have.property('message')
      .that.matches(/idprefix: unknown key, did you mean idPrefix\?/);
  });
});

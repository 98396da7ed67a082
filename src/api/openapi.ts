/** The OpenAPI document of the agent's API, made from its routes: also docs/openapi.json, by `npm run generate`. */
import { errorAnswer } from './fields.js';
import { methodAndUrl } from './paths.js';
import { nothing, type Route } from './route.js';
import { routes } from './routes.js';

let made: Promise<object> | undefined;

/** The document, made when it is asked for first. */
export function openapiDocument(): Promise<object> {
  made ??= makeDocument();
  return made;
}

async function makeDocument(): Promise<object> {
  const [{ fastify }, { default: swagger }, provider] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger'),
    import('fastify-type-provider-zod'),
  ]);
  // This server gets no requests: it only describes its routes.
  const server = fastify();
  server.setValidatorCompiler(provider.validatorCompiler).setSerializerCompiler(provider.serializerCompiler);
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'HTTP API of the Stagecraft agent', description: 'Explained in docs/http-api.md.', version: '1' },
    },
    transform: provider.jsonSchemaTransform,
    transformObject: provider.jsonSchemaTransformObject,
  });
  for (const [group, all] of Object.entries(routes))
    for (const [name, route] of Object.entries<Route>(all))
      server.route({ ...methodAndUrl(route.path), schema: schemaOf(group, name, route), handler: () => {} });
  await server.ready();
  return tidied(server.swagger());
}

/** Schema of a route as fastify has it. */
function schemaOf(group: string, name: string, { path, summary, query, body, answer, contentType }: Route): object {
  const isEmpty = answer.type === 'void';
  const type = contentType ?? 'application/json';
  return {
    operationId: `${group}.${name}`,
    tags: [group],
    summary,
    querystring: query,
    ...(methodAndUrl(path).method === 'POST' && body !== nothing && { body }),
    response: {
      ...(isEmpty
        ? { 204: answer.describe('Done; nothing to answer.') }
        : { 200: { description: 'Done.', content: { [type]: { schema: answer } } } }),
      default: { description: 'An error.', content: { 'application/json': { schema: errorAnswer } } },
    },
  };
}

/** Leaves out schemas that nothing refers to, and lets answers have more fields in later versions. */
function tidied(document: { paths?: object; components?: { schemas?: object } }): object {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const used = new Set<string>();
  const look = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      look(schemas.find(([one]) => one === name)?.[1]);
    }
  };
  look(document.paths);
  const kept = schemas.filter(([name]) => used.has(name)).map(([name, schema]) => [name, opened(schema)]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(kept) } };
}

/** Zod closes the objects of answers. Bodies are not among the shared schemas, and stay closed. */
const opened = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  );

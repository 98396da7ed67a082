/** Compares answers of the API with docs/openapi.json: every field has to be there, as it is described. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Schema = Record<string, unknown>;

interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >;
  components: { schemas: Record<string, Schema> };
}

const document: OpenApi = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

/** In the document answers may have more fields in later versions. Here a field without a description is a fault. */
const closed = (schema: unknown): Schema =>
  JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.properties && value.additionalProperties === undefined ? { ...value, additionalProperties: false } : value,
  );

const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({
  $id: 'api',
  ...closed({ components: document.components }),
});

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/** @throws Error naming what is not as described */
export function checkDocumented(method: string, path: string, answer: unknown): void {
  const [bare = ''] = path.split('?');
  const [, route] = Object.entries(document.paths).find(([one]) => patternOf(one).test(bare)) ?? [];
  const { responses } = route?.[method.toLowerCase()] ?? {};
  if (!responses) throw new Error(`docs/openapi.json has no ${method} ${bare}`);
  const schema = responses[200]?.content?.['application/json']?.schema;
  if (!schema) {
    if (answer !== undefined) throw new Error(`${method} ${bare} answers, which docs/openapi.json does not say`);
    return;
  }
  const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"api#/components');
  const validate = ajv.compile(JSON.parse(text));
  if (!validate(answer))
    throw new Error(`${method} ${bare} answers otherwise than documented: ${ajv.errorsText(validate.errors)}`);
}

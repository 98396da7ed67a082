/** Writes docs/openapi.json from the routes of the API (src/api). `--check` writes nothing, and fails if the file is stale. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapiDocument } from '../src/api/openapi.js';

const path = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
const text = `${JSON.stringify(await openapiDocument(), null, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
  console.error('stale: docs/openapi.json: run npm run generate');
  process.exit(1);
}

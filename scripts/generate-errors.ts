/**
 * Writes docs/errors.md from machines/kit/error-table.ts. `--check` writes nothing, and fails if the page is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ErrorRow, errorTable } from '../machines/kit/error-table.js';

const path = fileURLToPath(new URL('../docs/errors.md', import.meta.url));

const rows: Array<[code: string, row: ErrorRow]> = Object.entries(errorTable);

const quoted = (codes: string[]): string => codes.map((code) => `\`${code}\``).join(', ');

const exits = rows.flatMap(([code, { exit }]) => (exit === undefined ? [] : `\`${code}\` ${exit}`)).join(', ');

const page = `# Errors

<!-- Generated from machines/kit/error-table.ts, do not edit: npm run generate -->

Every rejection is a \`StagecraftError\` with a \`code\` that stays the same, a message that says what to do, and, where one
is concerned, the \`address\` of the actor. Misuse by a programmer is a \`TypeError\`. The library exports this table as
\`errorTable\`, and the type of all codes as \`ErrorCode\`.

HTTP is the status with which the agent's API answers. The command line ends with exit code 2 where its arguments are wrong,
else by the code: ${exits}, all others 1.

| code | HTTP | when | what to do |
|---|---|---|---|
${rows.map(([code, { http = '', when, todo }]) => `| \`${code}\` | ${http} | ${when} | ${todo} |`).join('\n')}

## Worth asking again

The same request may succeed later, by itself or by what others do, after these codes:
${quoted(rows.flatMap(([code, { isRetryable }]) => (isRetryable ? code : [])))}.
A node that needs a volume for an alloc repeats its request after them, for as long as the caller waits. All other errors are
reported at once, \`VOLUME_UNAVAILABLE\` too: somebody holds that volume back.

## Errors of your own code

Where your own code throws an error with a code that is not in this table, e.g. a secrets provider or a dispenser, it arrives as
\`CALL_FAILED\` or \`EFFECT_FAILED\`; its own code is kept as \`originalCode\`.
`;

if (!process.argv.includes('--check')) writeFileSync(path, page);
else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('stale: docs/errors.md: run npm run generate');
  process.exit(1);
}

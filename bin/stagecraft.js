#!/usr/bin/env node
/** The `stagecraft` command. Not the compiled file itself, as tsc makes files that are not executable. */
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/cli/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('stagecraft is not built here yet: run npm run build\n');
  process.exitCode = 1;
}

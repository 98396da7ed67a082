#!/usr/bin/env node
/** The command. In a clone that was not built yet it says so; a build would make a file that nobody may execute. */
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/cli/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('stagecraft is not built here yet: run npm run build\n');
  process.exitCode = 1;
}

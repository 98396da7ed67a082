/** `stagecraft replay`: its options. What it does: run-replay.ts */
import type { Command } from 'commander';
import { countIn } from './arguments.js';
import { lookAt } from './connection.js';
import { inNamespace } from './requests.js';
import type { ReplayOptions } from './run-replay.js';
import { fromStore } from './stored.js';

export function addReplay(program: Command): void {
  const command = inNamespace(
    lookAt(
      program
        .command('replay <what> [more...]')
        .description(
          'show an actor at a moment of its past: its address, its kind and NAME, or FILE [ADDRESS] of an exported journal',
        ),
    ),
    'volume',
  );
  fromStore(command)
    .option('--to <seq>', 'the moment right after this entry of its journal; default: the last one', countIn)
    .option('--step <n>', 'so many entries later', countIn)
    .option('--back <n>', 'so many entries earlier', countIn)
    .option('--diff', 'only what has changed since the entry before')
    .option('--crash', 'the last entry at which its machine threw: the steps that led there, and the stack')
    .option('--check', 'compare journal files with the machines of this version; exit code 1 if one differs')
    .action(async (what: string, more: string[], options: ReplayOptions) => {
      // Loaded only here: the machines take a while.
      const { replay } = await import('./run-replay.js');
      await replay(what, more, options);
    });
}

/** `stagecraft journal export` writes the journals of actors into one file; `stagecraft replay` reads them: run-replay.ts */
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { StoredAt } from '../agent/stored-past.js';
import { countIn } from './arguments.js';
import { addReachOptions, agentAt, fromStore, type LookOptions, lookAt, storedAt } from './connection.js';
import { print, printLines } from './output.js';
import { inNamespace } from './resource-commands.js';
import type { ReplayOptions } from './run-replay.js';

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

interface ExportOptions extends LookOptions, StoredAt {
  output?: string;
}

export function addJournalCommands(program: Command): void {
  const journal = program.command('journal').description('export the journals of actors');
  const command = addReachOptions(
    journal
      .command('export [addresses...]')
      .description('write journals, without secrets, as a file that replay reads anywhere; default: of all actors'),
  );
  fromStore(command).option('--output <file>', 'the file; default: the standard output').action(exportJournals);
}

async function exportJournals(addresses: string[], { output, ...options }: ExportOptions): Promise<void> {
  const read = readerOf(addresses, options);
  if (output === undefined) return read(printLines);
  // A file by the final name is always whole.
  const part = `${output}.part`;
  try {
    await read((texts) => pipeline(texts, createWriteStream(part)));
    renameSync(part, output);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  print(`${output} has the journals of ${addresses.length > 0 ? addresses.join(', ') : 'all actors'}`);
}

type Write = (texts: AsyncIterable<string>) => Promise<void>;

/** @returns a function that reads the journals, and gives their lines to another that writes them */
function readerOf(addresses: string[], options: ExportOptions): (write: Write) => Promise<void> {
  const stored = storedAt(options);
  return async (write) => {
    if (!stored) {
      const agent = await agentAt(options);
      return write(agent.actors.exportJournals({ query: { address: addresses } }));
    }
    const { withStoredJournal } = await import('../agent/stored-past.js');
    await withStoredJournal(stored, async (journal) => {
      for (const address of addresses) await journal.range(address);
      await write(journal.export(addresses.length > 0 ? addresses : undefined));
    });
  };
}

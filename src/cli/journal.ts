/** `stagecraft journal export`: writes the journals of actors into one file. */
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { StoredAt } from '../agent/stored-past.js';
import { addReachOptions, agentAt, type LookOptions } from './connection.js';
import { print, printLines } from './output.js';
import { fromStore, storedAt } from './stored.js';

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

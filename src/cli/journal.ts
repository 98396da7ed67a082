/** `stagecraft journal export`: writes the journals of actors into one file. */
import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { readText } from './client.js';
import { type LookOptions, print, reach, socketOf } from './connection.js';

interface ExportOptions extends LookOptions {
  output?: string;
  dataDir?: string;
}

export function addJournalCommands(program: Command): void {
  const journal = program.command('journal').description('export the journals of actors');
  reach(
    journal
      .command('export [addresses...]')
      .description('write journals, without secrets, as a file that replay reads anywhere; default: of all actors'),
  )
    .option('--output <file>', 'the file; default: the standard output')
    .option('--data-dir <dir>', 'read this data directory, or copy of one, that no agent runs on')
    .action(exportJournals);
}

async function exportJournals(addresses: string[], { output, ...options }: ExportOptions): Promise<void> {
  const write = writerOf(addresses, options);
  if (output === undefined) return write(process.stdout);
  // A file by the final name is always whole.
  const part = `${output}.part`;
  try {
    await written(createWriteStream(part), write);
    renameSync(part, output);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  print(`${output} has the journals of ${addresses.length > 0 ? addresses.join(', ') : 'all actors'}`);
}

function writerOf(addresses: string[], { dataDir, ...options }: ExportOptions): (to: Writable) => Promise<void> {
  if (dataDir !== undefined)
    return async (to) => {
      const { withStoredJournal } = await import('../agent/stored-past.js');
      await withStoredJournal(resolve(dataDir), async (journal) => {
        for (const address of addresses) await journal.range(address);
        const lines = journal.export(addresses.length > 0 ? addresses : undefined);
        for await (const line of lines) if (!to.write(line)) await once(to, 'drain');
      });
    };
  const query = new URLSearchParams(addresses.map((address): [string, string] => ['address', address]));
  const path = `/v1/journal-export${query.size > 0 ? `?${query}` : ''}`;
  return (to) => readText(socketOf(options), path, to);
}

async function written(file: Writable, write: (to: Writable) => Promise<void>): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    file.on('finish', resolve);
    file.on('error', reject);
  });
  await Promise.all([write(file).finally(() => file.end()), ended]);
}

/** `stagecraft journal export`: writes the journals of actors into one file. */
import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { StoredAt } from '../agent/stored-past.js';
import { agentAt, type LookOptions, reach } from './connection.js';
import { print } from './output.js';
import { fromStore, storedAt } from './stored.js';

interface ExportOptions extends LookOptions, StoredAt {
  output?: string;
}

export function addJournalCommands(program: Command): void {
  const journal = program.command('journal').description('export the journals of actors');
  const command = reach(
    journal
      .command('export [addresses...]')
      .description('write journals, without secrets, as a file that replay reads anywhere; default: of all actors'),
  );
  fromStore(command).option('--output <file>', 'the file; default: the standard output').action(exportJournals);
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

function writerOf(addresses: string[], options: ExportOptions): (to: Writable) => Promise<void> {
  const stored = storedAt(options);
  return async (to) => {
    if (!stored) {
      const agent = await agentAt(options);
      return copied(agent.actors.exportJournals({ query: { address: addresses } }), to);
    }
    const { withStoredJournal } = await import('../agent/stored-past.js');
    await withStoredJournal(stored, async (journal) => {
      for (const address of addresses) await journal.range(address);
      await copied(journal.export(addresses.length > 0 ? addresses : undefined), to);
    });
  };
}

async function copied(texts: AsyncIterable<string>, to: Writable): Promise<void> {
  for await (const text of texts) if (!to.write(text)) await once(to, 'drain');
}

async function written(file: Writable, write: (to: Writable) => Promise<void>): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    file.on('finish', resolve);
    file.on('error', reject);
  });
  await Promise.all([write(file).finally(() => file.end()), ended]);
}

/**
 * Writes docs/machines/: a page and a picture of each machine, from its code and from docs/machines/prose/.
 * The same machine gives the same files. `--check` writes nothing and names stale files. Pages: diagrams/page.ts
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cardsOf } from './diagrams/cards.js';
import { shown } from './diagrams/machines.js';
import { notesOf, openIn } from './diagrams/notes.js';
import { filesOf, type GeneratedFile, indexOf } from './diagrams/page.js';
import { faultsOf } from './diagrams/prose.js';

const directory = fileURLToPath(new URL('../docs/machines/', import.meta.url));

const textAt = (name: string): string => (existsSync(directory + name) ? readFileSync(directory + name, 'utf8') : '');

function fail(faults: string[]): never {
  for (const fault of faults) console.error(fault);
  process.exit(1);
}

const texts = shown.map((one) => ({
  ...one,
  name: `prose/${one.machine.id}.md`,
  prose: textAt(`prose/${one.machine.id}.md`),
}));
const common = textAt('prose/words.md');
const files: GeneratedFile[] = [indexOf(texts, common)];
const faults: string[] = [];
for (const { prose, name, ...one } of texts) {
  const { machine } = one;
  const cards = cardsOf(machine);
  const found = [...faultsOf(machine, prose), ...openIn(cards, notesOf(cards, prose, common))];
  faults.push(...found.map((fault) => `docs/machines/${name} ${fault}`));
  try {
    files.push(...(await filesOf(one, prose, common)));
  } catch (error) {
    faults.push(
      `docs/machines/${machine.id}.svg can't be read on one screen: ${error instanceof Error ? error.message : error}`,
    );
  }
}
if (faults.length > 0) fail(faults);

const unknown = readdirSync(directory).filter((name) => name !== 'prose' && !files.some((file) => file.name === name));
if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, text }) => textAt(name) !== text).map(({ name }) => name);
  const names = [...stale, ...unknown].map((name) => `docs/machines/${name}`);
  if (names.length > 0) fail([`stale: ${names.join(', ')}: run npm run generate`]);
} else {
  for (const name of unknown) rmSync(directory + name);
  for (const { name, text } of files) writeFileSync(directory + name, text);
}

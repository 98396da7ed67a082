/**
 * Writes docs/machines/: a page and pictures of each machine, from its code and from docs/machines/prose/.
 * The same machine gives the same files. `--check` writes nothing and names stale files. A picture of an unchanged chart is
 * drawn once, in the layout that it notes. Pages: diagrams/page.ts
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shown } from './diagrams/machines.js';
import { filesOf, type GeneratedFile, indexOf } from './diagrams/page.js';
import { faultsOf, unexplainedIn } from './diagrams/prose.js';
import { screen, smallestScale } from './diagrams/render.js';

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
for (const { prose, ...one } of texts) files.push(...(await filesOf(one, prose, textAt)));
const faults = [
  ...texts.flatMap(({ machine, name, prose, partOf }) =>
    [...faultsOf(machine, prose), ...(partOf ? unexplainedIn(machine, prose, common) : [])].map(
      (fault) => `docs/machines/${name} ${fault}`,
    ),
  ),
  ...files.flatMap(({ name, scale = 1 }) =>
    scale < smallestScale
      ? [
          `docs/machines/${name} would have to shrink to ${Math.round(scale * 100)} % to fit ${screen.width} × ${screen.height} px: give the chart fewer arrows`,
        ]
      : [],
  ),
];
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

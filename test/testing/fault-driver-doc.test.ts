/** The examples of docs/fault-driver.md, run as they are there: the first is a program, the others go on from its middle. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { inJavaScript } from '../built.js';
import { inScenes } from './scene.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(join(root, 'docs/fault-driver.md'), 'utf8');
const [program = '', ...fragments] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
const middle = /(?<=^try \{\n).*?(?=^\} finally)/ms;
const imports = /^import .*\n/gm;

/** A fragment in place of what the program does with its driver. */
function programOf(fragment: string): string {
  const own = [...fragment.matchAll(imports)].map(([line]) => line).join('');
  return own + program.replace(middle, () => fragment.replace(imports, ''));
}

/** The package's own entry points, where they are built: Node finds a package by its own name only from within it. */
const { resolve } = createRequire(import.meta.url);
const fromBuilt = (code: string): string =>
  code.replaceAll(/'(stagecraft\/\w+)'/g, (_, entry: string) => JSON.stringify(resolve(entry)));

describe('docs/fault-driver.md', () => {
  const scenes = inScenes();

  for (const [index, code] of [program, ...fragments.map(programOf)].entries()) {
    it(`example ${index + 1} runs`, async () => {
      const file = join(scenes.scene.folder, 'example.mjs');
      writeFileSync(file, inJavaScript(fromBuilt(code)));
      await promisify(execFile)(process.execPath, [file]);
    });
  }

  it('there are examples', () => {
    expect(middle.test(program)).to.equal(true);
    expect(fragments).to.have.length.above(4);
  });
});

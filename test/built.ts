/**
 * Programs of test/ as plain JavaScript. A process that is to compile TypeScript as it starts takes more than twice the
 * time, and tests start many. Of this house such a program runs what is built: dist/ has to be up to date.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, transformSync } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
/** As deep as the folders of the programs, for what they import from dist/ stays where it is. */
const folder = join(root, 'test/.built');

const built = new Map<string, string>();

/**
 * @param url a program in a folder of test/: `new URL('./agent.ts', import.meta.url)`. What it looks for beside itself it
 *   does not find: `import.meta.url` is that of the bundle.
 * @returns the path of a module that node runs with no flags. What the program imports from test/ is in it; what from
 *   src/ and machines/ is taken from dist/.
 */
export function builtProgram(url: URL): string {
  const path = built.get(url.href) ?? build(fileURLToPath(url));
  built.set(url.href, path);
  return path;
}

/** A piece of TypeScript, as those of the documents: what it imports stays as it is. */
export const inJavaScript = (code: string): string =>
  transformSync(code, { loader: 'ts', format: 'esm', target: 'node20' }).code;

function build(program: string): string {
  const text = bundle(program).replaceAll(
    /\b(from|import) ?(\(?)"\.\.\/\.\.\/(src|machines)\//g,
    '$1 $2"../../dist/$3/',
  );
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const path = join(folder, `${basename(program, '.ts')}-${hash}.mjs`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const unfinished = `${path}.${process.pid}`; // others build the same now, and nobody is to start a half of it
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
  return path;
}

function bundle(program: string): string {
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [program],
    outfile: join(folder, 'program.mjs'),
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    external: ['../../dist/*', '../../src/*', '../../machines/*'],
    logLevel: 'silent',
  });
  const astray = Object.keys(metafile.inputs).filter((path) => !path.startsWith('test/'));
  if (astray.length > 0) throw new Error(`${program} would have a copy of ${astray.join(', ')}`);
  const [output] = outputFiles;
  if (!output) throw new Error(`${program} was not built`);
  return output.text;
}

/** Tests the package as users install it: packed, in an empty project, with dependencies from npm's registry. */
import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));

const packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);
const manifest = z.object({ version: z.string(), exports: z.record(z.string(), z.unknown()) });

/** Environment without the variables of an npm that runs these tests: they name this repository as the project. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

type Ran = SpawnSyncReturns<string>;

const isMarkdown = (path: string): boolean => path.endsWith('.md');

/** Lists the files and folders of this repository that a document links to, by path from the root. */
const linkedFrom = (document: string): string[] =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => posix.join(dirname(document), target));

describe('the packed package', () => {
  const { version, exports } = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  let folder: string;
  let project: string;
  let paths: string[];

  let installed: Ran;

  const run = (command: string, ...words: string[]): Ran =>
    spawnSync(command, words, { cwd: project, env: environment, encoding: 'utf8' });
  const npm = (...words: string[]): Ran =>
    run('npm', ...words, '--engine-strict', '--prefer-offline', '--no-audit', '--no-fund');

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'stagecraft-packed-'));
    project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n');
    // Packs without a build: other tests run the built files meanwhile.
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const [{ filename, files }] = packed.parse(JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8' })));
    paths = files.map(({ path }) => path);
    installed = npm('install', join(folder, filename));
  });
  after(() => rmSync(folder, { recursive: true }));

  // Two dependencies in package.json exist only for this test, as `overrides` do not reach users: newer releases of
  // light-my-request need Node 22, and those of msgpackr-extract name packages that some registries lack.
  it('installs with --engine-strict into an empty project, and again from its lock file', () => {
    expect(installed.status, installed.stderr).to.equal(0);
    expect(installed.stderr).not.to.include('EBADENGINE');
    const locked = npm('ci', '--dry-run');
    expect(locked.status, locked.stderr).to.equal(0);
  });

  it('has all entry points and its command after installation', () => {
    const names = Object.keys(exports).filter((name) => !name.endsWith('.json'));
    const program = names.map((name) => `await import('${posix.join('stagecraft', name)}');`).join('\n');
    const imported = run(process.execPath, '--input-type=module', '--eval', program);
    expect([names.length, imported.status], imported.stderr).to.deep.equal([7, 0]);
    const command = run('npx', '--no-install', 'stagecraft', '--version');
    expect([command.stdout, command.status], command.stderr).to.deep.equal([`${version}\n`, 0]);
  });

  it('has all files that its documents link to', () => {
    const isPacked = (target: string): boolean =>
      paths.some((path) => path === target || path.startsWith(posix.join(target, '/')));
    const missing = paths
      .filter(isMarkdown)
      .flatMap((document) =>
        linkedFrom(document).flatMap((target) => (isPacked(target) ? [] : [`${document}: ${target}`])),
      );
    expect(paths).to.include('README.md');
    expect(missing).to.deep.equal([]);
  });

  it('has types that use no global types of Node', () => {
    const global = paths.filter(
      (path) => path.endsWith('.d.ts') && /\bNodeJS\./.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(global).to.deep.equal([]);
  });

  it('has no source maps', () => {
    expect(paths.filter((path) => path.endsWith('.map'))).to.deep.equal([]);
  });
});

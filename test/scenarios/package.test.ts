/** The package as its users get it: packed, installed into an empty project, imported from JavaScript and TypeScript. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageVersion } from '../../src/host/version.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Uses every entry point, its types included. */
const usage = `
import { createRuntime, StagecraftError, type Dispenser, type Runtime } from 'stagecraft';
import { pluginMachine, type Fingerprint } from 'stagecraft/machines';
import { lmdbStore, memoryStore, type Store } from 'stagecraft/stores';
import { CsiClient, grpcCodeOf, type ProbeResponse } from 'stagecraft/csi';
import { seededRandom, simulatedClock } from 'stagecraft/testing';

const store: Store = memoryStore();
const found: Fingerprint = { healthy: true, description: 'a device is always there' };
const device: Dispenser<object> = { connect: () => ({}), fingerprint: async () => found, close: () => {} };
const dataDir: string = process.argv[2] ?? '';
const runtime: Runtime = await createRuntime({ nodeId: 'n1', dataDir, store, dispensers: { device } });
await runtime.plugins.register({ type: 'device', name: 'd', allocId: 'a', connection: { socketPath: '/run/d.sock' } });
const status = await runtime.plugins.waitFor('device', 'd');
const refused: unknown = await runtime.plugins.dispense('csi-node', 'x').catch((error: unknown) => error);
console.log(status.state, refused instanceof StagecraftError && refused.code, pluginMachine.id, typeof lmdbStore);
const answer: ProbeResponse = { ready: true };
console.log(typeof CsiClient, answer.ready, grpcCodeOf(14), seededRandom(1).next() < 1, simulatedClock().pending);
await runtime.close();
`;

/** The same without its types: they are gone from a line each. */
const plain = usage
  .replaceAll(/, type \w+/g, '')
  .replaceAll(/: (Store|Fingerprint|Dispenser<object>|string|Runtime|unknown|ProbeResponse)(?= =)/g, '')
  .replaceAll('(error: unknown)', '(error)');

const exampleIn = (file: string, language = 'ts'): string => {
  const [, example] =
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(readFileSync(join(root, file), 'utf8')) ?? [];
  if (example === undefined) throw new Error(`${file} has no example`);
  return example;
};

/** Of a page whose examples are one program. */
const programIn = (file: string): string =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, piece = '']) => piece).join('');

/** The examples of the documents, whose types are to be right. */
const examples: Record<string, string> = {
  'readme.ts': exampleIn('README.md'),
  'library.ts': exampleIn('docs/library.md', 'js'),
  'tasks.ts': programIn('docs/library.md'),
  'suite.ts': exampleIn('src/tools/store-suite/store-suite.ts').replaceAll(/^ \* ?/gm, ''),
  'faults.ts': exampleIn('docs/fault-driver.md'),
  'my-store.ts': "export { lmdbStore as myStore } from 'stagecraft/stores';\n",
};

describe('the packed package', () => {
  let project: string;
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: project, encoding: 'utf8' });

  before(() => {
    project = mkdtempSync(join(tmpdir(), 'stagecraft-package-'));
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', project], { cwd: root });
    const [tarball = ''] = readdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
    run(
      'npm',
      'install',
      '--silent',
      '--no-audit',
      '--no-fund',
      join(project, tarball),
      'typescript@7.0.2',
      '@types/node@20',
    );
  });
  after(() => rmSync(project, { recursive: true, force: true }));

  const expected = 'healthy PLUGIN_NOT_FOUND plugin function\nfunction true UNAVAILABLE true 0\n';

  it('works from JavaScript', () => {
    writeFileSync(join(project, 'usage.js'), plain);
    expect(run('node', 'usage.js', join(project, 'data'))).to.equal(expected);
  });

  it('works from strict TypeScript, the examples do too, and what that compiles to runs', () => {
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      skipLibCheck: true,
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, outDir: 'out' }, files: ['usage.ts', ...Object.keys(examples)] }),
    );
    for (const [file, text] of Object.entries(examples)) writeFileSync(join(project, file), text);
    writeFileSync(join(project, 'usage.ts'), usage);
    run('npx', 'tsc');
    expect(run('node', 'out/usage.js', join(project, 'data'))).to.equal(expected);
    run('node', 'out/faults.js'); // starts a process of its own from what is built
  });

  it('R15 brings the example of a kind of plugin, which runs where it is copied to', () => {
    cpSync(join(project, 'node_modules/stagecraft/docs/examples/device'), join(project, 'device'), { recursive: true });
    expect(run('node', 'device/main.mjs')).to.match(
      /^healthy \{.*\nunhealthy → healthy: ready\n\{ celsius: 21\.5 \}\n$/s,
    );
  });

  it('brings a command that says its version', () => {
    expect(run('npx', 'stagecraft', '--version')).to.equal(`${packageVersion()}\n`);
  });

  it('holds what is built, with types, and no test', () => {
    const files: string[] = JSON.parse(
      run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts', root),
    )[0].files.map(({ path }: { path: string }) => path);
    expect(files).to.include.members(['dist/src/index.js', 'dist/src/index.d.ts', 'proto/csi.proto', 'LICENSE']);
    expect(files.filter((path) => path.startsWith('test/') || path.includes('tsbuildinfo'))).to.deep.equal([]);
  });
});

/**
 * Runs a command on Node 24: `node scripts/node24.js mocha test/x.test.ts`. Without a command it only makes sure of that
 * Node. If this process runs on an older one, npm fetches the binary into its cache, once. It is no dependency of the
 * package: a `node` in node_modules/.bin would be the one of every npm script.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const version = '24.21.0';

const node = Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : fetched();
const [command, ...words] = process.argv.slice(2);
if (node !== undefined && command !== undefined) run();

/** Returns the path of the binary. A package of npm's registry has it, without install scripts. */
function fetched() {
  const name = `node-linux-${process.arch}@${version}`;
  const words = ['exec', '--yes', '--prefer-offline', '--ignore-scripts', `--package=${name}`, '--'];
  const { status, stdout } = spawnSync('npm', [...words, 'node', '--print', 'process.execPath'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_config_call: '' }, // An outer `npm exec --call` would contradict the words above.
  });
  if (status === 0) return stdout.trim();
  console.error(
    `Node 24 is needed, this is Node ${process.versions.node}, and npm could not fetch and run ${name}: see above.`,
  );
  console.error(
    'Give npm access to a registry that has it; or install Node 24, put it first on PATH, and run this again.',
  );
  process.exitCode = 1;
}

/** Programs that the command starts by name, npm and its scripts included, also run on that Node. */
function run() {
  const tools = join(fileURLToPath(new URL('..', import.meta.url)), 'node_modules/.bin');
  const env = { ...process.env, PATH: `${dirname(node)}:${tools}:${process.env.PATH}` };
  const { status, error } = spawnSync(command, words, { stdio: 'inherit', env });
  if (error) console.error(error.message);
  process.exitCode = status ?? 1;
}

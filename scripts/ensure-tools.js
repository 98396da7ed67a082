/** Installs the programs that tests start, if possible; else fails and names them. Tests also use $REDIS_URL. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

const policy = '/usr/sbin/policy-rc.d';

/** Programs, with their use in tests. `debian` is the name of the package, if it differs from the program's. */
const tools = {
  // Tests that kill their server, or need several, can't use the server of $REDIS_URL.
  'redis-server': { use: 'servers to kill, 7 or newer', others: 'dnf install redis, apk add redis' },
  chromium: { use: 'a browser for the inspector page', others: 'dnf install chromium, apk add chromium' },
  python3: { use: 'processes in states that Node cannot reach', others: 'dnf install python3, apk add python3' },
  'systemd-analyze': { use: 'to verify the unit of the service', debian: 'systemd', others: 'dnf install systemd' },
};

const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const packageOf = (tool) => tools[tool].debian ?? tool;
const missing = () => Object.keys(tools).filter((tool) => !works(tool, '--version'));

if (missing().length > 0) install(missing().map(packageOf));
for (const tool of missing()) {
  const { use, others } = tools[tool];
  console.error(`The tests need ${tool} (${use}), which is not on PATH and could not be installed here.`);
  console.error(`Install it: apt-get install ${packageOf(tool)} (Debian, Ubuntu), ${others}.`);
  process.exitCode = 1;
}

function install(packages) {
  if (process.getuid?.() !== 0 || !works('apt-get', '--version')) return;
  console.log(`${packages.join(' and ')} missing: installing with apt-get`);
  const isOurs = !existsSync(policy);
  // Debian starts no service while this file exits with 101. The tests start their own servers.
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...packages);
  } finally {
    if (isOurs) rmSync(policy);
  }
}

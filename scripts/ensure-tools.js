/** Sees to it that the tests have the programs that they start, installed where that is possible. $REDIS_URL is used besides. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

const policy = '/usr/sbin/policy-rc.d';

/** By the name of the program: what the tests need it for. `debian`: its package there, where that has another name. */
const tools = {
  // Those that kill their server, or need several, can't do with somebody else's.
  'redis-server': { use: 'servers to kill, 7 or newer', others: 'dnf install redis, apk add redis' },
  python3: { use: 'processes in states that Node does not get into', others: 'dnf install python3, apk add python3' },
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
  // Debian's way to say that no service is to be started: the tests start servers of their own.
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

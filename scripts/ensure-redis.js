/** Sees to it that the tests have a Redis: $REDIS_URL, or redis-server on PATH, installed where that is possible. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

const policy = '/usr/sbin/policy-rc.d';

const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

if (!process.env.REDIS_URL && !works('redis-server', '--version') && !installed()) {
  console.error('npm test needs a Redis 7 or newer, which could not be installed here.');
  console.error(
    'Install it (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install redis; Alpine: apk add redis),',
  );
  console.error('or set REDIS_URL for the tests that need no server of their own.');
  process.exit(1);
}

function installed() {
  if (process.getuid?.() !== 0 || !works('apt-get', '--version')) return false;
  console.log('redis-server is missing: installing it with apt-get');
  const isOurs = !existsSync(policy);
  // Debian's way to say that no service is to be started: the tests start servers of their own.
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
    apt('update');
    return apt('install', '-y', '--no-install-recommends', 'redis-server') && works('redis-server', '--version');
  } finally {
    if (isOurs) rmSync(policy);
  }
}

/** Sees to it that the tests have a redis-server to start, installed where that is possible. $REDIS_URL is used besides. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

const policy = '/usr/sbin/policy-rc.d';

const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

if (!works('redis-server', '--version') && !installed()) {
  console.error('The tests start redis-server, 7 or newer, which is not on PATH and could not be installed here.');
  console.error('Install it: apt-get install redis-server (Debian, Ubuntu), dnf install redis, apk add redis.');
  // Those that kill their server, or need several, can't do with somebody else's.
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

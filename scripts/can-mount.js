/** Fails if the whole test suite can't run here. It needs root, and bind mounts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directory = mkdtempSync(join(tmpdir(), 'stagecraft-mount-'));
const mount = spawnSync('mount', ['--bind', directory, directory], { encoding: 'utf8' });
if (mount.status === 0) spawnSync('umount', [directory]);
rmSync(directory, { recursive: true });
if (mount.status !== 0) {
  const [why] = (mount.stderr || mount.error?.message || 'mount failed').trim().split('\n');
  console.error(`npm test needs to make bind mounts, which fails here (${why}).`);
  console.error('Run it as root. npm run test:unit leaves out most tests that mount, but not all: see CONTRIBUTING.md');
  process.exit(1);
}

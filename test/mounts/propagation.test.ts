/** Mounts below our directory are seen in other mount namespaces, with the real kernel. Needs root. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { type MountEntry, parseMountInfo } from '../../src/host/mount-table.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import type { MountDirectoriesOptions } from '../../src/mounts/mount-directories.js';
import { hostPropagation, type PropagationOptions } from '../../src/mounts/propagation.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';

/** As after a restart each time. */
const ensureShared = (options: PropagationOptions) => hostPropagation(options).ensureShared();
const undoShared = (options: PropagationOptions) => hostPropagation(options).undoShared();

const mount = (...args: string[]): void => {
  execFileSync('mount', args);
};

describe('propagation of mounts', () => {
  let folder: string;
  let dataDir: string;
  let options: MountDirectoriesOptions;
  let children: ChildProcess[];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "stagecraft's propagation-")));
    // As on most hosts not: what is above it may be shared where the tests run.
    mount('--bind', folder, folder);
    mount('--make-private', folder);
    dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    options = { root: join(dataDir, 'csi'), readTable: readMountTable, tool: hostTool(systemClock) };
    children = [];
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    for (const { path } of mountsWithin(folder).reverse()) execFileSync('umount', ['--lazy', path]);
    rmSync(folder, { recursive: true });
  });

  const mountsWithin = (path: string, pid: number | 'self' = 'self'): MountEntry[] =>
    parseMountInfo(readFileSync(`/proc/${pid}/mountinfo`, 'utf8')).filter(
      (entry) => entry.path === path || entry.path.startsWith(`${path}/`),
    );

  const told = (path = options.root): string[] =>
    mountsWithin(path).map((entry) => `${entry.path} ${entry.propagation}`);

  const bindBelow = (name: string): string => {
    const path = join(options.root, name);
    mkdirSync(path, { recursive: true });
    mount('--bind', dataDir, path);
    return path;
  };

  it('a private mount becomes a shared one of our own, once, however often it is asked for', async () => {
    await ensureShared(options);
    await ensureShared(options);
    expect(told()).to.deep.equal([`${options.root} shared`]);
    expect(statSync(options.root).mode & 0o777).to.equal(0o711);
  });

  it('asked for by many at once it is made once, and again after it was undone', async () => {
    const propagation = hostPropagation(options);
    const both = [propagation.ensureShared(), propagation.ensureShared(), propagation.undoShared()];
    await Promise.all([...both, propagation.ensureShared(), propagation.ensureShared()]);
    expect(told()).to.deep.equal([`${options.root} shared`]);
  });

  it('refused, it is tried again the next time', async () => {
    const propagation = hostPropagation({ ...options, isRoot: false });
    await refusalOf(propagation.ensureShared());
    mount('--make-shared', folder);
    await propagation.ensureShared();
  });

  it('what is mounted below it is seen in a mount namespace that was made before', async () => {
    await ensureShared(options);
    const other = spawn('unshare', ['--mount', '--propagation', 'slave', 'sleep', 'infinity'], { stdio: 'ignore' });
    children.push(other);
    const { pid = 0 } = other;
    await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'));
    expect(mountsWithin(options.root, pid)).to.have.length(1);
    const below = bindBelow('staging');
    expect(mountsWithin(below, pid)).to.have.length(1);
    execFileSync('umount', [below]);
    expect(mountsWithin(below, pid)).to.deep.equal([]);
  });

  for (const [what, undoes, seen] of [
    ['is seen here also after a restart', false, 1],
    ['is not seen here once it was undone meanwhile', true, 0],
  ] as const) {
    it(`what is mounted in a container that has a directory of it ${what}`, async () => {
      await ensureShared(options);
      const [own, base] = [join(options.root, 'plugin'), join(folder, 'container')];
      for (const path of [join(own, 'staging'), base]) mkdirSync(path, { recursive: true });
      const script =
        'mount --bind "$1" "$2" && echo started && read go && mount --bind "$2" "$2/staging" && echo mounted';
      const command = ['--mount', '--propagation', 'unchanged', 'sh', '-c', `${script} && read stop`, 'sh', own, base];
      const container = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'inherit'] });
      children.push(container);
      await once(container.stdout, 'data');
      if (undoes) expect(await undoShared(options)).to.equal(undefined);
      await ensureShared(options);
      container.stdin.write('\n');
      await once(container.stdout, 'data');
      expect(mountsWithin(join(own, 'staging'))).to.have.length(seen);
    });
  }

  it('killed before it was made shared, it is made so the next time, and not mounted twice', async () => {
    mkdirSync(options.root);
    mount('--bind', options.root, options.root);
    mount('--make-private', options.root);
    expect(told()).to.deep.equal([`${options.root} private`]);
    await ensureShared(options);
    expect(told()).to.deep.equal([`${options.root} shared`]);
  });

  it('below a mount that is shared already nothing is done, and nobody has to be root', async () => {
    mount('--make-shared', folder);
    await ensureShared({ ...options, isRoot: false });
    expect(told()).to.deep.equal([]);
    expect(existsSync(options.root)).to.equal(true);
  });

  it('without root it is refused with the commands, and is right once those have run', async () => {
    const { code, message } = await refusalOf(ensureShared({ ...options, isRoot: false }));
    expect(code).to.equal('HOST_UNFIT');
    expect(message).to.include(`since the mount at ${folder} is not shared`);
    expect(told()).to.deep.equal([]);
    execFileSync('sh', ['-c', message.slice(message.indexOf('run this as root: ') + 'run this as root: '.length)]);
    expect(told()).to.deep.equal([`${options.root} shared`]);
    await ensureShared({ ...options, isRoot: false });
  });

  it('mounts below it are never hidden: refused with their names, accepted once the command has run', async () => {
    const below = bindBelow('staging');
    const { code, message } = await refusalOf(ensureShared(options));
    expect(code).to.equal('HOST_UNFIT');
    expect(message).to.include(`it would hide what is mounted at ${below}`);
    expect(told()).to.deep.equal([`${below} private`]);
    execFileSync('sh', ['-c', message.slice(message.indexOf('as root: ') + 'as root: '.length)]);
    await ensureShared(options);
    expect(told()).to.deep.equal([`${below} private`]);
  });

  it('where the kernel refuses it, its words and the commands for the host are told', async () => {
    const tool = {
      ...options.tool,
      run: async () => ({ status: 32, stdout: '', stderr: 'mount: permission denied.' }),
    };
    const { code, message } = await refusalOf(ensureShared({ ...options, tool }));
    expect(code).to.equal('HOST_UNFIT');
    expect(message).to.include("can't be made so (mount: permission denied.): run this on the host: mount --bind ");
    const failing = { ...options.tool, run: () => Promise.reject(new Error('mount does not run')) };
    const failed = await refusalOf(ensureShared({ ...options, tool: failing }));
    expect(failed.code).to.equal('HOST_UNFIT');
    expect(failed.message).to.include("can't be made so (mount does not run): run this on the host");
  });

  it('undone, the directory can be removed; twice is once', async () => {
    await ensureShared(options);
    expect(() => rmdirSync(options.root)).to.throw('EBUSY');
    expect(await undoShared(options)).to.equal(undefined);
    expect(await undoShared(options)).to.equal(undefined);
    expect(told()).to.deep.equal([]);
    rmdirSync(options.root);
  });

  it('undone also where a crash has it mounted more than once', async () => {
    await ensureShared(options);
    mount('--bind', options.root, options.root);
    expect(await undoShared(options)).to.equal(undefined);
    expect(told()).to.deep.equal([]);
  });

  it('not undone while something is mounted below it, or in use: that is told, and all stays', async () => {
    await ensureShared(options);
    const below = bindBelow('staging');
    const before = told();
    expect(await undoShared(options)).to.deep.equal({ path: below, why: 'something is mounted there' });
    expect(told()).to.deep.equal(before);
    execFileSync('umount', [below]);

    const user = spawn('sleep', ['infinity'], { cwd: options.root, stdio: 'ignore' });
    children.push(user);
    const busy = await undoShared(options);
    expect(busy?.path).to.equal(options.root);
    expect(busy?.why).to.include('busy');
    expect(told()).to.deep.equal([`${options.root} shared`]);
  });

  it('what somebody else has mounted at the directory is made shared, and never taken away', async () => {
    mkdirSync(options.root);
    mount('-t', 'tmpfs', 'disk', options.root);
    mount('--make-private', options.root);
    await ensureShared(options);
    expect(told()).to.deep.equal([`${options.root} shared`]);
    expect(await undoShared(options)).to.equal(undefined);
    expect(told()).to.deep.equal([`${options.root} shared`]);
  });
});

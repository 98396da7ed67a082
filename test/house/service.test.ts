/** Tests the systemd unit in docs/examples: systemd accepts it, and a restart keeps plugins and mounts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const unit = readFileSync(join(docs, 'examples', 'stagecraft.service'), 'utf8');
const program = '/usr/bin/stagecraft';

const settings = new Map(
  unit
    .split('\n')
    .filter((line) => /^[A-Za-z]+=/.test(line))
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);

/** Settings that give the service a mount namespace of its own: see systemd.exec(5). */
const isolating =
  /^(Private(?!Mounts)|Protect|ReadOnlyPaths|ReadWritePaths|InaccessiblePaths|NoExecPaths|ExecPaths|Bind|Root|TemporaryFileSystem|MountFlags|MountImages|ExtensionImages|DynamicUser)/;

describe('the unit of the service', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const verified = (text: string): { status: number | null; said: string } => {
    const path = join(directory, 'stagecraft.service');
    // Replaces the program, which is not installed here.
    writeFileSync(path, text.replace(program, process.execPath));
    const { status, stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  };

  it('systemd accepts the unit, and rejects one with an unknown setting', () => {
    expect(settings.get('ExecStart')).to.match(new RegExp(`^${program} agent`));
    expect(verified(unit)).to.deep.equal({ status: 0, said: '' });
    expect(verified(unit.replace('KillMode=', 'KilMode=')).said).to.include('KilMode');
  });

  it('a restart of the agent kills no plugin; the agent restarts after every end except a drain', () => {
    expect(Object.fromEntries(settings)).to.include({
      KillMode: 'process',
      OOMPolicy: 'continue',
      Restart: 'always',
      RestartPreventExitStatus: '0 2',
    });
    expect(Number(settings.get('TimeoutStopSec'))).to.be.above(150);
  });

  it('no setting gives the agent a mount namespace of its own', () => {
    expect(settings.get('PrivateMounts')).to.equal('no');
    expect([...settings.keys()].filter((name) => isolating.test(name))).to.deep.equal([]);
  });
});

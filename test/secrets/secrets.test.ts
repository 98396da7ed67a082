/** The built-in secrets providers, and what is taken from any. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { envSecrets, fileSecrets, type SecretsProvider, secretsFrom } from '../../src/index.js';
import { resolveSecrets } from '../../src/secrets/secrets.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const rejectionOf = async (asked: Promise<unknown>): Promise<string> => {
  const error: unknown = await asked.then(
    (value) => new Error(`it was resolved: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : String(error);
};

describe('secrets in files', () => {
  let home: string;
  let directory: string;
  let secrets: SecretsProvider;
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(directory, name), content);

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'stagecraft-secrets-'));
    directory = join(home, 'secrets');
    mkdirSync(join(directory, 'ebs'), { recursive: true });
    secrets = fileSecrets(directory);
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('V19 both forms of a reference name a file, also in a folder; one line end at its end is cut', async () => {
    write('user', 'anna\n');
    write('ebs/password', ' two\nlines \r\n');
    write('three', 'a\n\n');
    const refs = { user: 'file:user', password: { file: 'ebs/password' }, three: 'file:three' };
    expect(await secrets.resolve(refs)).to.deep.equal({ user: 'anna', password: ' two\nlines ', three: 'a\n' });
  });

  it('V19 a file that was replaced, or is led to another way, is read anew', async () => {
    for (const [version, value] of Object.entries({ v1: 'old', v2: 'new' })) {
      mkdirSync(join(directory, version));
      write(`${version}/password`, value);
    }
    symlinkSync('v1', join(directory, '..data'));
    symlinkSync('..data/password', join(directory, 'password'));
    const refs = { password: 'file:password' };
    expect(await secrets.resolve(refs)).to.deep.equal({ password: 'old' });
    symlinkSync('v2', join(directory, 'next'));
    renameSync(join(directory, 'next'), join(directory, '..data'));
    expect(await secrets.resolve(refs)).to.deep.equal({ password: 'new' });
  });

  it('V19 all that are missing are named in one error, each with why', async () => {
    write('there', 'x');
    write('empty', '\n');
    const refs = { one: 'file:nothing', two: 'file:there', three: { file: 'empty' }, four: 'env:HOME', five: 'file:' };
    expect((await rejectionOf(secrets.resolve(refs))).split('; ')).to.deep.equal([
      `one (file:nothing): there is no such file in ${directory}`,
      'three (file:empty): its file is empty',
      'four: its reference must be file:<name>',
      'five (file:): its name must be that of a file below the directory of secrets',
    ]);
  });

  it('V19 no name leads out of the directory, and no link does', async () => {
    writeFileSync(join(home, 'outside'), 'none of yours');
    mkdirSync(join(home, 'secrets-of-others'));
    writeFileSync(join(home, 'secrets-of-others', 'file'), 'none of yours');
    for (const name of ['../outside', 'ebs/../../outside', '/etc/hostname', '.', '..', 'ebs//x', 'ebs/', 'x\0y'])
      expect(await rejectionOf(secrets.resolve({ x: `file:${name}` }))).to.include('below the directory of secrets');
    symlinkSync('../outside', join(directory, 'link'));
    symlinkSync(join(home, 'secrets-of-others'), join(directory, 'folder'));
    for (const name of ['link', 'folder/file'])
      expect(await rejectionOf(secrets.resolve({ x: `file:${name}` }))).to.equal(
        `x (file:${name}): its file lies outside of ${directory}`,
      );
  });

  it('V19 what is no file, too large or no text is refused, and a pipe that nobody writes holds up nothing', async () => {
    expect(spawnSync('mkfifo', [join(directory, 'pipe')]).status).to.equal(0);
    write('large', 'x'.repeat(64 * 1024 + 1));
    write('largest', 'x'.repeat(64 * 1024));
    write('binary', Uint8Array.of(0x70, 0xff, 0x77));
    symlinkSync('loop', join(directory, 'loop'));
    const faults: Record<string, string> = {
      pipe: 'its file is no plain file',
      ebs: 'its file is no plain file',
      large: 'its file has more than 65536 bytes',
      binary: 'its file is no text in UTF-8',
      loop: `its file is a link that leads nowhere in ${directory}`,
    };
    for (const [name, fault] of Object.entries(faults))
      expect(await rejectionOf(secrets.resolve({ x: `file:${name}` }))).to.equal(`x (file:${name}): ${fault}`);
    const { largest = '' } = await secrets.resolve({ largest: 'file:largest' });
    expect(largest).to.have.length(64 * 1024);
  });

  it('V19 a reference that is none is not told again: somebody may have taken it for the value', async () => {
    for (const ref of ['hunter2', 'hunter2:x', { hunter2: 'hunter2' }, { file: 'a', hunter2: 'b' }]) {
      const message = await rejectionOf(secrets.resolve({ password: ref }));
      expect(message).to.equal('password: its reference must be file:<name>');
    }
  });

  it('V2 V19 what can be no reference is told without a look, each fault, and nothing of what was given', () => {
    const refs = {
      good: 'file:not/there',
      typed: 'hunter2',
      out: 'file:../x',
      empty: { file: '' },
      other: 'env:HOME',
      two: { file: 'a', env: 'b' },
    };
    const below = 'its name must be that of a file below the directory of secrets';
    const form = 'its reference must be file:<name>';
    const faults = [`typed: ${form}`, `out: ${below}`, `empty: ${below}`, `other: ${form}`, `two: ${form}`];
    expect(secrets.check?.(refs)).to.deep.equal(faults);
    const both = secretsFrom({ directory, env: { prefix: 'DISK_' } });
    expect(both.check?.({ a: 'env:HOME', b: 'env:DISK_KEY', c: 'env:' })).to.deep.equal([
      'a: its variable must have a name that begins with DISK_',
      'c: its variable must have a name',
    ]);
  });

  it('V19 a directory that is not absolute, or nothing to look in, is refused at once', () => {
    expect(() => fileSecrets('secrets'))
      .to.throw('absolute path')
      .with.property('code', 'INVALID_ARGUMENT');
    expect(() => secretsFrom({}))
      .to.throw('give a directory, env, or both')
      .with.property('code', 'INVALID_ARGUMENT');
  });
});

describe('secrets in the environment', () => {
  const name = 'TEST_SECRET_OF_STAGECRAFT';
  afterEach(() => {
    delete process.env[name];
  });

  it('V19 a variable is looked up at each call; one that is missing or empty is named', async () => {
    const secrets = envSecrets();
    const refs = { a: `env:${name}`, b: { env: name } };
    const fault = (why: string): string => `a (env:${name}): ${why}; b (env:${name}): ${why}`;
    expect(await rejectionOf(secrets.resolve(refs))).to.equal(fault('there is no such variable in the environment'));
    process.env[name] = '';
    expect(await rejectionOf(secrets.resolve(refs))).to.equal(fault('its variable is empty'));
    process.env[name] = 'x\n';
    expect(await secrets.resolve(refs)).to.deep.equal({ a: 'x\n', b: 'x\n' });
  });

  it('V19 a variable is named as what every object has: there is no such variable', async () => {
    for (const own of ['constructor', '__proto__', 'toString'])
      expect(await rejectionOf(envSecrets().resolve({ a: `env:${own}` }))).to.equal(
        `a (env:${own}): there is no such variable in the environment`,
      );
  });

  it('V19 with a prefix only variables that begin with it are given', async () => {
    process.env[name] = 'x';
    expect(await envSecrets({ prefix: 'TEST_SECRET_' }).resolve({ a: `env:${name}` })).to.deep.equal({ a: 'x' });
    expect(await rejectionOf(envSecrets({ prefix: 'OTHER_' }).resolve({ a: `env:${name}` }))).to.equal(
      `a (env:${name}): its variable must have a name that begins with OTHER_`,
    );
  });
});

describe('a call that needs secrets', () => {
  const signal = new AbortController().signal;
  const refs = { user: 'vault:u', password: 'vault:p' };
  const from = (resolve: SecretsProvider['resolve']): SecretsProvider => ({ resolve });

  it('V19 gets only what it asked for, and what the provider left out is named', async () => {
    const clock = simulatedClock();
    const more = from(async () => ({ user: 'u', password: 'p', other: 'o' }));
    expect(await resolveSecrets(more, refs, { clock, signal })).to.deep.equal({ user: 'u', password: 'p' });
    const less = from(async () => ({ user: 'u' }));
    const error: unknown = await resolveSecrets(less, refs, { clock, signal }).catch((reason: unknown) => reason);
    expect(error).to.include({
      code: 'SECRETS_UNAVAILABLE',
      message: 'cannot resolve secrets: the provider has no value for password',
    });
    expect(error).not.to.have.property('cause');
  });

  it('V19 waits ten seconds for a provider, then tells it and goes on', async () => {
    const clock = simulatedClock();
    let given: AbortSignal | undefined;
    const mute = from((_, options) => {
      given = options?.signal;
      return new Promise(() => {});
    });
    const asked = rejectionOf(resolveSecrets(mute, refs, { clock, signal }));
    await clock.advance(9_999);
    expect(given?.aborted).to.equal(false);
    await clock.advance(1);
    expect(await asked).to.equal('cannot resolve secrets: no answer within 10000 ms');
    expect(given?.aborted).to.equal(true);
  });
});

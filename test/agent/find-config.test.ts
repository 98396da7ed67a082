/** Precedence of options, environment and files when commands look for the configuration and the agent. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataDirIn, findConfig } from '../../src/agent/find-config.js';
import { mainPath } from '../scenarios/agent-process.js';

describe('A1 A5 the configuration', () => {
  let directory: string;
  const file = (name: string, text = ''): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-config-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('A1 A5 --config wins over STAGECRAFT_CONFIG, then the file here, then the system’s file', () => {
    const [here, system] = [join(directory, 'here.yaml'), join(directory, 'system.yaml')];
    const files = [here, system];
    expect(findConfig(undefined, { env: {}, files })).to.equal(undefined);
    file('system.yaml');
    expect(findConfig(undefined, { env: { STAGECRAFT_CONFIG: '' }, files })).to.equal(system);
    file('here.yaml');
    expect(findConfig(undefined, { env: {}, files })).to.equal(here);
    const env = { STAGECRAFT_CONFIG: file('named.yaml') };
    expect(findConfig(undefined, { env, files })).to.equal(env.STAGECRAFT_CONFIG);
    expect(findConfig('given.yaml', { env, files })).to.equal('given.yaml');
  });

  it('A5 STAGECRAFT_CONFIG names no file: the error names the variable and the path', () => {
    const env = { STAGECRAFT_CONFIG: join(directory, 'nosuch.yaml') };
    expect(() => findConfig(undefined, { env })).to.throw(
      `STAGECRAFT_CONFIG names ${env.STAGECRAFT_CONFIG}: there is no such file`,
    );
  });

  it('A5 the data directory is read from a file with faults elsewhere; its own fault is an error', async () => {
    const wrong = 'nodeId: 7\ntasks: [{ id: }]\nnosuch: true\n';
    expect(await dataDirIn(file('a.yaml', `${wrong}dataDir: data\n`))).to.equal(join(directory, 'data'));
    expect(await dataDirIn(file('b.yaml', `x: &d /var/x\ndataDir: *d\n`))).to.equal('/var/x');
    expect(await dataDirIn(file('c.yaml', `dataDir: data\nx: "no end\n`))).to.equal(join(directory, 'data'));
    expect(await dataDirIn(file('d.yaml', wrong))).to.equal(await dataDirIn());
    const faulty = ['dataDir: 7\n', 'dataDir: ""\n', 'x: "no end\n', 'dataDir: *nosuch\n'];
    const named = faulty.map((text, index) => file(`faulty-${index}.yaml`, text));
    for (const one of [...named, join(directory, 'nosuch.yaml')]) {
      const refused = await dataDirIn(one).catch((error: unknown) => error);
      expect(refused, one).to.have.property('code', 'CONFIG_INVALID');
    }
  });

  /** Runs a command without an agent, and returns the socket that it tried. */
  function asked(args: string[], env: Record<string, string> = {}): string {
    const { stderr, status } = spawnSync(process.execPath, [mainPath, 'plugin', 'list', ...args], {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, STAGECRAFT_CONFIG: '', STAGECRAFT_SOCKET: '', ...env },
    });
    expect(status).to.equal(3);
    return /no agent answers at (\S+)/.exec(stderr)?.[1] ?? stderr;
  }

  it('A5 a command asks the agent that its options name, else the environment, else the file here', () => {
    file('stagecraft.yaml', 'dataDir: here\nnosuch: 1\n');
    const other = file('other.yaml', 'dataDir: other\n');
    const env = { STAGECRAFT_SOCKET: '/run/env.sock' };
    expect(asked([])).to.equal(join(directory, 'here', 'agent.sock'));
    expect(asked([], { STAGECRAFT_CONFIG: other })).to.equal(join(directory, 'other', 'agent.sock'));
    expect(asked([], env)).to.equal('/run/env.sock');
    expect(asked(['--config', other], env)).to.equal(join(directory, 'other', 'agent.sock'));
    expect(asked(['--socket', '/run/given.sock', '--config', other], env)).to.equal('/run/given.sock');
  });
});

/** Texts of drivers and files do not steer the terminal of the command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { mainPath } from '../scenarios/agent-process.js';
import { ApiHouse, type Said, stagecraft } from './api-house.js';

const steering = '\u001b]0;owned\u0007\r\u009b2J\u202edesrever\u200b';
/** All but printable characters, line breaks and tabs. */
const unclean = /[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/u;

describe('texts of drivers and files on the command line', () => {
  let api: ApiHouse;

  beforeEach(async () => {
    api = await new ApiHouse().open();
    await api.create('data');
  });

  afterEach(() => api.dispose());

  function expectClean({ stdout, stderr }: Said, command: string): void {
    expect(stdout, command).not.to.match(unclean);
    expect(stderr, command).not.to.match(unclean);
  }

  it('34.14 a refusal of a driver, on stdout, on stderr and as JSON', async () => {
    api.house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerPublishVolume' ? { code: 'INVALID_ARGUMENT', text: `no ${steering}` } : undefined;
    const failing = api.cli('volume', 'publish', 'data', 'a');
    expectClean(await failing, 'publish');
    expect((await failing).stderr).to.contain('no ]0;owned');
    for (const command of [
      ['volume', 'status', 'data'],
      ['volume', 'list'],
      ['why', 'volume', 'data'],
      ['history', 'volume', 'data'],
      ['events'],
    ]) {
      expectClean(await api.cli(...command), command.join(' '));
      expectClean(await api.cli(...command, '--json'), `${command.join(' ')} --json`);
    }
    expect((await api.cli('volume', 'status', 'data', '--json')).stdout).to.contain('\\u202e');
  });

  it('34.14 a journal in a file: what it says, and what is wrong with it', async () => {
    const file = join(api.house.directory, 'journal.ndjson');
    await api.cli('journal', 'export', 'volume/default/data', '--output', file);
    const journal = await readFile(file, 'utf8');
    await writeFile(file, journal.replaceAll('"data"', JSON.stringify(`data${steering}`)));
    expectClean(await stagecraft('replay', file), 'replay');
    const address = `volume/default/${steering}`;
    expectClean(await stagecraft('replay', file, address), 'replay of an address');
    await writeFile(file, `${journal}${steering}\n`);
    const broken = await stagecraft('replay', file);
    expect(broken.code).not.to.equal(0);
    expectClean(broken, 'replay of a broken file');
    expectClean(await stagecraft('replay', `/none/${steering}`), 'replay of no file');
  });

  it('J4, 34 the reader of an export closes its pipe: the export ends with no error', async () => {
    const line = '"$0" "$1" journal export --socket "$2" | true; exit "${PIPESTATUS[0]}"';
    const run = spawn('bash', ['-c', line, process.execPath, mainPath, api.socketPath]);
    const [stderr, [code]] = await Promise.all([text(run.stderr), once(run, 'exit')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('34.14 arguments and names of files', async () => {
    const file = join(api.house.directory, `${steering}.yaml`);
    await writeFile(file, `volume: "${'\\e[31m'}"\n? ${steering}\n`);
    for (const args of [[steering], ['volume', steering], ['volume', 'create', '--file', file], ['config', file]])
      expectClean(await stagecraft(...args), args.join(' '));
  });
});

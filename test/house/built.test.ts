/** Tests the build of programs that tests start often: one file of plain JavaScript each. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { builtProgram } from '../built.js';

const urlOf = (path: string): URL => new URL(path, import.meta.url);

describe('a built program', () => {
  it('contains its imports from test/, and imports the rest from dist/', () => {
    const text = readFileSync(builtProgram(urlOf('../scenarios/kill-moment-agent.ts')), 'utf8');
    expect(text).to.include('function faultyStore(');
    const imported = [...text.matchAll(/^import .*"(\..*)";$/gm)].map(([, from]) => from);
    expect(imported).to.deep.equal(['../../dist/src/index.js', '../../dist/src/stores/index.js']);
  });

  it('imports src/ and machines/ from dist/, too', () => {
    const text = readFileSync(builtProgram(urlOf('../scenarios/redis-child.ts')), 'utf8');
    expect(text)
      .to.include('from "../../dist/src/runtime/runtime.js"')
      .and.to.include('from "../../dist/machines/kit/host.js"');
    expect(text).to.not.match(/"\.\.\/\.\.\/(src|machines)\//);
  });

  it('is one file for all tests, without half-written files beside it', () => {
    const path = builtProgram(urlOf('../driver/driver-child.ts'));
    expect(builtProgram(urlOf('../driver/driver-child.ts'))).to.equal(path);
    const mine = readdirSync(dirname(path)).filter((name) => name.endsWith(`.mjs.${process.pid}`));
    expect(mine).to.deep.equal([]);
    expect(basename(path)).to.match(/^driver-child-[0-9a-f]{16}\.mjs$/);
  });

  it('is refused if it would contain a copy of code outside of test/', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stagecraft-built-'));
    try {
      writeFileSync(join(folder, 'program.ts'), 'console.log(1);\n');
      expect(() => builtProgram(pathToFileURL(join(folder, 'program.ts')))).to.throw('would have a copy of');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** The built page stays small, and needs no other host. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { builtPage } from '../support/browser.js';

const files = (ending: RegExp): string[] =>
  readdirSync(join(builtPage, 'assets'))
    .filter((name) => ending.test(name))
    .map((name) => join(builtPage, 'assets', name));

describe('the built page', () => {
  it('X2 its scripts and styles have at most 150 KB, compressed', () => {
    const bytes = files(/\.(js|css)$/).reduce((sum, path) => sum + gzipSync(readFileSync(path)).length, 0);
    expect(bytes).to.be.above(10_000);
    expect(bytes).to.be.at.most(150_000);
  });

  it('X2 asks no other host for anything; only the bridge names one', () => {
    const own = files(/^(?!bridge).*\.(js|css)$/).map((path) => readFileSync(path, 'utf8'));
    const hosts = own.flatMap((text) => [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host));
    // Names of XML namespaces, which nobody asks for.
    expect(hosts.filter((host) => host !== 'www.w3.org')).to.deep.equal([]);
  });
});

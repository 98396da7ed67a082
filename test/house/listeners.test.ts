/**
 * Checks that only one file adds listeners to signals: it looks first whether the signal has fired, which calls no later
 * listener.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const src = fileURLToPath(new URL('../../src', import.meta.url));

describe('listeners of signals', () => {
  it('only src/abort.ts adds a listener to a signal', () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const adding = files.filter((file) => /addEventListener\(\s*'abort'/.test(readFileSync(`${src}/${file}`, 'utf8')));
    expect(adding).to.deep.equal(['abort.ts']);
  });
});

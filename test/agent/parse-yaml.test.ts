/** YAML that is nested so deep that the parser would end the process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LineCounter } from 'yaml';
import { parseConfig } from '../../src/agent/config.js';
import { dataDirIn } from '../../src/agent/find-config.js';
import { parseAllYaml, parseYaml } from '../../src/agent/parse-yaml.js';
import { specsIn } from '../../src/cli/spec-file.js';
import { messageOf } from '../../src/errors.js';
import { makePlace, removePlace } from '../scenarios/agent-process.js';

const lists = `nodeId: x\nb: ${'['.repeat(3_000)}${']'.repeat(3_000)}\n`;
const maps = Array.from({ length: 3_000 }, (_, level) => `${' '.repeat(level)}a:\n`).join('');
const open = `nodeId: x\nb: ${'['.repeat(100_000)}`;

describe('YAML of many levels', () => {
  it('34 is refused with its line, by all that read YAML', async () => {
    const place = makePlace();
    try {
      for (const [text, line] of [
        [lists, 2],
        [maps, 200],
        [open, 2],
      ] as const) {
        const file = join(place.directory, 'deep.yaml');
        writeFileSync(file, text);
        const fault = 'nested more than 200 levels deep';
        expect(() => parseConfig(text, 'f')).to.throw(`f:${line}: maps and lists are ${fault}`);
        expect(await dataDirIn(file).catch(messageOf)).to.contain(`${file}:${line}: maps and lists are ${fault}`);
        expect(await specsIn(file).then(String, messageOf)).to.contain(`line ${line}: maps and lists are ${fault}`);
      }
    } finally {
      removePlace(place);
    }
  });

  it('34 up to a hundred lists in lists are read, and all documents of a file', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    expect(parseYaml(deep).errors).to.deep.equal([]);
    expect(parseAllYaml(`a: 1\n---\nb: ${deep}\n`, new LineCounter())).to.have.length(2);
  });
});

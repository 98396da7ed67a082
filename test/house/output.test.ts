/** Everything that leaves the command line goes through one file, which cleans it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../../src');

describe('output of the command line', () => {
  it('34.14 nothing but src/cli/output.ts writes to stdout and stderr', () => {
    const others = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(agent|cli|driver|driver-check)\/.*\.ts$/.test(file) && file !== 'cli/output.ts')
      .filter((file) =>
        /\bconsole\.|process\.(stdout|stderr)\.(write|end)\b/.test(readFileSync(join(root, file), 'utf8')),
      );
    expect(others).to.deep.equal([]);
  });
});

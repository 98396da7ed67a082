/** Runs every transcript here, and compares what happens with what it says. UPDATE=1 writes what happens into the files. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Cluster } from './cluster.js';
import { run } from './commands.js';
import { parsed, written } from './transcript.js';

const directory = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(directory).filter((name) => name.endsWith('.txt'));

async function played(text: string): Promise<string> {
  const { blocks, rest } = parsed(text);
  const cluster = await Cluster.make();
  try {
    for (const block of blocks) {
      await run(cluster, block.command);
      block.output = cluster.output.taken();
    }
    expect(cluster.plugin.faults()).to.deep.equal([]);
    return written({ blocks, rest });
  } finally {
    await cluster.dispose();
  }
}

describe('transcripts', () => {
  for (const name of names)
    it(name.replace('.txt', '').replaceAll('-', ' '), async () => {
      const text = readFileSync(directory + name, 'utf8');
      const happened = await played(text);
      if (process.env.UPDATE === '1') writeFileSync(directory + name, happened);
      else expect(happened).to.equal(text);
    });

  it('a command that nobody knows is refused, with all that there are', async () => {
    let refusal: unknown;
    await played('starts\n----\n').catch((error: unknown) => {
      refusal = error;
    });
    expect(String(refusal)).to.match(/no command 'starts'; there are:\n {2}start\n/);
  });
});

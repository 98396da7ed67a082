/** Memory that an agent gives back after its start. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { giveBackMemory } from '../../src/agent/give-back-memory.js';

const module = new URL('../../dist/src/agent/give-back-memory.js', import.meta.url);

/** Makes the young generation grow, as a start does; collects; prints its size in bytes before and after that. */
const program = (liveBytes: number): string => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { ${giveBackMemory.name} as giveBackMemory } from ${JSON.stringify(module)};
  const youngBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  let living;
  for (let round = 0; round < 20; round += 1) living = Array.from({ length: 50_000 }, (_, index) => ({ index }));
  const live = Array.from({ length: ${liveBytes} / 8 }, (_, index) => index + 0.5);
  const before = youngBytes();
  await giveBackMemory();
  console.log(JSON.stringify({ before, after: youngBytes(), kept: living.length + live.length }));`;

function youngBytes(liveBytes: number): { before: number; after: number } {
  const args = ['--input-type=module', '--eval', program(liveBytes)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

describe('A1 memory after the start', () => {
  it('A1 the memory that only the start has used is given back', () => {
    const { before, after } = youngBytes(0);
    expect(before).to.be.above(8 * 2 ** 20);
    expect(after).to.be.below(before / 4);
  });

  it('A1 a large heap is not collected, as that would hold up its agent', () => {
    const { before, after } = youngBytes(80 * 2 ** 20);
    expect(after).to.equal(before);
  });
});

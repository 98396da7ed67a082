/** Records the allocs of test/allocs/alloc-scenes.ts, as this version keeps them: `node --import=tsx test/histories/record-allocs.ts FILE` */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

// The lab is a test's: it has something done before all.
Object.assign(globalThis, { before: (work: () => void) => work(), after: () => {} });
const { AllocLab, address } = await import('../allocs/alloc-lab.js');
const { allocScenes } = await import('../allocs/alloc-scenes.js');

const [, , file = ''] = process.argv;
const lines: string[] = [];
for (const [seed, { title, play }] of allocScenes.entries()) {
  const lab = new AllocLab();
  await lab.start();
  await play(lab);
  const { seq, envelope } = await lab.stored();
  const { snapshot, ...rest } = envelope;
  const world = { slots: [...lab.slots], mounted: [...lab.mounted] };
  lines.push(JSON.stringify({ seed, title, address, seq, ...snapshot, envelope: rest, world }));
}
writeFileSync(file, gzipSync(`${lines.join('\n')}\n`));

/** Runs each example of docs/csi.md as it stands, in a process of its own, but for the path of the socket. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { inJavaScript } from '../built.js';
import { Served } from './served.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(join(root, 'docs/csi.md'), 'utf8');
const examples = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);

const handlers: CsiHandlers = {
  CreateVolume: ({ name, capacityRange }) => ({
    volume: { volumeId: `vol-${name}`, capacityBytes: capacityRange?.requiredBytes ?? 0n },
  }),
  DeleteVolume: ({ volumeId }) => {
    throw new CsiStatus('FAILED_PRECONDITION', `${volumeId} is in use`);
  },
  async *GetMetadataAllocated() {
    yield { blockMetadata: [{ byteOffset: 0, sizeBytes: 4096 }] };
    yield { blockMetadata: [{ byteOffset: 8192, sizeBytes: 4096 }] };
  },
};

/** What each example prints, in the order of the document. */
const printed = [
  'vol-data 1073741824n\n',
  '0n 4096n\n8192n 4096n\n',
  'repair DeleteVolume: FAILED_PRECONDITION: vol-1 is in use\n',
];

describe('docs/csi.md', () => {
  let served: Served;

  beforeEach(async () => {
    served = new Served();
    await served.serve(handlers);
  });

  afterEach(() => served.end());

  it('has as many examples as are run', () => {
    expect(examples).to.have.length(printed.length);
  });

  for (const [index, output] of printed.entries()) {
    it(`example ${index + 1} runs, prints what it should, and ends by itself`, async () => {
      mkdirSync(join(served.folder, 'node_modules'));
      symlinkSync(root, join(served.folder, 'node_modules', 'stagecraft'));
      const file = join(served.folder, 'example.mjs');
      const example = (examples[index] ?? '').replace('/run/my-driver/csi.sock', served.socketPath);
      writeFileSync(file, inJavaScript(example));
      const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root });
      expect(stdout).to.equal(output);
    });
  }
});

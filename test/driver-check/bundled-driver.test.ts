/** The bundled driver keeps every rule of what it offers. Needs root and loop devices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startDriver } from '../../src/driver/driver.js';
import { resultsOf } from './bench.js';

describe('driver-check of the bundled driver', () => {
  it('fails no check, and leaves nothing behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bundled-'));
    const endpoint = `unix://${join(folder, 'csi.sock')}`;
    const driver = await startDriver({ endpoint, nodeId: 'node-1', dataDir: join(folder, 'data') });
    try {
      const results = await resultsOf({ endpoint, sizeBytes: 2 ** 24, stagingDir: folder, targetDir: folder });
      const bad = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning');
      expect(bad).to.deep.equal([]);
    } finally {
      await driver.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

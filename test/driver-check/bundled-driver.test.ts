/** The drivers of this package keep every rule of what they offer. Needs root and loop devices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startDriver } from '../../src/tools/driver/driver.js';
import type { CheckDriverOptions } from '../../src/tools/driver-check/options.js';
import { faultDriver } from '../../src/tools/fault-driver/fault-driver.js';
import { resultsOf } from './bench.js';

const wholeOf = (folder: string) => ({
  nodeId: 'node-1',
  dataDir: join(folder, 'data'),
  attach: true,
  peerNodes: ['node-2'],
});

const optionsIn = (folder: string): CheckDriverOptions => ({
  endpoint: `unix://${join(folder, 'csi.sock')}`,
  sizeBytes: 2 ** 24,
  stagingDir: folder,
  targetDir: folder,
  otherNodeId: 'node-2',
  parameters: { ControllerModifyVolume: { warnAbovePercent: '80' } },
});

async function expectNoFault(folder: string): Promise<void> {
  const results = await resultsOf(optionsIn(folder));
  expect(results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'not offered')).to.deep.equal([]);
}

describe('driver-check of the drivers of this package', () => {
  let folder: string;
  let stop: () => Promise<void>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bundled-'));
    stop = async () => {};
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  it('the bundled driver keeps every rule, and leaves nothing behind', async () => {
    const driver = await startDriver({ ...wholeOf(folder), endpoint: `unix://${join(folder, 'csi.sock')}` });
    stop = driver.stop;
    await expectNoFault(folder);
  });

  it('so does the fault driver without a script', async () => {
    const driver = await faultDriver({ ...wholeOf(folder), socketPath: join(folder, 'csi.sock') });
    stop = () => driver.stop();
    await expectNoFault(folder);
  });
});

/** A driver that keeps every rule passes all checks. Needs root and loop devices. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { selectedChecks } from '../../src/tools/driver-check/run.js';
import { notPassed, optionsFor, resultsOf, withDriver } from './bench.js';

describe('driver-check of a right driver', () => {
  it('passes every check that applies to it, and leaves nothing behind', async () => {
    await withDriver(
      (handlers) => handlers,
      async (scene) => {
        const results = await resultsOf(optionsFor(scene));
        expect(
          notPassed(results),
          JSON.stringify(
            results.filter(({ outcome }) => outcome !== 'passed'),
            null,
            1,
          ),
        ).to.deep.equal({
          'ControllerExpandVolume/offline-only': 'not offered',
          'NodeUnpublishVolume/one-target': 'not offered',
        });
        expect(results.map(({ id }) => id)).to.deep.equal([...selectedChecks().map(({ id }) => id), 'clean-up']);
        expect([scene.state.volumes.size, scene.state.snapshots.size, scene.state.groups.size]).to.deep.equal([
          0, 0, 0,
        ]);
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.to.include(scene.folder);
      },
    );
  });
});

/**
 * Every check can fail: for each there is a driver that breaks its rule, and it is found by that check. `npm test` runs a
 * third of them. Needs root and loop devices.
 */
import { expect } from 'chai';
import { selectedChecks } from '../../src/tools/driver-check/run.js';
import { thirdOf } from '../support/third.js';
import { notPassed, optionsFor, resultsOf, withDriver } from './bench.js';
import type { Wrong } from './wrong.js';
import { wrongControllers } from './wrong-controllers.js';
import { wrongNodes } from './wrong-nodes.js';
import { wrongSnapshots } from './wrong-snapshots.js';

/** Offered by no right driver at once with what it excludes. */
const notOffered = ['ControllerExpandVolume/offline-only', 'NodeUnpublishVolume/one-target'];
/** Whose answers carry details: no handler of plain data can, see runs.test.ts. */
const elsewhere = ['ValidateVolumeCapabilities/no-details', 'NodePublishVolume/no-details'];
const all: readonly Wrong[] = [...wrongControllers, ...wrongSnapshots, ...wrongNodes];

const rpcOf = (id: string): string => id.slice(0, id.indexOf('/') + 1);

describe('driver-check of wrong drivers', () => {
  for (const { id, what, breaks, outcome, also, timeoutMs } of thirdOf(all)) {
    it(`${id} finds it when ${what}`, async () => {
      const results = await withDriver(breaks, (scene) =>
        resultsOf({ ...optionsFor(scene), only: rpcOf(id), timeoutMs }),
      );
      const { [id]: found, ...others } = notPassed(results);
      expect(found, 'the check itself').to.equal(outcome);
      for (const name of notOffered) if (others[name] === 'not offered') delete others[name];
      expect(
        others,
        JSON.stringify(
          results.filter((one) => one.outcome !== 'passed'),
          null,
          1,
        ),
      ).to.deep.equal(also);
    });
  }

  it('there is one for every check', () => {
    const proven = new Set([...elsewhere, ...all.map(({ id }) => id)]);
    expect(selectedChecks().flatMap(({ id }) => (proven.has(id) ? [] : [id]))).to.deep.equal([]);
  });
});

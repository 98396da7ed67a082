/** Leftovers of a run at the driver, also of a killed run: found in the driver's own lists, removed or named. Needs root. */

import { expect } from 'chai';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';

import { makeVolume, notPassed, optionsFor, resultsOf, showingNames, withDriver } from './bench.js';
import type { RightState } from './right-driver.js';
import { replaced } from './wrong.js';

/** Deletes a group and leaves its members. */
const keepingMembers = (handlers: CsiHandlers, state: RightState): CsiHandlers =>
  replaced(handlers, 'DeleteVolumeGroupSnapshot', ({ groupSnapshotId }) => {
    state.groups.delete(groupSnapshotId);
    return {};
  });

/** Makes a volume of each request without a size, and says that it refused it. */
const secretive = (handlers: CsiHandlers): CsiHandlers =>
  replaced(handlers, 'CreateVolume', async (request, next) => {
    const answer = await next(request);
    if (!request.capacityRange) throw new CsiStatus('INVALID_ARGUMENT', 'no size, no volume');
    return answer;
  });

describe('what a run of driver-check has left at the driver', () => {
  it('a member snapshot of a group that was deleted is removed, and clean-up warns of it', async () => {
    await withDriver(keepingMembers, async (scene) => {
      const results = await resultsOf({ ...optionsFor(scene), only: 'DeleteVolumeGroupSnapshot/repeat' });
      expect(notPassed(results)).to.deep.equal({ 'clean-up': 'warning' });
      expect(results.at(-1)?.why).to.match(/the driver had left behind.*the snapshot s-\d+, of the volume v-\d+/);
      expect(scene.state.snapshots.size).to.equal(0);
    });
  });

  it('a member snapshot that can not be removed either fails clean-up, which says what to do', async () => {
    await withDriver(
      (handlers, state) =>
        replaced(keepingMembers(handlers, state), 'DeleteSnapshot', () => {
          throw new CsiStatus('FAILED_PRECONDITION', 'it was of a group');
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'DeleteVolumeGroupSnapshot/repeat' });
        expect(notPassed(results)).to.deep.equal({ 'clean-up': 'failed' });
        expect(results.at(-1)?.why)
          .to.match(/the snapshot s-\d+, of the volume v-\d+: DeleteSnapshot .*it was of a group/)
          .and.to.match(/--clean-up stagecraft-check-/);
      },
    );
  });

  it('a snapshot that is still in the list after an OK to its deletion fails clean-up', async () => {
    await withDriver(
      (handlers, state) => replaced(keepingMembers(handlers, state), 'DeleteSnapshot', () => ({})),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'DeleteVolumeGroupSnapshot/repeat' });
        expect(notPassed(results)).to.deep.equal({ 'clean-up': 'failed' });
        expect(results.at(-1)?.why).to.match(/the snapshot s-\d+.*: it is still listed/);
      },
    );
  });

  it('a volume of which the driver said that it was refused is named in a warning, and left alone', async () => {
    await withDriver(secretive, async (scene) => {
      const results = await resultsOf({ ...optionsFor(scene), only: 'CreateVolume/no-size' });
      expect(notPassed(results)).to.deep.equal({ 'CreateVolume/no-size': 'failed', 'clean-up': 'warning' });
      expect(results.at(-1)?.why).to.match(/new in the driver's lists.*the volume v-\d+.*if nobody else/);
      expect(scene.state.volumes.size).to.equal(1);
    });
  });

  it('such a volume is removed where the list shows the name that the run gave it', async () => {
    await withDriver(
      (handlers, state) => secretive(showingNames(handlers, state)),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'CreateVolume/no-size' });
        expect(notPassed(results)).to.deep.equal({ 'CreateVolume/no-size': 'failed', 'clean-up': 'warning' });
        expect(scene.state.volumes.size).to.equal(0);
      },
    );
  });

  it("others' volumes that were there before the run are not named", async () => {
    await withDriver(showingNames, async (scene) => {
      await makeVolume(scene, 'others');
      const before = [...scene.state.volumes.keys()];
      const results = await resultsOf({ ...optionsFor(scene), only: 'CreateVolume/no-size' });
      expect(notPassed(results)).to.deep.equal({});
      expect([...scene.state.volumes.keys()]).to.deep.equal(before);
    });
  });
});

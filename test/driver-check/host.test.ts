/** Effects of a run on this host, and the order of its checks. Needs root. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Given } from '../../src/csi/codec.js';
import type { TopologyRequirement } from '../../src/csi/generated/plain.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { selectedChecks } from '../../src/tools/driver-check/run.js';
import { notPassed, optionsFor, resultsOf, withDriver } from './bench.js';
import { topology } from './right-driver.js';
import { replaced } from './wrong.js';

const right = (handlers: CsiHandlers): CsiHandlers => handlers;
const staged = 'NodeStageVolume/';

describe('driver-check on its host', () => {
  it('34.37 its directories are shared mounts while it runs, and gone afterwards', async () => {
    const seen: string[] = [];
    await withDriver(
      (handlers) =>
        replaced(handlers, 'NodeStageVolume', (request, next) => {
          const table = new MountTable(parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')));
          if (request.stagingTargetPath) seen.push(table.holderOf(request.stagingTargetPath).propagation);
          return next(request);
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: staged });
        expect(notPassed(results)).to.deep.equal({});
        expect(new Set(seen)).to.deep.equal(new Set(['shared']));
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).to.not.include(scene.folder);
      },
    );
  });

  it('34.37 OK to an unstage that did nothing: no detach while the mount is there; a warning names it', async () => {
    const calls: string[] = [];
    let isMounted = (): boolean => false;
    await withDriver(
      (handlers, { folder }) => {
        isMounted = () => readFileSync('/proc/self/mountinfo', 'utf8').includes(`${folder}/stagecraft-check`);
        const lying = replaced(handlers, 'NodeUnstageVolume', () => ({}));
        return replaced(lying, 'ControllerUnpublishVolume', (request, next) => {
          calls.push(isMounted() ? 'while it is mounted' : 'when it is gone');
          return next(request);
        });
      },
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'NodeStageVolume/repeat' });
        expect(results.at(-1)).to.include({ id: 'clean-up', outcome: 'warning' });
        expect(results.at(-1)?.why).to.match(/unmounted what the driver had left mounted: .*-s\/p\/s\d/);
        expect(calls).to.deep.equal(['when it is gone']);
        expect(isMounted()).to.equal(false);
        expect(scene.state.volumes.size).to.equal(0);
      },
    );
  });

  describe('34.37 topology', () => {
    async function asked(more: object): Promise<Given<TopologyRequirement>[]> {
      const requirements: Given<TopologyRequirement>[] = [];
      await withDriver(
        (handlers) =>
          replaced(handlers, 'CreateVolume', (request, next) => {
            if (request.accessibilityRequirements) requirements.push(request.accessibilityRequirements);
            return next(request);
          }),
        (scene) => resultsOf({ ...optionsFor(scene), ...more, only: 'CreateVolume/repeat' }),
      );
      return requirements;
    }

    it('of the node: required, and preferred as well', async () => {
      for (const one of await asked({})) expect(one).to.deep.equal({ requisite: [topology], preferred: [topology] });
    });

    it('as given: sent instead of that of the node', async () => {
      const given = { 'check.test/zone': 'b' };
      const [first] = await asked({ topology: given });
      expect(first).to.deep.equal({ requisite: [{ segments: given }], preferred: [{ segments: given }] });
    });
  });

  it('34.37 checks that leave out a name, an id or a path come after all others', () => {
    const ids = selectedChecks().map(({ id }) => id);
    const isEmpty = (id: string): boolean => /\/no-(name|([a-z]+-)?id|path|target|sources?)$/.test(id);
    const first = ids.findIndex(isEmpty);
    expect(ids.slice(first).filter((id) => !isEmpty(id))).to.deep.equal([]);
    expect(ids.slice(first)).to.include.members(['DeleteVolume/no-id', 'NodeUnstageVolume/no-path']);
  });

  it('34.37 a well-behaved run has no warning of its own about mounts', async () => {
    await withDriver(right, async (scene) => {
      const results = await resultsOf({ ...optionsFor(scene), only: 'NodePublishVolume/' });
      expect(results.at(-1)).to.include({ id: 'clean-up', outcome: 'passed' });
    });
  });
});

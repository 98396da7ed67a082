/** `stagecraft driver-check --clean-up`: after a run that was killed, as far as the driver lists what it has. Needs root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { StagecraftError } from '../../src/errors.js';
import { cleanUpDriver } from '../../src/tools/driver-check/clean-up-driver.js';
import { mainPath } from '../scenarios/agent-process.js';
import { makeVolume, optionsFor, type Scene, showingNames, withDriver } from './bench.js';
import { rightDriver } from './right-driver.js';
import { replaced } from './wrong.js';

const prefix = 'stagecraft-check-0a1b2c3d';

const right = (handlers: CsiHandlers): CsiHandlers => handlers;

const start = ({ endpoint, folder }: Scene, ...more: string[]): ChildProcess =>
  spawn(process.execPath, [
    ...[mainPath, 'driver-check', '--endpoint', endpoint, '--size', '1Mi'],
    ...['--staging-dir', folder, '--target-dir', folder, ...more],
  ]);

function outputOf(child: ChildProcess): { text: string } {
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output.text += text;
    });
  return output;
}

describe('driver-check --clean-up', () => {
  it('removes what a run that was killed had mounted, attached and made; what others have stays', async () => {
    let published: () => void = () => {};
    const isPublished = new Promise<void>((resolve) => {
      published = resolve;
    });
    await withDriver(
      (handlers, state) =>
        replaced(showingNames(handlers, state), 'NodePublishVolume', async (request, next) => {
          const answer = await next(request);
          if (request.volumeCapability) published();
          return answer;
        }),
      async (scene) => {
        const others = await makeVolume(scene, 'others');
        const run = start(scene, '--only', 'NodeUnpublishVolume/repeat');
        const told = outputOf(run);
        await isPublished;
        run.kill('SIGKILL');
        await once(run, 'close');
        const [, killed = ''] = /names that begin with (stagecraft-check-\w+)-/.exec(told.text) ?? [];
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).to.include(`${scene.folder}/${killed}-t/`);

        const child = start(scene, '--clean-up', killed);
        const output = outputOf(child);
        const [code] = await once(child, 'close');
        expect(output.text)
          .to.match(/^removed: the volume v-\d+$/m)
          .and.to.match(new RegExp(`^not known: whose these are.*the volume ${others}`, 'm'));
        expect(code).to.equal(0);
        expect([...scene.state.volumes.keys()]).to.deep.equal([others]);
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.to.include(`${scene.folder}/`);
        expect(readdirSync(scene.folder).filter((name) => name.startsWith('stagecraft-check'))).to.deep.equal([]);
      },
    );
  });

  it('removes snapshots and groups of volumes of that run, and what is published of them', async () => {
    await withDriver(right, async (scene) => {
      const volumeId = await makeVolume(scene, `${prefix}-1`, { name: `${prefix}-1` });
      const { CreateSnapshot, CreateVolumeGroupSnapshot } = rightDriver(scene.state);
      const call = { signal: new AbortController().signal };
      const given = { parameters: {}, secrets: {} };
      await CreateSnapshot?.({ name: 'cut', sourceVolumeId: volumeId, ...given }, call);
      await CreateVolumeGroupSnapshot?.({ name: 'cuts', sourceVolumeIds: [volumeId], ...given }, call);
      scene.state.volumes.get(volumeId)?.published.set('node-1', 'somehow');
      const { removed, left, unknown } = await cleanUpDriver({ ...optionsFor(scene), prefix });
      expect(removed).to.have.length(3);
      expect([left, unknown]).to.deep.equal([[], []]);
      const { volumes, snapshots, groups } = scene.state;
      expect([volumes.size, snapshots.size, groups.size]).to.deep.equal([0, 0, 0]);
    });
  });

  it('leaves volumes of a run with another name alone', async () => {
    await withDriver(right, async (scene) => {
      const name = 'stagecraft-check-99999999-1';
      const volumeId = await makeVolume(scene, name, { name });
      const { removed } = await cleanUpDriver({ ...optionsFor(scene), prefix });
      expect(removed).to.deep.equal([]);
      expect([...scene.state.volumes.keys()]).to.deep.equal([volumeId]);
    });
  });

  it('what can not be removed is named with the answer, and ends with 1', async () => {
    await withDriver(
      (handlers) =>
        replaced(handlers, 'DeleteVolume', () => {
          throw new CsiStatus('INTERNAL', 'not today');
        }),
      async (scene) => {
        await makeVolume(scene, `${prefix}-1`, { name: `${prefix}-1` });
        const child = start(scene, '--clean-up', prefix);
        const output = outputOf(child);
        const [code] = await once(child, 'close');
        expect(output.text).to.match(/^still there: the volume v-\d+: DeleteVolume .*not today$/m);
        expect(code).to.equal(1);
      },
    );
  });

  it('a driver that lists nothing is said to, as nothing can be found there', async () => {
    await withDriver(
      (handlers) => ({ ...handlers, ControllerGetCapabilities: () => ({}) }),
      async (scene) => {
        const { unknown } = await cleanUpDriver({ ...optionsFor(scene), prefix });
        expect(unknown).to.deep.equal([
          'the driver does not offer ListVolumes',
          'the driver does not offer ListSnapshots',
        ]);
      },
    );
  });

  it("a prefix that could be a part of others' names is refused", async () => {
    await withDriver(right, async (scene) => {
      const error: unknown = await cleanUpDriver({ ...optionsFor(scene), prefix: 'data' }).catch((caught) => caught);
      expect(error).to.be.instanceOf(StagecraftError).and.to.include({ code: 'INVALID_ARGUMENT' });
    });
  });
});

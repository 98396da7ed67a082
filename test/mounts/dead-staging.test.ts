/** A volume whose staging path and targets are served by a process that is gone, as with most FUSE drivers. Needs root and /dev/fuse. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { until } from '../until.js';
import { type DeadMount, deadMount } from './dead-fuse.js';
import { MountHouse, many, plugin } from './mount-house.js';

/** The bundled driver leaves alone what is none of its own: this one takes away whatever is there. */
function unmounted(path: string): object {
  execFileSync('umount', ['--no-canonicalize', path]);
  return {};
}

describe('a staging path that is dead', () => {
  let house: MountHouse;
  let made: DeadMount[] = [];
  afterEach(async () => {
    for (const mount of made.splice(0)) mount.end();
    await house.end();
  });

  it('M2 M6 as its plugin is back all is unpublished, unstaged, and made anew in its order', async () => {
    house = await MountHouse.start({
      handlers: {
        NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
        NodeUnstageVolume: ({ stagingTargetPath }) => unmounted(stagingTargetPath),
      },
    });
    await house.make('data', many);
    const requests = ['a', 'b'].map((allocId) => ({ volume: { id: 'data' }, allocId, usage: many }));
    for (const request of requests) await house.runtime.mounts.mount(request);
    const before = house.nodeCalls().length;
    const paths = house.mounted().map(({ path }) => path);
    for (const path of [...paths].reverse()) execFileSync('umount', [path]);
    made = paths.map((path) => deadMount(path));
    for (const mount of made) mount.killServer();

    const connection = { socketPath: `${house.folder}/csi.sock` };
    await house.runtime.plugins.register({ type: 'csi-node', name: plugin, allocId: 'disk-2', connection });
    await house.told('staging-lost');
    const states = async () => (await house.runtime.mounts.list()).map(({ state }) => state);
    await until(() => house.nodeCalls().length >= before + 6);
    for (const request of requests) await house.runtime.mounts.mount(request);
    expect(house.nodeCalls().slice(before)).to.deep.equal([
      ...['Unpublish', 'Unpublish', 'Unstage'],
      ...['Stage', 'Publish', 'Publish'],
    ]);
    for (const request of requests) expect(await house.runtime.mounts.has(request)).to.equal(true);
    expect([await states(), house.mounted().length, house.violations()]).to.deep.equal([['published'], 3, []]);
  });
});

/** Targets that show something else than was asked for, whatever the plugin says. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { CsiHandlers } from '../../src/csi/server.js';
import { refusalOf } from '../refusal.js';
import { MountHouse, many } from './mount-house.js';

function unmounted(path: string): object {
  if (spawnSync('mountpoint', ['-q', path]).status === 0) execFileSync('umount', [path]);
  return {};
}

function bound(source: string, target: string): object {
  mkdirSync(target, { recursive: true });
  execFileSync('mount', ['--bind', source, target]);
  return {};
}

describe('a target that shows another volume', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  /** Binds from another path than that of the request. */
  let from: (asked: string) => string;
  const handlers: CsiHandlers = {
    NodePublishVolume: ({ stagingTargetPath, targetPath }) => bound(from(stagingTargetPath), targetPath),
    NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
  };
  const stagingOf = async (id: string): Promise<string> =>
    (await house.runtime.mounts.list()).find(({ volume }) => volume.id === id)?.stagingPath ?? '';

  it('M12, 34.9 bound from the staging path of another volume: refused with its name, and undone', async () => {
    from = (asked) => asked;
    house = await MountHouse.start({ handlers });
    const { mounts } = house.runtime;
    for (const id of ['data', 'other']) await house.make(id, many);
    await mounts.mount({ volume: { id: 'other' }, allocId: 'a', usage: many });
    const other = await stagingOf('other');
    from = () => other;
    const request = { volume: { id: 'data' }, allocId: 'b', usage: many };
    const refusal = await refusalOf(mounts.mount(request));
    expect(refusal.code, refusal.message).to.equal('MOUNT_NOT_AS_ASKED');
    expect(refusal.message).to.contain('"id":"other"').and.to.contain(other);
    const paths = house.mounted().map(({ path }) => path);
    expect(paths.filter((path) => path.includes('/per-alloc/'))).to.have.length(1);

    from = (asked) => asked;
    const { hostPath } = await mounts.mount(request);
    expect(house.mounted().map(({ path }) => path)).to.include(hostPath);
    expect(house.violations()).to.deep.equal([]);
  });
});

/** What is found where a volume was mounted, and is not ours: it stays, is told of, and keeps nobody. Over the bundled driver. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { block, MountHouse, many } from './mount-house.js';

describe('mounts that were unmounted by hand, with something written there', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
  });
  afterEach(() => house.end());

  const hostPathOf = async (id: string, capability = many): Promise<string> => {
    await house.make(id, capability);
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted(id, capability)]);
    if (!mount) throw new Error('nothing was prepared');
    return mount.hostPath;
  };

  /** Released, and the slot is free. */
  const expectReleased = async (id: string): Promise<void> => {
    await house.runtime.allocations.release('web');
    expect(await house.runtime.allocations.list()).to.deep.equal([]);
    expect(house.mounted()).to.deep.equal([]);
    const volume = await house.runtime.volumes.get({ id });
    expect([volume?.claims, volume?.publications]).to.deep.equal([[], {}]);
    expect(house.violations()).to.deep.equal([]);
  };

  it('H2 M9 a target: its alloc is released, what was written stays, and is told of', async () => {
    const hostPath = await hostPathOf('data');
    execFileSync('umount', [hostPath]);
    const lost = join(hostPath, 'lost');
    writeFileSync(lost, 'precious');
    await expectReleased('data');
    expect(readFileSync(lost, 'utf8')).to.equal('precious');
    expect(await house.told('unmounted'))
      .to.have.property('leftBehind')
      .that.contains(hostPath);
    // The place is nobody's, but still not to be covered.
    const again = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    await house.allocIs('web', ({ waits }) => waits.data?.includes('something in it') ?? false);
    await house.runtime.allocations.release('web');
    await again;
    expect(readFileSync(lost, 'utf8')).to.equal('precious');
    await house.runtime.volumes.delete({ id: 'data' });
  });

  it('H2 H5 M9 the file that shows a device: the same', async () => {
    const hostPath = await hostPathOf('disk', block);
    execFileSync('umount', [hostPath]);
    writeFileSync(hostPath, 'precious');
    await expectReleased('disk');
    expect(readFileSync(hostPath, 'utf8')).to.equal('precious');
    expect(await house.told('unmounted'))
      .to.have.property('leftBehind')
      .that.contains(hostPath);
  });

  it('H2 M9 the staging path: the same, also where the target went with it', async () => {
    const hostPath = await hostPathOf('data');
    const [{ stagingPath } = {}] = await house.runtime.mounts.list();
    if (stagingPath === undefined) throw new Error('nothing is staged');
    execFileSync('umount', [hostPath]);
    execFileSync('umount', [stagingPath]);
    const lost = join(stagingPath, 'lost');
    writeFileSync(lost, 'precious');
    await expectReleased('data');
    expect(readFileSync(lost, 'utf8')).to.equal('precious');
    expect(await house.told('left-behind'))
      .to.have.property('leftBehind')
      .that.contains(stagingPath);
  });
});

/** An alloc that is asked for again: as it is being recovered, and where what it has is lost. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MountHouse, many, plugin, single } from '../mounts/mount-house.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';

describe('an alloc that is asked for again', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  /** Its mounts are held against the kernel, as its plugin is back. */
  const pluginIsBack = (): Promise<void> =>
    house.runtime.plugins.register({
      type: 'csi-node',
      name: plugin,
      allocId: 'disk-2',
      connection: { socketPath: `${house.folder}/csi.sock` },
    });

  it('H1 H3 while it is being recovered: who waits has a time and a signal of its own; nothing is undone', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const { allocations } = house.runtime;
    await allocations.prepare('web', volumes);
    await house.runtime.close();
    await house.driver.stop();
    await house.open();
    await house.allocIs('web', ({ state, waits }) => state === 'recovering' && waits.data !== undefined);
    const before = house.mounted();
    const late = await refusalOf(house.runtime.allocations.prepare('web', volumes, { timeoutMs: 30 }));
    expect(late.code).to.equal('TIMEOUT');
    expect(late.message).to.include('recovering').and.to.include("plugin 'disk'");
    const gone = new AbortController();
    const given = refusalOf(house.runtime.allocations.prepare('web', volumes, { signal: gone.signal }));
    setImmediate(() => gone.abort());
    expect((await given).code).to.equal('ABORTED');
    expect((await house.runtime.allocations.status('web')).state).to.equal('recovering');
    expect(house.mounted()).to.deep.equal(before);
  });

  describe('its volume was unmounted by hand', () => {
    let path: string;

    async function unmountedByHand(options: Parameters<typeof MountHouse.start>[0] = {}): Promise<void> {
      house = await MountHouse.start(options);
      await house.make('data', many);
      const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
      path = mount?.hostPath ?? '';
      execFileSync('umount', [path]);
    }
    const isMounted = () => house.mounted().some((mount) => mount.path === path);

    for (const onPluginLoss of ['remount', 'report'] as const) {
      it(`M3 M6 prepared again it is mounted again before that answers, with ${onPluginLoss}`, async () => {
        await unmountedByHand({ onPluginLoss });
        const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
        expect([mount?.hostPath, isMounted()]).to.deep.equal([path, true]);
      });
    }

    it('M3 M6 the mounts are asked to try again: it is mounted again', async () => {
      await unmountedByHand();
      await house.runtime.mounts.retry({ id: 'data' });
      await house.told('lost');
      await until(isMounted, () => JSON.stringify(house.mounted()));
    });

    it('M3 H1 something is in the way of mounting it again: the alloc, prepared still, says what', async () => {
      await unmountedByHand();
      writeFileSync(join(path, 'file'), 'on the disk of the host');
      await house.runtime.mounts.retry({ id: 'data' });
      const { state, waits, volumes } = await house.allocIs('web', (alloc) => alloc.volumes[0]?.message !== undefined);
      expect([state, waits]).to.deep.equal(['prepared', {}]);
      expect(volumes[0]?.message).to.include('NodePublishVolume').and.to.include(path);
      expect((await house.runtime.allocations.status('web')).volumes[0]?.message).to.equal(volumes[0]?.message);
      rmSync(join(path, 'file'));
      await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
      expect((await house.runtime.allocations.status('web')).volumes[0]?.message).to.equal(undefined);
    });
  });

  it('M12 H1 something else is mounted over its volume: prepared again it says so, and stays prepared', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const { allocations } = house.runtime;
    const [mount] = await allocations.prepare('web', volumes);
    execFileSync('mount', ['-t', 'tmpfs', 'over', mount?.hostPath ?? '']);
    const refused = await refusalOf(allocations.prepare('web', volumes));
    expect([refused.code, (await allocations.status('web')).state]).to.deep.equal(['HOST_UNFIT', 'prepared']);
    expect(refused.message).to.include(`data: covered by`).and.to.include(mount?.hostPath);
    execFileSync('umount', [mount?.hostPath ?? '']);
    expect((await allocations.prepare('web', volumes))[0]?.hostPath).to.equal(mount?.hostPath);
  });

  describe('prepared twice at once', () => {
    /** It is being staged, again and again. */
    async function twice(timeoutMs?: number) {
      house = await MountHouse.start({ attach: true });
      await house.make('data', many);
      house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
      const volumes = [house.wanted('data', many)];
      const { allocations } = house.runtime;
      const first = allocations.prepare('web', volumes, timeoutMs === undefined ? {} : { timeoutMs });
      await house.driver.waitForCall('NodeStageVolume');
      return { first, allocations, volumes };
    }

    it('H1 each caller has the time that it asked for; who waits longer has its volumes all the same', async () => {
      const { first, allocations, volumes } = await twice();
      const late = await refusalOf(allocations.prepare('web', volumes, { timeoutMs: 50 }));
      expect(late.code).to.equal('TIMEOUT');
      expect(late.message).to.include('it goes on');
      expect((await allocations.status('web')).state).to.equal('preparing');
      house.driver.clear('NodeStageVolume');
      expect(await first).to.have.length(1);
    });

    it('H1 one gives up: the other has its volumes all the same', async () => {
      const { first, allocations, volumes } = await twice();
      const gone = new AbortController();
      const second = refusalOf(allocations.prepare('web', volumes, { signal: gone.signal }));
      setImmediate(() => gone.abort());
      expect((await second).code).to.equal('ABORTED');
      house.driver.clear('NodeStageVolume');
      expect(await first).to.have.length(1);
    });

    it('H1 two of three give up, in time or by signal: the third waits on, until it is released', async () => {
      const { first, allocations, volumes } = await twice(60_000);
      const gone = new AbortController();
      const second = refusalOf(allocations.prepare('web', volumes, { signal: gone.signal }));
      const third = refusalOf(allocations.prepare('web', volumes, { timeoutMs: 200 }));
      const dropped = refusalOf(first);
      setImmediate(() => gone.abort());
      expect([(await second).code, (await third).code]).to.deep.equal(['ABORTED', 'TIMEOUT']);
      expect((await allocations.status('web')).state).to.equal('preparing');
      await allocations.release('web');
      expect((await dropped).code).to.equal('ABORTED');
      expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
    });

    it('H1 nobody waits any more: the last to give up has it undone, also where the first had no limit', async () => {
      house = await MountHouse.start({ attach: true });
      await house.make('data', many);
      house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
      const volumes = [house.wanted('data', many)];
      const gone = new AbortController();
      const first = refusalOf(house.runtime.allocations.prepare('web', volumes, { signal: gone.signal }));
      await house.driver.waitForCall('NodeStageVolume');
      const second = refusalOf(house.runtime.allocations.prepare('web', volumes, { timeoutMs: 200 }));
      setImmediate(() => gone.abort());
      expect((await first).message).to.include('it goes on');
      const { code, message } = await second;
      expect([code, message.includes('undone'), message.includes('busy')], message).to.deep.equal([
        'TIMEOUT',
        true,
        true,
      ]);
      await house.allocIs('web', ({ state }) => state === 'failed');
      expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
    });
  });

  for (const [how, options, code] of [
    ['its time is over', () => ({ timeoutMs: 100 }), 'TIMEOUT'],
    ['it is given up', () => ({ signal: AbortSignal.timeout(100) }), 'ABORTED'],
  ] as const) {
    it(`H1 ${how} while a call hangs: its caller hears so, and that it is undone once that call ends`, async () => {
      house = await MountHouse.start({ calls: { nodeTimeoutMs: 600_000 } });
      await house.make('data', many);
      house.driver.script('NodeStageVolume', { hang: 'before', goOn: true });
      const prepared = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)], options()));
      const { number } = await house.driver.waitForCall('NodeStageVolume');
      const told = await prepared;
      expect([told.code, told.message.includes('being undone still')], told.message).to.deep.equal([code, true]);
      expect((await house.runtime.allocations.status('web')).state).to.equal('releasing');
      house.driver.release(number);
      await house.allocIs('web', ({ state }) => state === 'failed');
      expect(house.mounted()).to.deep.equal([]);
    });
  }

  it('H1 released while it is undone: who waits hears why it failed', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    house.driver.script('NodePublishVolume', { code: 'INVALID_ARGUMENT', text: 'no' });
    house.driver.script('NodeUnstageVolume', { hang: 'before' });
    const prepared = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    const { number } = await house.driver.waitForCall('NodeUnstageVolume');
    const released = house.runtime.allocations.release('web');
    setImmediate(() => house.driver.release(number));
    await released;
    expect((await prepared).code).to.equal('CSI_ERROR');
    expect(await house.runtime.allocations.list()).to.deep.equal([]);
  });

  it('M6 H1 what it has is lost, and only told of: asked for again, it is mounted again at the same path', async () => {
    house = await MountHouse.start({ onPluginLoss: 'report' });
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const prepared = await house.runtime.allocations.prepare('web', volumes);
    const path = prepared[0]?.hostPath ?? '';
    execFileSync('umount', [path]);
    await pluginIsBack();
    expect(await house.told('lost')).to.deep.include({ allocId: 'web', is: 'missing', isMended: false });
    expect((await house.runtime.mounts.list())[0]?.users[0]?.state).to.equal('lost');
    expect(house.mounted().some((mount) => mount.path === path)).to.equal(false);
    expect(await house.runtime.allocations.prepare('web', volumes)).to.deep.equal(prepared);
    expect(house.mounted().some((mount) => mount.path === path)).to.equal(true);
    expect(house.violations()).to.deep.equal([]);
  });

  it('H1 asked for twice, it has the longer time; each of those who wait has its own', async () => {
    house = await MountHouse.start();
    await house.make('data', single);
    const volumes = [house.wanted('data', single)];
    const { allocations } = house.runtime;
    await allocations.prepare('holder', volumes);
    const longest = refusalOf(allocations.prepare('web', volumes));
    await house.allocIs('web', ({ state }) => state === 'preparing');
    const late = await refusalOf(allocations.prepare('web', volumes, { timeoutMs: 30 }));
    expect(late.code).to.equal('TIMEOUT');
    expect(late.message).to.include('it goes on: it is preparing');
    expect((await allocations.status('web')).state).to.equal('preparing');
    await allocations.release('web');
    expect((await longest).code).to.equal('ABORTED');
    // The first is the shorter one, too.
    const short = refusalOf(allocations.prepare('web', volumes, { timeoutMs: 30 }));
    const long = refusalOf(allocations.prepare('web', volumes, { timeoutMs: 300 }));
    expect((await short).message).to.include('it goes on');
    expect((await long).message).to.include('what was begun is undone');
    expect((await allocations.status('web')).state).to.equal('failed');
  });

  it('H1 a runtime that ends says nothing of that in what its allocs wait for', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    const given = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    await house.allocIs('web', ({ waits }) => waits.data?.includes('busy') === true);
    await house.reopen();
    expect((await given).code).to.equal('RUNTIME_CLOSED');
    const reasons: string[] = [];
    for await (const { event } of house.runtime.journal.entries('alloc/node-a/web'))
      for (const { reason } of event?.steps ?? []) if (reason) reasons.push(String(reason));
    expect(reasons.some((reason) => reason.includes('busy'))).to.equal(true);
    expect(reasons.filter((reason) => reason.includes('closed'))).to.deep.equal([]);
  });

  it('M6 H1 what is mounted still is answered at once, also while its plugin is away', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const prepared = await house.runtime.allocations.prepare('web', volumes);
    await house.driver.stop();
    expect(await house.runtime.allocations.prepare('web', volumes, { timeoutMs: 120_000 })).to.deep.equal(prepared);
  });
});

/** Single mounts have claims: through the bundled driver, real bind mounts and restarts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { singleMountAddress } from '../../machines/kit/addresses.js';
import { silentLogger } from '../../src/engine/logger.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { faultyStore } from '../support/faulty-store.js';
import { until } from '../until.js';
import { MountHouse, many, node, single } from './mount-house.js';

const data = { id: 'data' };
const request = { volume: data, allocId: 'a', usage: many };

describe('single mounts', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  const controllerCalls = (): string[] =>
    house.driver
      .calls()
      .map(({ rpc }) => rpc)
      .filter((rpc) => /^(ControllerPublish|ControllerUnpublish|Delete)Volume$/.test(rpc));
  const claims = async (): Promise<string[]> => {
    const volume = await house.runtime.volumes.get(data);
    return (volume?.claims ?? []).map(({ allocId, mode, state }) => `${allocId} ${mode} ${state}`);
  };

  it('V5 V13 unpublished or deleted under it: refused, naming the alloc; nothing is called', async () => {
    const { hostPath } = await house.runtime.mounts.mount(request);
    writeFileSync(join(hostPath, 'kept'), 'here');
    expect(await claims()).to.deep.equal(['a write taken']);
    for (const refused of [house.runtime.volumes.unpublish(data, node), house.runtime.volumes.delete(data)]) {
      const error = await refusalOf(refused);
      expect([error.code, error.address]).to.deep.equal(['VOLUME_IN_USE', 'volume/default/data']);
      expect(error.message).to.contain(`alloc a on node ${node}`);
    }
    expect([controllerCalls(), readFileSync(join(hostPath, 'kept'), 'utf8')]).to.deep.equal([
      ['ControllerPublishVolume'],
      'here',
    ]);
  });

  it('V5 unmounted, its claim is released, and the volume is unpublished with it; then it can be deleted', async () => {
    await house.runtime.volumes.publish(data, node);
    await house.runtime.mounts.mount(request);
    await house.runtime.mounts.unmount(request);
    await house.runtime.mounts.unmount(request);
    expect([await claims(), await house.runtime.mounts.list()]).to.deep.equal([[], []]);
    await house.runtime.volumes.delete(data);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume', 'ControllerUnpublishVolume', 'DeleteVolume']);
    expect([house.mounted(), house.leftovers(), house.violations()]).to.deep.equal([[], [], []]);
  });

  it('M5 C6 of two, and an alloc, that have it here, it stays published until the last has let go', async () => {
    const other = { ...request, allocId: 'b', usage: { ...many, readOnly: true } };
    await Promise.all([house.runtime.mounts.mount(request), house.runtime.mounts.mount(other)]);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    await house.runtime.mounts.unmount(request);
    await house.runtime.allocations.release('web');
    expect([await claims(), controllerCalls()]).to.deep.equal([['b read taken'], ['ControllerPublishVolume']]);
    await house.runtime.mounts.unmount(other);
    expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
  });

  it('C5 another alloc has the claim: refused at once, naming it; with `wait` it is mounted after that', async () => {
    await house.make('log', single);
    const asked = { volume: { id: 'log' }, allocId: 'a', usage: single };
    await house.runtime.allocations.prepare('web', [house.wanted('log', single)]);
    const error = await refusalOf(house.runtime.mounts.mount(asked));
    expect([error.code, error.message]).to.deep.equal(['CLAIM_CONFLICT', error.message]);
    expect(error.message).to.contain('alloc web');
    const mounted = house.runtime.mounts.mount(asked, { wait: true });
    await house.runtime.allocations.release('web');
    await mounted;
    expect(await house.runtime.mounts.has(asked)).to.equal(true);
  });

  it('M3 V5 the claim outlives the agent, and so does its release', async () => {
    const before = await house.runtime.mounts.mount(request);
    await house.reopen();
    await house.healthy();
    expect(await house.runtime.mounts.mount(request)).to.deep.equal(before);
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).code).to.equal('VOLUME_IN_USE');
    await house.runtime.mounts.unmount(request);
    await house.reopen();
    await house.healthy();
    expect(await claims()).to.deep.equal([]);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume', 'ControllerUnpublishVolume']);
  });

  it('M7 it could not be made: undone before that is told, and nothing is left; the same again makes it', async () => {
    house.driver.script('NodeStageVolume', { code: 'INVALID_ARGUMENT', text: 'no' });
    const error = await refusalOf(house.runtime.mounts.mount(request));
    expect([error.code, error.address]).to.deep.equal(['CSI_ERROR', `mount/${node}/default/data`]);
    expect([await claims(), await house.runtime.mounts.list()]).to.deep.equal([[], []]);
    await house.runtime.mounts.mount(request);
    expect([await claims(), house.mounted().length]).to.deep.equal([['a write taken'], 2]);
  });

  it('H1 its caller gives up: the work goes on, until it is unmounted', async () => {
    house.driver.script('ControllerPublishVolume', { delayMs: 300 });
    const giveUp = new AbortController();
    const mounting = refusalOf(house.runtime.mounts.mount(request, { signal: giveUp.signal }));
    await until(() => controllerCalls().length === 1);
    giveUp.abort();
    expect((await mounting).code).to.equal('ABORTED');
    await until(() => house.mounted().length === 2);
    await house.runtime.mounts.unmount(request);
    expect([await claims(), house.mounted()]).to.deep.equal([[], []]);
  });

  it('V5 unmounted as it is being mounted: the mount hears so, and nothing is staged after that', async () => {
    house.driver.script('ControllerPublishVolume', { delayMs: 200 });
    const mounting = refusalOf(house.runtime.mounts.mount(request));
    await until(() => controllerCalls().length === 1);
    await house.runtime.mounts.unmount(request);
    const error = await mounting;
    expect([error.code, error.message]).to.deep.equal([
      'ABORTED',
      'volume default/data was unmounted for alloc a meanwhile',
    ]);
    expect([house.nodeCalls(), await claims()]).to.deep.equal([[], []]);
  });

  it('M2 asked for again as it is being unmounted: mounted once that is done', async () => {
    const { hostPath } = await house.runtime.mounts.mount(request);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' });
    const unmounted = house.runtime.mounts.unmount(request);
    await house.driver.waitForCall('NodeUnpublishVolume');
    expect((await house.runtime.mounts.mount(request)).hostPath).to.equal(hostPath);
    await unmounted;
    expect([await house.runtime.mounts.has(request), house.violations()]).to.deep.equal([true, []]);
  });

  it('H1 of an alloc that is prepared with the volume: neither mounted nor unmounted singly, and the other way', async () => {
    const volumes = [house.wanted('data', many)];
    await house.runtime.allocations.prepare('a', volumes);
    for (const refused of [house.runtime.mounts.mount(request), house.runtime.mounts.unmount(request)])
      expect((await refusalOf(refused)).code).to.equal('CLAIM_CONFLICT');
    expect(house.mounted()).to.have.length(2);
    await house.runtime.allocations.release('a');
    await house.runtime.mounts.mount(request);
    const error = await refusalOf(house.runtime.allocations.prepare('a', volumes));
    expect([error.code, error.message]).to.deep.equal([
      'CLAIM_CONFLICT',
      'volume default/data is mounted for alloc a by mounts.mount: unmount it there first',
    ]);
  });

  describe('while the store is slow', () => {
    let held: (() => void)[] | undefined;
    beforeEach(async () => {
      await house.end();
      const store = faultyStore(memoryStore(), {
        at: 'commit',
        how: async (_, proceed) => {
          const waiting = held;
          if (waiting) await new Promise<void>((resolve) => waiting.push(resolve));
          return proceed();
        },
      });
      house = await MountHouse.start({ attach: true, store });
      await house.make('data', many);
    });
    const release = (): void => {
      const waiting = held ?? [];
      held = undefined;
      for (const proceed of waiting) proceed();
    };
    afterEach(release);

    for (const before of ['is none', 'has failed'])
      it(`H1, 35.6 the alloc ${before}, its prepare is not committed yet: a single mount is refused`, async () => {
        const prepare = (): Promise<unknown> => house.runtime.allocations.prepare('a', [house.wanted('data', many)]);
        if (before === 'has failed') {
          house.driver.script('NodeStageVolume', { code: 'INVALID_ARGUMENT', text: 'no' });
          await refusalOf(prepare());
        }
        held = [];
        const prepared = prepare();
        await until(() => held?.length !== 0);
        expect((await refusalOf(house.runtime.mounts.mount(request))).code).to.equal('CLAIM_CONFLICT');
        release();
        await prepared;
        expect((await refusalOf(house.runtime.mounts.unmount(request))).code).to.equal('CLAIM_CONFLICT');
        expect([await claims(), house.mounted().length]).to.deep.equal([['a write taken'], 2]);
      });
  });

  describe('another alloc has the claim', () => {
    const log = { volume: { id: 'log' }, allocId: 'a', usage: single };
    const address = singleMountAddress(node, 'a', 'default', 'log');
    const isWaiting = async (): Promise<void> => {
      let record = '';
      const look = async (): Promise<void> => {
        record = JSON.stringify(await house.runtime.actors.inspect(address).catch(() => undefined)) ?? '';
      };
      await until(
        () => {
          void look();
          return record.includes('alloc web');
        },
        () => record,
      );
    };
    const byMount = async (): Promise<void> => {
      await house.runtime.allocations.prepare('web', [house.wanted('log', single)]);
    };
    const byClaim = async (): Promise<void> => {
      await house.runtime.volumes.claim({ id: 'log' }, { allocId: 'web', nodeId: node, mode: 'write', ...single });
    };
    beforeEach(() => house.make('log', single));

    it('H1, 35.6 a wait ends before it is mounted: the message says where it is shown', async () => {
      await byMount();
      const error = await refusalOf(house.runtime.mounts.mount(log, { wait: true, timeoutMs: 100 }));
      expect([error.code, error.message]).to.deep.equal(['TIMEOUT', error.message]);
      expect(error.message).to.contain(`see actors.inspect('${address}')`);
      expect(await house.runtime.actors.inspect(address)).to.include({ address });
    });

    for (const [how, have] of Object.entries({ mounted: byMount, claimed: byClaim }))
      it(`C5, 35.6 a wait for what is ${how}: the same without \`wait\` is refused at once; the wait goes on`, async () => {
        await have();
        const mounted = house.runtime.mounts.mount(log, { wait: true });
        for (const _ of ['before the reason is recorded', 'and after']) {
          const error = await refusalOf(house.runtime.mounts.mount(log, { timeoutMs: 5_000 }));
          expect([error.code, error.message]).to.deep.equal(['CLAIM_CONFLICT', error.message]);
          expect(error.message).to.contain('alloc web');
          await isWaiting();
        }
        if (how === 'mounted') await house.runtime.allocations.release('web');
        else await house.runtime.volumes.release({ id: 'log' }, 'web');
        await mounted;
      });

    it('C5, 35.6 one without `wait` is being refused: the same with it waits, and is mounted later', async () => {
      await byMount();
      const refused = refusalOf(house.runtime.mounts.mount(log));
      const mounted = house.runtime.mounts.mount(log, { wait: true });
      expect((await refused).code).to.equal('CLAIM_CONFLICT');
      await isWaiting();
      await house.runtime.allocations.release('web');
      await mounted;
      expect(await house.runtime.mounts.has(log)).to.equal(true);
    });
  });

  it('H1, 35.6 it fails after its caller has given up: a warning names the reason, and it is forgotten', async () => {
    await house.end();
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
    house = await MountHouse.start({ attach: true, logger });
    await house.make('data', many);
    house.driver.script('ControllerPublishVolume', { delayMs: 300 });
    house.driver.script('NodeStageVolume', { code: 'INVALID_ARGUMENT', text: 'no such option' });
    const giveUp = new AbortController();
    const mounting = refusalOf(house.runtime.mounts.mount(request, { signal: giveUp.signal }));
    await until(() => controllerCalls().length === 1);
    giveUp.abort();
    await mounting;
    const ours = (): string[] => warnings.filter((message) => message.includes('is not mounted for alloc a'));
    await until(() => ours().length > 0);
    expect(ours().join()).to.contain('no such option');
    await refusalOf(house.runtime.actors.inspect(singleMountAddress(node, 'a', 'default', 'data')));
  });

  it('H1, 35.6 asked for otherwise than it is mounted: the message says what differs, and to unmount it', async () => {
    await house.runtime.mounts.mount(request);
    const error = await refusalOf(house.runtime.mounts.mount({ ...request, usage: { ...many, fsType: 'xfs' } }));
    expect([error.code, error.message]).to.deep.equal([
      'CLAIM_CONFLICT',
      "volume default/data is mounted for alloc a otherwise ('data' has fsType none, asked for xfs): unmount it first, or ask for what it has",
    ]);
  });

  it('A5, 35.6 its actor is asked by hand to release: it is unmounted', async () => {
    await house.runtime.mounts.mount(request);
    const address = singleMountAddress(node, 'a', 'default', 'data');
    await house.runtime.actors.send(address, { type: 'alloc.release' }, { by: 'a person' });
    expect([house.mounted(), await claims()]).to.deep.equal([[], []]);
  });

  it('A5 it is no alloc that is listed or released; its events name the volume', async () => {
    const events = house.runtime.allocations.updates({ from: 'now' });
    await house.runtime.mounts.mount(request);
    const seen: unknown[] = [];
    for await (const { kind, allocId, single: volume } of events) {
      seen.push([kind, allocId, volume]);
      if (kind === 'prepared') break;
    }
    const key = { namespace: 'default', id: 'data' };
    expect(seen).to.deep.equal([
      ['preparing', 'a', key],
      ['prepared', 'a', key],
    ]);
    expect(await house.runtime.allocations.list()).to.deep.equal([]);
    expect((await refusalOf(house.runtime.allocations.status('a'))).message).to.contain('mounts.mount');
    await house.runtime.allocations.release('a');
    expect(await house.runtime.mounts.has(request)).to.equal(true);
  });
});

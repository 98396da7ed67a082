/** Allocs through the real thing: claims, a driver on a socket, bind mounts. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AllocStatus } from '../../src/allocs/alloc-view.js';
import { Allocations } from '../../src/allocs/allocations.js';
import { fileSecrets } from '../../src/secrets/secrets-providers.js';
import { block, MountHouse, many, mib, node, plugin, single } from '../mounts/mount-house.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';

describe('allocations', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
  });
  afterEach(() => house.end());

  const claims = async (id: string): Promise<string[]> =>
    ((await house.runtime.volumes.get({ id }))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);
  const states = async (): Promise<string[]> =>
    (await house.runtime.allocations.list()).map(({ allocId, state }) => `${allocId} ${state}`);

  it('H1 H5 all volumes of an alloc are claimed, published and mounted; told in the order of the requests', async () => {
    await house.make('data', many);
    await house.make('disk', block);
    const mounts = await house.runtime.allocations.prepare('web', [
      house.wanted('data', many, { taskPath: '/srv' }),
      house.wanted('disk', block, { mode: 'read', taskPath: '/dev/x' }),
    ]);
    expect(mounts.map(({ name, taskPath, readOnly, isDevice }) => [name, taskPath, readOnly, isDevice])).to.deep.equal([
      ['data', '/srv', false, false],
      ['disk', '/dev/x', true, true],
    ]);
    expect(await claims('data')).to.deep.equal(['web taken']);
    expect(house.mounted().map(({ path }) => path)).to.include.members(mounts.map(({ hostPath }) => hostPath));
    for (const { propagation } of mounts) expect(propagation).to.equal('shared');
    expect(await states()).to.deep.equal(['web prepared']);
  });

  it('H2 a release undoes in order: unmount, unstage, release the claim, unpublish the volume', async () => {
    await house.make('data', many);
    await house.make('disk', block);
    const volumes = [house.wanted('data', many), house.wanted('disk', block)];
    await house.runtime.allocations.prepare('web', volumes);
    await house.runtime.allocations.release('web');
    expect([house.mounted(), house.leftovers(), await states()]).to.deep.equal([[], [], []]);
    for (const id of ['data', 'disk']) {
      const volume = await house.runtime.volumes.get({ id });
      expect([volume?.claims, volume?.publications]).to.deep.equal([[], {}]);
      await house.runtime.volumes.delete({ id });
    }
    await house.runtime.allocations.release('web');
    expect(house.violations()).to.deep.equal([]);
  });

  it('H2 of two allocs on one volume, the slot of one is free while the other goes on', async () => {
    await house.make('data', many);
    for (const id of ['a', 'b']) await house.runtime.allocations.prepare(id, [house.wanted('data', many)]);
    await house.runtime.allocations.release('a');
    expect(await claims('data')).to.deep.equal(['b taken']);
    const [mount] = await house.runtime.mounts.list();
    expect(mount?.users.map(({ allocId, state }) => [allocId, state])).to.deep.equal([['b', 'published']]);
    await Promise.all(['b'].map((id) => house.runtime.allocations.release(id)));
    expect(house.violations()).to.deep.equal([]);
  });

  it('H2 two allocs on one volume released at once: nothing is unpublished before both are unmounted', async () => {
    await house.make('data', many);
    for (const id of ['a', 'b']) await house.runtime.allocations.prepare(id, [house.wanted('data', many)]);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' }, { times: 3 });
    await Promise.all(['a', 'b'].map((id) => house.runtime.allocations.release(id)));
    expect([house.mounted(), await claims('data')]).to.deep.equal([[], []]);
    expect(house.violations()).to.deep.equal([]);
  });

  it('H1 where one volume can not be had, all is undone, and the alloc says why until it is released', async () => {
    await house.make('data', many);
    await house.make('other', many);
    house.driver.script('NodePublishVolume', { code: 'INVALID_ARGUMENT', text: 'no such option' }, { times: 1 });
    const volumes = [house.wanted('data', many), house.wanted('other', many)];
    const error = await refusalOf(house.runtime.allocations.prepare('web', volumes));
    expect([error.code, error.grpcCode, error.final]).to.deep.equal(['CSI_ERROR', 'INVALID_ARGUMENT', true]);
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    for (const id of ['data', 'other']) expect(await claims(id)).to.deep.equal([]);
    expect(await states()).to.deep.equal(['web failed']);
    await house.runtime.allocations.release('web');
    expect(await states()).to.deep.equal([]);
    expect(house.violations()).to.deep.equal([]);
  });

  it('H1 after it has failed it can be prepared again', async () => {
    await house.make('data', many);
    house.driver.script('NodeStageVolume', { code: 'INVALID_ARGUMENT', text: 'no' });
    const volumes = [house.wanted('data', many)];
    await refusalOf(house.runtime.allocations.prepare('web', volumes));
    await house.runtime.allocations.prepare('web', volumes);
    expect(await states()).to.deep.equal(['web prepared']);
  });

  it('H1 given up while it waits: what was begun is undone', async () => {
    await house.make('data', many);
    house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    const caller = new AbortController();
    const prepared = refusalOf(
      house.runtime.allocations.prepare('web', [house.wanted('data', many)], { signal: caller.signal }),
    );
    await house.driver.waitForCall('NodeStageVolume');
    caller.abort();
    expect((await prepared).code).to.equal('ABORTED');
    expect([house.mounted(), await claims('data'), await states()]).to.deep.equal([[], [], ['web failed']]);
    expect(house.violations()).to.deep.equal([]);
  });

  it('H1 H4 given up: what it waited for is told', async () => {
    await house.make('data', single);
    await house.runtime.allocations.prepare('first', [house.wanted('data', single)]);
    const caller = new AbortController();
    const given = { signal: caller.signal };
    const prepared = refusalOf(house.runtime.allocations.prepare('second', [house.wanted('data', single)], given));
    const { waits } = await house.allocIs('second', (alloc) => alloc.waits.data !== undefined);
    caller.abort();
    const { code, message } = await prepared;
    expect([code, waits.data?.includes('first')]).to.deep.equal(['ABORTED', true]);
    const how = 'what was begun is undone';
    expect(message).to.include(`alloc second was given up before it was prepared (data: ${waits.data}): ${how}`);
  });

  it('H1 H4 not prepared in time: undone, and what it waited for is told', async () => {
    await house.make('data', single);
    await house.runtime.allocations.prepare('first', [house.wanted('data', single)]);
    const work = house.runtime.allocations.prepare('second', [house.wanted('data', single)], { timeoutMs: 100 });
    const error = await refusalOf(work);
    expect(error.code, error.message).to.equal('TIMEOUT');
    expect(error.message).to.contain('first');
    expect([await claims('data'), await states()]).to.deep.equal([
      ['first taken'],
      ['first prepared', 'second failed'],
    ]);
  });

  it('H1 H2 the status says of each volume how it is here', async () => {
    for (const id of ['data', 'log', 'disk']) await house.make(id, many);
    await house.runtime.allocations.prepare('holder', [house.wanted('log', many)]);
    const volumes = ['data', 'log'].map((id) => house.wanted(id, many));
    const here = ({ volumes: all }: AllocStatus): string => all.map(({ name, state }) => `${name} ${state}`).join(', ');
    await house.runtime.allocations.prepare('web', volumes);
    expect(here(await house.runtime.allocations.status('web'))).to.equal('data mounted, log mounted');
    house.driver.script('NodeUnstageVolume', { code: 'INTERNAL', text: 'busy' }, { times: 'always' });
    const released = house.runtime.allocations.release('web');
    // Another one has the volume: it stays staged.
    await house.allocIs('web', (alloc) => here(alloc) === 'data detached, log unmounted');
    house.driver.clear('NodeUnstageVolume');
    await released;
    house.driver.script('NodePublishVolume', { code: 'INTERNAL', text: 'busy' }, { times: 'always' });
    const prepared = refusalOf(house.runtime.allocations.prepare('web', [...volumes, house.wanted('disk', many)]));
    await house.allocIs('web', (alloc) => here(alloc) === 'data staged, log staged, disk staged');
    await house.runtime.allocations.release('web');
    await prepared;
  });

  it('H4 a slot that is taken is waited for', async () => {
    await house.make('data', single);
    await house.runtime.allocations.prepare('first', [house.wanted('data', single)]);
    const second = house.runtime.allocations.prepare('second', [house.wanted('data', single)]);
    const { waits } = await house.allocIs('second', (alloc) => alloc.waits.data !== undefined);
    expect(waits.data).to.contain('first');
    await house.runtime.allocations.release('first');
    await second;
    expect(await states()).to.deep.equal(['second prepared']);
  });

  it('H1 the same again is the same; other volumes for the same alloc are refused', async () => {
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const first = await house.runtime.allocations.prepare('web', volumes);
    expect(await house.runtime.allocations.prepare('web', volumes)).to.deep.equal(first);
    const other = [house.wanted('data', many, { taskPath: '/elsewhere' })];
    const { code, message } = await refusalOf(house.runtime.allocations.prepare('web', other));
    expect([code, message]).to.deep.equal([
      'CLAIM_CONFLICT',
      "alloc web has other volumes, or has them otherwise ('data' has taskPath /data, asked for /elsewhere): release it first, or give it what it has",
    ]);
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);
  });

  it('H3 after a restart an alloc recovers until its plugin is back, and its data stays readable', async () => {
    await house.make('data', many);
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const file = join(mount?.hostPath ?? '', 'file');
    writeFileSync(file, 'kept');
    await house.runtime.close();
    house.driver.script('Probe', { hang: 'before' }, { times: 'always' });
    await house.open();
    const { state, waits } = await house.allocIs('web', (alloc) => alloc.waits.data !== undefined);
    expect([state, readFileSync(file, 'utf8')]).to.deep.equal(['recovering', 'kept']);
    expect(waits.data).to.contain(plugin);
    house.driver.clear('Probe');
    for (const { rpc, number, end } of house.driver.calls()) if (rpc === 'Probe' && !end) house.driver.release(number);
    await house.healthy();
    await house.allocIs('web', (alloc) => alloc.state === 'prepared');
    expect([house.nodeCalls(), readFileSync(file, 'utf8')]).to.deep.equal([['Stage', 'Publish'], 'kept']);
  });

  it('H6 a runtime that ends leaves mounts as they are; with release it gives all back, then stops', async () => {
    await house.make('data', many);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    await house.runtime.close();
    expect(house.mounted()).to.have.length(2);
    await house.open();
    await house.healthy();
    await house.runtime.close({ release: true });
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    const csi = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(house.dataDir));
    expect(csi).to.deep.equal([]);
    await house.open();
    expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
  });

  it('H6 while all are released, what is left can be looked at; nothing new is taken', async () => {
    await house.make('data', many);
    const { allocations } = house.runtime;
    await allocations.prepare('web', [house.wanted('data', many)]);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' }, { times: 'always' });
    const closed = house.runtime.close({ release: true });
    const { waits } = await house.allocIs('web', (alloc) => alloc.waits.data !== undefined);
    expect([waits.data?.includes('busy'), (await allocations.status('web')).state]).to.deep.equal([true, 'releasing']);
    const refused = await refusalOf(allocations.prepare('db', [house.wanted('data', many)]));
    expect(refused.code).to.equal('RUNTIME_CLOSED');
    house.driver.clear('NodeUnpublishVolume');
    await closed;
    expect((await refusalOf(allocations.list())).code).to.equal('RUNTIME_CLOSED');
  });

  it('H2 H6 a call that its plugin has not answered yet is what an alloc waits for', async () => {
    await house.make('data', many);
    const { allocations } = house.runtime;
    await allocations.prepare('web', [house.wanted('data', many)]);
    house.driver.script('NodeUnpublishVolume', { hang: 'before' });
    const released = allocations.release('web');
    const { number } = await house.driver.waitForCall('NodeUnpublishVolume');
    const { state, volumes } = await allocations.status('web');
    expect([state, volumes.map(({ plugin: of, underWay }) => [of, underWay])]).to.deep.equal([
      'releasing',
      [[plugin, "a call to plugin 'disk' is under way (unpublish)"]],
    ]);
    expect((await refusalOf(allocations.release('web', { timeoutMs: 1 }))).message).to.include(
      "it is releasing; data: a call to plugin 'disk' is under way (unpublish)",
    );
    house.driver.release(number);
    await released;
  });

  it('H2 a prepare that is given up names the call that its plugin has not answered', async () => {
    await house.make('data', many);
    house.driver.script('NodeStageVolume', { hang: 'before' });
    const caller = new AbortController();
    const { allocations } = house.runtime;
    const prepared = refusalOf(allocations.prepare('web', [house.wanted('data', many)], { signal: caller.signal }));
    const { number } = await house.driver.waitForCall('NodeStageVolume');
    caller.abort();
    await house.allocIs('web', ({ state }) => state === 'releasing');
    house.driver.release(number);
    expect((await prepared).message).to.include("(data: a call to plugin 'disk' is under way (stage))");
  });

  it('H6 what could not be released in time: who goes on with it, and why it is so', async () => {
    await house.make('data', many);
    const { allocations } = house.runtime;
    if (!(allocations instanceof Allocations)) throw new Error('the runtime has allocations of another kind');
    await allocations.prepare('web', [house.wanted('data', many)]);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' }, { times: 'always' });
    const { code, message } = await refusalOf(allocations.releaseAll(50));
    expect(code).to.equal('DRAIN_FAILED');
    expect(message).to.match(
      /^50 ms have passed before alloc web was released; the next start goes on with it: it is releasing;?/,
    );
    house.driver.clear('NodeUnpublishVolume');
    await allocations.release('web');
  });

  it('H6 release retries waiting work at once, and leaves single mounts as they are', async () => {
    const hour = 3_600_000;
    await house.reopen({ retry: { initialMs: hour, maxMs: hour } });
    await house.healthy();
    for (const id of ['data', 'other']) await house.make(id, many);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const asked = { volume: { id: 'other' }, allocId: 'b', usage: many };
    await house.runtime.mounts.mount(asked);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' });
    const released = house.runtime.allocations.release('web');
    await until(() => house.events.some(({ kind }) => kind === 'failed'));
    await house.runtime.close({ release: true });
    await released;
    await house.open();
    await house.healthy();
    expect(await house.runtime.mounts.has(asked)).to.equal(true);
    expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
  });

  it('a missing secret is refused before any call, named', async () => {
    await house.reopen({ secrets: fileSecrets(house.folder) });
    await house.healthy();
    await house.runtime.volumes
      .create(
        { id: 'data', plugin, capacity: { requiredBytes: mib }, capabilities: [many], secrets: { key: 'file:k' } },
        { timeoutMs: 1, wait: true },
      )
      .catch(() => {});
    const before = house.driver.calls().length;
    const error = await refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    expect([error.code, error.message.includes('key')], error.message).to.deep.equal(['SECRETS_UNAVAILABLE', true]);
    expect(house.driver.calls()).to.have.length(before);
  });

  it('requests that can be none are refused whole, every fault named, and nothing is kept', async () => {
    await house.make('data', many);
    const bad = [
      house.wanted('data', many, { taskPath: '../x' }),
      house.wanted('data', many, { name: 'data', taskPath: '/a\0b' }),
    ];
    const error = await refusalOf(house.runtime.allocations.prepare('web', bad));
    expect(error.code).to.equal('INVALID_ARGUMENT');
    for (const fault of ['[0].taskPath', '[1].taskPath']) expect(error.message).to.contain(fault);
    for (const [allocId, volumes] of [
      ['x'.repeat(300), [house.wanted('data', many)]],
      ['nul\0', [house.wanted('data', many)]],
      ['web', []],
      ['web', [house.wanted('data', many), house.wanted('data', many, { name: 'again', taskPath: '/y' })]],
      ['web', [house.wanted('data', many, { mode: 'read', readOnly: false })]],
      ['web', [house.wanted('data', single)]],
    ] as const) {
      const refused = await refusalOf(house.runtime.allocations.prepare(allocId, volumes));
      expect(refused.code, refused.message).to.equal('INVALID_ARGUMENT');
    }
    await house.runtime.allocations.release('web');
    expect(await states()).to.deep.equal([]);
    expect(await house.runtime.mounts.list()).to.deep.equal([]);
    expect([node, house.mounted()]).to.deep.equal([node, []]);
  });

  it('M8 a mount that the driver finishes late is found, and is not taken for a new one', async () => {
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const [mount] = await house.runtime.allocations.prepare('web', volumes);
    await house.runtime.allocations.release('web');
    // As a child of a driver that died, which ends its work after all.
    const target = mount?.hostPath ?? '';
    execFileSync('mkdir', ['-p', target]);
    execFileSync('mount', ['-t', 'tmpfs', 'late', target]);
    const error = await refusalOf(house.runtime.allocations.prepare('web', volumes, { timeoutMs: 500 }));
    expect([error.code, error.message.includes('tmpfs')], error.message).to.deep.equal(['TIMEOUT', true]);
    expect(await states()).to.deep.equal(['web releasing']);
    execFileSync('umount', [target]);
    await house.allocIs('web', (alloc) => alloc.state === 'failed');
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
  });
});

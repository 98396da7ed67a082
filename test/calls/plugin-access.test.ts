/**
 * Admission of calls to plugins: the limit in flight, who waits for what, and that plugins do not affect each other.
 */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { refusalOf } from '../refusal.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `v${at}`);

describe('calls to plugins', () => {
  let house: VolumeHouse;
  beforeEach(() => {
    house = new VolumeHouse();
  });
  afterEach(() => house.dispose());

  const errorOf = async (id: string): Promise<string | undefined> => (await house.volumes.get({ id }))?.error?.message;

  it('V9 calls in flight with a plugin stay within the limit, and all get their turn', async () => {
    await house.furnish({ calls: { maxInFlightPerPlugin: 3 } });
    await Promise.all(ids(50).map((id) => house.volumes.create(spec(id))));
    expect(house.plugin.mostInFlight).to.equal(3);
    expect(house.plugin.volumes.size).to.equal(50);
  });

  it('V9 limit of one for a driver that accepts no more: one call at a time', async () => {
    await house.furnish({ calls: { maxInFlightPerPlugin: 1 } });
    await Promise.all(ids(5).map((id) => house.volumes.create(spec(id))));
    expect(house.plugin.mostInFlight).to.equal(1);
  });

  it('V9 a hanging call delays only its own volume', async () => {
    await house.furnish();
    house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { before: new Promise(() => {}) } : undefined);
    const hung = house.volumes.create(spec('hung'));
    hung.catch(() => {});
    await house.rest();
    house.plugin.script = () => undefined;
    await Promise.all(ids(100).map((id) => house.volumes.create(spec(id))));
    expect(await house.volumes.get({ id: 'hung' })).to.include({ state: 'pending-create' });
  });

  it('calls that hang fill the plugin until their deadline; then others get their turn', async () => {
    await house.furnish({ calls: { maxInFlightPerPlugin: 2, timeoutMs: 1_000 } });
    house.plugin.script = () => ({ before: new Promise(() => {}) });
    for (const id of ['one', 'two']) house.volumes.create(spec(id)).catch(() => {});
    await house.rest();
    house.plugin.script = () => undefined;
    const third = house.volumes.create(spec('three'));
    await house.rest();
    expect(house.plugin.calls).to.have.length(2);
    await house.clock.advance(10_000);
    expect(await third).to.include({ state: 'created' });
  });

  it('three transport failures in a row: no more calls until the next successful probe', async () => {
    await house.furnish({ retry: { initialMs: 10, maxMs: 20 } });
    house.plugin.script = () => ({ code: 'UNAVAILABLE' });
    house.plugin.health = { healthy: false, description: 'its socket is gone' };
    const made = ids(10).map((id) => house.volumes.create(spec(id)));
    await house.clock.advance(40_000);
    // Ten calls were in flight together. Nothing more was sent after the third of them had failed.
    expect(house.plugin.calls).to.have.length(10);
    expect(await errorOf('v0')).to.match(/plugin 'disk' can't be called: its socket is gone/);
    house.plugin.script = () => undefined;
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(60_000);
    for (const one of await Promise.all(made)) expect(one).to.include({ state: 'created' });
  });

  it('plugin healthy, but its calls fail: at most three for each successful probe', async () => {
    await house.furnish({ retry: { initialMs: 1, maxMs: 1 }, calls: { maxInFlightPerPlugin: 1 } });
    house.plugin.script = () => ({ code: 'UNAVAILABLE' });
    house.volumes.create(spec('data')).catch(() => {});
    await house.clock.advance(300_000);
    const looks = 300 / 30;
    expect(house.plugin.calls.length).to.be.within(3 * looks, 3 * (looks + 1));
  });

  it('plugin unhealthy: not called; the volume names the reason, and continues once the plugin is healthy', async () => {
    await house.furnish();
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const made = house.volumes.create(spec('data'));
    await house.rest();
    expect(house.plugin.calls).to.deep.equal([]);
    expect(await errorOf('data')).to.match(/initialising/);
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(31_000);
    expect((await made).error).to.equal(undefined);
  });

  it('V5 capabilities of the plugin unknown: its volumes wait', async () => {
    house.plugin.capabilities = undefined;
    await house.furnish();
    const made = house.volumes.create(spec('data'));
    await house.rest();
    expect(house.plugin.calls).to.deep.equal([]);
    expect(await errorOf('data')).to.include('instance disk-1 does not say what it offers');
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
    await house.clock.advance(31_000);
    expect(await made).to.include({ state: 'created' });
  });

  it('plugin deregistered: waiting volumes say so, and continue once it is registered again', async () => {
    await house.furnish();
    await house.volumes.create(spec('data'));
    await house.runtime.plugins.deregister('csi-controller', pluginName, 'disk-1');
    const deleted = house.volumes.delete({ id: 'data' });
    await house.rest();
    expect(await errorOf('data')).to.equal("plugin 'disk' can't be called: it is not registered");
    const late = await refusalOf(
      Promise.race([
        house.volumes.delete({ id: 'data' }, { timeoutMs: 100 }),
        house.clock.advance(200).then(() => {
          throw new Error('it did not time out');
        }),
      ]),
    );
    expect(late).to.include({ code: 'TIMEOUT' });
    expect(late.message).to.match(/the work goes on: .*not registered/);
    await house.register();
    await house.rest();
    await deleted;
    expect(house.plugin.volumes.size).to.equal(0);
  });

  it('answer UNIMPLEMENTED: the capabilities of the plugin are read again at once', async () => {
    await house.furnish();
    house.plugin.capabilities = ['PUBLISH_UNPUBLISH_VOLUME'];
    house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { code: 'UNIMPLEMENTED' } : undefined);
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ grpcCode: 'UNIMPLEMENTED', final: true });
    await house.clock.advance(200);
    await house.volumes.retry({ id: 'data' });
    await house.rest();
    // The plugin makes no volumes: the id is the user's own.
    expect(await house.volumes.get({ id: 'data' })).to.include({ state: 'created', csiId: 'data' });
  });

  it('V1 the reason of a wait is stored when its kind changes, not on each new wording', async () => {
    await house.furnish();
    house.plugin.health = { healthy: false, description: 'down for a while' };
    await house.clock.advance(31_000);
    for (const id of ids(5)) house.volumes.create(spec(id)).catch(() => {});
    await house.rest();
    let commits = 0;
    const commit = house.store.commit.bind(house.store);
    house.store.commit = (items) => {
      commits += items.filter(({ address }) => address.startsWith('volume/')).length;
      return commit(items);
    };
    for (let minute = 1; minute <= 5; minute += 1) {
      house.plugin.health = { healthy: false, description: `down for ${minute} minutes` };
      await house.clock.advance(60_000);
    }
    expect(commits).to.equal(0);
    expect(await errorOf('v0')).to.include('down for a while');
    await house.runtime.plugins.deregister('csi-controller', pluginName, 'disk-1');
    await house.rest();
    expect(commits).to.equal(5);
    expect(await errorOf('v0')).to.include('not registered');
  });

  it('calls not made for want of a secret count as no answer: three failures are still in a row', async () => {
    const resolve = (): Promise<never> => Promise.reject(new StagecraftError('SECRETS_UNAVAILABLE', 'not now'));
    await house.furnish({ retry: { initialMs: 3_600_000, maxMs: 3_600_000 }, secrets: { resolve } });
    house.plugin.script = () => ({ code: 'UNAVAILABLE' });
    for (const id of ids(3)) {
      house.volumes.create(spec(id)).catch(() => {});
      house.volumes.create(spec(`${id}-secret`, { secrets: { token: 'env:TOKEN' } }), { wait: true }).catch(() => {});
      await house.rest();
    }
    expect(await errorOf('v0-secret')).to.include('not now');
    house.volumes.create(spec('next')).catch(() => {});
    await house.rest();
    expect(await errorOf('next')).to.include('did not answer 3 calls in a row');
    expect(house.plugin.calls).to.have.length(3);
  });

  it('V8 V13 a call that could not begin leaves nothing in doubt: deleted without a call', async () => {
    const resolve = (): Promise<never> => Promise.reject(new StagecraftError('SECRETS_UNAVAILABLE', 'not now'));
    await house.furnish({ secrets: { resolve } });
    house.volumes.create(spec('data', { secrets: { token: 'env:TOKEN' } }), { wait: true }).catch(() => {});
    await house.clock.advance(60_000);
    expect(await errorOf('data')).to.include('not now');
    await house.volumes.delete({ id: 'data' });
    expect(await house.volumes.get({ id: 'data' })).to.equal(undefined);
    expect(house.plugin.calls).to.deep.equal([]);
  });

  it('V13 forced deletion that waits for its plugin: names the reason until it gives up', async () => {
    await house.furnish();
    await house.volumes.create(spec('data'));
    house.plugin.health = { healthy: false, description: 'gone for good' };
    await house.clock.advance(31_000);
    const deleted = house.volumes.delete({ id: 'data' }, { force: true });
    await house.rest();
    expect(await errorOf('data')).to.equal("plugin 'disk' can't be called: gone for good");
    await house.clock.advance(9_999);
    expect(await errorOf('data')).to.equal("plugin 'disk' can't be called: gone for good");
    await house.clock.advance(600_000);
    await deleted;
    expect((await house.volumes.get({ id: 'data' }))?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
  });

  it('trouble of one plugin does not affect another', async () => {
    await house.furnish();
    const connection = { socketPath: '/nowhere/other.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'other', allocId: 'other-1', connection });
    await house.rest();
    house.plugin.script = ({ request }) =>
      JSON.stringify(request).includes('bad') ? { before: new Promise(() => {}) } : undefined;
    for (const id of ids(64)) house.volumes.create(spec(id, { parameters: { bad: 'yes' } })).catch(() => {});
    await house.rest();
    expect(await house.volumes.create(spec('good', { plugin: 'other' }))).to.include({ state: 'created' });
  });
});

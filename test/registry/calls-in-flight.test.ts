/** Calls of others that are in flight when an instance shuts down: who waits for them, how long, and who does not. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { type FakeClient, healthy } from './fake-kind.js';
import { device, House, inShort, nodeId, refusal } from './house.js';

const drainMs = 30_000;
const gpu = device('a1');
const never = new AbortController().signal;

describe('calls in flight at a shutdown', () => {
  let house: House;
  /** Of clients that are closing, oldest first: what lets the last call on each end. */
  let inFlight: { client: FakeClient; signal: AbortSignal; end(): void }[];

  beforeEach(async () => {
    house = await new House().open();
    inFlight = [];
    house.kind.closing = (client, { signal }) => new Promise((end) => void inFlight.push({ client, signal, end }));
  });

  afterEach(() => house.dispose());

  const out = ({ type, name, allocId }: PluginInfo = gpu): Promise<void> =>
    house.plugins.deregister(type, name, allocId);

  /** Whether all of it has ended, as of now. */
  function gone(info = gpu, signal = never): { isGone: boolean } {
    const seen = { isGone: false };
    void house.plugins.gone(info, signal).then(() => {
      seen.isGone = true;
    });
    return seen;
  }

  const health = async (): Promise<string[]> =>
    (await house.events()).filter(({ kind }) => kind === 'health').map(inShort);

  it('T7 the instance is gone for all at once; who waits until it is gone waits for the calls too', async () => {
    await house.register(gpu);
    const { pending } = house.clock;
    await out();
    const seen = gone();
    await house.rest();
    expect(await house.store.load(pluginAddress(nodeId, 'device', 'gpu', 'a1'))).to.include({ gone: true });
    expect((await refusal(() => house.plugins.dispense('device', 'gpu'))).code).to.equal('PLUGIN_NOT_FOUND');
    expect(await health()).to.deep.equal(['a1 unknown → true: ready', 'a1 healthy → false: shut down']);
    await house.clock.advance(drainMs - 1);
    expect(seen.isGone).to.equal(false);
    inFlight[0]?.end();
    await house.rest();
    expect(seen.isGone).to.equal(true);
    expect(inFlight.map(({ signal }) => signal.aborted)).to.deep.equal([false]);
    expect(house.clock.pending, 'its look and its limit are over').to.equal(pending - 1);
  });

  it('T7 after 30 s nobody waits any more, and the calls are ended', async () => {
    await house.register(gpu);
    await out();
    const seen = gone();
    await house.clock.advance(drainMs);
    expect(seen.isGone).to.equal(true);
    expect(inFlight.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
    expect(house.kind.closes).to.deep.equal([1]);
  });

  it('T7 who waits may give it up before', async () => {
    await house.register(gpu);
    await out();
    const stop = new AbortController();
    const seen = gone(gpu, stop.signal);
    await house.rest();
    stop.abort();
    await house.rest();
    expect(seen.isGone).to.equal(true);
    expect(inFlight.map(({ signal }) => signal.aborted)).to.deep.equal([false]);
  });

  it('T7 the runtime closes meanwhile: it waits for none of them, and leaves no timer', async () => {
    await house.register(gpu, device('a2'));
    await out();
    const seen = gone();
    await house.runtime.close();
    expect(inFlight.map(({ signal }) => signal.aborted)).to.deep.equal([true, true]);
    expect(house.kind.closes).to.deep.equal([1, 1]);
    expect(house.clock.pending).to.equal(0);
    await house.rest();
    expect(seen.isGone).to.equal(true);
  });

  it('T7 after a restart nobody has calls in flight: who waited goes on', async () => {
    await house.register(gpu);
    await out();
    await house.restart();
    await house.plugins.gone(gpu, never);
  });

  it('R4 redefined, it has another client at once, while calls on the old one end', async () => {
    await house.register(gpu);
    const first = await house.plugins.dispense('device', 'gpu');
    await house.register(device('a1', { version: '2' }));
    const second = await house.plugins.dispense('device', 'gpu');
    expect(second).to.not.equal(first);
    expect(house.plugins.status('device', 'gpu').state).to.equal('healthy');
    await out();
    const seen = gone();
    await house.rest();
    expect(inFlight.map(({ client }) => client)).to.deep.equal([first, second]);
    inFlight[1]?.end();
    await house.rest();
    expect(seen.isGone, 'the old one').to.equal(false);
    inFlight[0]?.end();
    await house.rest();
    expect(seen.isGone).to.equal(true);
  });

  it('R4 an allocId registered again has another client, which outlives the end of the first', async () => {
    await house.register(gpu);
    const first = await house.plugins.dispense('device', 'gpu');
    await out();
    await house.register(gpu);
    const second = await house.plugins.dispense('device', 'gpu');
    expect(second).to.not.equal(first);
    await house.clock.advance(drainMs);
    expect(house.kind.closes).to.deep.equal([1, 0]);
    expect(await house.plugins.dispense('device', 'gpu')).to.equal(second);
  });

  it('T7 deregistered twice, closed once', async () => {
    await house.register(gpu);
    await Promise.all([out(), out()]);
    await house.rest();
    await out();
    expect(house.kind.closes).to.deep.equal([1]);
  });

  it('I11 its own look is cancelled at once, and its last report waits for nobody', async () => {
    await house.register(gpu);
    const release = house.kind.hold();
    await house.clock.advance(30_000);
    await out();
    await house.rest();
    expect(house.kind.lastLook.request.signal.aborted).to.equal(true);
    expect((await health()).at(-1)).to.equal('a1 healthy → false: shut down');
    release(healthy);
    const { length } = house.kind.looks;
    await house.clock.advance(3_600_000);
    expect(house.kind.looks).to.have.lengthOf(length);
    expect(await house.history(gpu)).to.deep.equal(['begun', 'fingerprint.changed', 'plugin.shutdown']);
  });

  it('T7 dispensed after a restart and deregistered before it was looked at: its client is closed', async () => {
    house.kind.closing = () => {};
    const infos = Array.from({ length: 120 }, (_, n) => device('a1', { name: `n${n}` }));
    await house.register(...infos);
    await house.restart();
    await house.rest();
    const looked = house.kind.looks.slice(infos.length).map(({ client }) => client.info.name);
    const waiting = infos.find(({ name }) => !looked.includes(name));
    if (!waiting) throw new Error('all were looked at: there is nobody left to deregister before');
    const client = await house.plugins.dispense<FakeClient>('device', waiting.name);
    await out(waiting);
    await house.clock.advance(1_000);
    expect(client.closes).to.equal(1);
  });
});

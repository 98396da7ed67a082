/** Tests requests for the free capacity of a plugin. */
import { expect } from 'chai';
import type { AwaitOptions } from '../../src/requests/await-options.js';
import { refusalOf } from '../refusal.js';
import { pluginName, VolumeHouse } from './volume-house.js';

describe('the capacity of a plugin', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('V18 is requested for a capability, parameters and segments', async () => {
    house.plugin.capacity = { availableCapacity: 2n ** 60n, minimumVolumeSize: 4n };
    const capability = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;
    const answer = await house.volumes.capacity(pluginName, {
      capability,
      parameters: { tier: 'gold' },
      segments: { zone: 'a' },
    });
    expect(answer).to.deep.equal({ availableBytes: 2n ** 60n, minimumVolumeBytes: 4 });
    expect(house.plugin.calls[0]?.request).to.deep.equal({
      volumeCapabilities: [{ accessMode: { mode: 'SINGLE_NODE_WRITER' }, block: {} }],
      parameters: { tier: 'gold' },
      accessibleTopology: { segments: { zone: 'a' } },
    });
    await house.volumes.capacity(pluginName);
    expect(house.plugin.calls[1]?.request).to.deep.equal({ volumeCapabilities: [], parameters: {} });
  });

  it('V2 of an unknown plugin, or with an invalid request: refused before any call', async () => {
    expect((await refusalOf(house.volumes.capacity('nobody'))).code).to.equal('PLUGIN_NOT_FOUND');
    const wrong = await refusalOf(house.volumes.capacity(pluginName, { segments: {} }));
    expect(wrong.code).to.equal('INVALID_ARGUMENT');
    const options = { timeoutMs: 'abc' } as unknown as AwaitOptions;
    const late = await refusalOf(house.volumes.capacity(pluginName, {}, options));
    expect(late.message).to.include('timeoutMs: must be a number of milliseconds');
    expect(await refusalOf(house.volumes.capacity(42 as unknown as string))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(house.plugin.calls).to.deep.equal([]);
  });

  it('V2 of a plugin without GET_CAPACITY: PLUGIN_LACKS', async () => {
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
    await house.clock.advance(60_000);
    expect((await refusalOf(house.volumes.capacity(pluginName))).code).to.equal('PLUGIN_LACKS');
    expect(house.plugin.calls).to.deep.equal([]);
  });

  it('V9 of a failing plugin: its error; of an unhealthy one: PLUGIN_UNAVAILABLE after the timeout', async () => {
    house.plugin.script = () => ({ code: 'INTERNAL' });
    expect(await refusalOf(house.volumes.capacity(pluginName))).to.deep.include({
      code: 'CSI_ERROR',
      grpcCode: 'INTERNAL',
    });
    house.plugin.health = { healthy: false, description: 'no disk' };
    await house.clock.advance(60_000);
    const waiting = refusalOf(house.volumes.capacity(pluginName, {}, { timeoutMs: 1_000 }));
    await house.clock.advance(1_000);
    const { code, message } = await waiting;
    expect(code).to.equal('PLUGIN_UNAVAILABLE');
    expect(message).to.contain('no disk');
  });
});

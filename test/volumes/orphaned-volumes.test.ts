/** Volumes that a plugin lists and no record has: as after a restore of the store from an older copy. */
import { expect } from 'chai';
import { overviewOf } from '../../src/inspector/actor-answers.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { allCapabilities } from './fake-plugin.js';
import { gate, inOrder } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

describe('orphaned volumes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  const ids = async (plugin?: string): Promise<string[]> =>
    (await house.volumes.orphans(plugin)).orphans.map(({ csiId }) => csiId);
  const told = async (): Promise<string[]> => {
    const seen: string[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      for await (const { event, kind } of house.runtime.events.subscribe({
        topics: ['actors'],
        from: '0',
        signal: ended.signal,
      }))
        if (kind === 'orphaned-volumes' && 'reason' in event) seen.push(event.reason ?? '');
    })();
    await house.rest();
    ended.abort();
    await reading.catch(() => {});
    return seen;
  };
  const troubles = async (): Promise<string[]> =>
    (await overviewOf(house.runtime, { version: '1', at: 0 })).trouble.map(({ what }) => what);

  it('34.35 a store without its records, as restored from an older copy: listed, told once, in the overview', async () => {
    await house.volumes.create(spec('a'));
    await house.volumes.create(spec('b'));
    await house.runtime.close();
    house.store = memoryStore();
    await house.furnish();
    await house.clock.advance(3 * 300_000);
    const what = "plugin 'disk' lists 2 volumes that no record has: vol-1, vol-2";
    expect(await told()).to.deep.equal([what]);
    expect(await troubles()).to.deep.equal([`P${what.slice(1)}`]);
    expect(await ids()).to.deep.equal(['vol-1', 'vol-2']);
    expect(await ids(pluginName)).to.deep.equal(['vol-1', 'vol-2']);
    await house.volumes.create(spec('a', { external: { csiId: 'vol-1' } }));
    expect(await ids()).to.deep.equal(['vol-2']);
    expect((await told()).at(-1)).to.equal("plugin 'disk' lists a volume that no record has: vol-2");
    house.plugin.volumes.delete('vol-2');
    expect(await ids()).to.deep.equal([]);
    expect(await troubles()).to.deep.equal([]);
  });

  it('34.35 a volume whose create call is under way is none, nor is any other new one until it is done', async () => {
    const held = gate();
    inOrder(house.plugin, 'CreateVolume', [{ after: held.passed }]);
    const creating = house.volumes.create(spec('a'));
    await house.rest();
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
    expect(await ids()).to.deep.equal([]);
    held.open();
    await creating;
    expect(await ids()).to.deep.equal([]);
    expect(await told()).to.deep.equal([]);
  });

  it('34.35 deleted with force: its leftover is in its record, and no orphan', async () => {
    await house.volumes.create(spec('a'));
    inOrder(house.plugin, 'DeleteVolume', [{ code: 'INVALID_ARGUMENT' }]);
    await house.volumes.delete({ id: 'a' }, { force: true });
    expect(await ids()).to.deep.equal([]);
    await house.volumes.acknowledge({ id: 'a' });
    expect(await ids()).to.deep.equal(['vol-1']);
  });

  it('34.35 a plugin without LIST_VOLUMES: said to be unknown, with the reason; one that is not there: refused', async () => {
    house.plugin.capabilities = allCapabilities.filter((name) => !name.startsWith('LIST_VOLUMES'));
    await house.restart();
    await house.clock.advance(60_000);
    const { orphans, unknown } = await house.volumes.orphans();
    expect(orphans).to.deep.equal([]);
    expect(unknown.map(({ plugin }) => plugin)).to.deep.equal([pluginName]);
    expect(unknown[0]?.why).to.include('does not offer LIST_VOLUMES');
    expect((await refusalOf(house.volumes.orphans('other'))).code).to.equal('PLUGIN_NOT_FOUND');
  });
});

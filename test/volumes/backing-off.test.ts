/** Tests events between two attempts: requests, turns at the plugin, and jumps of the clock. */
import { expect } from 'chai';
import type { Clock } from '../../src/engine/clock.js';
import { spec, VolumeHouse } from './volume-house.js';

describe('between two attempts', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('V10 a request during backoff: the next attempt still comes at its time', async () => {
    const { volumes, plugin, clock } = house;
    let isWell = false;
    plugin.script = () => (isWell ? undefined : { code: 'INTERNAL' });
    const creating = volumes.create(spec('data'));
    await house.rest();
    await volumes.setAvailability({ id: 'data' }, 'drain');
    isWell = true;
    await clock.advance(60_000);
    expect((await volumes.get({ id: 'data' }))?.state).to.equal('created');
    await creating;
  });

  /** Restarts the runtime on a clock that can be set back. */
  async function steppedClock(): Promise<Clock & { setBackMs: number }> {
    const { clock } = house;
    await house.runtime.close();
    const stepped = {
      setBackMs: 0,
      now: (): number => clock.now() - stepped.setBackMs,
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs: number, callback: () => void) => clock.after(delayMs, callback),
    };
    await house.furnish({ clock: stepped, retry: { initialMs: 1_000, maxMs: 60_000 } });
    return stepped;
  }

  it('V9 a volume and its snapshot wait at once: both call, one after the other, without livelock', async () => {
    const { clock, plugin, volumes } = house;
    const ids = ['one', 'three'];
    for (const id of ids) await volumes.create(spec(id));
    let isWell = false;
    // Three failures in a row block calls until the next good probe. One call waits for the probe, the other for the
    // volume.
    plugin.script = () => (isWell ? undefined : { code: 'UNAVAILABLE' });
    const published = ids.map((id) => volumes.publish({ id }, 'a'));
    const snapshot = house.runtime.snapshots.create({ id: 'shot', volume: { id: 'three' } });
    for (let round = 1; round <= 4; round += 1) await clock.advance(30_000);
    isWell = true;
    await clock.advance(300_000);
    await Promise.all(published);
    expect((await snapshot).state).to.equal('ready');
    expect(plugin.wrongs).to.deep.equal([]);
  });

  it('V10 clock set back by a day while the runtime is down: waiting and open work goes on without delay', async () => {
    const { clock, plugin } = house;
    const stepped = await steppedClock();
    const ids = ['waits', 'hangs', 'wants'];
    for (const id of ids) await house.volumes.create(spec(id));
    plugin.script = ({ volume }) =>
      volume === 'vol-2' ? { before: new Promise(() => {}) } : { code: 'UNAVAILABLE', text: 'not now' };
    for (const id of ids) house.volumes.publish({ id }, 'a').catch(() => {});
    house.runtime.snapshots.create({ id: 'shot', volume: { id: 'wants' } }).catch(() => {});
    await clock.advance(100_000);
    await house.runtime.close();
    stepped.setBackMs = 86_400_000;
    plugin.script = () => undefined;
    plugin.overlaps = 'allowed';
    await house.open();
    // Covers the deadline of an open call and the longest wait.
    await clock.advance(300_000);
    expect([...plugin.volumes.values()].map(({ attached }) => [...attached])).to.deep.equal(ids.map(() => ['csi-a']));
    expect((await house.runtime.snapshots.get({ id: 'shot' }))?.state).to.equal('ready');
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('V10 clock set back by an hour: no wait gets longer, and no plugin stays blocked', async () => {
    const { clock, plugin } = house;
    const stepped = await steppedClock();
    const { volumes } = house;
    await volumes.create(spec('data'));
    await volumes.create(spec('source'));
    plugin.script = () => ({ code: 'UNAVAILABLE' });
    const published = volumes.publish({ id: 'data' }, 'a');
    const snapshot = house.runtime.snapshots.create({ id: 'shot', volume: { id: 'source' } });
    await clock.advance(120_000);
    stepped.setBackMs = 3_600_000;
    plugin.script = () => undefined;
    await clock.advance(120_000);
    expect(await published).to.deep.equal({ publishContext: { device: 'vol-1@csi-a' } });
    expect((await snapshot).state).to.equal('ready');
  });

  it('V8 V16 a cancelled publish in doubt and its replacement on another node: no deadlock', async () => {
    const { volumes, plugin, clock } = house;
    await volumes.create(spec('data'));
    let isWell = false;
    plugin.script = () => (isWell ? undefined : { code: 'UNKNOWN' });
    const first = volumes.publish({ id: 'data' }, 'a').catch(({ code }) => code);
    await house.rest();
    const undone = volumes.unpublish({ id: 'data' }, 'a');
    await house.rest();
    const second = volumes.publish({ id: 'data' }, 'b');
    await house.rest();
    isWell = true;
    await clock.advance(60_000);
    expect(await Promise.all([first, undone, second])).to.deep.equal([
      'ABORTED',
      undefined,
      { publishContext: { device: 'vol-1@csi-b' } },
    ]);
    expect([...(plugin.volumes.get('vol-1')?.attached ?? [])]).to.deep.equal(['csi-b']);
    expect(plugin.wrongs).to.deep.equal([]);
  });
});

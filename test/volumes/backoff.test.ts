/** Tests the delays between attempts of a failing call, and what changes them. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import { always, inOrder, toldOf } from './scripts.js';
import { spec } from './volume-house.js';

const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const minuteMs = 60_000;

describe('retries of failed calls of a volume', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: true },
  );

  const failOn = (nodeId: string): void => {
    house.plugin.script = (call) => (call.nodeId === nodeId ? { code: 'ABORTED' } : undefined);
  };
  const attemptsOn = (nodeId: string): number => toldOf(house.plugin, `ControllerPublishVolume ${nodeId}`).length;
  const asked = (nodeId: string): Promise<unknown> =>
    house.volumes.publish(key, nodeId, { capability }).catch(() => undefined);

  it('V10 delays grow up to five minutes, and attempts never end', async () => {
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(10 * minuteMs);
    expect(attemptsOn('csi-a')).to.be.within(10, 40);
    const before = attemptsOn('csi-a');
    // Delays are between 0 and 5 minutes, 2.5 on average.
    await house.clock.advance(500 * minuteMs);
    expect(attemptsOn('csi-a') - before).to.be.within(150, 270);
  });

  it('V10 other requests and their work neither speed up nor stop the retries', async () => {
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(30 * minuteMs);
    const before = attemptsOn('csi-a');
    for (let round = 0; round < 100; round += 1) {
      await house.volumes.setAvailability(key, round % 2 === 0 ? 'pause' : 'active');
      await house.clock.advance(minuteMs);
      if (round % 2 === 0) continue;
      await house.volumes.publish(key, 'b', { capability });
      await house.volumes.unpublish(key, 'b');
    }
    expect(attemptsOn('csi-a') - before).to.be.within(25, 60);
  });

  it('V10 a call in backoff does not delay other calls', async () => {
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(30 * minuteMs);
    const before = attemptsOn('csi-a');
    await house.volumes.publish(key, 'b', { capability });
    expect(attemptsOn('csi-a')).to.equal(before);
    expect(await house.volumes.get(key)).to.include({ state: 'pending-publish' });
  });

  it('V10 after a success the next failure begins with short delays', async () => {
    failOn('csi-a');
    const published = asked('a');
    await house.clock.advance(60 * minuteMs);
    house.plugin.script = () => undefined;
    await house.clock.advance(5 * minuteMs);
    await published;
    always(house.plugin, 'ControllerUnpublishVolume', { code: 'ABORTED' });
    house.volumes.unpublish(key, 'a').catch(() => {});
    await house.clock.advance(1_000);
    expect(toldOf(house.plugin, 'ControllerUnpublishVolume').length).to.be.greaterThan(2);
  });

  it('V10 backoff goes on after a restart, without a burst of calls', async () => {
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(60 * minuteMs);
    const before = attemptsOn('csi-a');
    for (let run = 0; run < 20; run += 1) await house.restart();
    expect(attemptsOn('csi-a')).to.equal(before);
    house.plugin.script = () => undefined;
    await house.clock.advance(6 * minuteMs);
    expect((await house.volumes.get(key))?.publications.a).to.include({ state: 'published' });
  });

  it('V10 a retry calls now, and begins with short delays again', async () => {
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(60 * minuteMs);
    const before = attemptsOn('csi-a');
    await house.volumes.retry(key);
    await house.rest();
    expect(attemptsOn('csi-a')).to.equal(before + 1);
    await house.clock.advance(1_000);
    expect(attemptsOn('csi-a')).to.be.greaterThan(before + 2);
  });

  it('V10 options of the runtime set the delays', async () => {
    await house.runtime.close();
    await house.open({ retry: { initialMs: 10, maxMs: 20 } });
    await house.clock.advance(200);
    failOn('csi-a');
    void asked('a');
    await house.clock.advance(1_000);
    expect(attemptsOn('csi-a')).to.be.greaterThan(50);
  });

  for (const code of [
    'ABORTED',
    'DEADLINE_EXCEEDED',
    'UNKNOWN',
    'INTERNAL',
    'RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION',
  ] as const) {
    it(`V10 V11 ${code} is retried, and shown until the call succeeds`, async () => {
      inOrder(house.plugin, 'ControllerPublishVolume', [{ code, text: 'not now' }]);
      const published = house.volumes.publish(key, 'a');
      await house.rest();
      const seen = await house.volumes.get(key);
      expect(seen).to.include({ state: 'pending-publish' });
      expect(seen?.error?.message).to.include('not now');
      await house.clock.advance(1_000);
      await published;
      expect((await house.volumes.get(key))?.error).to.equal(undefined);
    });
  }

  for (const code of [
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'OUT_OF_RANGE',
    'PERMISSION_DENIED',
    'UNAUTHENTICATED',
    'UNIMPLEMENTED',
  ] as const) {
    it(`V11 ${code} is final: the work fails, and is not retried by itself`, async () => {
      always(house.plugin, 'CreateVolume', { code, text: 'never' });
      const error = await refusalOf(house.volumes.create(spec('other')));
      expect(error).to.include({ code: 'CSI_ERROR', grpcCode: code, final: true, address: 'volume/default/other' });
      const attempts = toldOf(house.plugin, 'CreateVolume').length;
      await house.clock.advance(60 * minuteMs);
      expect(toldOf(house.plugin, 'CreateVolume')).to.have.length(attempts);
      const seen = await house.volumes.get({ id: 'other' });
      expect(seen).to.include({ state: 'failed' });
      expect(seen?.error?.message).to.include('never');
    });
  }
});

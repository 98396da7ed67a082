/** Tests the deletion of volumes in every state: nothing leaks, and unconfirmed leftovers are recorded. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { spec } from './volume-house.js';

const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('deleting a volume', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: false },
  );

  const isGone = async (): Promise<void> => {
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
  };

  describe('that is not created', () => {
    it('V13 creation waits for the plugin: removed at once without a call', async () => {
      await house.makeUnwell();
      const making = refusalOf(house.make());
      await house.rest();
      await house.volumes.delete(key);
      expect(await making).to.include({ code: 'ABORTED' });
      await house.makeWell();
      expect(house.plugin.told()).to.deep.equal([]);
      await isGone();
    });

    it('V13 creation waits for the plugin, after a restart: removed at once without a call', async () => {
      await house.makeUnwell();
      house.make().catch(() => {});
      await house.rest();
      await house.restart();
      await house.volumes.delete(key);
      await house.makeWell();
      expect(house.plugin.told()).to.deep.equal([]);
      await isGone();
    });

    it('V13 creation call under way: waits for the outcome, then deletes', async () => {
      const held = gate();
      inOrder(house.plugin, 'CreateVolume', [{ after: held.passed }]);
      const making = refusalOf(house.make());
      await house.rest();
      const deleting = house.volumes.delete(key);
      await house.rest();
      expect(await house.volumes.get(key)).to.include({ state: 'pending-create', deleting: true });
      held.open();
      await deleting;
      await making;
      expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
      await isGone();
    });

    it('V13 creation in doubt: repeated at once under the same name, then deleted', async () => {
      const steps = Array.from({ length: 9 }, () => ({ code: 'DEADLINE_EXCEEDED', work: true }) as const);
      inOrder(house.plugin, 'CreateVolume', steps);
      const making = refusalOf(house.make());
      while (house.plugin.calls.length < 9) await house.clock.advance(10_000);
      await house.volumes.delete(key);
      await making;
      expect(house.plugin.told().slice(-2)).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
      expect(new Set(toldOf(house.plugin, 'CreateVolume')).size).to.equal(2);
      expect(new Set(house.plugin.calls.slice(0, -1).map(({ volume }) => volume)).size).to.equal(1);
      await isGone();
    });

    for (const code of [
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'ALREADY_EXISTS',
      'NOT_FOUND',
      'OUT_OF_RANGE',
      'INVALID_ARGUMENT',
    ] as const) {
      it(`V13 creation in doubt, then ${code}: resolved first, then deleted`, async () => {
        inOrder(house.plugin, 'CreateVolume', [{ code: 'DEADLINE_EXCEEDED', work: true }, { code }, { code }]);
        const making = refusalOf(house.make());
        await house.clock.advance(1_000);
        expect(await making).to.include({ grpcCode: code });
        expect(await refusalOf(house.volumes.delete(key))).to.include({ rpc: 'CreateVolume', grpcCode: code });
        expect(await house.volumes.get(key)).to.include({ state: 'failed' });
        await house.volumes.delete(key);
        expect(house.plugin.told().slice(-2)).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
        await isGone();
      });
    }

    it('V13 creation in doubt, source gone: fails with a warning; with force, a leftover is recorded', async () => {
      inOrder(house.plugin, 'CreateVolume', [
        { code: 'DEADLINE_EXCEEDED', work: true },
        ...Array.from({ length: 3 }, () => ({ code: 'NOT_FOUND', text: 'no such source' }) as const),
      ]);
      const making = refusalOf(house.make());
      await house.clock.advance(1_000);
      await making;
      const error = await refusalOf(house.volumes.delete(key));
      expect(error.message).to.include('no such source').and.include('may have been made').and.include('with force');
      expect((await house.volumes.get(key))?.error?.message).to.include('may have been made');
      await house.volumes.delete(key, { force: true });
      expect((await house.volumes.get(key))?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
      expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
    });

    it('V13 creation failed finally: removed without a call', async () => {
      always(house.plugin, 'CreateVolume', { code: 'INVALID_ARGUMENT' });
      await refusalOf(house.make());
      await house.volumes.delete(key);
      expect(house.plugin.told()).to.have.length(1);
      await isGone();
    });

    it('V13 creation in doubt, plugin gone: waits with the reason; with force, a leftover until acknowledged', async () => {
      inOrder(house.plugin, 'CreateVolume', [{ code: 'DEADLINE_EXCEEDED', work: true }]);
      house.make().catch(() => {});
      await house.rest();
      await house.makeUnwell();
      const late = refusalOf(house.volumes.delete(key, { timeoutMs: 5_000 }));
      await house.clock.advance(5_000);
      expect(await late).to.include({ code: 'TIMEOUT', address: 'volume/default/data' });
      expect((await late).message)
        .to.include('initialising')
        .and.include('the work goes on');
      expect((await house.volumes.get(key))?.error?.message).to.include('initialising');
      const forced = house.volumes.delete(key, { force: true });
      await house.clock.advance(60_000);
      await forced;
      const left = await house.volumes.get(key);
      expect(left).to.include({ state: 'deleted' });
      expect(left?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
      expect(left?.leftovers?.[0]?.message).to.include('initialising');
      expect(left?.leftovers?.[0]).to.include({ csiId: 'vol-1' });
      expect(await refusalOf(house.make())).to.include({ code: 'VOLUME_EXISTS' });
      expect((await house.volumes.list()).items.map(({ state }) => state)).to.deep.equal(['deleted']);
      await house.restart();
      expect(await house.volumes.get(key)).to.include({ state: 'deleted' });
      await house.volumes.acknowledge(key);
      expect(await house.volumes.get(key)).to.equal(undefined);
      expect((await house.events()).filter(({ kind }) => kind === 'deleted')).to.have.length(1);
    });

    it('V13 with force, creation call under way and refused finally: no leftover', async () => {
      const held = gate();
      inOrder(house.plugin, 'CreateVolume', [{ before: held.passed, code: 'INVALID_ARGUMENT' }]);
      const making = refusalOf(house.make());
      await house.rest();
      const deleting = house.volumes.delete(key, { force: true });
      await house.rest();
      held.open();
      await deleting;
      await making;
      expect(house.plugin.told()).to.deep.equal(['CreateVolume: INVALID_ARGUMENT']);
      await isGone();
    });

    it('V13 with force, creation in doubt, then refused finally: a leftover is recorded', async () => {
      const held = gate();
      inOrder(house.plugin, 'CreateVolume', [
        { code: 'DEADLINE_EXCEEDED', work: true },
        { before: held.passed, code: 'INVALID_ARGUMENT' },
      ]);
      const making = refusalOf(house.make());
      while (house.plugin.calls.length < 2) await house.clock.advance(1_000);
      const deleting = house.volumes.delete(key, { force: true });
      await house.rest();
      held.open();
      await deleting;
      await making;
      expect((await house.volumes.get(key))?.leftovers?.map(({ what }) => what)).to.deep.equal(['created']);
    });

    it('V13 with force, creation hangs: waits until its deadline, then resolves the outcome', async () => {
      inOrder(house.plugin, 'CreateVolume', [{ work: true, before: Promise.resolve(), after: new Promise(() => {}) }]);
      house.make().catch(() => {});
      await house.rest();
      const forced = house.volumes.delete(key, { force: true });
      await house.clock.advance(1_000);
      expect(await house.volumes.get(key)).to.include({ state: 'pending-create' });
      house.plugin.inFlight.clear();
      await house.clock.advance(130_000);
      await forced;
      expect(house.plugin.told().slice(-2)).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
      await isGone();
    });
  });

  describe('that is created', () => {
    beforeEach(async () => {
      await house.make();
      house.plugin.calls.length = 0;
    });

    it('V13 published and claimed: refused, naming the alloc and the node', async () => {
      await house.volumes.publish(key, 'a', { capability });
      const claim = { allocId: 'web-1', nodeId: 'b', mode: 'write', ...capability } as const;
      await house.volumes.claim(key, claim);
      const error = await refusalOf(house.volumes.delete(key));
      expect(error).to.include({ code: 'VOLUME_IN_USE' });
      expect(error.message).to.include('alloc web-1 on node b').and.include('node a (published');
      expect(error.message).to.match(/: release and unpublish it first, or delete it with force$/);
    });

    it('V13 published on the node of its claim: refused, advising only to release', async () => {
      const claim = { allocId: 'web-1', nodeId: 'a', mode: 'write', ...capability } as const;
      const { generation } = await house.volumes.claim(key, claim);
      await house.volumes.publish(key, 'a', { capability });
      const { message } = await refusalOf(house.volumes.delete(key));
      expect(message)
        .to.include('node a (published')
        .and.match(/: release it first, or delete it with force$/);
      await house.volumes.release(key, 'web-1');
      await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
      await house.rest();
      await house.volumes.delete(key);
      await isGone();
    });

    it('V13 with force while published: unpublished first, no leftover', async () => {
      await house.volumes.publish(key, 'a', { capability });
      await house.volumes.delete(key, { force: true });
      expect(house.plugin.told().slice(-2)).to.deep.equal(['ControllerUnpublishVolume csi-a: OK', 'DeleteVolume: OK']);
      await isGone();
    });

    it('V13 with force while claimed: the staging that the node did not report is a leftover', async () => {
      await house.volumes.publish(key, 'a', { capability });
      await house.volumes.claim(key, { allocId: 'web-1', nodeId: 'a', mode: 'write', ...capability });
      const csiId = (await house.volumes.get(key))?.csiId;
      await house.volumes.delete(key, { force: true });
      const left = await house.volumes.get(key);
      expect(left?.leftovers).to.have.length(1);
      expect(left?.leftovers?.[0]).to.include({ what: 'staged', nodeId: 'a', csiNodeId: 'csi-a', csiId });
      expect(left?.claims).to.deep.equal([]);
      expect([...house.plugin.volumes]).to.deep.equal([]);
    });

    it('V13 with force, unpublish fails: a leftover after three attempts, all other steps are done', async () => {
      await house.volumes.publish(key, 'a', { capability });
      await house.volumes.publish(key, 'b', { capability });
      house.plugin.script = ({ rpc, nodeId }) =>
        rpc === 'ControllerUnpublishVolume' && nodeId === 'csi-a'
          ? { code: 'ABORTED', work: true, text: 'busy' }
          : undefined;
      const forced = house.volumes.delete(key, { force: true });
      await house.clock.advance(60_000);
      await forced;
      const left = await house.volumes.get(key);
      expect(left?.leftovers).to.have.length(1);
      expect(left?.leftovers?.[0]).to.include({ what: 'published', nodeId: 'a', csiNodeId: 'csi-a' });
      expect(left?.leftovers?.[0]?.message).to.include('busy');
      const removals = (await house.events()).flatMap((event) =>
        event.kind === 'publication' && event.state === 'removed' ? [[event.nodeId, event.failure?.message]] : [],
      );
      expect(removals).to.have.deep.members([
        ['a', left?.leftovers?.[0]?.message],
        ['b', undefined],
      ]);
      expect(toldOf(house.plugin, 'ControllerUnpublishVolume csi-a')).to.have.length(3);
      expect(house.plugin.told().at(-1)).to.equal('DeleteVolume: OK');
    });

    it('V11 V13 unpublish fails finally on one node: the others are done; a retry completes the deletion', async () => {
      await house.volumes.publish(key, 'a', { capability });
      await house.volumes.publish(key, 'b', { capability });
      house.plugin.script = ({ rpc, nodeId }) =>
        rpc === 'ControllerUnpublishVolume' && nodeId === 'csi-a' ? { code: 'PERMISSION_DENIED' } : undefined;
      const held = [refusalOf(house.volumes.unpublish(key, 'a')), house.volumes.unpublish(key, 'b')];
      await Promise.all(held);
      const error = await refusalOf(house.volumes.delete(key));
      expect(error).to.include({ rpc: 'ControllerUnpublishVolume', grpcCode: 'PERMISSION_DENIED' });
      expect(await house.volumes.get(key)).to.deep.include({ state: 'failed' });
      expect((await house.volumes.get(key))?.error?.message).to.include('PERMISSION_DENIED');
      expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
      house.plugin.script = () => undefined;
      await house.volumes.retry(key);
      await house.rest();
      await isGone();
    });

    it('V11 V13 deletion fails finally: the caller gets the error, and a new request tries again', async () => {
      inOrder(house.plugin, 'DeleteVolume', [{ code: 'PERMISSION_DENIED' }, { code: 'PERMISSION_DENIED' }]);
      expect(await refusalOf(house.volumes.delete(key))).to.include({ rpc: 'DeleteVolume', final: true });
      expect(await refusalOf(house.volumes.publish(key, 'a'))).to.include({ code: 'VOLUME_DELETING' });
      expect(await refusalOf(house.make())).to.include({ code: 'VOLUME_DELETING' });
      expect(await refusalOf(house.volumes.delete(key))).to.include({ rpc: 'DeleteVolume', final: true });
      await house.volumes.delete(key);
      await isGone();
    });

    it('V13 deletion failed finally, then with force: a leftover is recorded', async () => {
      always(house.plugin, 'DeleteVolume', { code: 'PERMISSION_DENIED' });
      await refusalOf(house.volumes.delete(key));
      const csiId = (await house.volumes.get(key))?.csiId;
      await house.volumes.delete(key, { force: true });
      const { leftovers = [] } = (await house.volumes.get(key)) ?? {};
      expect(leftovers.map(({ what, csiId: id }) => [what, id])).to.deep.equal([['created', csiId]]);
      expect((await refusalOf(house.make())).message).to.include(`created, csi id ${csiId}: `);
      expect(toldOf(house.plugin, 'DeleteVolume')).to.have.length(2);
    });

    it('V13 deletion in a long backoff, then with force: three attempts at once, then a leftover', async () => {
      always(house.plugin, 'DeleteVolume', { code: 'FAILED_PRECONDITION', text: 'in use' });
      const waiting = house.volumes.delete(key);
      await house.clock.advance(3_600_000);
      expect((await house.volumes.get(key))?.error?.message).to.include('in use');
      const before = toldOf(house.plugin, 'DeleteVolume').length;
      const forced = house.volumes.delete(key, { force: true });
      await house.clock.advance(1_000);
      await Promise.all([waiting, forced]);
      expect(toldOf(house.plugin, 'DeleteVolume')).to.have.length(before + 3);
      expect((await house.volumes.get(key))?.leftovers).to.have.length(1);
    });

    it('V10 V13 repeated with force: attempts keep counting, and the deletion ends', async () => {
      await house.volumes.publish(key, 'a', { capability });
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'ABORTED', work: true, text: 'busy' });
      const asked: Promise<unknown>[] = [];
      for (let round = 0; round < 20; round += 1) {
        asked.push(house.volumes.delete(key, { force: true }).catch(() => {}));
        await house.clock.advance(100);
      }
      await house.clock.advance(60_000);
      await Promise.all(asked);
      expect(toldOf(house.plugin, 'ControllerUnpublishVolume')).to.have.length(3);
      expect((await house.volumes.get(key))?.leftovers?.map(({ what }) => what)).to.deep.equal(['published']);
    });

    it('V13 plugin answers NOT_FOUND: deleted', async () => {
      always(house.plugin, 'DeleteVolume', { code: 'NOT_FOUND' });
      await house.volumes.delete(key);
      expect(await house.volumes.get(key)).to.equal(undefined);
    });

    it('V8 V13 with force during a publish: resolved, unpublished, then deleted', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ after: held.passed, code: 'DEADLINE_EXCEEDED', work: true }]);
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      const forced = house.volumes.delete(key, { force: true });
      await house.rest();
      held.open();
      await house.clock.advance(1_000);
      await forced;
      expect(await asked).to.include({ code: 'ABORTED' });
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: DEADLINE_EXCEEDED',
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
        'DeleteVolume: OK',
      ]);
      await isGone();
    });

    it('V8 V13 with force during an unpublish with a queued publish: not published again', async () => {
      await house.volumes.publish(key, 'a', { capability });
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const asked = refusalOf(house.volumes.publish(key, 'a', { capability }));
      await house.rest();
      const forced = house.volumes.delete(key, { force: true });
      await house.rest();
      held.open();
      await Promise.all([gone, forced]);
      expect(await asked).to.include({ code: 'ABORTED' });
      expect(house.plugin.told().slice(1)).to.deep.equal(['ControllerUnpublishVolume csi-a: OK', 'DeleteVolume: OK']);
    });

    it('V13 with force during an expansion that fails finally: deleted nevertheless', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerExpandVolume', [{ before: held.passed, code: 'OUT_OF_RANGE' }]);
      const asked = refusalOf(house.volumes.expand(key, { requiredBytes: 2 ** 30 }));
      await house.rest();
      const forced = house.volumes.delete(key, { force: true });
      await house.rest();
      held.open();
      await forced;
      await asked;
      await isGone();
    });

    it('V13 restarts at each step: completed with the same calls', async () => {
      await house.volumes.publish(key, 'a', { capability });
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'ABORTED', work: true });
      const undone = refusalOf(house.volumes.unpublish(key, 'a'));
      await house.rest();
      await house.restart();
      expect(await undone).to.include({ code: 'RUNTIME_CLOSED' });
      always(house.plugin, 'DeleteVolume', { code: 'ABORTED', work: true });
      const deleted = refusalOf(house.volumes.delete(key));
      await house.clock.advance(200_000);
      expect(await house.volumes.get(key)).to.include({ state: 'pending-delete' });
      await house.restart();
      expect(await deleted).to.include({ code: 'RUNTIME_CLOSED' });
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      expect(house.plugin.told().at(-1)).to.equal('DeleteVolume: OK');
      await isGone();
    });
  });

  it('V14 created again under its id: another volume; sequence numbers and events go on', async () => {
    const first = await house.make();
    await house.volumes.delete(key);
    const [created] = await house.events();
    const second = await house.make();
    expect(second.uid).to.not.equal(first.uid);
    expect(second.context?.made).to.not.equal(first.context?.made);
    const later = await house.events(created?.id);
    expect(later.map(({ kind, uid }) => [kind, uid])).to.deep.equal([
      ['deleted', first.uid],
      ['created', second.uid],
    ]);
    const seqs: number[] = [];
    for await (const { seq } of house.runtime.journal.entries('volume/default/data')) seqs.push(seq);
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + (seqs[0] ?? 0)));
  });

  it('V14 late answer for the deleted volume: no effect on the new one of the same id', async () => {
    const held = gate();
    inOrder(house.plugin, 'CreateVolume', [{ before: held.passed, work: true }]);
    house.make().catch(() => {});
    await house.rest();
    house.volumes.delete(key, { force: true }).catch(() => {});
    house.plugin.inFlight.clear();
    await house.makeUnwell();
    await house.clock.advance(600_000);
    const left = await house.volumes.get(key);
    expect(left).to.include({ state: 'deleted' });
    // Without an answer, the leftover is known only by the requested name.
    expect(left?.leftovers?.[0]).to.include({ what: 'created', name: `sc-${left?.uid}` });
    // The volume is only listed: other requests are refused.
    for (const asked of [house.volumes.delete(key), house.volumes.publish(key, 'a')]) {
      const { code, message } = await refusalOf(asked);
      expect(code).to.equal('VOLUME_NOT_FOUND');
      expect(message)
        .to.match(/^volume default\/data: it was deleted, but may be left behind \(created, under the name sc-/)
        .and.to.match(/\): retry to try again, or remove it by hand, then acknowledge it$/);
    }
    await house.volumes.acknowledge(key);
    await house.makeWell();
    const second = await house.make();
    held.open();
    await house.clock.advance(600_000);
    expect(await house.volumes.get(key)).to.deep.equal(second);
  });

  it('V2 external volume: forgotten, not deleted at its plugin', async () => {
    house.plugin.keeps('their');
    const external = { csiId: 'their', context: { made: 'their' } };
    const taken = await house.volumes.create(spec('data', { external }));
    expect(taken).to.include({ external: true, csiId: 'their' });
    await house.volumes.publish(key, 'a');
    await house.volumes.unpublish(key, 'a');
    house.plugin.calls.length = 0;
    await house.volumes.delete(key);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal([]);
    expect(house.plugin.volumes.size).to.equal(1);
  });

  it('V2 external volume whose plugin does not answer: forgotten at once', async () => {
    inOrder(house.plugin, 'ValidateVolumeCapabilities', [{ code: 'DEADLINE_EXCEEDED' }]);
    const making = refusalOf(house.volumes.create(spec('data', { external: { csiId: 'vol-9' } })));
    await house.rest();
    await house.makeUnwell();
    await house.volumes.delete(key);
    await making;
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  for (const code of ['NOT_FOUND', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED'] as const) {
    for (const [attempts, force] of [
      [1, true],
      [3, true],
      [1, false],
      [3, false],
    ] as const) {
      it(`V2 V13 external volume deleted ${force ? 'with force ' : ''}in attempt ${attempts}, ${code}: no leftover`, async () => {
        const held = gate();
        const failing = Array.from({ length: attempts - 1 }, () => ({ code: 'DEADLINE_EXCEEDED' }) as const);
        inOrder(house.plugin, 'ValidateVolumeCapabilities', [...failing, { before: held.passed, code }]);
        const making = refusalOf(house.volumes.create(spec('data', { external: { csiId: 'vol-9' } })));
        while (house.plugin.calls.length < attempts) await house.clock.advance(1_000);
        const deleting = house.volumes.delete(key, { force });
        await house.rest();
        held.open();
        await deleting;
        await making;
        await isGone();
        expect(toldOf(house.plugin, 'ValidateVolumeCapabilities')).to.have.length(attempts);
        const told = (await house.events()).map(({ kind }) => kind);
        expect(told).to.deep.equal(['deleted']);
      });
    }
  }

  it('V13 acknowledge without leftovers: refused with NOTHING_LEFT, nothing changes', async () => {
    await house.make();
    expect(await refusalOf(house.volumes.acknowledge(key))).to.include({ code: 'NOTHING_LEFT' });
    expect(await house.volumes.get(key)).to.include({ state: 'created' });
    always(house.plugin, 'DeleteVolume', { code: 'PERMISSION_DENIED' });
    await refusalOf(house.volumes.delete(key));
    expect(await refusalOf(house.volumes.acknowledge(key))).to.include({ code: 'NOTHING_LEFT' });
    expect(await house.volumes.get(key)).to.include({ state: 'failed' });
  });

  it('V13 unknown volume: VOLUME_NOT_FOUND', async () => {
    expect(await refusalOf(house.volumes.delete(key))).to.include({ code: 'VOLUME_NOT_FOUND' });
    expect(await refusalOf(house.volumes.acknowledge(key))).to.include({ code: 'VOLUME_NOT_FOUND' });
  });
});

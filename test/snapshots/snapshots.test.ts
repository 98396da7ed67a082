/** Tests snapshots: creation, readiness, deletion, and volumes made from them, with every outcome of the calls. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from '../volumes/fake-plugin.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { id: 'monday' };
const volume = { id: 'data' };
const asked = { ...key, volume };
const never = new Promise<never>(() => {});

describe('a snapshot', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { capacity: { requiredBytes: 10 } }));
    house.plugin.calls.length = 0;
  });
  afterEach(async () => {
    try {
      expect(house.plugin.wrongs).to.deep.equal([]);
    } finally {
      await house.dispose();
    }
  });

  const snapshots = () => house.runtime.snapshots;
  const state = async () => (await snapshots().get(key))?.state;
  const names = (): string[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'CreateSnapshot')
      .map(({ request }) => (request as { name: string }).name);

  function tells(rpc: string, ...steps: Step[]): void {
    house.plugin.script = (call) => (call.rpc === rpc ? steps.shift() : undefined);
  }

  it('V1 V3 created under a unique name, with events, listed, and deleted', async () => {
    const made = await snapshots().create(asked);
    expect(made).to.deep.include({
      key: { namespace: 'default', id: 'monday' },
      state: 'ready',
      plugin: pluginName,
      csiId: 'snap-1',
      volume: { namespace: 'default', id: 'data' },
      sizeBytes: 10,
      takenAtMs: 1_000_005,
    });
    expect(names()).to.deep.equal([`sc-${made.uid}`]);
    expect(await snapshots().get(key)).to.deep.equal(made);
    expect((await snapshots().list()).items).to.deep.equal([made]);
    await snapshots().delete(key);
    expect(await snapshots().get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal(['CreateSnapshot: OK', 'DeleteSnapshot: OK']);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('V13 delete of this one only, asked at any moment of its deletion: done', async () => {
    const { uid } = await snapshots().create(asked);
    const deletions: Promise<void>[] = [];
    let isOver = false;
    const deletion = snapshots()
      .delete(key)
      .then(() => {
        isOver = true;
      });
    while (!isOver) {
      deletions.push(snapshots().delete(key, { uid }));
      await Promise.resolve();
    }
    await Promise.all([deletion, ...deletions]);
    expect(deletions.length).to.be.above(10);
    expect(await state()).to.equal(undefined);
  });

  it('V21 changes emit events in order', async () => {
    const ended = new AbortController();
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const { kind } of snapshots().updates({ from: '0', signal: ended.signal })) kinds.push(kind);
    })();
    await snapshots().create(asked);
    await snapshots().delete(key);
    await house.rest();
    ended.abort();
    await reading.catch(() => {});
    expect(kinds).to.deep.equal(['created', 'ready', 'deleted']);
  });

  it('V2 same spec again: the same snapshot, even after its volume is gone; another spec: refused', async () => {
    const made = await snapshots().create(asked);
    await house.volumes.create(spec('other'));
    const other = await refusalOf(snapshots().create({ ...asked, volume: { id: 'other' } }));
    expect(other.code).to.equal('SNAPSHOT_EXISTS');
    expect(other.message).to.contain('(sources[0].volume.id is "data", asked for "other"; ');
    await house.volumes.delete(volume);
    expect(await snapshots().create(asked)).to.deep.equal(made);
    expect(names()).to.have.length(1);
    await snapshots().delete(key);
  });

  it('V2 volume unknown, not created or being deleted, or invalid spec: refused, nothing stored', async () => {
    expect((await refusalOf(snapshots().create({ ...key, volume: { id: 'nobody' } }))).code).to.equal(
      'VOLUME_NOT_FOUND',
    );
    tells('CreateVolume', { code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.create(spec('failed')));
    expect((await refusalOf(snapshots().create({ ...key, volume: { id: 'failed' } }))).code).to.equal(
      'VOLUME_NOT_FOUND',
    );
    tells('DeleteVolume', { code: 'FAILED_PRECONDITION' });
    const deleting = house.volumes.delete(volume);
    await house.rest();
    expect((await refusalOf(snapshots().create(asked))).code).to.equal('VOLUME_DELETING');
    const wrong = await refusalOf(snapshots().create({ id: '', volume, parameters: { a: 1 } } as never));
    expect(wrong.faults?.map((fault) => fault.split(':')[0])).to.deep.equal(['id', 'parameters.a']);
    expect((await snapshots().list()).items).to.deep.equal([]);
    expect((await refusalOf(snapshots().delete(key))).code).to.equal('SNAPSHOT_NOT_FOUND');
    await house.clock.advance(60_000);
    await deleting;
  });

  it('V19 calls carry secrets and parameters', async () => {
    await house.runtime.close();
    await house.open({ secrets: { resolve: async () => ({ token: 'hush' }) } });
    await house.rest();
    await snapshots().create({ ...asked, parameters: { tier: 'cold' }, secrets: { token: 'env:TOKEN' } });
    await snapshots().delete(key);
    expect(house.plugin.calls.map(({ request }) => request)).to.deep.include.members([
      { snapshotId: 'snap-1', secrets: { token: 'hush' } },
    ]);
    expect(house.plugin.calls[0]?.request).to.deep.include({
      parameters: { tier: 'cold' },
      secrets: { token: 'hush' },
    });
  });

  it('V19 missing secret: refused at once; with wait it goes on once the secret exists', async () => {
    let isThere = false;
    await house.runtime.close();
    const resolve = async (): Promise<Record<string, string>> => (isThere ? { token: 'hush' } : {});
    await house.open({ secrets: { resolve } });
    await house.rest();
    const secret = { ...asked, secrets: { token: 'env:TOKEN' } };
    expect((await refusalOf(snapshots().create(secret))).code).to.equal('SECRETS_UNAVAILABLE');
    expect((await snapshots().list()).items).to.deep.equal([]);
    const making = snapshots().create(secret, { wait: true });
    await house.rest();
    expect(names()).to.deep.equal([]);
    isThere = true;
    await house.clock.advance(60_000);
    expect((await making).state).to.equal('ready');
  });

  it('V10 not ready: called again with backoff until it is, also by the next runtime', async () => {
    house.plugin.unreadyFor = 4;
    const making = refusalOf(snapshots().create(asked));
    await house.rest();
    expect(await state()).to.equal('waiting');
    await house.restart();
    expect((await making).code).to.equal('RUNTIME_CLOSED');
    expect(await state()).to.equal('waiting');
    const ready = snapshots().create(asked);
    await house.clock.advance(60_000);
    expect((await ready).state).to.equal('ready');
    expect(new Set(names()).size).to.equal(1);
    expect(names()).to.have.length(5);
  });

  it('V10 volume gone before it is ready: found by GetSnapshot or ListSnapshots', async () => {
    for (const offered of ['GET_SNAPSHOT', 'LIST_SNAPSHOTS']) {
      house.plugin.capabilities = ['CREATE_DELETE_VOLUME', 'CREATE_DELETE_SNAPSHOT', offered];
      await house.clock.advance(60_000);
      house.plugin.unreadyFor = 1;
      const making = snapshots().create(asked);
      await house.rest();
      const [kept] = house.plugin.snapshots.values();
      if (kept) kept.unready = 0;
      tells('CreateSnapshot', { code: 'NOT_FOUND' });
      await house.clock.advance(60_000);
      expect((await making).state).to.equal('ready');
      await snapshots().delete(key);
    }
    expect(house.plugin.told()).to.include.members(['GetSnapshot: OK', 'ListSnapshots: OK']);
  });

  it('V11 final error: the request fails, no call until a retry, and it can be deleted', async () => {
    for (const code of ['INVALID_ARGUMENT', 'NOT_FOUND'] as const) {
      house.plugin.calls.length = 0;
      tells('CreateSnapshot', { code }, { code });
      expect((await refusalOf(snapshots().create(asked))).grpcCode).to.equal(code);
      await house.clock.advance(3_600_000);
      expect(names()).to.have.length(1);
      expect(await state()).to.equal('failed');
      await snapshots().retry(key);
      await house.rest();
      expect(names()).to.have.length(2);
      await snapshots().delete(key);
      expect(house.plugin.told()).to.deep.equal([`CreateSnapshot: ${code}`, `CreateSnapshot: ${code}`]);
    }
  });

  for (const work of [false, true]) {
    it(`V11 RESOURCE_EXHAUSTED ${work ? 'after' : 'before'} the work: fails with advice; a retry works`, async () => {
      tells('CreateSnapshot', { code: 'RESOURCE_EXHAUSTED', work });
      const { grpcCode, message } = await refusalOf(snapshots().create(asked));
      expect(grpcCode).to.equal('RESOURCE_EXHAUSTED');
      expect(message).to.include('may have been made').and.include('a deletion asks').and.include('with force');
      await house.clock.advance(3_600_000);
      expect(names()).to.have.length(1);
      expect(await state()).to.equal('failed');
      await snapshots().retry(key);
      await house.rest();
      const made = await snapshots().get(key);
      expect(made).to.include({ state: 'ready', csiId: 'snap-2' });
      expect([...house.plugin.snapshots.keys()]).to.deep.equal(['snap-2']);
      expect(names()).to.deep.equal([`sc-${made?.uid}`, `sc-${made?.uid}`, `sc-${made?.uid}-1`]);
    });

    it(`V13 RESOURCE_EXHAUSTED ${work ? 'after' : 'before'} the work, then deleted: removed once there is room`, async () => {
      const full = { code: 'RESOURCE_EXHAUSTED', work } as const;
      tells('CreateSnapshot', full, full);
      await refusalOf(snapshots().create(asked));
      const deleting = snapshots().delete(key);
      await house.rest();
      const { state: now, error } = (await snapshots().get(key)) ?? {};
      expect(now).to.equal('pending-create');
      expect(error?.message).to.include('may have been made').and.include('with force');
      await house.clock.advance(60_000);
      await deleting;
      expect(house.plugin.told().slice(-2)).to.deep.equal(['CreateSnapshot: OK', 'DeleteSnapshot: OK']);
      expect(house.plugin.snapshots.size).to.equal(0);
    });
  }

  it('V13 RESOURCE_EXHAUSTED always, deleted with force: given up with a leftover', async () => {
    house.plugin.script = ({ rpc }) => (rpc === 'CreateSnapshot' ? { code: 'RESOURCE_EXHAUSTED' } : undefined);
    await refusalOf(snapshots().create(asked));
    const deleting = snapshots().delete(key, { force: true });
    await house.clock.advance(60_000);
    await deleting;
    expect((await snapshots().get(key))?.leftovers?.[0]).to.match(/^what was asked for as sc-/);
  });

  it('V11 without CREATE_DELETE_SNAPSHOT: PLUGIN_LACKS without a call', async () => {
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
    await house.clock.advance(60_000);
    expect((await refusalOf(snapshots().create(asked))).code).to.equal('PLUGIN_LACKS');
    await snapshots().delete(key);
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V10 driver busy (ABORTED): the same call again, and its snapshot is kept', async () => {
    tells('CreateSnapshot', { code: 'ABORTED' }, { code: 'ABORTED' });
    const making = snapshots().create(asked);
    await house.clock.advance(60_000);
    expect((await making).csiId).to.equal('snap-1');
    expect(new Set(names()).size).to.equal(1);
    expect(house.plugin.told().slice(-1)).to.deep.equal(['CreateSnapshot: OK']);
  });

  for (const work of [true, false]) {
    it(`V10 answer lost ${work ? 'after' : 'before'} the work: the call is repeated, then removed and created again`, async () => {
      tells('CreateSnapshot', { code: 'DEADLINE_EXCEEDED', work }, { code: 'ABORTED' });
      const making = snapshots().create(asked);
      await house.clock.advance(60_000);
      const made = await making;
      expect(house.plugin.told()).to.deep.equal([
        'CreateSnapshot: DEADLINE_EXCEEDED',
        'CreateSnapshot: ABORTED',
        'CreateSnapshot: OK',
        'DeleteSnapshot: OK',
        'CreateSnapshot: OK',
      ]);
      const own = `sc-${made.uid}`;
      expect(names()).to.deep.equal([own, own, own, `${own}-1`]);
      expect([...house.plugin.snapshots.keys()]).to.deep.equal([made.csiId]);
      expect(made.csiId).to.equal('snap-2');
    });
  }

  it('V11 answers always late: fails after three rounds without remains; a retry starts again', async () => {
    let calls = 0;
    house.plugin.script = ({ rpc }) => {
      calls += rpc === 'CreateSnapshot' ? 1 : 0;
      return rpc === 'CreateSnapshot' && calls % 2 === 1 ? { code: 'DEADLINE_EXCEEDED', work: true } : undefined;
    };
    const making = refusalOf(snapshots().create(asked));
    await house.clock.advance(600_000);
    const { code, message } = await making;
    expect(code).to.equal('SNAPSHOT_UNPROVEN');
    expect(message).to.contain('calls.timeoutMs');
    expect(house.plugin.snapshots.size).to.equal(0);
    expect(calls).to.equal(6);
    house.plugin.script = () => undefined;
    await snapshots().retry(key);
    const made = await snapshots().create(asked);
    expect(new Set(names()).size).to.equal(4);
    expect([...house.plugin.snapshots.keys()]).to.deep.equal([made.csiId]);
  });

  it('V10 runtime closed during the creation: its snapshot is removed and created again', async () => {
    tells('CreateSnapshot', { after: never });
    const cut = refusalOf(snapshots().create(asked));
    await house.rest();
    house.plugin.overlaps = 'allowed'; // The call of the closed runtime never ends.
    await house.restart();
    await cut;
    await house.clock.advance(300_000);
    const made = await snapshots().create(asked);
    expect([...house.plugin.snapshots.keys()]).to.deep.equal([made.csiId]);
    expect(names()).to.have.length(3);
  });

  it('V11, 34.31 runtime closed in each of ten rounds: not counted against the plugin, and created in the end', async () => {
    house.plugin.overlaps = 'allowed'; // The calls of closed runtimes never end.
    let calls = 0;
    house.plugin.script = ({ rpc }) => {
      calls += rpc === 'CreateSnapshot' ? 1 : 0;
      return rpc === 'CreateSnapshot' && calls <= 20 && calls % 2 === 1 ? { work: true, after: never } : undefined;
    };
    snapshots()
      .create(asked)
      .catch(() => {});
    for (let round = 1; round <= 10; round += 1) {
      await house.rest();
      expect(await state()).to.equal('pending-create');
      await house.restart();
      await house.clock.advance(130_000);
    }
    expect(await snapshots().get(key)).to.deep.include({ state: 'ready' });
    expect(new Set(names()).size).to.equal(11);
    expect(house.plugin.snapshots.size).to.equal(1);
  });

  it('V13 runtime closed during the deletion: the next one deletes it', async () => {
    await snapshots().create(asked);
    tells('DeleteSnapshot', { before: never });
    const cut = refusalOf(snapshots().delete(key));
    await house.rest();
    expect(await state()).to.equal('pending-delete');
    house.plugin.overlaps = 'allowed'; // The call of the closed runtime never ends.
    await house.restart();
    await cut;
    await house.clock.advance(300_000);
    expect(await snapshots().get(key)).to.equal(undefined);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('V13 deletion answered busy, in use or not at all: called again; NOT_FOUND: gone', async () => {
    await snapshots().create(asked);
    tells(
      'DeleteSnapshot',
      { code: 'ABORTED' },
      { code: 'FAILED_PRECONDITION' },
      { code: 'UNAVAILABLE', work: true },
      { code: 'NOT_FOUND' },
    );
    const deleting = snapshots().delete(key);
    await house.clock.advance(60_000);
    await deleting;
    expect(house.plugin.told().filter((call) => call.startsWith('Delete'))).to.have.length(4);
  });

  it('V10 requested again during backoff: the next attempt comes at its time', async () => {
    await snapshots().create(asked);
    tells('DeleteSnapshot', { code: 'FAILED_PRECONDITION' });
    const deleting = [snapshots().delete(key)];
    await house.rest();
    deleting.push(snapshots().delete(key));
    await house.clock.advance(60_000);
    await Promise.all(deleting);
    expect(house.plugin.told().slice(1)).to.deep.equal(['DeleteSnapshot: FAILED_PRECONDITION', 'DeleteSnapshot: OK']);
  });

  it('V13 deleted before its call is sent: no call', async () => {
    house.plugin.health = { healthy: false, description: 'no disk' };
    await house.clock.advance(60_000);
    const making = refusalOf(snapshots().create(asked));
    await house.rest();
    expect((await snapshots().get(key))?.error?.message).to.contain('no disk');
    await snapshots().delete(key);
    expect((await making).code).to.equal('ABORTED');
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V13 deleted while its call is under way or in doubt, or not ready: found and deleted', async () => {
    let finish = (): void => {};
    const scenes: { step: Step; unready?: number }[] = [
      { step: { before: new Promise<void>((resolve) => (finish = resolve)) } },
      { step: { code: 'DEADLINE_EXCEEDED', work: true } },
      { step: {}, unready: 100 },
    ];
    for (const { step, unready = 0 } of scenes) {
      house.plugin.unreadyFor = unready;
      tells('CreateSnapshot', step);
      const making = refusalOf(snapshots().create(asked));
      await house.rest();
      const deleting = snapshots().delete(key);
      await house.rest();
      finish();
      await house.clock.advance(300_000);
      await deleting;
      expect((await making).code).to.equal('ABORTED');
      expect(house.plugin.snapshots.size).to.equal(0);
      expect(await snapshots().get(key)).to.equal(undefined);
    }
  });

  it('V13 deletion fails finally: rejected, listed as failed; with force, a leftover', async () => {
    await snapshots().create(asked);
    tells('DeleteSnapshot', { code: 'PERMISSION_DENIED' }, { code: 'PERMISSION_DENIED' });
    expect((await refusalOf(snapshots().delete(key))).grpcCode).to.equal('PERMISSION_DENIED');
    expect(await state()).to.equal('failed');
    await snapshots().delete(key, { force: true });
    const left = await snapshots().get(key);
    expect(left?.state).to.equal('deleted');
    expect(left?.leftovers?.[0]).to.match(/^snap-1: .*PERMISSION_DENIED/);
    expect((await refusalOf(snapshots().create(asked))).code).to.equal('SNAPSHOT_EXISTS');
    await snapshots().acknowledge(key);
    expect(await snapshots().get(key)).to.equal(undefined);
    house.plugin.snapshots.clear();
  });

  it('V13 failed deletion requested again: tried again at once', async () => {
    await snapshots().create(asked);
    tells('DeleteSnapshot', { code: 'PERMISSION_DENIED' });
    expect((await refusalOf(snapshots().delete(key))).grpcCode).to.equal('PERMISSION_DENIED');
    await snapshots().delete(key);
    expect(house.plugin.told().slice(1)).to.deep.equal(['DeleteSnapshot: PERMISSION_DENIED', 'DeleteSnapshot: OK']);
  });

  it('V13 deletion that could not resolve the creation, requested again: resolves it', async () => {
    tells('CreateSnapshot', { code: 'DEADLINE_EXCEEDED', work: true }, ...Array(2).fill({ code: 'PERMISSION_DENIED' }));
    const making = refusalOf(snapshots().create(asked));
    await house.clock.advance(1_000);
    await making;
    expect((await refusalOf(snapshots().delete(key))).grpcCode).to.equal('PERMISSION_DENIED');
    await snapshots().delete(key);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  for (const [code, isFinal] of [
    ['INVALID_ARGUMENT', true],
    ['OUT_OF_RANGE', true],
    ['NOT_FOUND', true],
    ['ALREADY_EXISTS', true],
    ['PERMISSION_DENIED', true],
    ['UNAUTHENTICATED', true],
    ['UNIMPLEMENTED', true],
    ['RESOURCE_EXHAUSTED', true],
    ['FAILED_PRECONDITION', false],
    ['ABORTED', false],
    ['INTERNAL', false],
  ] as const) {
    it(`V13 creation in doubt, then ${code}: resolved first, then deleted`, async () => {
      let finish = (): void => {};
      const before = new Promise<void>((resolve) => (finish = resolve));
      tells('CreateSnapshot', { code: 'DEADLINE_EXCEEDED', work: true }, { before, code });
      const making = refusalOf(snapshots().create(asked));
      while (names().length < 2) await house.clock.advance(100);
      finish();
      if (isFinal) await making;
      const deleting = snapshots().delete(key);
      await house.clock.advance(60_000);
      await deleting;
      await making;
      expect(house.plugin.told().slice(-2)).to.deep.equal(['CreateSnapshot: OK', 'DeleteSnapshot: OK']);
      expect(new Set(names()).size).to.equal(1);
      expect(house.plugin.snapshots.size).to.equal(0);
    });
  }

  it('V13 creation in doubt, then refused finally: deletion fails with a warning; a retry or force ends it', async () => {
    for (const force of [false, true]) {
      tells('CreateSnapshot', { code: 'DEADLINE_EXCEEDED', work: true }, ...Array(2).fill({ code: 'OUT_OF_RANGE' }));
      const making = refusalOf(snapshots().create(asked));
      await house.clock.advance(1_000);
      await making;
      const { message } = await refusalOf(snapshots().delete(key));
      expect(message).to.include('OUT_OF_RANGE').and.include('may have been made').and.include('with force');
      expect((await snapshots().get(key))?.error?.message).to.include('may have been made');
      expect(await state()).to.equal('failed');
      if (force) {
        tells('CreateSnapshot', { code: 'OUT_OF_RANGE' });
        await snapshots().delete(key, { force });
        expect((await snapshots().get(key))?.leftovers?.[0]).to.match(/^what was asked for as sc-/);
        expect(house.plugin.snapshots.size).to.equal(1);
        house.plugin.snapshots.clear();
      } else {
        await snapshots().retry(key);
        await house.rest();
        expect(await snapshots().get(key)).to.equal(undefined);
        expect(house.plugin.snapshots.size).to.equal(0);
      }
    }
  });

  it('V13 with force during a creation that is refused finally: no leftover', async () => {
    let finish = (): void => {};
    tells('CreateSnapshot', {
      before: new Promise<void>((resolve) => (finish = resolve)),
      code: 'INVALID_ARGUMENT',
    });
    const making = refusalOf(snapshots().create(asked));
    await house.rest();
    const deleting = snapshots().delete(key, { force: true });
    await house.rest();
    finish();
    await deleting;
    await making;
    expect(await snapshots().get(key)).to.equal(undefined);
  });

  it('V13 creation in doubt that cannot be resolved, with force: a leftover', async () => {
    house.plugin.script = ({ rpc }) => (rpc === 'CreateSnapshot' ? { code: 'UNAVAILABLE' } : undefined);
    const making = refusalOf(snapshots().create(asked));
    await house.rest();
    const deleting = snapshots().delete(key, { force: true });
    await house.clock.advance(600_000);
    await deleting;
    await making;
    expect((await snapshots().get(key))?.leftovers?.[0]).to.match(/^what was asked for as sc-/);
  });

  it('V21 list by pages, filtered by namespace, state and plugin', async () => {
    for (const id of ['a', 'b', 'c']) await snapshots().create({ id, volume });
    await snapshots().create({ namespace: 'other', id: 'd', volume });
    const { items, next } = await snapshots().list({ limit: 2 });
    expect(items.map(({ key }) => key.id)).to.deep.equal(['a', 'b']);
    const rest = await snapshots().list({ limit: 2, ...(next && { after: next }) });
    expect(rest.items.map(({ key }) => key.id)).to.deep.equal(['c', 'd']);
    expect(rest.next).to.equal(undefined);
    expect((await snapshots().list({ namespace: 'other' })).items).to.have.length(1);
    expect((await snapshots().list({ state: 'failed' })).items).to.have.length(0);
    expect((await snapshots().list({ plugin: pluginName })).items).to.have.length(4);
  });

  it('V21 page after an address of another kind: INVALID_ARGUMENT, as for volumes', async () => {
    for (const after of ['volume/default/data', 'group-snapshot/default/monday', 'x', '']) {
      const { code, faults } = await refusalOf(snapshots().list({ after, limit: 0 }));
      expect(code).to.equal('INVALID_ARGUMENT');
      expect(faults?.map((fault) => fault.split(':')[0])).to.deep.equal(['limit', 'after']);
    }
  });

  describe('for which the plugin later answers with another id', () => {
    const removed = (): string[] =>
      house.plugin.calls.filter(({ rpc }) => rpc === 'DeleteSnapshot').map(({ volume: id }) => id);
    const held = { open: (): void => {} };
    let making: Promise<unknown>;

    /** Creates a snapshot that is not ready and gets lost; the next look creates another one. */
    beforeEach(async () => {
      const looked = new Promise<void>((resolve) => {
        held.open = resolve;
      });
      house.plugin.unreadyFor = 1;
      making = snapshots().create(asked);
      await house.rest();
      expect(await state()).to.equal('waiting');
      house.plugin.snapshots.clear();
      house.plugin.unreadyFor = 0;
      tells('CreateSnapshot', { after: looked });
      await house.clock.advance(1_000);
    });

    it('V10 neither is trusted: both are removed, then it is created under another name', async () => {
      held.open();
      await house.clock.advance(10_000);
      await making;
      expect(removed()).to.deep.equal(['snap-1', 'snap-2']);
      expect([...house.plugin.snapshots.keys()]).to.deep.equal([(await snapshots().get(key))?.csiId]);
      const [name] = names();
      expect(names()).to.deep.equal([name, name, `${name}-1`]);
    });

    it('V13 deleted meanwhile: both are removed, none is created', async () => {
      const unmade = refusalOf(making);
      const deleting = snapshots().delete(key);
      await house.rest();
      held.open();
      await house.clock.advance(10_000);
      await deleting;
      expect(await unmade).to.include({ code: 'ABORTED' });
      expect(removed()).to.deep.equal(['snap-1', 'snap-2']);
      expect([...house.plugin.snapshots.keys()]).to.deep.equal([]);
    });
  });

  it('V9 its calls and those of its volume wait for each other; other volumes go on', async () => {
    await house.volumes.create(spec('other'));
    let finish = (): void => {};
    tells('CreateSnapshot', { before: new Promise<void>((resolve) => (finish = resolve)) });
    const making = snapshots().create(asked);
    await house.rest();
    const publishing = house.volumes.publish(volume, 'a');
    const second = snapshots().create({ id: 'tuesday', volume });
    await house.volumes.publish({ id: 'other' }, 'a');
    await house.rest();
    expect((await house.volumes.get(volume))?.error?.message).to.contain('another call');
    finish();
    await Promise.all([making, publishing, second]);
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('V13 deleted while its call waits for its turn: no call', async () => {
    let finish = (): void => {};
    tells('ControllerPublishVolume', { before: new Promise<void>((resolve) => (finish = resolve)) });
    const publishing = house.volumes.publish(volume, 'a');
    await house.rest();
    const making = refusalOf(snapshots().create(asked));
    await house.rest();
    await snapshots().delete(key);
    finish();
    await publishing;
    expect((await making).code).to.equal('ABORTED');
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
  });

  describe('secrets', () => {
    const secretsOf = (rpc: string): unknown[] =>
      house.plugin.calls
        .filter((call) => call.rpc === rpc)
        .map(({ request }) => (request as { secrets?: unknown }).secrets);
    const secret = (password: string) => ({ secrets: { password } });
    beforeEach(async () => {
      await house.dispose();
      const resolve = async (refs: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, `value of ${ref}`]));
      house = new VolumeHouse();
      house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
      await house.furnish({ secrets: { resolve } });
      await house.volumes.create(spec('data', secret('env:ONE')));
      await house.volumes.create(spec('other', secret('env:TWO')));
    });

    it('V19, 34.28 none named: those of its volume, also to delete it, and for the same spec again', async () => {
      const { uid } = await snapshots().create(asked);
      await house.volumes.delete(volume);
      expect((await snapshots().create(asked)).uid).to.equal(uid);
      await snapshots().delete(key);
      expect(secretsOf('CreateSnapshot')).to.deep.equal([{ password: 'value of env:ONE' }]);
      expect(secretsOf('DeleteSnapshot')).to.deep.equal([{ password: 'value of env:ONE' }]);
    });

    it('V19, 34.28 own ones named, or none on purpose: those', async () => {
      await snapshots().create({ ...asked, secrets: { token: 'env:THREE' } });
      await snapshots().create({ ...asked, id: 'tuesday', secrets: {} });
      expect(secretsOf('CreateSnapshot')).to.deep.equal([{ token: 'value of env:THREE' }, {}]);
    });

    it('V19, 34.28 group of volumes with different secrets: refused until it names its own', async () => {
      const group = { id: 'all', volumes: [volume, { id: 'other' }] };
      const refusal = await refusalOf(house.runtime.groupSnapshots.create(group));
      expect(refusal.code).to.equal('INVALID_ARGUMENT');
      expect(refusal.message).to.include("different secrets under 'password'");
      await house.runtime.groupSnapshots.create({ ...group, ...secret('env:ONE') });
      expect(secretsOf('CreateVolumeGroupSnapshot')).to.deep.equal([{ password: 'value of env:ONE' }]);
    });
  });

  describe('as the source of a volume', () => {
    const fromSnapshot = (id: string, volumeSnapshot: string, more = {}) =>
      house.volumes.create(spec(id, { source: { volumeSnapshot }, ...more }));
    const contents = (): unknown => {
      const request: { volumeContentSource?: unknown } = house.plugin.calls.at(-1)?.request ?? {};
      return request.volumeContentSource;
    };

    it('V2 by its id in the namespace of the volume: the plugin gets the CSI id', async () => {
      await snapshots().create(asked);
      await fromSnapshot('copy', 'monday');
      expect(contents()).to.deep.equal({ snapshot: { snapshotId: 'snap-1' } });
      await fromSnapshot('elsewhere', 'monday', { namespace: 'other' });
      expect(contents()).to.deep.equal({ snapshot: { snapshotId: 'monday' } });
    });

    for (const [what, id] of [
      ['of 280 bytes', `/subscriptions/${'0'.repeat(265)}`],
      ['of 4 KiB', 'é'.repeat(2_048)],
      ['that every object has as a name', 'constructor'],
    ] as const)
      it(`V2, 34.27 by an id of the driver ${what}: the plugin gets it`, async () => {
        await fromSnapshot('copy', id);
        expect(contents()).to.deep.equal({ snapshot: { snapshotId: id } });
      });

    it('V2 same volume requested again after the snapshot is gone: the same volume', async () => {
      await snapshots().create(asked);
      const made = await fromSnapshot('copy', 'monday');
      await snapshots().delete(key);
      expect((await fromSnapshot('copy', 'monday')).uid).to.equal(made.uid);
    });

    it('V2 not ready, or of another plugin: refused', async () => {
      house.plugin.unreadyFor = 100;
      void snapshots()
        .create(asked)
        .catch(() => {});
      await house.rest();
      expect((await refusalOf(fromSnapshot('copy', 'monday'))).code).to.equal('SNAPSHOT_NOT_READY');
      const connection = { socketPath: '/nowhere/other.sock' };
      await house.runtime.plugins.register({ type: 'csi-controller', name: 'other', allocId: 'o', connection });
      expect((await refusalOf(fromSnapshot('copy', 'monday', { plugin: 'other' }))).code).to.equal('INVALID_ARGUMENT');
      expect(await house.volumes.get({ id: 'copy' })).to.equal(undefined);
    });
  });
});

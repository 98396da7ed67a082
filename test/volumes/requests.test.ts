/** Tests requests to volumes: repeats, refusals, and waits that are given up. */
import { expect } from 'chai';
import { nobody } from '../../machines/volume/changes.js';
import { refusalOf as volumeRefusalOf } from '../../machines/volume/requests.js';
import { fileSecrets } from '../../src/index.js';
import { refusalOf } from '../refusal.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

describe('requests to a volume', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: false },
  );

  it('V1 wait given up by timeout or signal: the error says that the request stands, the work goes on', async () => {
    const held = gate();
    inOrder(house.plugin, 'CreateVolume', [{ before: held.passed }]);
    const late = refusalOf(house.volumes.create(spec('data'), { timeoutMs: 10 }));
    const control = new AbortController();
    const given = refusalOf(house.volumes.create(spec('data'), { signal: control.signal }));
    await house.clock.advance(10);
    control.abort();
    for (const [error, code] of [
      [await late, 'TIMEOUT'],
      [await given, 'ABORTED'],
    ] as const) {
      expect(error).to.include({ code, address: 'volume/default/data' });
      expect(error.message).to.include('the request stands, and the work goes on: it is pending-create');
    }
    held.open();
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'created' });
  });

  for (const [title, secrets] of [
    ['a directory', fileSecrets('/nowhere')],
    ['no provider', undefined],
  ] as const) {
    it(`V2 V19 a secret value instead of a reference, with ${title}: refused unquoted, nothing is stored`, async () => {
      await house.runtime.close();
      await house.furnish(secrets && { secrets });
      await house.volumes.create(spec('other'));
      const refs = { password: 'hunter2', pin: '1234' };
      const asked = [
        house.volumes.create(spec('data', { secrets: refs })),
        house.runtime.snapshots.create({ id: 'data', volume: { id: 'other' }, secrets: refs }),
      ];
      for (const error of await Promise.all(asked.map(refusalOf))) {
        expect(error).to.include({ code: 'INVALID_ARGUMENT' });
        expect(error.message)
          .to.include('secrets.password: its reference must be file:<name>')
          .and.include('secrets.pin: ');
        expect(error.message).not.to.include('hunter2').and.not.include('1234');
      }
      expect(await house.volumes.get(key)).to.equal(undefined);
      expect(await house.runtime.snapshots.get(key)).to.equal(undefined);
    });
  }

  it('V2 V19 secret value in place of a reference, for a record that exists: not even in the journal', async () => {
    await house.runtime.close();
    await house.furnish({ secrets: fileSecrets('/nowhere') });
    const { snapshots, journal } = house.runtime;
    const [wrong, right] = [{ token: 'hunter2' }, { token: 'file:token' }];
    for (const id of ['data', 'left']) await house.volumes.create(spec(id));
    await snapshots.create({ id: 'data', volume: key });
    always(house.plugin, 'DeleteVolume', { code: 'INVALID_ARGUMENT' });
    await house.volumes.delete({ id: 'left' }, { force: true });
    const asked = [
      house.volumes.create(spec('data', { secrets: wrong })),
      house.volumes.create(spec('left', { secrets: wrong })),
      snapshots.create({ id: 'data', volume: key, secrets: wrong }),
    ];
    for (const error of await Promise.all(asked.map(refusalOf))) {
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(error.message).to.include('secrets.token: its reference must be file:<name>');
    }
    // A valid reference passes this check: the request is refused for its spec.
    expect(await refusalOf(house.volumes.create(spec('data', { secrets: right })))).to.include({
      code: 'VOLUME_EXISTS',
    });
    for (const address of ['volume/default/data', 'volume/default/left', 'volume-snapshot/default/data']) {
      const entries: unknown[] = [];
      for await (const entry of journal.entries(address)) entries.push(entry);
      expect(entries).not.to.deep.equal([]);
      expect(JSON.stringify(entries)).not.to.include('hunter2');
    }
  });

  it('V2 V19 same references, which the provider would refuse now: the same volume', async () => {
    const asked = spec('data', { secrets: { token: 'vault:token' } });
    const secrets = { resolve: async () => ({ token: 'hush' }) };
    await house.runtime.close();
    await house.furnish({ secrets });
    const { uid } = await house.volumes.create(asked);
    await house.runtime.close();
    await house.open({ secrets: { ...secrets, check: () => ['token: it is none'] } });
    expect(await house.volumes.create(asked)).to.include({ uid });
  });

  it('V1 signal aborted before the call: nothing is requested', async () => {
    const error = await refusalOf(house.volumes.create(spec('data'), { signal: AbortSignal.abort() }));
    expect(error).to.include({ code: 'ABORTED' });
    expect(error.message).to.include('nothing has changed');
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V1 runtime closed during the wait: rejected with that reason, the next runtime does the work', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const asked = refusalOf(house.volumes.create(spec('data')));
    await house.rest();
    await house.runtime.close();
    expect(await asked).to.include({ code: 'RUNTIME_CLOSED' });
    expect((await asked).message).to.include('the request stands');
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ code: 'RUNTIME_CLOSED' });
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.open();
    await house.clock.advance(1_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created' });
  });

  it('V2 invalid options: refused, each with its path', async () => {
    const options = { timeoutMs: -1, signal: 'no', bogus: 1 };
    // @ts-expect-error: plain JavaScript may give anything
    const error = await refusalOf(house.volumes.create(spec('data'), options));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.faults?.map((fault) => fault.split(':')[0])).to.deep.equal(['timeoutMs', 'signal', 'bogus']);
    // @ts-expect-error: plain JavaScript may give anything
    expect(await refusalOf(house.volumes.delete(key, { force: 'yes' }))).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('V2 same spec again, at once or later: the same volume, created once', async () => {
    const capacity = { requiredBytes: 5 };
    const made = await Promise.all([1, 2, 3].map(() => house.volumes.create(spec('data', { capacity }))));
    const again = await house.volumes.create(spec('data', { namespace: 'default', capacity: { requiredBytes: 5n } }));
    expect(new Set([...made, again].map(({ uid }) => uid)).size).to.equal(1);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });

  it('V2 another spec: VOLUME_EXISTS in every state', async () => {
    always(house.plugin, 'CreateVolume', { code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.create(spec('data')));
    const other = spec('data', { parameters: { tier: 'fast' } });
    expect(await refusalOf(house.volumes.create(other))).to.include({ code: 'VOLUME_EXISTS' });
    house.plugin.script = () => undefined;
    await house.volumes.retry(key);
    await house.rest();
    expect(await refusalOf(house.volumes.create(other))).to.include({ code: 'VOLUME_EXISTS' });
    await house.volumes.publish(key, 'a');
    expect(await refusalOf(house.volumes.create(other))).to.include({ code: 'VOLUME_EXISTS' });
  });

  it('V2 another spec: VOLUME_EXISTS names each field that differs, with both values, but no secret', async () => {
    await house.runtime.close();
    await house.furnish({ secrets: { resolve: async () => ({ key: 'hush', pin: '1234' }) } });
    const made = {
      capacity: { requiredBytes: 5 },
      capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const],
      parameters: { tier: 'slow' },
      secrets: { key: 'file:old', pin: 'file:pin' },
    };
    await house.volumes.create(spec('data', made));
    const asked = {
      capacity: { requiredBytes: 5, limitBytes: 9 },
      parameters: { pool: 'a' },
      secrets: { key: 'file:new' },
    };
    const capabilities = [{ accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const];
    const { message } = await refusalOf(house.volumes.create(spec('data', { ...asked, capabilities })));
    expect(message).to.equal(
      'volume default/data: there is one with another spec (' +
        'capacity.limitBytes is absent, asked for 9; ' +
        'capabilities[0].accessMode is "single-node-writer", asked for "multi-node-multi-writer"; ' +
        'parameters.tier is "slow", asked for absent; parameters.pool is absent, asked for "a"; ' +
        'secrets.key differs; secrets.pin differs): take another id, or delete that first',
    );
  });

  it('V2 V11 same spec after a failed creation: rejected with its error at once, without a call', async () => {
    always(house.plugin, 'CreateVolume', { code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.create(spec('data')));
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ grpcCode: 'OUT_OF_RANGE' });
    expect(house.plugin.calls).to.have.length(1);
  });

  it('V2 unregistered plugin: PLUGIN_NOT_FOUND, naming it', async () => {
    const error = await refusalOf(house.volumes.create(spec('data', { plugin: 'nobody' })));
    expect(error).to.include({ code: 'PLUGIN_NOT_FOUND' });
    expect(error.message).to.include("'nobody'");
  });

  it('V13 V14 delete of this one only, asked at any moment of its deletion: done, and what has its id by then stays', async () => {
    const { uid } = await house.volumes.create(spec('data'));
    const asked: Promise<unknown>[] = [];
    const deletion = house.volumes.delete(key).then(() => house.volumes.create(spec('data')));
    let next: string | undefined;
    void deletion.then((made) => {
      next = made.uid;
    });
    while (next === undefined) {
      asked.push(house.volumes.delete(key, { uid }));
      await Promise.resolve();
    }
    await Promise.all(asked);
    expect(asked.length).to.be.above(10);
    expect(await house.volumes.get(key)).to.include({ uid: next, state: 'created' });
  });

  it('V2 clone: created from the CSI id of its source; repeated after the source is gone: the same volume', async () => {
    await house.volumes.create(spec('old'));
    const copy = spec('data', { source: { volume: { id: 'old' } } });
    const made = await house.volumes.create(copy);
    expect(house.plugin.calls.at(-1)?.request).to.deep.include({
      volumeContentSource: { volume: { volumeId: 'vol-1' } },
    });
    await house.volumes.delete({ id: 'old' });
    expect(await house.volumes.create(copy)).to.include({ uid: made.uid });
    const error = await refusalOf(house.volumes.create({ ...copy, id: 'more' }));
    expect(error).to.include({ code: 'VOLUME_NOT_FOUND', address: 'volume/default/old' });
  });

  it('V2 external volume: validated, not created; refused if the plugin does not confirm it', async () => {
    house.plugin.keeps('vol-1');
    const external = { csiId: 'vol-1', context: { made: 'elsewhere' } };
    const taken = await house.volumes.create(spec('data', { external }));
    expect(taken).to.deep.include({ csiId: 'vol-1', context: { made: 'elsewhere' }, state: 'created' });
    expect(house.plugin.told()).to.deep.equal(['ValidateVolumeCapabilities: OK']);
    const error = await refusalOf(house.volumes.create(spec('none', { external: { csiId: 'vol-9' } })));
    expect(error).to.include({ rpc: 'ValidateVolumeCapabilities', grpcCode: 'NOT_FOUND' });
  });

  it('V16 external volume with the CSI id of another volume: refused, naming that, nothing is stored', async () => {
    house.plugin.keeps('their');
    await house.volumes.create(spec('one', { external: { csiId: 'their' } }));
    const made = await house.volumes.create(spec('made', { namespace: 'other' }));
    for (const [csiId, holder] of [
      ['their', 'default/one'],
      [made.csiId ?? '', 'other/made'],
    ] as const) {
      const error = await refusalOf(house.volumes.create(spec('data', { external: { csiId } })));
      expect(error).to.include({ code: 'VOLUME_EXISTS', address: 'volume/default/data' });
      expect(error.message).to.include(`knows volume ${holder} as '${csiId}': use that one, or delete it first`);
      expect(await house.volumes.get(key)).to.equal(undefined);
    }
    // The same request is the same volume. A deleted volume, or one of another plugin, does not own the id.
    expect(await house.volumes.create(spec('one', { external: { csiId: 'their' } }))).to.include({ state: 'created' });
    await house.volumes.delete({ id: 'one' });
    expect(await house.volumes.create(spec('data', { external: { csiId: 'their' } }))).to.include({ state: 'created' });
  });

  it('V16 two external volumes with one CSI id, at once or during validation: the first gets it', async () => {
    house.plugin.keeps('their');
    const held = gate();
    inOrder(house.plugin, 'ValidateVolumeCapabilities', [{ before: held.passed }]);
    const external = { csiId: 'their' };
    const first = house.volumes.create(spec('one', { external }));
    const again = house.volumes.create(spec('one', { external }));
    const atOnce = await refusalOf(house.volumes.create(spec('two', { external })));
    await house.rest();
    const later = await refusalOf(house.volumes.create(spec('three', { external })));
    for (const error of [atOnce, later]) {
      expect(error).to.include({ code: 'VOLUME_EXISTS' });
      expect(error.message).to.include('volume default/one');
    }
    held.open();
    expect((await first).uid).to.equal((await again).uid);
    expect((await house.volumes.list()).items.map(({ key: { id } }) => id)).to.deep.equal(['one']);
  });

  it('V3 similar keys are different volumes, with different names at the plugin', async () => {
    const keys = [
      { namespace: 'default', id: 'a/b' },
      { namespace: 'default/a', id: 'b' },
      { namespace: 'default%2Fa', id: 'b' },
      { namespace: 'Default', id: 'a/b' },
      { namespace: 'default', id: 'a%2Fb' },
      { namespace: 'default', id: 'é' },
      { namespace: 'default', id: 'e\u0301' },
    ];
    for (const one of keys) await house.volumes.create(spec(one.id, one));
    expect(house.plugin.volumes.size).to.equal(keys.length);
    for (const one of keys) expect((await house.volumes.get(one))?.key).to.deep.equal(one);
    const names = house.plugin.calls.map(({ volume }) => volume);
    for (const name of names) expect(name).to.match(/^sc-[a-z0-9-]+$/);
    expect(new Set(names).size).to.equal(keys.length);
  });

  it('V3 an option of the runtime sets the prefix of names', async () => {
    await house.runtime.close();
    await house.open({ volumeNamePrefix: 'lab-7' });
    await house.clock.advance(200);
    await house.volumes.create(spec('data'));
    expect(house.plugin.calls.at(-1)?.volume).to.match(/^lab-7-/);
  });

  it('V3 the longest keys have an address that every store accepts', async () => {
    const longest = { namespace: '%'.repeat(128), id: 'é'.repeat(64) };
    expect(await house.volumes.create(spec(longest.id, longest))).to.include({ state: 'created' });
  });

  it('V2, 34.27 external volume with an id of 280 bytes: taken over, and published by that id', async () => {
    const csiId = `/subscriptions/${'0'.repeat(265)}`;
    house.plugin.volumes.set(csiId, { id: csiId, name: csiId, isFound: true, capacityBytes: 1n, attached: new Set() });
    await house.volumes.create(spec('data', { external: { csiId } }));
    await house.volumes.publish(key, 'a');
    expect(house.plugin.calls.at(-1)).to.include({ rpc: 'ControllerPublishVolume', volume: csiId });
  });

  it('V5 plugin that creates no volumes: no call, the given id becomes the CSI id', async () => {
    house.plugin.capabilities = [];
    await house.clock.advance(31_000);
    expect(await house.volumes.create(spec('vol#1/x'))).to.include({ csiId: 'vol#1/x', state: 'created' });
    await house.volumes.publish({ id: 'vol#1/x' }, 'a');
    await house.volumes.unpublish({ id: 'vol#1/x' }, 'a');
    await house.volumes.delete({ id: 'vol#1/x' });
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V5 plugin without a controller service: no call, the given id becomes the CSI id', async () => {
    const bare = await new VolumeHouse().open();
    try {
      bare.plugin.pluginCapabilities = [];
      bare.plugin.capabilities = [];
      await bare.runtime.close();
      await bare.open({ dispensers: { 'csi-node': bare.plugin } });
      const connection = { socketPath: '/nowhere/disk.sock' };
      await bare.runtime.plugins.register({ type: 'csi-node', name: pluginName, allocId: 'disk-1', connection });
      await bare.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
      await bare.rest();
      await bare.volumes.create(spec('data'));
      await bare.volumes.publish(key, 'a');
      await bare.volumes.delete(key, { force: true });
      expect(bare.plugin.calls).to.deep.equal([]);
    } finally {
      await bare.dispose();
    }
  });

  it('V6 size 0 means unknown; sizes above 2^53 are bigints; the context is kept as the plugin sent it', async () => {
    const small = await house.volumes.create(spec('small'));
    expect(small).to.not.have.property('capacityBytes');
    expect(small.context).to.deep.equal({ made: house.plugin.calls[0]?.volume });
    const large = await house.volumes.create(spec('large', { capacity: { requiredBytes: 2n ** 60n + 1n } }));
    expect(large.capacityBytes).to.equal(2n ** 60n + 1n);
  });

  it('V9 volumes are handled in parallel: a call that hangs delays no other volume', async () => {
    const held = gate();
    inOrder(house.plugin, 'CreateVolume', [{ before: held.passed }]);
    const hung = house.volumes.create(spec('hung'));
    await house.rest();
    await Promise.all(Array.from({ length: 20 }, (_, index) => house.volumes.create(spec(`v-${index}`))));
    expect(toldOf(house.plugin, 'CreateVolume')).to.have.length(21);
    held.open();
    await hung;
  });

  it('V12 many requests at once: none is lost', async () => {
    await house.volumes.create(spec('data'));
    const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await Promise.all(['a', 'b', 'c'].map((nodeId) => house.volumes.publish(key, nodeId, { capability })));
    expect(Object.keys((await house.volumes.get(key))?.publications ?? {})).to.have.members(['a', 'b', 'c']);
    await Promise.all(['a', 'b', 'c'].map((nodeId) => house.volumes.unpublish(key, nodeId)));
    expect((await house.volumes.get(key))?.publications).to.deep.equal({});
  });

  it('V15 paused: no new use; present use stays, and may be requested again', async () => {
    await house.volumes.create(spec('data'));
    const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.publish(key, 'a', { capability });
    await house.volumes.setAvailability(key, 'drain');
    await house.volumes.publish(key, 'a', { capability });
    expect(await refusalOf(house.volumes.publish(key, 'b', { capability }))).to.include({ code: 'VOLUME_UNAVAILABLE' });
    await house.volumes.setAvailability(key, 'active');
    await house.volumes.publish(key, 'b', { capability });
  });

  it('V2 requests to an unknown volume: VOLUME_NOT_FOUND, naming it', async () => {
    const requests = [
      house.volumes.publish(key, 'a'),
      house.volumes.unpublish(key, 'a'),
      house.volumes.retry(key),
      house.volumes.setAvailability(key, 'pause'),
      house.volumes.release(key, 'web-1'),
    ];
    for (const request of requests)
      expect(await refusalOf(request)).to.include({ code: 'VOLUME_NOT_FOUND', address: 'volume/default/data' });
    await house.volumes.create(spec('data'));
    expect(await refusalOf(house.volumes.publish(key, 'nowhere'))).to.include({ code: 'NODE_NOT_FOUND' });
  });

  it('V2, 35.8 no such volume, whoever asks: the same words', async () => {
    const message = 'there is no volume default/data: list them, or create it';
    await house.volumes.create(spec('data'));
    await house.volumes.delete(key);
    for (const request of [
      house.volumes.retry(key),
      house.volumes.expand(key, { requiredBytes: 1 }),
      house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: 1 }),
      house.runtime.snapshots.create({ id: 'friday', volume: key }),
    ])
      expect(await refusalOf(request)).to.include({ code: 'VOLUME_NOT_FOUND', message });
    const record = nobody({ namespace: 'default', id: 'data', seq: 0 });
    expect(volumeRefusalOf(record, { type: 'volume.retry' })).to.include({ code: 'VOLUME_NOT_FOUND', message });
  });

  it('V1 refused by the committed state: no commit', async () => {
    const claim = {
      nodeId: 'a',
      mode: 'write',
      accessMode: 'single-node-writer',
      attachmentMode: 'file-system',
    } as const;
    await house.volumes.create(spec('data'));
    await house.volumes.claim(key, { ...claim, allocId: 'w1' });
    await house.volumes.publish(key, 'a');
    expect(await house.volumes.create(spec('data'))).to.include({ state: 'published' });
    let commits = 0;
    const commit = house.store.commit.bind(house.store);
    house.store.commit = (items) => {
      commits += items.length;
      return commit(items);
    };
    for (const [refused, code, named] of [
      [house.volumes.delete(key), 'VOLUME_IN_USE', 'alloc w1'],
      [house.volumes.publish(key, 'b'), 'VOLUME_IN_USE', 'node a'],
      [house.volumes.unpublish(key, 'a'), 'VOLUME_IN_USE', 'alloc w1'],
      [house.volumes.claim(key, { ...claim, allocId: 'w2' }), 'CLAIM_CONFLICT', 'alloc w1'],
      [house.volumes.create(spec('data', { parameters: { another: 'one' } })), 'VOLUME_EXISTS', 'another spec'],
      [house.volumes.acknowledge(key), 'NOTHING_LEFT', 'not deleted'],
      [house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: 1 }), 'VOLUME_IN_USE', 'alloc w1'],
    ] as const) {
      const error = await refusalOf(refused);
      expect(error).to.include({ code, address: 'volume/default/data' });
      expect(error.message).to.include(named);
    }
    expect(commits).to.equal(0);
  });

  it('V12 requested while the request that makes room for it is not answered yet: accepted', async () => {
    const claim = {
      nodeId: 'a',
      mode: 'write',
      accessMode: 'single-node-writer',
      attachmentMode: 'file-system',
    } as const;
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    const gone = house.volumes.unpublish(key, 'a');
    const there = house.volumes.publish(key, 'b');
    await Promise.all([gone, there]);
    await house.volumes.unpublish(key, 'b');
    await house.volumes.claim(key, { ...claim, allocId: 'w1' });
    const released = house.volumes.release(key, 'w1');
    const next = house.volumes.claim(key, { ...claim, allocId: 'w2' });
    await released;
    expect(await next).to.include({ allocId: 'w2', state: 'taken' });
  });
});

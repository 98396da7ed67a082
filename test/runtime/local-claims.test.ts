/** Claims of a node whose volumes are in the same process: each step of an alloc, again after a restart, and in vain. */
import { expect } from 'chai';
import type { Capability } from '../../machines/kit/csi-types.js';
import { isRetryable } from '../../src/errors.js';
import { localClaims } from '../../src/runtime/local-claims.js';
import { refusalOf } from '../refusal.js';
import { managerOf } from '../volumes/manager-of.js';
import { always, gate } from '../volumes/scripts.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { namespace: 'default', id: 'data' };
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const readers = { accessMode: 'multi-node-reader-only', attachmentMode: 'file-system' } as const;
const oneWriter = { accessMode: 'multi-node-single-writer', attachmentMode: 'file-system' } as const;
const capabilities: Capability[] = [{ ...single, fsType: 'ext4' }, shared, readers, oneWriter];
const secrets = { password: 'file:password' };
const w1 = { allocId: 'w1', nodeId: 'a', mode: 'write', ...single } as const;
const wait = { signal: new AbortController().signal };

describe('claims of a node in the same process', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish({ secrets: { resolve: async () => ({ password: 'hunter2' }) } });
    await house.volumes.create(spec('data', { capabilities, secrets, capacity: { requiredBytes: 10 } }));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const claims = () => localClaims(managerOf(house.runtime));
  const held = async (): Promise<string[]> =>
    ((await house.volumes.get(key))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);
  const publish = (more: Partial<Parameters<ReturnType<typeof claims>['publish']>[1]> = {}) =>
    claims().publish(key, { nodeId: 'a', ...single, readOnly: false, ...more }, wait);
  const calls = (rpc: string) => house.plugin.calls.filter((call) => call.rpc === rpc);
  const readonlySent = () =>
    calls('ControllerPublishVolume').map(({ request }) => (request as { readonly?: boolean }).readonly);

  /** All that one alloc does, step by step, each told what came of the one before. */
  const steps: ((generation: number) => Promise<number>)[] = [
    async () => (await claims().claim(key, w1, wait)).generation,
    async (generation) => {
      expect(await publish()).to.deep.include({ csiId: 'vol-1', publishContext: { device: 'vol-1@csi-a' } });
      return generation;
    },
    async (generation) => {
      expect(await claims().release(key, { allocId: 'w1', nodeId: 'a' }, wait)).to.deep.equal({ generation });
      return generation;
    },
    async (generation) => {
      await claims().unstaged(key, { nodeId: 'a', allocId: 'w1', generation }, wait);
      return generation;
    },
  ];

  const both = (more: object = {}, signal = wait.signal) => {
    const claimed: number[] = [];
    const asking = { ...w1, readOnly: false, ...more };
    const done = claims().claimAndPublish?.(key, asking, { signal, claimed: (generation) => claimed.push(generation) });
    return { claimed, done: done ?? Promise.reject(new Error('there is no such request')) };
  };

  it('H4 claimed and published in one request: the claim is reported before the attach; repeats are equal', async () => {
    const { passed, open } = gate();
    house.plugin.script = () => ({ before: passed });
    const { claimed, done } = both();
    await house.rest();
    const { generation } = await claims().claim(key, w1, wait);
    expect([claimed, await held()]).to.deep.equal([[generation], ['w1 taken']]);
    open();
    expect(await done).to.deep.include({ csiId: 'vol-1', publishContext: { device: 'vol-1@csi-a' } });
    const again = both();
    await again.done;
    expect(again.claimed).to.deep.equal([generation]);
    expect(calls('ControllerPublishVolume')).to.have.length(1);
  });

  it('H4 N4 one request for both: a volume published otherwise or claimed stays as it is', async () => {
    await publish(shared);
    const { claimed, done } = both();
    expect((await refusalOf(done)).code).to.equal('CLAIM_CONFLICT');
    expect([claimed, await held()]).to.deep.equal([[], []]);
  });

  it('H4 one request for both is given up before it was asked: nobody has a claim', async () => {
    const end = new AbortController();
    end.abort(new Error('enough'));
    const { claimed, done } = both({}, end.signal);
    expect((await refusalOf(done)).code).to.equal('ABORTED');
    expect([claimed, await held()]).to.deep.equal([[], []]);
  });

  it('H4 one request for both is given up while it is attached: its claim stays until it is released', async () => {
    const { passed, open } = gate();
    house.plugin.script = () => ({ before: passed });
    const end = new AbortController();
    const { claimed, done } = both({}, end.signal);
    await house.rest();
    end.abort(new Error('enough'));
    expect((await refusalOf(done)).code).to.equal('ABORTED');
    const [generation = 0] = claimed;
    expect(await held()).to.deep.equal(['w1 taken']);
    open();
    await house.rest();
    expect(await claims().release(key, { allocId: 'w1', nodeId: 'a', generation }, wait)).to.deep.equal({ generation });
  });

  it('H4 a volume is known by what a node needs of it; its secrets by reference', async () => {
    const { uid } = (await house.volumes.get(key)) ?? {};
    const known = { uid, plugin: 'disk', driver: 'fake.example', capabilities, secrets };
    const unused = { claims: [], isKept: false };
    expect(await claims().look(key, { nodeId: 'a' }, wait)).to.deep.equal({ ...known, ...unused });
    expect(await publish()).to.deep.equal({
      ...known,
      csiId: 'vol-1',
      volumeContext: { made: `sc-${uid}` },
      publishContext: { device: 'vol-1@csi-a' },
    });
  });

  it('H4 one that is still to be made is known, too; one that is not there, or was left behind, is not', async () => {
    const { passed, open } = gate();
    house.plugin.script = () => ({ before: passed });
    const making = house.volumes.create(spec('late'));
    await house.rest();
    const late = { namespace: 'default', id: 'late' };
    expect(await claims().look(late, { nodeId: 'a' }, wait)).to.include({ plugin: 'disk' });
    open();
    await making;
    const none = await refusalOf(claims().look({ namespace: 'other', id: 'data' }, { nodeId: 'a' }, wait));
    expect([none.code, isRetryable(none)]).to.deep.equal(['VOLUME_NOT_FOUND', false]);
    always(house.plugin, 'DeleteVolume', { code: 'PERMISSION_DENIED' });
    await house.volumes.delete(key, { force: true });
    expect(await refusalOf(claims().look(key, { nodeId: 'a' }, wait))).to.include({ code: 'VOLUME_NOT_FOUND' });
    expect(await claims().release(key, { allocId: 'w1', nodeId: 'a' }, wait)).to.deep.equal({});
  });

  for (const [killedAfter] of steps.entries()) {
    it(`H1 H2 C1 restarted after step ${killedAfter + 1} of ${steps.length}: repeating it and the steps after it works`, async () => {
      let generation = 0;
      for (const [at, step] of steps.entries()) {
        generation = await step(generation);
        if (at !== killedAfter) continue;
        await house.restart();
        await house.clock.advance(30_000);
        expect(await step(generation)).to.equal(generation);
      }
      expect(generation).to.equal(1);
      expect(await house.volumes.get(key)).to.deep.include({ state: 'created', claims: [], publications: {} });
      for (const rpc of ['ControllerPublishVolume', 'ControllerUnpublishVolume'])
        expect(calls(rpc), rpc).to.have.length(1);
    });
  }

  it('N3 H4 a lost claim publishes nothing any more, neither a new request nor one in flight', async () => {
    const { generation } = await claims().claim(key, w1, wait);
    const claim = { allocId: 'w1', generation };
    const { passed, open } = gate();
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerPublishVolume' ? { before: passed } : {});
    const publishing = refusalOf(publish({ claim }));
    await house.rest();
    // As a fence of its node does.
    await house.volumes.release(key, 'w1');
    open();
    expect(await publishing).to.include({ code: 'ABORTED' });
    const before = calls('ControllerPublishVolume').length;
    const lost = await refusalOf(publish({ claim }));
    expect([lost.code, isRetryable(lost)]).to.deep.equal(['CLAIM_LOST', false]);
    expect(await refusalOf(publish({ claim: { allocId: 'w2', generation } }))).to.include({ code: 'CLAIM_LOST' });
    expect(calls('ControllerPublishVolume')).to.have.length(before);
    expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
  });

  it('H2 each step twice, at the same time: as once', async () => {
    let generation = 0;
    for (const step of steps) {
      const [one, other] = await Promise.all([step(generation), step(generation)]);
      expect(one).to.equal(other);
      generation = one;
    }
    expect(await held()).to.deep.equal([]);
    expect(calls('ControllerUnpublishVolume')).to.have.length(1);
  });

  it('H4 the slot is taken: told by whom, and worth asking again; it is had once that is free', async () => {
    await claims().claim(key, w1, wait);
    const refusal = await refusalOf(claims().claim(key, { ...w1, allocId: 'w2', nodeId: 'b' }, wait));
    expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['CLAIM_CONFLICT', true]);
    expect(refusal.message).to.include('alloc w1 on node a');
    expect((await house.volumes.get(key))?.waiting).to.deep.equal([]);
    await claims().release(key, { allocId: 'w1', nodeId: 'a' }, wait);
    expect(await claims().claim(key, { ...w1, allocId: 'w2', nodeId: 'b' }, wait)).to.deep.equal({ generation: 2 });
  });

  for (const [name, use] of Object.entries({
    'in a mode that it was not made for': { accessMode: 'single-node-multi-writer' },
    'as what it was not made as': { attachmentMode: 'block-device' },
    'for writing in a mode without writers': readers,
  } as const)) {
    it(`H4 claimed ${name}: refused for good`, async () => {
      const refusal = await refusalOf(claims().claim(key, { ...w1, ...use }, wait));
      expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['INVALID_ARGUMENT', false]);
      expect(await held()).to.deep.equal([]);
    });
  }

  it('H4 paused: nobody new has it, and that is not waited for; who has it may use it', async () => {
    await claims().claim(key, w1, wait);
    await house.volumes.setAvailability(key, 'pause');
    expect(await claims().claim(key, w1, wait)).to.deep.equal({ generation: 1 });
    await publish();
    await claims().release(key, { allocId: 'w1', nodeId: 'a' }, wait);
    await claims().unstaged(key, { nodeId: 'a', allocId: 'w1', generation: 1 }, wait);
    const refusal = await refusalOf(claims().claim(key, { ...w1, allocId: 'w2' }, wait));
    expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['VOLUME_UNAVAILABLE', false]);
  });

  describe('published for reading or writing', () => {
    /** One use after another on node a: what is sent to the plugin, and which use is refused. */
    const cases: [Pick<Capability, 'accessMode' | 'attachmentMode'>, boolean[], boolean[], number[]][] = [
      [single, [true], [true], []],
      [single, [false, true], [false], []],
      [readers, [true, true], [true], []],
      [oneWriter, [true, true], [true], []],
      [oneWriter, [false, true], [false], []],
      [oneWriter, [true, false], [true], [1]],
      [shared, [false, true, false], [false], []],
      [shared, [true, false], [true], [1]],
    ];
    for (const [use, asked, sent, refused] of cases) {
      const words = asked.map((readOnly) => (readOnly ? 'reading' : 'writing')).join(', then for ');
      it(`M11 V16 ${use.accessMode}, for ${words}: ${sent[0] ? 'read-only' : 'writable'}${refused.length > 0 ? ', the last refused' : ''}`, async () => {
        for (const [at, readOnly] of asked.entries()) {
          const asking = publish({ ...use, readOnly });
          if (!refused.includes(at)) {
            expect(await asking).to.deep.include({ publishContext: { device: 'vol-1@csi-a' } });
            continue;
          }
          const refusal = await refusalOf(asking);
          expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['VOLUME_IN_USE', true]);
        }
        expect(readonlySent()).to.deep.equal(sent);
      });
    }

    it('V16 of several of the same modes, as it is published there already', async () => {
      const twice = { namespace: 'default', id: 'twice' };
      const [ext4, xfs] = [
        { ...single, fsType: 'ext4' },
        { ...single, fsType: 'xfs' },
      ];
      await house.volumes.create(spec('twice', { capabilities: [ext4, xfs] }));
      await house.volumes.publish(twice, 'a', { capability: xfs });
      await claims().publish(twice, { nodeId: 'a', ...single, readOnly: false }, wait);
      expect((await house.volumes.get(twice))?.publications.a?.capability).to.deep.equal(xfs);
    });

    it('V16 on its way out as it is asked for: published anew after that, for what is asked', async () => {
      await publish(oneWriter);
      const { passed, open } = gate();
      house.plugin.script = ({ rpc }) => (rpc === 'ControllerUnpublishVolume' ? { before: passed } : undefined);
      const leaving = house.volumes.unpublish(key, 'a');
      await house.rest();
      const again = publish({ ...oneWriter, readOnly: true });
      await house.rest();
      open();
      await Promise.all([leaving, again]);
      expect(readonlySent()).to.deep.equal([false, true]);
    });

    it('H1 given up: told so, the work goes on, and the same again has it', async () => {
      const { passed, open } = gate();
      house.plugin.script = () => ({ before: passed });
      const limit = new AbortController();
      const use = { nodeId: 'a', ...single, readOnly: false };
      const given = refusalOf(claims().publish(key, use, { signal: limit.signal }));
      await house.rest();
      limit.abort(new Error('enough'));
      expect(await given).to.include({ code: 'ABORTED' });
      open();
      expect(await publish()).to.include({ csiId: 'vol-1' });
      expect(calls('ControllerPublishVolume')).to.have.length(1);
    });

    it('V11 refused by the plugin for good: told so, with what it said', async () => {
      always(house.plugin, 'ControllerPublishVolume', { code: 'OUT_OF_RANGE', text: 'not there' });
      const refusal = await refusalOf(publish());
      expect(refusal).to.include({ code: 'CSI_ERROR', grpcCode: 'OUT_OF_RANGE', final: true });
      expect(isRetryable(refusal)).to.equal(false);
    });
  });

  describe('released', () => {
    const published = async (allocId: string): Promise<number> => {
      const { generation } = await claims().claim(key, { ...w1, allocId, ...shared }, wait);
      await publish(shared);
      return generation;
    };
    const unstaged = (allocId: string, generation: number, signal = wait.signal) =>
      claims().unstaged(key, { nodeId: 'a', allocId, generation }, { signal });
    const release = (allocId: string) => claims().release(key, { allocId, nodeId: 'a' }, wait);

    it('H2 without a claim, or of no volume at all: nothing, and no error; twice is once', async () => {
      expect(await release('w1')).to.deep.equal({});
      expect(
        await claims().release({ namespace: 'default', id: 'none' }, { allocId: 'w1', nodeId: 'a' }, wait),
      ).to.deep.equal({});
      await published('w1');
      expect(await release('w1')).to.deep.equal({ generation: 1 });
      expect(await release('w1')).to.deep.equal({ generation: 1 });
      await unstaged('w1', 1);
      expect(await release('w1')).to.deep.equal({});
    });

    it('H2 N3 only the alloc’s claim on this node and of this generation is released', async () => {
      await claims().claim(key, { ...w1, nodeId: 'b' }, wait);
      for (const only of [{ nodeId: 'a' }, { nodeId: 'a', generation: 1 }, { nodeId: 'b', generation: 2 }]) {
        expect(await claims().release(key, { allocId: 'w1', ...only }, wait)).to.deep.equal({});
        expect(await held()).to.deep.equal(['w1 taken']);
      }
      await claims().release(key, { allocId: 'w1', nodeId: 'b', generation: 1 }, wait);
      expect(await held()).to.deep.equal([]);
    });

    it('C4 N3 a place in the queue for another node is not touched either', async () => {
      await claims().claim(key, w1, wait);
      const waiting = house.volumes.claim(key, { ...w1, allocId: 'w2', nodeId: 'b', wait: true });
      await house.rest();
      await claims().release(key, { allocId: 'w2', nodeId: 'a' }, wait);
      const queue = async () => ((await house.volumes.get(key))?.waiting ?? []).map(({ allocId }) => allocId);
      expect(await queue()).to.deep.equal(['w2']);
      const withdrawn = refusalOf(waiting);
      await claims().release(key, { allocId: 'w2', nodeId: 'b' }, wait);
      expect([await queue(), (await withdrawn).code]).to.deep.equal([[], 'ABORTED']);
    });

    it('H2 after a prepare that came no further than its claim: free at once', async () => {
      await claims().claim(key, w1, wait);
      expect(await release('w1')).to.deep.equal({});
      expect(await held()).to.deep.equal([]);
      await unstaged('w1', 1);
    });

    it('H2 V8 as it is being published: found out, then undone, and only then the slot is free', async () => {
      await claims().claim(key, w1, wait);
      const { passed, open } = gate();
      house.plugin.script = () => ({ before: passed });
      const publishing = refusalOf(publish());
      await house.rest();
      expect(await release('w1')).to.deep.equal({ generation: 1 });
      const freed = unstaged('w1', 1);
      await house.rest();
      expect(await held()).to.deep.equal(['w1 node-detached']);
      open();
      await freed;
      expect(house.plugin.told().slice(-2)).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(await held()).to.deep.equal([]);
      expect(await publishing).to.include({ code: 'ABORTED' });
    });

    it('H2 C6 two allocs one after the other: the publication stays until both have released it', async () => {
      await published('w1');
      await published('w2');
      await Promise.all([release('w1'), release('w2')]);
      await unstaged('w2', 2);
      expect(await held()).to.deep.equal(['w1 unpublishing']);
      expect(calls('ControllerUnpublishVolume')).to.have.length(0);
      const { passed, open } = gate();
      house.plugin.script = () => ({ before: passed });
      let isFree = false;
      const last = unstaged('w1', 1).then(() => {
        isFree = true;
      });
      await house.rest();
      expect([isFree, await held()]).to.deep.equal([false, ['w1 node-detached']]);
      open();
      await last;
      expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
    });

    it('H2 a report of a claim that is gone: done at once, whatever has become of the volume', async () => {
      await published('w1');
      await release('w1');
      await unstaged('w1', 1);
      const again = await published('w1');
      await unstaged('w1', 1);
      expect([again, await held()]).to.deep.equal([2, ['w1 taken']]);
      await release('w1');
      await unstaged('w1', 1);
      expect(await held()).to.deep.equal(['w1 unpublishing']);
      await unstaged('w1', 2);
      await house.volumes.delete(key);
      await unstaged('w1', 2);
    });

    it('H2 not released yet: refused, naming who has it', async () => {
      await published('w1');
      const refusal = await refusalOf(unstaged('w1', 1));
      expect(refusal).to.include({ code: 'VOLUME_IN_USE' });
      expect(refusal.message).to.include('alloc w1 on node a');
    });

    it('V11 not unpublished for good: told so each time, until that is tried again', async () => {
      await published('w1');
      await release('w1');
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'PERMISSION_DENIED', text: 'not yours' });
      for (const _ of [1, 2]) {
        const refusal = await refusalOf(unstaged('w1', 1));
        expect(refusal).to.include({ code: 'CSI_ERROR', grpcCode: 'PERMISSION_DENIED', final: true });
        expect(isRetryable(refusal)).to.equal(false);
      }
      house.plugin.script = () => undefined;
      await house.volumes.retry(key);
      await unstaged('w1', 1);
      expect(await held()).to.deep.equal([]);
    });

    for (const [how, code, end] of [
      ['given up by its signal', 'ABORTED', (limit: AbortController) => limit.abort()],
      ['interrupted by the end of the runtime', 'RUNTIME_CLOSED', () => managerOf(house.runtime).close()],
    ] as const) {
      it(`H2 waiting for the slot, ${how}: told so, and the work goes on`, async () => {
        await published('w1');
        await release('w1');
        const { passed, open } = gate();
        house.plugin.script = () => ({ before: passed });
        const limit = new AbortController();
        const waiting = refusalOf(unstaged('w1', 1, limit.signal));
        await house.rest();
        end(limit);
        const refusal = await waiting;
        expect([refusal.code, isRetryable(refusal)]).to.deep.equal([code, true]);
        open();
        await house.restart();
        await house.clock.advance(30_000);
        expect(await held()).to.deep.equal([]);
      });
    }

    it('N3 held while the claim of this generation exists; not after a fence, nor without a volume', async () => {
      const holds = (generation: number) => claims().holds(key, { allocId: 'w1', generation }, wait);
      await published('w1');
      expect([await holds(1), await holds(2)]).to.deep.equal([true, false]);
      await house.runtime.nodes.fence('a', 'it burns');
      await house.rest();
      expect(await holds(1)).to.equal(false);
      await house.runtime.nodes.report({ id: 'a', plugins: [{ name: 'disk', nodeId: 'csi-a' }] });
      await published('w1');
      expect([await holds(1), await holds(2)]).to.deep.equal([false, true]);
      await release('w1');
      expect(await holds(2)).to.equal(false);
      await unstaged('w1', 2);
      await house.volumes.delete(key);
      expect(await holds(2)).to.equal(false);
    });
  });

  it('V9 the node’s part of an expansion: told to who looks and who publishes, until it is done', async () => {
    await publish();
    await house.volumes.expand(key, { requiredBytes: 20 });
    const { expansion = {}, uid } = await publish();
    expect(expansion).to.deep.equal({ requiredBytes: 20 });
    expect(await claims().look(key, { nodeId: 'a' }, wait)).to.deep.include({ expansion });
    expect(await claims().look(key, { nodeId: 'b' }, wait)).not.to.have.property('expansion');
    const done = { nodeId: 'a', uid, capacity: expansion };
    await claims().expanded(key, done, wait);
    await claims().expanded(key, done, wait);
    expect(await claims().look(key, { nodeId: 'a' }, wait)).not.to.have.property('expansion');
    await claims().expanded({ namespace: 'default', id: 'none' }, done, wait);
  });

  it('H1 given up before it was asked for: nothing has happened', async () => {
    const gone = { signal: AbortSignal.abort(new Error('enough')) };
    const own = { nodeId: 'a', allocId: 'w1', generation: 1 };
    const use = { nodeId: 'a', ...single, readOnly: false };
    const requests = [
      claims().look(key, { nodeId: 'a' }, gone),
      claims().claim(key, w1, gone),
      claims().holds(key, own, gone),
      claims().publish(key, use, gone),
      claims().release(key, { allocId: 'w1', nodeId: 'a' }, gone),
      claims().unstaged(key, own, gone),
      claims().expanded(key, { nodeId: 'a', uid: '', capacity: {} }, gone),
    ];
    for (const request of requests) expect(await refusalOf(request)).to.include({ code: 'ABORTED' });
    expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
  });
});

/** What is done for an alloc, over mounts and a claim client that are what the test says: its claims, lost at any moment. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AllocWork } from '../../machines/alloc/alloc.js';
import type { AllocOutcome, AllocVolume } from '../../machines/alloc/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import { type AllocMounting, AllocWorker } from '../../src/allocs/alloc-work.js';
import type { EffectCall } from '../../src/engine/effects/effects.js';
import { StagecraftError } from '../../src/errors.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const data: AllocVolume = {
  ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, mode: 'write', readOnly: false, taskPath: '/data' },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
};

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 30; turns += 1) await turn();
};

function scene(generations: Record<string, number>) {
  const clock = simulatedClock();
  const calls: string[] = [];
  const sent: object[] = [];
  /** The claim that the alloc has; null: it was given up, and others may have written since. */
  const state = {
    held: 1 as number | null,
    next: 7,
    isPluginBack: () => {},
    isStanding: true,
    hold: null as Hold | null,
  };
  const back = new Promise<void>((resolve) => {
    state.isPluginBack = resolve;
  });
  const claims: ClaimClient = {
    look: async () => ({ uid: 'u', plugin: 'disk', capabilities: [], secrets: {} }),
    claim: async () => {
      state.held ??= state.next;
      calls.push(`claim ${state.held}`);
      return { generation: state.held };
    },
    holds: async (_, { generation }) => {
      calls.push('holds');
      return state.held === generation;
    },
    publish: async (_, { claim }) => {
      calls.push('publish');
      if (claim?.generation !== state.held) throw new StagecraftError('CLAIM_LOST', 'it has it no more');
      return {
        ...{ uid: 'u', plugin: 'disk', capabilities: [], secrets: {} },
        ...{ csiId: 'c', volumeContext: {}, publishContext: {} },
      };
    },
    release: async () => ({}),
    unstaged: async () => {},
    holdReleased: async () => {},
    expanded: async () => {},
  };
  const info = { volume: data.volume, hostPath: '/x', readOnly: false, isDevice: false };
  const { accessMode, attachmentMode } = data;
  const mounting: AllocMounting = {
    check: async (asked) => ({
      ...asked,
      known: await claims.look(data.volume, { nodeId: 'n' }, { signal: end.signal }),
      capability: { accessMode, attachmentMode },
    }),
    publishing: () => ({ nodeId: 'n', readOnly: false, accessMode, attachmentMode }),
    bring: async () => {
      calls.push('bring');
      return info;
    },
    take: async () => void calls.push('take'),
    reachable: () => back,
    standing: async () => (state.isStanding ? info : undefined),
    confirm: async () => void calls.push('confirm'),
    held: () => state.hold ?? undefined,
  };
  const worker = new AllocWorker({
    ...{ node: 'n', claims, clock, compared: () => undefined },
    mounting,
  });
  const end = new AbortController();
  const run = {
    ...{ address: 'alloc/n/web', id: 'x', seq: 1, recovered: false, attempt: 1 },
    input: { allocId: 'web', volumes: [data], generations, wait: false },
    signal: end.signal,
    onAbort: () => () => {},
    sent: () => {},
    send: (event: object) => void sent.push(event),
  } as unknown as EffectCall<AllocWork>;
  return { clock, calls, sent, state, worker, run, end, claims };
}

const codeOf = (outcome: AllocOutcome): string => (outcome.status === 'done' ? 'prepared' : outcome.failure.code);

describe('claims of allocs at work', () => {
  it('N3 recovered without its claim while it waits for its plugin: it does not claim again silently', async () => {
    const { calls, state, worker, run } = scene({ data: 1 });
    state.isStanding = false;
    const recovered = worker.recover(run);
    await settled();
    // Its node is fenced, another one has it, writes, and gives it back.
    state.held = null;
    state.isPluginBack();
    expect([codeOf(await recovered), calls.includes('bring')]).to.deep.equal(['CLAIM_LOST', false]);
  });

  it('N3 its claim is lost between its being claimed and its being published: nothing is mounted for it', async () => {
    const { calls, state, worker, run, claims, clock } = scene({});
    let isReady = false;
    const { publish } = claims;
    claims.publish = async (...args) => {
      if (isReady) return publish(...args);
      throw new StagecraftError('NODE_NOT_READY', 'the node is fenced');
    };
    const prepared = worker.prepare(run);
    await settled();
    state.held = null;
    isReady = true;
    for (let times = 0; times < 10; times += 1) {
      await clock.advance(1_000);
      await settled();
    }
    expect(calls).to.not.include('bring');
    expect(codeOf(await prepared)).to.equal('CLAIM_LOST');
  });

  it('H2 the owner of the volumes ignores claims and the signal: the release waits and gives the reason', async () => {
    const { calls, sent, worker, run, end, claims, clock } = scene({});
    claims.claim = () => new Promise(() => {});
    void worker.prepare(run).catch(() => {});
    await settled();
    end.abort(new Error('its time is over'));
    const release = { ...run, signal: new AbortController().signal } as EffectCall<AllocWork>;
    void worker.release(release).catch(() => {});
    for (let times = 0; times < 60; times += 1) {
      await clock.advance(10_000);
      await settled();
    }
    const reason = 'what was begun for it before has not ended yet';
    expect([calls, sent]).to.deep.equal([
      [],
      [{ type: 'alloc.progress', steps: [{ name: 'data', type: 'volume.waits', reason }] }],
    ]);
  });
  it('H1 V10 a topology that excludes the node: prepare fails at once, with wait it goes on', async () => {
    for (const wait of [false, true]) {
      const { worker, run, claims, clock, calls } = scene({});
      const { claim } = claims;
      let isUnfit = true;
      claims.claim = async (...args) => {
        if (isUnfit) throw new StagecraftError('NODE_UNFIT', 'the volume can be used at z2 only', { final: true });
        return claim(...args);
      };
      const prepared = worker.prepare({ ...run, input: { ...run.input, wait } } as typeof run);
      await settled();
      isUnfit = false;
      if (wait) {
        for (let times = 0; times < 3; times += 1) {
          await clock.advance(1_000);
          await settled();
        }
      }
      expect(codeOf(await prepared)).to.equal(wait ? 'prepared' : 'NODE_UNFIT');
      expect(calls.includes('bring')).to.equal(wait);
    }
  });

  const published = {
    ...{ uid: 'u', plugin: 'disk', capabilities: [], secrets: {} },
    ...{ csiId: 'c', volumeContext: {}, publishContext: {} },
  };
  const typesIn = (outcome: AllocOutcome): string[] =>
    outcome.status === 'done' ? outcome.steps.map(({ type }) => type) : [outcome.failure.code];

  it('H1 claimed and published in one request, where whoever has the volumes can do that', async () => {
    const { calls, sent, worker, run, claims } = scene({});
    const asked: object[] = [];
    claims.claimAndPublish = async (_, request, { claimed }) => {
      asked.push(request);
      claimed(7);
      return published;
    };
    const outcome = await worker.prepare(run);
    // The claim is to be kept before the mount is asked for.
    expect(sent).to.deep.equal([
      {
        type: 'alloc.progress',
        steps: [
          { name: 'data', type: 'claim.taken', generation: 7 },
          { name: 'data', type: 'volume.published' },
        ],
      },
    ]);
    expect(typesIn(outcome)).to.deep.equal(['volume.mounted']);
    expect(calls).to.deep.equal(['bring']);
    const { accessMode, attachmentMode } = data;
    expect(asked).to.deep.equal([
      { allocId: 'web', nodeId: 'n', mode: 'write', accessMode, attachmentMode, readOnly: false },
    ]);
  });

  it('H1 H4 a combined request is refused: claim and publish are sent one after the other, with the same result', async () => {
    const { calls, worker, run, claims, sent, clock } = scene({});
    claims.claimAndPublish = async () => {
      throw new StagecraftError('CLAIM_CONFLICT', 'refused as a whole');
    };
    const { claim } = claims;
    let isTaken = true;
    claims.claim = async (...args) => {
      if (isTaken) throw new StagecraftError('CLAIM_CONFLICT', 'alloc db has it');
      return claim(...args);
    };
    const prepared = worker.prepare({ ...run, input: { ...run.input, wait: true } } as typeof run);
    await settled();
    expect(sent).to.deep.equal([
      { type: 'alloc.progress', steps: [{ name: 'data', type: 'claim.refused', reason: 'alloc db has it' }] },
    ]);
    isTaken = false;
    await clock.advance(1_000);
    await settled();
    expect(typesIn(await prepared)).to.deep.equal(['volume.mounted']);
    expect(calls).to.deep.equal(['claim 1', 'publish', 'bring']);
  });

  it('N3 H1 claimed by one request for both, which fails then: the claim stays, and is published by itself', async () => {
    const { calls, worker, run, claims, state } = scene({});
    claims.claimAndPublish = async (_, __, { claimed }) => {
      claimed(1);
      throw new StagecraftError('CSI_ERROR', 'not attached yet');
    };
    expect(typesIn(await worker.prepare(run)).at(-1)).to.equal('volume.mounted');
    expect(calls).to.deep.equal(['publish', 'bring']);
    calls.length = 0;
    // Its node was taken for lost since: nothing is claimed anew.
    state.held = null;
    expect(codeOf(await worker.prepare(run))).to.equal('CLAIM_LOST');
    expect(calls).to.deep.equal(['publish']);
  });

  it('N3 published by one request for both, and nobody knows for which claim: both are asked for again', async () => {
    const { calls, worker, run, claims } = scene({});
    claims.claimAndPublish = async () => published;
    expect(typesIn(await worker.prepare(run)).at(-1)).to.equal('volume.mounted');
    expect(calls).to.deep.equal(['claim 1', 'publish', 'bring']);
  });

  it('N3 nothing is confirmed of a claim that is lost', async () => {
    const { calls, state, worker, run } = scene({ data: 1 });
    state.held = null;
    state.isPluginBack();
    expect(codeOf(await worker.recover(run))).to.equal('CLAIM_LOST');
    expect(calls).to.deep.equal(['holds']);
  });

  it('H2 N3 only the very claim that it has on this node is released', async () => {
    const { worker, run, claims } = scene({ data: 1 });
    const released: object[] = [];
    claims.release = async (_, request) => {
      released.push(request);
      return {};
    };
    await worker.release(run);
    expect(released).to.deep.equal([{ allocId: 'web', nodeId: 'n', generation: 1 }]);
  });

  const held: Hold = { allocId: 'web', generation: 5 };
  const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };
  const single = { address: 'alloc/n/web/default/data' };

  it('35.6 mounted under a hold of 0.3.0: whatever its claim is refused for, it waits, says why, and stays', async () => {
    for (const code of [
      ...(['VOLUME_UNAVAILABLE', 'VOLUME_DELETING', 'INVALID_ARGUMENT'] as const),
      ...(['NOT_LEADER', 'CLAIM_CONFLICT', 'SECRETS_UNAVAILABLE', 'HOST_UNFIT'] as const),
    ]) {
      const { worker, run, claims, clock, calls, sent, state } = scene({});
      const { claim } = claims;
      let isRefused = true;
      state.hold = held;
      claims.look = async () => ({ ...known, holds: [held] });
      claims.claim = async (...args) => {
        if (isRefused) throw new StagecraftError(code, 'not now', { final: true });
        return claim(...args);
      };
      const prepared = worker.prepare({ ...run, ...single });
      await settled();
      expect([calls, JSON.stringify(sent).includes('not now')], code).to.deep.equal([[], true]);
      isRefused = false;
      await clock.advance(1_000);
      await settled();
      expect([codeOf(await prepared), calls], code).to.deep.equal(['prepared', ['claim 1', 'publish', 'bring']]);
    }
  });

  for (const [situation, holds] of [
    ['gone', []],
    ['an older one', [{ ...held, generation: 4 }]],
    ['that of another alloc', [{ ...held, allocId: 'b' }]],
  ] as const)
    it(`N3 35.6 its hold of 0.3.0 is ${situation} while its claim is refused: it ends, and nothing is claimed`, async () => {
      const { worker, run, claims, clock, calls, state } = scene({});
      state.hold = held;
      let isKept = true;
      claims.look = async () => ({ ...known, holds: isKept ? [held] : [...holds] });
      const { claim } = claims;
      claims.claim = async (...args) => {
        if (isKept) throw new StagecraftError('CLAIM_CONFLICT', 'alloc db has it');
        return claim(...args);
      };
      const prepared = worker.prepare({ ...run, ...single });
      await settled();
      isKept = false;
      await clock.advance(1_000);
      await settled();
      expect([codeOf(await prepared), calls]).to.deep.equal(['CLAIM_LOST', []]);
    });

  it('N3 35.6 mounted under a hold of 0.3.0, and its volume is gone: it ends', async () => {
    const { worker, run, claims, state } = scene({});
    state.hold = held;
    claims.look = async () => {
      throw new StagecraftError('VOLUME_NOT_FOUND', 'there is none');
    };
    expect(codeOf(await worker.prepare({ ...run, ...single }))).to.equal('VOLUME_NOT_FOUND');
  });

  it('35.6 a hold of 0.3.0 that nobody was told of: claimed without a question', async () => {
    const { worker, run, state, calls } = scene({});
    state.hold = { ...held, generation: 0 };
    expect(codeOf(await worker.prepare({ ...run, ...single }))).to.equal('prepared');
    expect(calls).to.deep.equal(['claim 1', 'publish', 'bring']);
  });

  it('35.6 its hold of 0.3.0 is released, and its mount does not know: its claim counts, and nothing else', async () => {
    for (const isHeld of [true, false]) {
      const { worker, run, claims, state, calls } = scene({ data: 1 });
      state.hold = held;
      state.held = isHeld ? 1 : null;
      claims.look = async () => ({ ...known, holds: [] });
      expect(codeOf(await worker.prepare({ ...run, ...single }))).to.equal(isHeld ? 'prepared' : 'CLAIM_LOST');
      expect(calls.includes('bring')).to.equal(isHeld);
    }
  });
});

/**
 * Kills the agent around each commit about mounts of another place: the place is noted, a mount is given up, and is over. In
 * the next life nothing is called for them, and nothing of them is left once the volume was given up.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { mountAddress } from '../../machines/kit/addresses.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { registryMachine } from '../../machines/registry/registry.js';
import type { ActorKind, Effect, EffectCall } from '../../src/engine/effects/effects.js';
import type { Engine } from '../../src/engine/engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import type { Commit } from '../../src/engine/store.js';
import { FormerMounts } from '../../src/mounts/former-mounts.js';
import { mountsTopic } from '../../src/mounts/mount-kind.js';
import { VolumeWatch } from '../../src/mounts/volume-watch.js';
import { Lab } from '../engine/lab.js';
import { Cable } from '../registry/cable.js';
import { type ControlledStore, faultyStore } from '../support/faulty-store.js';

const key = { namespace: 'default', id: 'data' };
const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const volume = { uid: 'u', plugin: 'disk', csiId: 'v', volumeContext: {}, publishContext: {}, secrets: {} };
const mount = mountAddress('n1', 'default', 'data');
const answer = { isStaged: true, found: { device: '8:1', root: '/' }, bootId: 'b' };

/** Commit at which the agent is killed, by its event. */
interface Kill {
  type: string;
  /** Whether the commit takes effect. */
  done: boolean;
}

const typeIn = ({ journal }: Commit): string => JSON.parse(journal).event?.type ?? 'none';

class Scene {
  readonly lab = new Lab();
  /** Calls to the plugin. */
  readonly calls: string[] = [];
  /** Whether the controller side counts the volume as used on this node. */
  isKept = true;
  /** Holds back the next answer of the controller side. */
  late: Promise<void> | undefined;
  /** Event whose commit the store refuses. */
  refused: string | undefined;
  /** Whether the record of the mount is damaged. */
  isDamaged = false;
  #engine: Engine | undefined;
  #store: ControlledStore | undefined;
  #former: FormerMounts | undefined;
  #watch: VolumeWatch | undefined;

  /** Starts the agent of this place on what the one before has left. */
  async agentAt(place: string, kill?: Kill): Promise<void> {
    this.#watch?.stop();
    let cable: Cable | undefined;
    const { engine, store } = await this.lab.start(this.#kinds(), {
      through: (store) => {
        const end = new Cable(store);
        cable = end;
        return {
          ...faultyStore(end),
          list: async (range) => {
            const page = await end.list(range);
            const rows = page.rows.map((row) =>
              this.isDamaged && row.address === mount ? { ...row, text: '{' } : row,
            );
            return { ...page, rows };
          },
          commit: async (items) =>
            items.some((commit) => typeIn(commit) === this.refused)
              ? items.map(() => ({ status: 'refused', reason: 'no room' }))
              : end.commit(items),
        };
      },
    });
    this.#engine = engine;
    this.#store = store;
    cable?.cutAt({ is: (commit) => typeIn(commit) === kill?.type, done: kill?.done ?? true });
    const { clock } = this.lab;
    const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };
    const look = async () => {
      const { isKept, late } = this;
      this.late = undefined;
      await late;
      return { ...known, isKept };
    };
    const claims = { look, holds: async () => false };
    const at = { id: place, dataDir: `/${place}`, host: 'h' };
    const former = new FormerMounts({ nodeId: 'n1', place: at, engine, clock, logger: silentLogger });
    this.#former = former;
    const troubles = new TroubleLog({ clock, logger: silentLogger });
    const watch = new VolumeWatch({ nodeId: 'n1', claims, concerns: [former], clock, troubles });
    this.#watch = watch;
    void former.place(former.present()).then(() => watch.start());
    await clock.advance(20_000);
    expect(cable?.isCut, 'killed at that commit').to.equal(kill !== undefined);
  }

  /** Mounts the volume for an alloc. */
  async mounts(): Promise<void> {
    const use = { volume, capability, allocId: 'web', readOnly: false, isClaimed: true };
    await this.#ask({ type: 'mount.use', ...use });
    await this.lab.clock.advance(1_000);
    expect(this.#engine?.peek(mount)?.state).to.equal('published');
    this.calls.length = 0;
  }

  /** As when a plugin is back. */
  async looks(): Promise<void> {
    const looked = this.#watch?.lookAtAll();
    await this.lab.rest();
    await looked;
  }

  async leaves(): Promise<void> {
    await this.#ask({ type: 'mount.leave', allocId: 'web' });
    await this.lab.clock.advance(20_000);
  }

  /** Repairs the record of the mount, and takes it back into service. The record loads while the agent looks at its mounts. */
  async repaired(): Promise<void> {
    this.isDamaged = false;
    await this.lab.clock.advance(2_500);
    const load = this.#store?.hold('load');
    const released = this.#engine?.release(mount);
    await this.lab.clock.advance(4_900);
    load?.();
    await this.lab.rest();
    await released;
  }

  /** Whether the record of the mount is there, and whether it is that of another place. */
  get found(): { isThere: boolean; isFormer: boolean } {
    const isThere = this.#engine?.peek(mount)?.context !== undefined;
    return { isThere, isFormer: this.#former?.why(key) !== undefined };
  }

  async #ask(event: AnyEventObject): Promise<void> {
    const asked = this.#engine?.ask(mount, event);
    await this.lab.rest();
    await asked;
  }

  #kinds(): ActorKind[] {
    const call = (src: string): Effect => ({
      atMostOnce: true,
      run: async () => {
        const reason = this.#former?.why(key);
        if (reason !== undefined) return { status: 'must-wait', reason, for: 'compared' };
        this.calls.push(src);
        return { status: 'done', answer };
      },
    });
    const calls = ['nodeStage', 'nodePublish', 'nodeUnpublish', 'nodeUnstage', 'nodeExpand'];
    const awaitAdmission: Effect = {
      run: async ({ signal }: EffectCall) => {
        await this.#former?.over(key, signal);
        return { status: 'admitted' };
      },
    };
    return [
      { machine: registryMachine, effects: {}, begin: () => ({}) },
      {
        machine: mountMachine,
        effects: { ...Object.fromEntries(calls.map((src) => [src, call(src)])), awaitAdmission },
        begin: () => ({ node: 'n1', ...key }),
        topic: () => mountsTopic('n1'),
      },
    ];
  }
}

describe('mounts of another place, whose agent is killed', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = new Scene();
    await scene.agentAt('first');
    await scene.mounts();
  });

  for (const done of [true, false]) {
    const moment = done ? 'after' : 'before';
    const placed = { type: 'registry.placed', done };

    it(`D8, 34.32 killed ${moment} its place is noted: the mounts are still those of the first`, async () => {
      await scene.agentAt('second', placed);
      await scene.agentAt('second');
      await scene.leaves();
      expect(scene.found).to.deep.equal({ isThere: true, isFormer: true });
      expect(scene.calls).to.deep.equal([]);
    });

    it(`M6, 34.32 killed ${moment} its place is noted, then back at the first: its own, and unmounted`, async () => {
      await scene.agentAt('second', placed);
      await scene.agentAt('first');
      expect(scene.found).to.deep.equal({ isThere: true, isFormer: false });
      await scene.leaves();
      expect(scene.calls).to.deep.equal(['nodeUnpublish', 'nodeUnstage']);
    });

    for (const [what, type] of [
      ['the mount is given up', 'mount.given-up'],
      ['it is over', 'registry.former-mount-over'],
    ] as const) {
      it(`D8, 34.32 killed ${moment} ${what}: gone in the next life, without a call`, async () => {
        await scene.agentAt('second');
        await scene.leaves();
        scene.isKept = false;
        await scene.agentAt('second', { type, done });
        await scene.agentAt('second');
        expect(scene.found).to.deep.equal({ isThere: false, isFormer: false });
        expect(scene.calls).to.deep.equal([]);
      });

      it(`D8, 34.32 killed ${moment} ${what}, at a third place next: gone, without a call`, async () => {
        await scene.agentAt('second');
        scene.isKept = false;
        await scene.agentAt('second', { type, done });
        await scene.agentAt('third');
        expect(scene.found).to.deep.equal({ isThere: false, isFormer: false });
        expect(scene.calls).to.deep.equal([]);
      });
    }
  }

  it('D8, 34.32 given up, and claimed here again before that is over: a new mount is not refused for ever', async () => {
    await scene.agentAt('second');
    scene.refused = 'registry.former-mount-over';
    scene.isKept = false;
    await scene.lab.clock.advance(20_000);
    expect(scene.found).to.deep.equal({ isThere: false, isFormer: true });
    scene.isKept = true;
    scene.refused = undefined;
    await scene.lab.clock.advance(20_000);
    expect(scene.found).to.deep.equal({ isThere: false, isFormer: false });
    await scene.mounts();
  });

  it('M6, 34.32 an answer comes after the mount was given up and made here anew: the new one stays', async () => {
    await scene.agentAt('second');
    let answer = (): void => {};
    scene.isKept = false;
    scene.late = new Promise((resolve) => {
      answer = resolve;
    });
    await scene.lab.clock.advance(5_000);
    expect(scene.late, 'it was asked').to.equal(undefined);
    await scene.looks();
    expect(scene.found).to.deep.equal({ isThere: false, isFormer: false });
    await scene.mounts();
    answer();
    await scene.lab.rest();
    expect(scene.found).to.deep.equal({ isThere: true, isFormer: false });
  });

  it('34.15, 34.32 its record is repaired, and loads slowly: the mount stays that of the first', async () => {
    scene.isDamaged = true;
    await scene.agentAt('second');
    await scene.repaired();
    expect(scene.found).to.deep.equal({ isThere: true, isFormer: true });
  });
});

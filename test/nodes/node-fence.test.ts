/** How the volumes concerned hear what became of a node: all of them, however often one of them or the store gives no answer. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { nobody } from '../../machines/volume/changes.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { ActorSystem } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { StagecraftError } from '../../src/errors.js';
import { NodeFence } from '../../src/nodes/node-fence.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';

const unavailable = (): Promise<never> =>
  Promise.reject(new StagecraftError('STORE_UNAVAILABLE', 'the store does not answer'));

/** Claimed on node a. */
const used = (id: string): VolumeContext => ({
  ...nobody({ namespace: 'default', id, seq: 0 }),
  claims: [
    {
      allocId: 'w',
      nodeId: 'a',
      csiNodeId: 'csi-a',
      mode: 'write',
      accessMode: 'single-node-writer',
      attachmentMode: 'file-system',
      generation: 1,
      state: 'taken',
    },
  ],
});

describe('telling volumes what became of a node', () => {
  const clock = simulatedClock();
  const volumes = ['u', 'v', 'w'].map((id) => volumeAddress('default', id));
  let told: string[];
  let pages: number;
  let isOver: boolean;

  /** Fences node a, with volumes of which a page lists one. */
  function fence(faults: Partial<ActorSystem> = {}): void {
    told = [];
    pages = 0;
    isOver = false;
    const engine = actorSystem({
      ask: async (address) => {
        told.push(address);
        return null;
      },
      page: async ({ after }) => {
        pages += 1;
        const at = after === undefined ? 0 : volumes.indexOf(after) + 1;
        const address = volumes[at] ?? '';
        const context = told.includes(address) ? nobody({ namespace: 'default', id: 'x', seq: 0 }) : used(address);
        const view = { state: 'published', context, seq: 1 };
        return { rows: [[address, view]], ...(at + 1 < volumes.length && { next: address }) };
      },
      ...faults,
    });
    const { signal } = new AbortController();
    const admission = { settled: async () => {} };
    void new NodeFence({ engine, clock, troubles: new TroubleLog({ clock, logger: silentLogger }), admission })
      .release({ nodeId: 'a', reason: 'its power is off', signal })
      .then(() => {
        isOver = true;
      });
  }

  it('N3 those of all pages are told', async () => {
    fence();
    await clock.advance(0);
    expect(told).to.deep.equal(volumes);
    expect(isOver).to.equal(true);
  });

  it('N3 one of them gives no answer: it is told again after a while, and it is not over before', async () => {
    let isSilent = true;
    fence({
      ask: async (address) => {
        if (address === volumes[1] && isSilent) return unavailable();
        told.push(address);
        return null;
      },
    });
    await clock.advance(60_000);
    expect(told).to.deep.equal([volumes[0], volumes[2]]);
    expect(isOver).to.equal(false);
    isSilent = false;
    await clock.advance(60_000);
    expect(told).to.deep.equal([volumes[0], volumes[2], volumes[1]]);
    expect(isOver).to.equal(true);
  });

  it('N3 the store can not list them: it is asked again, and it is not over before', async () => {
    let isAway = true;
    fence({ page: async () => (isAway ? unavailable() : { rows: [] }) });
    await clock.advance(60_000);
    expect(isOver).to.equal(false);
    isAway = false;
    await clock.advance(60_000);
    expect(isOver).to.equal(true);
  });

  it('N3 one is gone by then: there is nobody to be told', async () => {
    fence({ ask: () => Promise.reject(new StagecraftError('VOLUME_NOT_FOUND', 'there is none')) });
    await clock.advance(0);
    expect(isOver).to.equal(true);
    expect(pages).to.equal(3);
  });
});

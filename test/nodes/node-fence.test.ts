/** Tests that all volumes of a node get its fence, however often a volume or the store fails to answer. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { nobody } from '../../machines/volume/changes.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { ActorSystem } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { StagecraftError } from '../../src/errors.js';
import { NodeFence } from '../../src/nodes/node-kind.js';
import { simulatedClock } from '../../src/testing/index.js';
import { actorSystem } from '../support/actor-system.js';

const unavailable = (): Promise<never> =>
  Promise.reject(new StagecraftError('STORE_UNAVAILABLE', 'the store does not answer'));

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

describe('sending a fence to volumes', () => {
  const clock = simulatedClock();
  const volumes = ['u', 'v', 'w'].map((id) => volumeAddress('default', id));
  let told: string[];
  let pages: number;
  let isOver: boolean;

  /** Fences node a. A page of the store has one volume. */
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
    void new NodeFence({
      engine,
      clock,
      logger: silentLogger,
      troubles: new TroubleLog({ clock, logger: silentLogger }),
      admission,
    })
      .release({ nodeId: 'a', reason: 'its power is off', signal })
      .then(() => {
        isOver = true;
      });
  }

  it('N3 volumes of all pages get the fence', async () => {
    fence();
    await clock.advance(0);
    expect(told).to.deep.equal(volumes);
    expect(isOver).to.equal(true);
  });

  it('N3 volume gives no answer: sent again later, and the fence does not end before', async () => {
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

  it('N3 store cannot list volumes: asked again later, and the fence does not end before', async () => {
    let isAway = true;
    fence({ page: async () => (isAway ? unavailable() : { rows: [] }) });
    await clock.advance(60_000);
    expect(isOver).to.equal(false);
    isAway = false;
    await clock.advance(60_000);
    expect(isOver).to.equal(true);
  });

  it('N3 volume deleted meanwhile: skipped', async () => {
    fence({ ask: () => Promise.reject(new StagecraftError('VOLUME_NOT_FOUND', 'there is none')) });
    await clock.advance(0);
    expect(isOver).to.equal(true);
    expect(pages).to.equal(3);
  });
});

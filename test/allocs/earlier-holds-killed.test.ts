/** Kills the runtime around each call and commit that replaces a hold of 0.3.0 by a claim: the volume stays mounted and kept. */
import { expect } from 'chai';
import { singleMountAddress } from '../../machines/kit/addresses.js';
import { noMount } from '../../machines/mount/changes.js';
import type { MountContext } from '../../machines/mount/types.js';
import { AllocClient } from '../../src/allocs/alloc-client.js';
import { allocStateOf } from '../../src/allocs/alloc-view.js';
import { EarlierHolds } from '../../src/allocs/earlier-holds.js';
import { SingleMounts } from '../../src/allocs/single-mounts.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { Store } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import type { CommittedMount } from '../../src/mounts/mount-client.js';
import { actorSystem } from '../support/actor-system.js';
import { faultyStore } from '../support/faulty-store.js';
import { AllocLab, allocId, hold, type Port, volume } from './alloc-lab.js';

const { volume: key, accessMode, attachmentMode } = volume('data');

/** A volume that 0.3.0 has mounted, and a runtime that replaces its hold. */
class Upgraded extends AllocLab {
  #replacing: EarlierHolds | undefined;

  constructor() {
    super(singleMountAddress('n1', allocId, 'default', 'data'));
    this.mounted.add('data');
    Object.assign(this.isHeld, { here: true, there: true });
  }

  override async start(through?: (store: Store) => Store): Promise<void> {
    this.#replacing?.stop();
    await super.start(through);
    const { engine } = this.life;
    const { clock } = this.lab;
    const context = (): MountContext => this.#context();
    const singles = new SingleMounts({
      ...{ logger: silentLogger, bootId: 'b', mounting: this.mounting() },
      client: new AllocClient({ node: 'n1', engine, clock }),
      compare: async () => {},
    });
    this.#replacing = new EarlierHolds({
      ...{ singles, clock, logger: silentLogger, claims: this.claims() },
      engine: actorSystem({
        peek: () => undefined,
        *views(prefix) {
          if (prefix === 'mount/') yield ['mount/n1/default/data', { state: 'published', context: context(), seq: 1 }];
        },
        observe: () => () => {},
      }),
      client: {
        ...{ node: 'n1', addressOf: () => 'mount/n1/default/data', contextAt: context, has: () => true },
        ask: (of) => this.forgetHold(of),
        until: async <T>({ reached }: { reached(now: CommittedMount): T | undefined }): Promise<T> => {
          const found = reached({ state: 'deciding', context: context(), seq: 1 });
          if (found === undefined) throw new StagecraftError('ABORTED', 'it is not so yet');
          return found;
        },
      },
      mounting: { take: async () => void this.calls.push('take data') },
    });
    if (this.view()) await this.ask({ type: 'alloc.recover', isNewBoot: false });
    singles.start();
    this.#replacing.start();
    await this.lab.clock.advance(2_000);
    this.staysMounted();
  }

  /** Nothing was unmounted, and something keeps it attached. */
  staysMounted(): void {
    expect(this.calls).not.to.include.oneOf(['take data', 'release data']);
    expect([this.mounted.has('data'), this.isHeld.there || this.slots.has('data')]).to.deep.equal([true, true]);
  }

  isReplaced(): void {
    this.staysMounted();
    const view = this.view();
    expect([view && allocStateOf(view.state), this.slots.has('data'), this.isHeld]).to.deep.equal([
      ...['prepared', true],
      { here: false, there: false },
    ]);
    this.#replacing?.stop();
  }

  #context(): MountContext {
    const capability = { accessMode, attachmentMode };
    const target = { allocId, readOnly: false, capability, at: 'published', number: 1, sinceMs: 0 } as const;
    return {
      ...noMount({ node: 'n1', ...key }),
      users: this.mounted.has('data') ? [target] : [],
      ...(this.isHeld.here && { holds: [hold] }),
    };
  }
}

const ports: Port[] = ['claim', 'publish', 'bring', 'holdReleased', 'forgetHold'];

describe('a runtime that replaces a hold of 0.3.0, and is killed', () => {
  for (const port of ports)
    it(`35.6 around '${port}': it stays mounted and kept, and the next run ends it`, async () => {
      for (const fault of ['hangs', 'loses its answer'] as const) {
        const lab = new Upgraded();
        lab.faults.set(`${port} data`, fault);
        await lab.start();
        expect(lab.calls).to.include(`${port} data`);
        lab.faults.clear();
        await lab.start();
        await lab.lab.clock.advance(60_000);
        lab.isReplaced();
      }
    });

  it('35.6 while its claim is refused for good: it stays mounted and kept, in this run and the next', async () => {
    const lab = new Upgraded();
    lab.faults.set('claim data', new StagecraftError('VOLUME_UNAVAILABLE', 'it is paused', { final: true }));
    await lab.start();
    await lab.start();
    await lab.lab.clock.advance(600_000);
    lab.staysMounted();
    lab.faults.clear();
    await lab.lab.clock.advance(60_000);
    lab.isReplaced();
  });

  it('35.6 around each commit of its alloc: it stays mounted and kept, and the next run ends it', async () => {
    const stuck: boolean[] = [];
    for (let number = 1; number <= 4; number += 1)
      for (const moment of ['before', 'after'] as const) {
        const lab = new Upgraded();
        let commits = 0;
        const how = async <T>(_: unknown, proceed: () => Promise<T>): Promise<T> => {
          commits += 1;
          if (commits !== number) return proceed();
          if (moment === 'after') await proceed();
          return new Promise(() => {});
        };
        await lab.start((store) => faultyStore(store, { at: 'commit', how }));
        stuck.push(commits >= number);
        await lab.start();
        await lab.lab.clock.advance(60_000);
        lab.isReplaced();
      }
    expect(stuck).to.deep.equal([true, true, true, true, true, true, false, false]);
  });
});

/** A house for tests about one volume, `data`: a new one for each, held after it to the rules that all drivers count on. */
import { expect } from 'chai';
import type { Volume } from '../../src/volumes/volume-view.js';
import { spec, VolumeHouse } from './volume-house.js';

export const key = { id: 'data' };

export class DataHouse extends VolumeHouse {
  make(): Promise<Volume> {
    return this.volumes.create(spec('data'));
  }

  /** Where volumes are, as the plugin calls its nodes. */
  attached(): string[] {
    return [...this.plugin.volumes.values()].flatMap((one) => [...one.attached]);
  }

  async publications(): Promise<Volume['publications']> {
    return (await this.volumes.get(key))?.publications ?? {};
  }

  async stateOn(nodeId: string): Promise<string | undefined> {
    return (await this.publications())[nodeId]?.state;
  }

  /** Its plugin is seen not to be well: calls wait. */
  async makeUnwell(): Promise<void> {
    this.plugin.health = { healthy: false, description: 'initialising' };
    await this.clock.advance(31_000);
  }

  async makeWell(): Promise<void> {
    this.plugin.health = { healthy: true, description: 'ready' };
    await this.clock.advance(31_000);
  }
}

/**
 * Hands each test of this suite its house.
 * @param isMade whether the volume is made already; the calls for that are forgotten
 */
export function inDataHouse(hand: (house: DataHouse) => void, { isMade }: { isMade: boolean }): void {
  let house: DataHouse;
  beforeEach(async () => {
    house = await new DataHouse().furnish();
    if (isMade) await house.make();
    house.plugin.calls.length = 0;
    hand(house);
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });
}

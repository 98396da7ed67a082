/** Fixture for tests of one volume, `data`. Makes a new one for each test, then checks the rules that drivers rely on. */
import { expect } from 'chai';
import type { Volume } from '../../src/volumes/volume-view.js';
import { spec, VolumeHouse } from './volume-house.js';

export const key = { id: 'data' };

export class DataHouse extends VolumeHouse {
  make(): Promise<Volume> {
    return this.volumes.create(spec('data'));
  }

  attached(): string[] {
    return [...this.plugin.volumes.values()].flatMap((one) => [...one.attached]);
  }

  async publications(): Promise<Volume['publications']> {
    return (await this.volumes.get(key))?.publications ?? {};
  }

  async stateOn(nodeId: string): Promise<string | undefined> {
    return (await this.publications())[nodeId]?.state;
  }

  /** Makes the plugin unhealthy, and lets a probe notice: calls wait. */
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
 * Gives each test of the suite its fixture.
 * @param isMade whether the volume is created already; those calls are not recorded
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

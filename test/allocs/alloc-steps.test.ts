/** The steps of allocs on real mounts: seen in the status and the journal, and no commit more for it. */
import { expect } from 'chai';
import type { NamedStep } from '../../machines/alloc/types.js';
import type { AllocStatus } from '../../src/allocs/alloc-view.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { MountHouse, many, node } from '../mounts/mount-house.js';

const address = `alloc/${node}/web`;

const stepOf = ({ volumes }: AllocStatus, name: string): string | undefined =>
  volumes.find((one) => one.name === name)?.step;

/** Of each entry the steps of one volume in it. */
const stepsIn = ({ event }: JournalEntry, name: string): string[] => {
  const steps: NamedStep[] = event?.steps ?? event?.output?.steps ?? [];
  return steps.filter((step) => step.name === name).map(({ type }) => type);
};

describe('the steps of allocs', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  const entries = async (): Promise<JournalEntry[]> => {
    const all: JournalEntry[] = [];
    for await (const entry of house.runtime.journal.entries(address)) all.push(entry);
    return all;
  };

  it('H1 H2 the journal has every step, and the alloc commits five times as it comes and goes', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    await house.runtime.allocations.release('web');
    const all = await entries();
    expect(all.map(({ event }) => event?.type)).to.deep.equal([
      'alloc.prepare',
      'alloc.progress',
      'xstate.done.actor.prepareAlloc',
      'alloc.release',
      'xstate.done.actor.releaseAlloc',
    ]);
    expect(all.flatMap((entry) => stepsIn(entry, 'data'))).to.deep.equal([
      'claim.taken',
      'volume.published',
      'volume.mounted',
      'volume.unmounted',
      'claim.released',
      'slot.freed',
    ]);
  });

  it('H1 H2 the status says the step of each volume, and why it does not get on, forth and back', async () => {
    house = await MountHouse.start({ attach: true });
    for (const id of ['data', 'log']) await house.make(id, many);
    const { allocations } = house.runtime;
    const volumes = ['data', 'log'].map((id) => house.wanted(id, many));
    house.driver.script('ControllerPublishVolume', { hang: 'before' });
    const prepared = allocations.prepare('web', volumes);
    await house.allocIs(
      'web',
      (alloc) => stepOf(alloc, 'data') === 'publishing' || stepOf(alloc, 'log') === 'publishing',
    );
    house.driver.script('NodeStageVolume', { hang: 'before' });
    house.driver.release();
    await house.allocIs('web', (alloc) => stepOf(alloc, 'data') === 'mounting' || stepOf(alloc, 'log') === 'mounting');
    house.driver.release();
    await prepared;
    const { volumes: there } = await allocations.status('web');
    expect(there.map(({ step }) => step)).to.deep.equal(['mounted', 'mounted']);
    house.driver.script('NodeUnpublishVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    const released = allocations.release('web');
    const { waits } = await house.allocIs('web', (alloc) => alloc.waits.data !== undefined);
    expect(waits.data).to.contain('busy');
    expect(stepOf(await allocations.status('web'), 'data')).to.equal('unmounting');
    house.driver.clear();
    await released;
  });
});

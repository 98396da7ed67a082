/** A runtime that dies at any write, before or after it was done: what the next one makes of what is there. */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import type { PluginInfo } from '../../machines/plugin.js';
import type { Store } from '../../src/engine/store.js';
import { memoryStore } from '../../src/stores/memory.js';
import { Cable, type Cut } from './cable.js';
import { device, House } from './house.js';

/** What is asked for, one after the other; each leads to the list and to the events beside it. */
const steps: { ask(house: House): Promise<void>; list: PluginInfo[]; told: string[] }[] = (() => {
  const [a1, a2, a3] = [device('a1'), device('a2'), device('a3')];
  const a1b = device('a1', { version: '2' });
  const out = (allocId: string) => (house: House) => house.plugins.deregister('device', 'gpu', allocId);
  const put = (info: PluginInfo) => (house: House) => house.plugins.register(info);
  return [
    { ask: put(a1), list: [a1], told: ['registered a1'] },
    { ask: put(a2), list: [a2, a1], told: ['registered a2'] },
    { ask: put(a1b), list: [a2, a1b], told: ['updated a1'] },
    { ask: put(a3), list: [a3, a2, a1b], told: ['registered a3'] },
    { ask: out('a3'), list: [a2, a1b], told: ['deregistered a3', 'promoted a2 for a3'] },
    { ask: out('a1'), list: [a2], told: ['deregistered a1'] },
    { ask: put(a3), list: [a3, a2], told: ['registered a3'] },
    { ask: out('a2'), list: [a3], told: ['deregistered a2'] },
    { ask: out('a3'), list: [], told: ['deregistered a3'] },
    { ask: put(a1), list: [a1], told: ['registered a1'] },
  ];
})();

/** Asks until the cable is cut. Answers how many were answered with success. */
async function runUntilCut(data: Store, cut: Cut, rests: boolean): Promise<{ answered: number; isCut: boolean }> {
  const cable = new Cable(data, cut);
  const house = new House(cable);
  let answered = 0;
  const askAll = async (): Promise<void> => {
    await house.open();
    for (const { ask } of steps) {
      await ask(house);
      answered += 1;
      if (rests) await house.rest();
    }
    await house.rest();
  };
  // Once it is cut nobody waits for an answer any more: the process is dead.
  await Promise.race([askAll().catch(() => {}), cable.whenCut]);
  await Promise.race([house.dispose().catch(() => {}), cable.whenCut]);
  rmSync(house.directory, { recursive: true, force: true });
  return { answered, isCut: cable.isCut };
}

/** Brings up the next runtime on the same data and lets it come to rest. */
async function successor(data: Store): Promise<House> {
  await data.close(); // the leases of the dead end with it
  const house = await new House(data).open();
  await house.rest();
  return house;
}

/** Everything that must hold, wherever it was cut. */
async function check(house: House, answered: number): Promise<void> {
  const list = house.plugins.instances('device', 'gpu');
  const lists = [[], ...steps.map((step) => step.list)].slice(answered, answered + 2);
  expect(lists, `after ${answered} answers`).to.deep.include(list);

  const reached = [answered, answered + 1].filter((n) => {
    const expected = n === 0 ? [] : steps[n - 1]?.list;
    return JSON.stringify(expected) === JSON.stringify(list);
  });
  const told = (await house.told()).filter((line) => !line.includes('→'));
  const expected = reached.map((n) => steps.slice(0, n).flatMap((step) => step.told));
  expect(expected, 'each event once, in order').to.deep.include(told);

  // Every instance runs, and nothing else does.
  const { rows } = await house.store.list({ prefix: 'plugin/', limit: 100 });
  expect(rows).to.have.lengthOf(list.length);
  const open = house.kind.clients.filter(({ closes }) => closes === 0).map(({ info }) => info);
  expect(open).to.have.deep.members(list);
  for (const { allocId } of list) expect((await house.history(device(allocId))).join()).to.not.include('crash');
  if (list[0]) expect(house.plugins.status('device', 'gpu')).to.deep.include({ info: list[0], state: 'healthy' });
  expect(house.runtime.actors.quarantined()).to.deep.equal([]);
}

describe('plugins after a crash', () => {
  for (const rests of [true, false]) {
    for (const done of [true, false]) {
      const when = `${rests ? 'between quiet requests' : 'between hasty requests'}, ${done ? 'after' : 'before'} it was done`;

      it(`R11 cut off at any write, ${when}: nothing answered is lost, each event is told once, all instances run`, async () => {
        let cuts = 0;
        for (let afterWrites = 0; ; afterWrites += 1) {
          const data = memoryStore();
          const { answered, isCut } = await runUntilCut(data, { afterWrites, done }, rests);
          if (!isCut) break;
          cuts += 1;
          const house = await successor(data);
          try {
            await check(house, answered);
          } catch (error) {
            throw new Error(`cut after ${afterWrites} writes: ${String(error)}`, { cause: error });
          } finally {
            await house.dispose();
          }
        }
        expect(cuts).to.be.greaterThan(2 * steps.length);
      });
    }
  }
});

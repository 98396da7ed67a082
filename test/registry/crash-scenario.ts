/**
 * A runtime that dies at a write, before or after it was done, and what must hold in the next one on the same data,
 * wherever it was cut. The story that is cut: crash-story.ts. Every moment of it: crash.test.ts, restart-crash.test.ts
 */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { Cable, type Cut } from './cable.js';
import { steps } from './crash-story.js';
import { House } from './house.js';
import type { KeptData } from './kept-data.js';

export interface Ending {
  /** How many requests were answered with success. */
  answered: number;
  isCut: boolean;
  /** How many writes there were. */
  writes: number;
}

/**
 * Tells the story until the cable is cut; the dead runtime's hold on the data ends then.
 * @param rests whether all that a request leads to comes to rest before the next one
 */
export async function runUntilCut(data: KeptData, cut: Cut | undefined, rests: boolean): Promise<Ending> {
  const store = data.store();
  const cable = new Cable(store, cut);
  const house = new House(cable);
  let answered = 0;
  const askAll = async (): Promise<void> => {
    await house.open();
    for (const { ask } of steps) {
      await ask(house.plugins);
      answered += 1;
      if (rests) await house.rest();
    }
    await house.rest();
  };
  // Once it is cut nobody waits for an answer any more: the process is dead.
  const unlessCut = (error: unknown): Promise<void> => (cable.isCut ? cable.whenCut : Promise.reject(error));
  await Promise.race([askAll().catch(unlessCut), cable.whenCut]);
  await Promise.race([house.dispose().catch(unlessCut), cable.whenCut]);
  rmSync(house.directory, { recursive: true, force: true });
  await data.bury(store);
  return { answered, isCut: cable.isCut, writes: cable.writes };
}

/** Brings up the next runtime on the same data, lets it come to rest, and checks everything. */
export async function checkSuccessor(data: KeptData, answered: number): Promise<void> {
  const house = new House(new Cable(data.store()));
  try {
    await house.open();
    await house.rest();
    await check(house, answered);
  } finally {
    await house.dispose();
  }
}

async function check(house: House, answered: number): Promise<void> {
  const list = house.plugins.instances('device', 'gpu');
  const lists = [[], ...steps.map((step) => step.list)].slice(answered, answered + 2);
  expect(lists, `after ${answered} answers`).to.deep.include(list);
  // Every byte, and the order of what has names.
  expect(lists.map((each) => JSON.stringify(each))).to.include(JSON.stringify(list));

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
  for (const info of list) expect((await house.history(info)).join()).to.not.include('crash');
  if (list[0]) expect(house.plugins.status('device', 'gpu')).to.deep.include({ info: list[0], state: 'healthy' });
  expect(house.runtime.actors.quarantined()).to.deep.equal([]);
}

/** The work for a client ends when the client is gone. */
import { request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Moment } from '../../src/engine/machine/replay.js';
import { serveInspector } from '../../src/inspector/serve-inspector.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const address = 'volume/default/data';

/** Items without an end, with room for other work between them. `ended` resolves once nobody wants more. */
class Endless<T> {
  readonly ended: Promise<void>;
  readonly begun: Promise<void>;
  #end = (): void => {};
  #begin = (): void => {};
  readonly #item: T;

  constructor(item: T) {
    this.#item = item;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  readonly items = async function* (this: Endless<T>): AsyncGenerator<T, void> {
    try {
      for (;;) {
        await setImmediate();
        this.#begin();
        yield this.#item;
      }
    } finally {
      this.#end();
    }
  }.bind(this);
}

describe('a client that is gone', () => {
  let house: VolumeHouse;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    const creating = house.runtime.volumes.create(spec('data'));
    await house.rest();
    await creating;
  });
  afterEach(() => house.dispose());

  /** Asks for a path, and leaves once the work has begun. */
  async function leave(parts: object, path: string, { begun, ended }: Pick<Endless<never>, 'begun' | 'ended'>) {
    const { runtime } = house;
    const actors = { ...runtime.actors, ...parts };
    const journal = { ...runtime.journal, ...parts };
    const inspector = await serveInspector(
      Object.create(runtime, { actors: { value: actors }, journal: { value: journal } }),
    );
    try {
      const headers = { authorization: `Bearer ${inspector.token}` };
      const call = request(new URL(path, inspector.url), { headers });
      call.on('error', () => {});
      call.end();
      await begun;
      call.destroy();
      await ended;
    } finally {
      await inspector.close();
    }
  }

  it('34.13 an export of journals ends with its client', async () => {
    const lines = new Endless('{}\n');
    await leave({ export: lines.items }, '/v1/journal-export', lines);
  });

  it('34.13 histories, journals, moments and the overview are not read on for nobody', async () => {
    let moment: Moment | undefined;
    for await (moment of house.runtime.journal.moments(address)) break;
    for (const path of [`/v1/history/${address}`, `/v1/moments/${address}?after=0`]) {
      const moments = new Endless(moment);
      await leave({ moments: moments.items }, path, moments);
    }
    const entries = new Endless(moment?.entry);
    await leave({ entries: entries.items }, `/v1/journal/${address}`, entries);
    const pages = new Endless([]);
    await leave({ pages: pages.items }, '/v1/overview', pages);
  });
});

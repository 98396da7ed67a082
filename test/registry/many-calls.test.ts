/**
 * Thousands of calls at once, with followers that come and go meanwhile, against plain lists: what is registered, what
 * each follower was told, and what is left in memory and in the store.
 */
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { pluginAddress, pluginsAddress } from '../../machines/kit/addresses.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { Random } from '../../src/engine/random.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { cursorIn } from '../event-cursor.js';
import { Cable } from './cable.js';
import { device, House, nodeId } from './house.js';
import { inLmdb, inMemory, inRedis, type KeptData } from './kept-data.js';

const seed = 20261121;
const allocIds = ['a1', 'a2', 'a3', 'a4'];

/** Newest first, by name: what the registry must have in the end. */
class Model {
  readonly lists = new Map<string, PluginInfo[]>();
  /** By name, what must have been told. */
  readonly told = new Map<string, string[]>();

  register(info: PluginInfo): void {
    const list = this.#list(info.name);
    const at = list.findIndex(({ allocId }) => allocId === info.allocId);
    if (at < 0) {
      list.unshift(info);
      this.#tell(info.name, `registered ${info.allocId}`);
    } else if (JSON.stringify(list[at]) !== JSON.stringify(info)) {
      list[at] = info;
      this.#tell(info.name, `updated ${info.allocId}`);
    }
  }

  deregister(name: string, allocId: string): void {
    const list = this.#list(name);
    const at = list.findIndex((info) => info.allocId === allocId);
    if (at < 0) return;
    list.splice(at, 1);
    this.#tell(name, `deregistered ${allocId}`);
    if (at === 0 && list[0]) this.#tell(name, `promoted ${list[0].allocId}`);
  }

  get present(): PluginInfo[] {
    return [...this.lists.values()].flat();
  }

  #list(name: string): PluginInfo[] {
    const list = this.lists.get(name) ?? [];
    this.lists.set(name, list);
    return list;
  }

  #tell(name: string, line: string): void {
    this.told.set(name, [...(this.told.get(name) ?? []), line]);
  }
}

/** How a follower ends. */
const endings = ['return', 'abort', 'throw', 'stays'] as const;

/** One that follows from somewhere on, at its own pace, and leaves in its own way. */
class Follower {
  readonly got: PluginEvent[] = [];
  readonly from: string;
  readonly stays: boolean;
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  constructor(house: House, random: Random, from: string) {
    this.from = from;
    const ending = endings[Math.floor(random.next() * endings.length)];
    this.stays = ending === 'stays';
    const last = this.stays ? Number.POSITIVE_INFINITY : 1 + Math.floor(random.next() * 400);
    const isSlow = random.next() < 0.3;
    const events = house.plugins.updates(undefined, { from, signal: this.#stop.signal });
    this.ended = this.#read(events, { last, isSlow, ending }).catch((error: unknown) => {
      if (!(error instanceof Error && error.message === 'enough')) throw error;
    });
  }

  /** Leaves, if it has not left already. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.ended;
  }

  async #read(
    events: AsyncIterable<PluginEvent>,
    { last, isSlow, ending }: { last: number; isSlow: boolean; ending: string | undefined },
  ): Promise<void> {
    for await (const event of events) {
      this.got.push(event);
      if (this.got.length >= last) {
        if (ending === 'return') return;
        if (ending === 'throw') throw new Error('enough');
        this.#stop.abort();
      }
      if (isSlow) await new Promise(setImmediate);
    }
  }
}

interface Load {
  calls: number;
  names: number;
  followers: number;
  /** Not where a store answers in real time: it would be taken for dead. */
  timePasses: boolean;
}

/** Calls in bursts, none awaited before the next one is made; followers come in between. */
async function work(house: House, random: Random, load: Load): Promise<{ model: Model; followers: Follower[] }> {
  const model = new Model();
  const followers: Follower[] = [];
  const pick = <T>(items: T[]): T | undefined => items[Math.floor(random.next() * items.length)];
  const names = Array.from({ length: load.names }, (_, n) => `n${n}`);
  let underWay: Promise<void>[] = [];
  for (let n = 0; n < load.calls; n += 1) {
    const [name = '', allocId = ''] = [pick(names), pick(allocIds)];
    if (random.next() < 0.6) {
      const info = device(allocId, { name, version: random.next() < 0.8 ? '1' : '2' });
      underWay.push(house.plugins.register(info));
      model.register(info);
    } else {
      underWay.push(house.plugins.deregister('device', name, allocId));
      model.deregister(name, allocId);
    }
    if (n % Math.ceil(load.calls / load.followers) === 0) {
      const known = followers.flatMap(({ got }) => got.at(-1)?.id ?? []);
      followers.push(new Follower(house, random, random.next() < 0.4 ? 'now' : (pick(known) ?? '0')));
    }
    if (random.next() < 0.05) {
      await Promise.all(underWay);
      underWay = [];
    }
    if (load.timePasses && random.next() < 0.003) await house.clock.advance(30_000);
  }
  await Promise.all(underWay);
  await house.rest();
  return { model, followers };
}

/** One run of the topic without a gap, to its end where the follower stayed. */
function checkFollower({ got, from }: Follower, all: PluginEvent[]): void {
  const first = from === 'now' ? cursorIn(got[0]?.id ?? '1') : cursorIn(from) + 1;
  expect(got.map(({ id }) => id)).to.deep.equal(all.slice(first - 1, first - 1 + got.length).map(({ id }) => id));
  expect(got).to.deep.equal(all.slice(first - 1, first - 1 + got.length));
}

/** What was told of the registrations of one name is what happened to it. */
function checkTold(model: Model, all: PluginEvent[]): void {
  const told = new Map<string, string[]>();
  for (const { kind, info } of all) {
    if (kind !== 'health') told.set(info.name, [...(told.get(info.name) ?? []), `${kind} ${info.allocId}`]);
  }
  expect(Object.fromEntries(told)).to.deep.equal(Object.fromEntries(model.told));
}

/** Nothing lives, and nothing is stored, but what is registered. */
async function checkLeft(house: House, model: Model): Promise<void> {
  const { present } = model;
  const names = new Set(present.map(({ name }) => name));
  const addresses = [
    `registry/${nodeId}`,
    ...[...names].map((name) => pluginsAddress(nodeId, 'device', name)),
    ...present.map(({ type, name, allocId }) => pluginAddress(nodeId, type, name, allocId)),
  ];
  expect(house.runtime.actors.list().map(({ address }) => address)).to.have.members(addresses);
  const { rows } = await house.store.list({ prefix: '', limit: 10_000 });
  expect(rows.map(({ address }) => address)).to.have.members(addresses);
  expect((await house.store.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
  const open = house.kind.clients.filter(({ closes }) => closes === 0);
  expect(open.map(({ info }) => info)).to.have.deep.members(present);
  expect(house.kind.clients.filter(({ closes }) => closes > 1)).to.deep.equal([]);
  const heard = house.kind.clients.filter(({ listeners }) => listeners.size > 0);
  expect(heard).to.have.members(open);
  expect(heard.every(({ listeners }) => listeners.size === 1)).to.equal(true);
}

const heavy = { calls: 3_000, names: 300, followers: 40, timePasses: true };
const light = { calls: 600, names: 40, followers: 20, timePasses: false };
const root = existsSync('/dev/shm') ? '/dev/shm' : undefined;

for (const [title, make, load] of [
  ['memory', async () => inMemory(), heavy],
  ['lmdb', () => inLmdb(root), light],
  ['redis', inRedis, light],
] satisfies [string, () => Promise<KeptData>, Load][]) {
  describe(`many calls on ${title}`, () => {
    let data: KeptData;
    let house: House;

    beforeEach(async () => {
      data = await make();
      house = await new House(new Cable(data.store())).open();
    });

    afterEach(async () => {
      await house.dispose();
      await data.remove();
    });

    it(`R1 R7 R10 ${load.calls} calls, ${load.followers} followers, seed ${seed}: results as in plain lists, no gaps, no remains`, async () => {
      const atFirst = house.clock.pending;
      const { model, followers } = await work(house, seededRandom(seed), load);

      expect(house.plugins.list()).to.have.deep.members([...model.lists.values()].flatMap(([first]) => first ?? []));
      for (const [name, list] of model.lists) {
        expect(house.plugins.instances('device', name), name).to.deep.equal(list);
      }
      const all = await house.events();
      checkTold(model, all);
      // Those that stayed are told of all, however slow they are.
      const stayed = followers.filter(({ stays }) => stays);
      expect(stayed.length).to.be.greaterThan(load.followers / 8);
      while (stayed.some(({ got }) => got.at(-1)?.id !== all.at(-1)?.id)) await new Promise(setImmediate);
      await Promise.all(followers.map((follower) => follower.stop()));
      for (const follower of followers) checkFollower(follower, all);
      expect(followers.filter(({ got }) => got.length > 0).length).to.be.greaterThan(load.followers / 2);
      await checkLeft(house, model);

      // One timer for the next look at each instance; those of the runtime, and no more.
      expect(house.clock.pending - model.present.length).to.be.at.most(atFirst);
      for (const { type, name, allocId } of model.present) await house.plugins.deregister(type, name, allocId);
      await house.rest();
      expect(house.runtime.actors.list().map(({ address }) => address)).to.deep.equal([`registry/${nodeId}`]);
      expect(house.kind.closes.every((closes) => closes === 1)).to.equal(true);
      expect(house.clock.pending).to.equal(atFirst);
      await house.runtime.close();
      expect(house.clock.pending).to.equal(0);
    });
  });
}

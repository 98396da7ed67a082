/** The machine that holds the instances of one name, under plain XState; what it asks for is collected. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Actor, createActor } from 'xstate';
import { pluginAddress } from '../../../machines/kit/addresses.js';
import type { MessageParams } from '../../../machines/kit/host.js';
import { isSameData } from '../../../machines/kit/same-data.js';
import type { PluginInfo } from '../../../machines/plugin/plugin.js';
import { pluginsMachine, type RegistrationChanged } from '../../../machines/plugin/plugins.js';
import { anyStamp } from '../stamped.js';

const node = 'worker-1';

function instance(allocId: string, more: Partial<PluginInfo> = {}): PluginInfo {
  return { type: 'csi-node', name: 'ebs', allocId, connection: { socketPath: `/run/${allocId}.sock` }, ...more };
}

const a1 = instance('a1');
const a2 = instance('a2');
const a3 = instance('a3');

const addressOf = ({ type, name, allocId }: PluginInfo): string => pluginAddress(node, type, name, allocId);
const begin = (info: PluginInfo): MessageParams => ({ to: addressOf(info), input: { info } });
const restart = (info: PluginInfo): MessageParams => ({ to: addressOf(info), event: { type: 'plugin.restart', info } });
const shutdown = (info: PluginInfo): MessageParams => ({ to: addressOf(info), event: { type: 'plugin.shutdown' } });

/** A started machine; what the last event told and asked for. */
class Scene {
  told: RegistrationChanged[] = [];
  messages: MessageParams[] = [];
  readonly #actor: Actor<typeof pluginsMachine>;

  constructor() {
    const collect = (_: unknown, params: MessageParams[]): void => void this.messages.push(...params);
    this.#actor = createActor(pluginsMachine.provide({ actions: { messages: collect } }), { input: { node } });
    this.#actor.on('*', (event) => this.told.push(event));
    this.#actor.start();
  }

  get state(): string {
    return this.#actor.getSnapshot().value;
  }

  get isAbsent(): boolean {
    return this.#actor.getSnapshot().hasTag('absent');
  }

  /** Newest first. */
  get instances(): PluginInfo[] {
    return this.#actor.getSnapshot().context.instances;
  }

  register(...infos: PluginInfo[]): this {
    for (const info of infos) {
      this.#forget();
      this.#actor.send({ type: 'plugins.register', info, ...anyStamp });
    }
    return this;
  }

  deregister(allocId: string, dependents?: string[], info?: PluginInfo): this {
    this.#forget();
    const asked = { ...(dependents && { dependents }), ...(info && { info }) };
    this.#actor.send({ type: 'plugins.deregister', allocId, ...asked, ...anyStamp });
    return this;
  }

  #forget(): void {
    this.told = [];
    this.messages = [];
  }
}

describe('plugins machine', () => {
  it('R7 begun, it is empty, and counts as absent', () => {
    const scene = new Scene();
    expect([scene.state, scene.isAbsent, scene.instances]).to.deep.equal(['empty', true, []]);
  });

  it('R3 the first instance: present, told as registered, and begun', () => {
    const scene = new Scene().register(a1);
    expect([scene.state, scene.isAbsent]).to.deep.equal(['present', false]);
    expect(scene.instances).to.deep.equal([a1]);
    expect(scene.told).to.deep.equal([{ type: 'registered', info: a1 }]);
    expect(scene.messages).to.deep.equal([begin(a1)]);
  });

  it('R3 further instances go to the front, each is begun, none of the others hears of it', () => {
    const scene = new Scene().register(a1, a2, a3);
    expect(scene.instances).to.deep.equal([a3, a2, a1]);
    expect(scene.told).to.deep.equal([{ type: 'registered', info: a3 }]);
    expect(scene.messages).to.deep.equal([begin(a3)]);
  });

  describe('the same allocId again', () => {
    const whole = instance('a1', { version: '1', options: { x: '1', y: '2' } });
    const otherOrder: PluginInfo = {
      options: { y: '2', x: '1' },
      version: '1',
      connection: { socketPath: '/run/a1.sock' },
      allocId: 'a1',
      name: 'ebs',
      type: 'csi-node',
    };

    for (const [title, again] of [
      ['word for word', whole],
      ['with its keys in another order, at any depth', otherOrder],
    ] satisfies [string, PluginInfo][]) {
      it(`R4 ${title}: nothing is told, asked for, moved or replaced`, () => {
        const scene = new Scene().register(whole, a2).register(again);
        expect(scene.told).to.deep.equal([]);
        expect(scene.messages).to.deep.equal([]);
        expect(JSON.stringify(scene.instances)).to.equal(JSON.stringify([a2, whole]));
      });
    }

    for (const [title, changed] of [
      ['another version', { ...whole, version: '2' }],
      ['no version any more', instance('a1', { options: { x: '1', y: '2' } })],
      ['another socket', { ...whole, connection: { socketPath: '/run/b.sock' } }],
      ['another option', { ...whole, options: { x: '1', y: '3' } }],
      ['one option less', { ...whole, options: { x: '1' } }],
      ['no options any more', instance('a1', { version: '1' })],
      ['empty options instead of some', { ...whole, options: {} }],
    ] satisfies [string, PluginInfo][]) {
      it(`R4 with ${title}: replaced in its place, told as updated, restarted`, () => {
        const scene = new Scene().register(a3, whole, a2).register(changed);
        expect(scene.instances).to.deep.equal([a2, changed, a3]);
        expect(scene.told).to.deep.equal([{ type: 'updated', info: changed }]);
        expect(scene.messages).to.deep.equal([restart(changed)]);
      });
    }

    it('R4 an option that is named like something of every object is an option as any other', () => {
      const odd = instance('a1', { options: { constructor: 'x' } });
      expect(new Scene().register(a1).register(odd).told).to.deep.equal([{ type: 'updated', info: odd }]);
      expect(isSameData(a1, odd)).to.equal(false);
    });
  });

  it('R5 the old instance leaves after its replacement came: the replacement stays active', () => {
    const scene = new Scene().register(a1, a2).deregister('a1');
    expect(scene.instances).to.deep.equal([a2]);
    expect(scene.told).to.deep.equal([{ type: 'deregistered', info: a1 }]);
    expect(scene.messages).to.deep.equal([shutdown(a1)]);
  });

  it('R5 an instance between others leaves: the order of the rest stays', () => {
    expect(new Scene().register(a1, a2, a3).deregister('a2').instances).to.deep.equal([a3, a1]);
  });

  it('R7 the active instance leaves: the one before it is promoted, in the same step', () => {
    const scene = new Scene().register(a1, a2).deregister('a2');
    expect(scene.instances).to.deep.equal([a1]);
    expect(scene.told).to.deep.equal([
      { type: 'deregistered', info: a2 },
      { type: 'promoted', info: a1, from: a2 },
    ]);
    expect(scene.messages).to.deep.equal([shutdown(a2)]);
  });

  it('R7 the last instance leaves: nobody is promoted, and nothing is left', () => {
    const scene = new Scene().register(a1).deregister('a1');
    expect([scene.state, scene.isAbsent, scene.instances]).to.deep.equal(['empty', true, []]);
    expect(scene.told).to.deep.equal([{ type: 'deregistered', info: a1 }]);
    expect(scene.messages).to.deep.equal([shutdown(a1)]);
  });

  for (const [title, scene] of [
    ['the active one', () => new Scene().register(a1, a2).deregister('a2', ['volume v'])],
    ['one behind', () => new Scene().register(a2, a1).deregister('a2', ['volume v'])],
    ['the only one', () => new Scene().register(a2).deregister('a2', ['volume v'])],
  ] satisfies [string, () => Scene][]) {
    it(`I13 ${title} leaves while something depends on it: told with that, and stopped`, () => {
      const { told, messages } = scene();
      expect(told[0]).to.deep.equal({ type: 'deregistered', info: a2, dependents: ['volume v'] });
      expect(messages).to.deep.equal([shutdown(a2)]);
    });
  }

  for (const [title, course] of [
    ['the last one', [a1]],
    ['the active one', [a2, a1]],
    ['one behind it', [a1, a2]],
  ] satisfies [string, PluginInfo[]][]) {
    it(`R6 ${title} is to leave as it was defined: another definition by then stays, the same leaves`, () => {
      const scene = new Scene().register(...course).deregister('a1', [], { ...a1, version: 'before' });
      expect([scene.instances, scene.told, scene.messages]).to.deep.equal([course.toReversed(), [], []]);
      expect(scene.deregister('a1', [], a1).instances).to.deep.equal(course.filter(({ allocId }) => allocId !== 'a1'));
      expect(scene.deregister('a1', [], a1).told, 'gone already').to.deep.equal([]);
    });
  }

  it('I13 nothing depends on an instance that leaves: nothing is told of that', () => {
    expect(new Scene().register(a1).deregister('a1', []).told).to.deep.equal([{ type: 'deregistered', info: a1 }]);
  });

  for (const [title, scene] of [
    ['never there', () => new Scene().register(a1).deregister('a9')],
    ['already gone', () => new Scene().register(a1, a2).deregister('a2').deregister('a2')],
    ['of an empty name', () => new Scene().deregister('a1')],
    ['already gone with the last of its name', () => new Scene().register(a1).deregister('a1').deregister('a1')],
  ] satisfies [string, () => Scene][]) {
    it(`R6 deregistering an instance that is ${title}: nothing is told, nothing is stopped`, () => {
      const { told, messages } = scene();
      expect([told, messages]).to.deep.equal([[], []]);
    });
  }

  it('R3 an instance that left may come again, as a new one', () => {
    const scene = new Scene().register(a1, a2).deregister('a1').register(a1);
    expect(scene.instances).to.deep.equal([a1, a2]);
    expect(scene.told).to.deep.equal([{ type: 'registered', info: a1 }]);
    expect(scene.messages).to.deep.equal([begin(a1)]);
  });

  it('R1 R5 R7 any course of things: order, events and messages are those of a plain list', () => {
    const allocId = fc.constantFrom('a1', 'a2', 'a3', 'a4');
    const step = fc.oneof(
      fc
        .record({ allocId, version: fc.constantFrom('1', '2') })
        .map((more) => ({ register: instance(more.allocId, more) })),
      allocId.map((deregister) => ({ deregister })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const scene = new Scene();
        let list: PluginInfo[] = [];
        for (const one of steps) {
          const before = list;
          if ('register' in one) {
            const present = list.some((info) => info.allocId === one.register.allocId);
            list = present
              ? list.map((info) => (info.allocId === one.register.allocId ? one.register : info))
              : [one.register, ...list];
            scene.register(one.register);
          } else {
            list = list.filter((info) => info.allocId !== one.deregister);
            scene.deregister(one.deregister);
          }
          expect(scene.instances).to.deep.equal(list);
          expect(scene.state).to.equal(list.length > 0 ? 'present' : 'empty');
          const [was, is] = [before[0], list[0]];
          const promoted = was && is && was.allocId !== is.allocId && list.length < before.length;
          const promotions = scene.told.filter(({ type }) => type === 'promoted');
          expect(promotions).to.deep.equal(promoted ? [{ type: 'promoted', info: is, from: was }] : []);
          const changed = JSON.stringify(before) !== JSON.stringify(list);
          expect(scene.told.length - promotions.length).to.equal(changed ? 1 : 0);
          expect(scene.messages).to.have.lengthOf(changed ? 1 : 0);
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});

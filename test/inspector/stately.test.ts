/** Stately's inspector: its own receiver gets this runtime's actors, from a real listener. */
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect } from 'chai';
import { createMachine } from 'xstate';
import { catalog } from '../../machines/catalog.js';
import { shown } from '../../src/host/shown.js';
import { type Inspector, serveInspector } from '../../src/inspector/serve-inspector.js';
import { definitionOf, StatelyMessages } from '../../src/inspector/stately-messages.js';
import { until } from '../until.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe("Stately's inspector", () => {
  let house: VolumeHouse;
  let inspector: Inspector;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    inspector = await serveInspector(house.runtime);
  });

  afterEach(async () => {
    await inspector.close();
    await house.dispose();
  });

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  /** All messages that the package's own receiver gets. */
  function received(query = ''): StatelyInspectionEvent[] {
    const { host } = new URL(inspector.url);
    const server = `ws://${host}/v1/stately?token=${inspector.token}${query}`;
    const messages: StatelyInspectionEvent[] = [];
    createWebSocketReceiver({ server }).subscribe((message) => messages.push(message));
    return messages;
  }

  it('X4 on connecting every known actor comes first, with its latest snapshot and its parts below it', async () => {
    await create('data');
    const messages = received();
    await until(() => messages.some(({ sessionId }) => sessionId === 'volume/default/data#lifecycle'));
    expect(messages.map(({ type }) => type).every((type) => type === '@xstate.actor')).to.equal(true);
    const volume = messages.find(({ sessionId }) => sessionId === 'volume/default/data');
    expect(volume).to.deep.include({ name: 'volume/default/data', parentId: `registry/${house.runtime.nodeId}` });
    expect(volume).to.have.nested.property('snapshot.value', 'created');
    const part = messages.find(({ sessionId }) => sessionId === 'volume/default/data#lifecycle');
    expect(part).to.deep.include({ parentId: 'volume/default/data', name: 'lifecycle' });
    for (const message of messages)
      expect(Object.keys(message)).to.include.members(['type', 'sessionId', 'rootId', 'createdAt', 'id', '_version']);
  });

  it('X4 then events and snapshots as they happen, each state in its order, and new parts as actors', async () => {
    await create('first');
    const messages = received('&address=volume/');
    await until(() => messages.length > 1);
    await create('data');
    const publishing = house.runtime.volumes.publish({ id: 'data' }, 'a');
    await house.rest();
    await publishing;
    const isPublished = (message: StatelyInspectionEvent): boolean =>
      message.type === '@xstate.snapshot' && Reflect.get(message.snapshot, 'value') === 'published';
    await until(() => messages.some(isPublished));
    const events = messages.flatMap((message) => (message.type === '@xstate.event' ? message.event.type : []));
    expect(events).to.include.members(['volume.create', 'volume.publish']);
    const states = messages.flatMap((message) =>
      message.type !== '@xstate.event' && message.sessionId === 'volume/default/data'
        ? JSON.stringify(Reflect.get(Object(message.snapshot), 'value'))
        : [],
    );
    expect(states.indexOf('"created"')).to.be.below(states.indexOf('"published"'));
    expect(messages.find(({ sessionId }) => sessionId === 'volume/default/data#publication/a')?.type).to.equal(
      '@xstate.actor',
    );
  });

  it('X4 an actor that is deleted ends, with its parts', async () => {
    await create('data');
    const messages = received('&address=volume/');
    await until(() => messages.length > 1);
    const deleting = house.runtime.volumes.delete({ id: 'data' });
    await house.rest();
    await deleting;
    const isOver = (message: StatelyInspectionEvent): boolean =>
      message.type === '@xstate.snapshot' && Reflect.get(message.snapshot, 'status') === 'done';
    await until(() => messages.filter(isOver).some(({ sessionId }) => sessionId.includes('#')));
  });

  it('X4 X5 each definition can be drawn: XState makes a machine of it, without a word of a context', () => {
    for (const { machine, charts } of catalog.values()) {
      for (const one of [machine, ...charts]) {
        const definition = JSON.parse(definitionOf(one) ?? '');
        const drawn = createMachine(definition);
        expect(Object.keys(drawn.root.states), one.id).to.deep.equal(Object.keys(one.root.states));
        expect(drawn.events.toSorted(), one.id).to.deep.equal(one.events.toSorted());
        expect(JSON.stringify(definition), one.id).not.to.contain('"context"');
      }
    }
  });

  it('X4 an actor is told once, whatever comes first', () => {
    const messages = new StatelyMessages('registry/n1');
    const told = messages.present(shown({ address: 'node/a', state: 'ready', context: {} }), 1);
    const record = { seq: 1, at: 2, address: 'node/a', kind: 'snapshot', commit: 2, machine: 'node' } as const;
    expect(told.map(({ type }) => type)).to.deep.equal(['@xstate.actor']);
    const later = messages.of(shown({ ...record, state: 'down', context: {} }));
    expect(later.map(({ type }) => type)).to.deep.equal(['@xstate.snapshot']);
    expect(messages.of(shown(record)).map(({ type }) => type)).to.deep.equal(['@xstate.snapshot']);
    expect(messages.of(shown(record))).to.deep.equal([]);
  });

  it('35.2 X4 a part is in a state of its chart: how far its call is, which only people see, is left out', () => {
    const part = { id: 'publication/a', chart: 'publication', at: 'published.calling' };
    const record = { seq: 1, at: 2, address: 'volume/default/data', kind: 'part', commit: 2, id: part.id } as const;
    const [told] = new StatelyMessages('registry/n1').of(shown({ ...record, part }));
    expect(told).to.have.nested.property('snapshot.value', 'published');
  });

  it('X6 without the token the receiver gets nothing', async () => {
    const { origin } = new URL(inspector.url);
    const answer = await fetch(`${origin}/v1/stately`);
    expect(answer.status).to.equal(401);
  });
});

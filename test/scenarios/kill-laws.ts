/** What the events of a node whose driver and agent are killed must say, in whichever order that happened. */
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import type { PluginEvent, TaskUpdate } from '../../src/index.js';
import { cursorIn } from '../event-cursor.js';

/** All that the store has of a topic, as followers are told it; their ids count from 1. */
export async function eventsIn<T extends { id: string }>(
  store: Store,
  topic: string,
  fromTheBeginning: () => AsyncIterable<T>,
): Promise<T[]> {
  const { newest } = await store.readTopic(topic, 0, 0);
  const told: T[] = [];
  for await (const event of fromTheBeginning()) if (told.push(event) === newest) break;
  expect(told.map(({ id }) => cursorIn(id))).to.deep.equal(told.map((_, n) => n + 1));
  return told;
}

const registrationKinds: PluginEvent['kind'][] = ['registered', 'updated', 'promoted', 'deregistered'];

/**
 * Each instance is registered once, after that becomes healthy and unhealthy in turn, and each but the last is
 * deregistered once. The next one is in front of it by then, so nobody is promoted.
 * @returns the instances, in order
 */
export function checkPluginEvents(events: PluginEvent[]): string[] {
  const registrations = events.filter(({ kind }) => registrationKinds.includes(kind));
  const registered = registrations.filter(({ kind }) => kind === 'registered').map(({ info }) => info.allocId);
  const [first = '', ...later] = registered;
  const expected = [
    `registered ${first}`,
    ...later.flatMap((allocId, n) => [`registered ${allocId}`, `deregistered ${registered[n]}`]),
  ];
  expect(registrations.map(({ kind, info }) => `${kind} ${info.allocId}`)).to.deep.equal(expected);
  expect(new Set(registered).size, 'each is registered once').to.equal(registered.length);
  for (const allocId of registered) checkHealth(events, allocId, allocId === registered.at(-1));
  return registered;
}

function checkHealth(events: PluginEvent[], allocId: string, isLast: boolean): void {
  const own = events.filter(({ info }) => info.allocId === allocId);
  expect(own[0]?.kind, `the first of ${allocId}`).to.equal('registered');
  let was: PluginEvent['was'] = 'unknown';
  for (const event of own.filter(({ kind }) => kind === 'health')) {
    expect(event.was, `${allocId} before event ${event.id}`).to.equal(was);
    was = event.healthy ? 'healthy' : 'unhealthy';
    expect(was, `${allocId} after event ${event.id}`).not.to.equal(event.was);
  }
  if (isLast) expect(was, `${allocId} at last`).to.equal('healthy');
  else expect(was, `${allocId} at last`).not.to.equal('healthy');
}

/** One letter each: started, healthy, unhealthy, exited, restarting. */
const lives = /^((s(h(uh)*u?)?x|su|)r)*s(h(uh)*)$/;

/**
 * Each run is started, answers and ends, then the next is; the last one lives. A run may end before it answers, and
 * may not begin at all.
 * @returns the runs that answered, in order
 */
export function checkTaskUpdates(updates: TaskUpdate[]): string[] {
  const changes = updates.map(({ change }) => change);
  expect(changes.map(({ type }) => (type === 'exited' ? 'x' : type[0])).join('')).to.match(lives);
  const started: string[] = [];
  const answered: string[] = [];
  for (const change of changes) {
    if (change.type === 'started') started.push(change.allocId);
    else if ('allocId' in change) expect(change.allocId, change.type).to.equal(started.at(-1));
    if (change.type === 'healthy' && answered.at(-1) !== change.allocId) answered.push(change.allocId);
  }
  expect(new Set(started).size, 'each is started once').to.equal(started.length);
  return answered;
}

/** Followers of events over real connections: a thousand at once, and one that reads nothing. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { routes } from '../../src/api/routes.js';
import { eventAnswers } from '../../src/inspector/event-streams.js';
import { jsonServer, serve } from '../../src/inspector/json-server.js';
import type { Events, RuntimeEvent } from '../../src/runtime/runtime.js';

/** Events made by a test, without a store. */
class MadeEvents implements Events {
  readonly #made: RuntimeEvent[] = [];
  readonly #wake: (() => void)[] = [];
  /** Subscriptions so far. */
  subscriptions = 0;

  emit(text: string): void {
    const number = this.#made.length + 1;
    const address = `volume/default/v${number}`;
    const event = { id: String(number), at: number, kind: 'failed', key: { namespace: 'default', id: 'v' }, text };
    this.#made.push({ topic: 'volumes', id: String(number), at: number, kind: 'failed', address, event } as never);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async now(): Promise<string> {
    return String(this.#made.length);
  }

  async *subscribe({ from = '0', signal }: { from?: string; signal?: AbortSignal } = {}): AsyncGenerator<RuntimeEvent> {
    this.subscriptions += 1;
    signal?.addEventListener('abort', () => this.#wakeAll());
    for (let next = Number(from); !signal?.aborted; ) {
      const event = this.#made[next];
      if (event) {
        next += 1;
        yield event;
      } else await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }
}

describe('many followers of events', () => {
  let events: MadeEvents;
  let port: number;
  let warnings: string[];
  let close: () => Promise<void>;
  let answers: IncomingMessage[];

  beforeEach(async () => {
    events = new MadeEvents();
    warnings = [];
    answers = [];
    const server = jsonServer();
    const streams = eventAnswers(events, (line) => warnings.push(line));
    serve(server, routes, { events: streams });
    await server.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = server.server.address() as AddressInfo);
    close = async () => {
      streams.end();
      for (const answer of answers) answer.destroy();
      await server.close();
    };
  });

  afterEach(() => close());

  /** Follows from now on; the answer has begun, and nothing of it is read. */
  async function follower(): Promise<IncomingMessage> {
    const [answer] = await once(get({ host: '127.0.0.1', port, path: '/v1/events', agent: false }), 'response');
    answers.push(answer);
    return answer;
  }

  /** Numbers of the events that came, counted as they come. */
  function read(answer: IncomingMessage): { count: number; isInOrder: boolean } {
    const seen = { count: 0, isInOrder: true };
    let text = '';
    answer.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        if (!block.includes('data: ')) continue;
        seen.count += 1;
        seen.isInOrder &&= block.startsWith(`id: ${seen.count}\n`);
      }
    });
    return seen;
  }

  it('a thousand followers: one subscription, and each gets every event once, in order', async () => {
    const seen: ReturnType<typeof read>[] = [];
    for (let i = 0; i < 1_000; i += 1) seen.push(read(await follower()));
    for (let i = 0; i < 200; i += 1) {
      events.emit('short');
      await turn();
    }
    while (seen.some(({ count }) => count < 200)) await turn();
    expect(seen.every(({ count, isInOrder }) => count === 200 && isInOrder)).to.equal(true);
    expect(events.subscriptions).to.equal(1);
  });

  it('a follower that reads nothing is dropped and logged; another one gets all events', async () => {
    const stuck = await follower();
    const seen = read(await follower());
    let sent = 0;
    for (; warnings.length === 0 && sent < 1_000; sent += 1) {
      events.emit('x'.repeat(100_000));
      while (seen.count <= sent) await turn();
    }
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^a follower of events was dropped: it left \d+ bytes unread/);
    await new Promise<void>((resolve) => {
      stuck.on('error', () => {}).on('close', resolve);
      stuck.resume();
    });
    events.emit('the next one');
    while (seen.count <= sent) await turn();
    expect(seen.isInOrder).to.equal(true);
  });
});

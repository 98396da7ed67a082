/**
 * A process of its own that runs an engine or a runtime on Redis, so that it can be frozen and killed. As an engine it
 * writes without end: to clerks that are there, to ones that nobody knows yet, and with effects. What it does and what
 * it is told goes to its parent. How it is driven: redis-child-driver.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/engine/clock.js';
import { Engine } from '../../src/engine/engine.js';
import { systemRandom } from '../../src/engine/random.js';
import { StagecraftError } from '../../src/errors.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { FakeKind } from '../registry/fake-kind.js';
import { device } from '../registry/house.js';
import type { ChildOptions, FromChild, ToChild } from './redis-child-driver.js';
import { add, clerkKinds } from './redis-clerk.js';
import { type LogLine, loggerInto } from './redis-scene.js';

const options: ChildOptions = JSON.parse(process.argv[2] ?? '{}');
const say = (message: FromChild): void => void process.send?.(message);

const logged: LogLine[] = [];
logged.push = (...lines) => {
  for (const line of lines) say({ kind: 'log', ...line });
  return 0;
};

if (options.as === 'engine') await runEngine(options.ttlMs);
else await runRuntime(options.dataDir);

async function runEngine(ttlMs: number): Promise<void> {
  const engine = new Engine({
    store: redisStore(options.url),
    clock: systemClock,
    random: systemRandom,
    logger: loggerInto(logged),
    lease: { name: 'node/n1', holder: 'the child', ttlMs },
  }).host(
    clerkKinds(async ({ address }) => {
      say({ kind: 'effect', address, atMs: Date.now() });
      await sleep(5);
    }),
  );
  await engine.open();
  await engine.restore(['clerk/', 'till/']);
  void engine.lost.then(({ code }) => say({ kind: 'lost', code, atMs: Date.now() }));
  process.on('message', () => process.kill(process.pid, 'SIGSTOP'));
  say({ kind: 'open' });
  for (let line = 0; line < 4; line += 1) void write(engine, line);
  for (let line = 0; line < 2; line += 1) void work(engine, line);
}

/** To a clerk that is known, and to one that nobody has heard of, in turn. */
async function write(engine: Engine, line: number): Promise<void> {
  for (let n = 1; ; n += 1) {
    const note = `${line}-${n}`;
    for (const address of [`clerk/${line}`, `clerk/fresh-${note}`]) {
      const how = await outcomeOf(engine.ask(address, add(note)));
      say({ kind: 'told', address, note, how, atMs: Date.now() });
      if (how === 'FENCED') return;
    }
    await sleep(1);
  }
}

async function work(engine: Engine, line: number): Promise<void> {
  for (;;) {
    if ((await outcomeOf(engine.ask(`clerk/worker-${line}`, { type: 'work' }))) === 'FENCED') return;
    await sleep(3);
  }
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (!(error instanceof StagecraftError)) throw error;
    return error.outcome ?? error.code;
  }
}

async function runRuntime(dataDir: string): Promise<void> {
  const kind = new FakeKind();
  const runtime = await createRuntime({
    nodeId: 'n1',
    dataDir,
    store: redisStore({ url: options.url, ...(options.prefix && { prefix: options.prefix }) }),
    dispensers: { device: kind },
    logger: loggerInto(logged),
  });
  void runtime.lost.then(({ code }) => say({ kind: 'lost', code, atMs: Date.now() }));
  process.on('message', async ({ what, name, allocId }: ToChild) => {
    const how = await outcomeOf(
      what === 'register'
        ? runtime.plugins.register(device(allocId, { name }))
        : runtime.plugins.deregister('device', name, allocId),
    );
    say({ kind: 'told', address: name, note: `${what} ${allocId}`, how, atMs: Date.now() });
  });
  say({ kind: 'open' });
}

/** Functions that the store suite needs from a test runner; all common runners have these four. */

export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  it(title: string, body: () => Promise<void>): unknown;
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

/** @throws {TypeError} where the runner has no globals */
export function globalRunner(): TestRunner {
  const globals: object = globalThis;
  if (isRunner(globals)) return globals;
  throw new TypeError(
    'No global describe, it, beforeEach and afterEach: hand those of your test runner to storeSuite.',
  );
}

function isRunner(value: object): value is TestRunner {
  return ['describe', 'it', 'beforeEach', 'afterEach'].every((name) => typeof Reflect.get(value, name) === 'function');
}

/** What the fake plugin is told to do with certain calls, for tests that read as a story. */
import type { Call, FakePlugin, Step } from './fake-plugin.js';

/** Something that is waited for, until it is opened. */
export interface Gate {
  passed: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** The steps of an RPC in order, one a call; then it does as it is asked. */
export function inOrder(plugin: FakePlugin, rpc: Call['rpc'], steps: Step[]): void {
  const left = [...steps];
  plugin.script = (call) => (call.rpc === rpc ? left.shift() : undefined);
}

/** Every call of an RPC gets the same step, until told otherwise. */
export function always(plugin: FakePlugin, rpc: Call['rpc'], step: Step): void {
  plugin.script = (call) => (call.rpc === rpc ? step : undefined);
}

/** Which of these calls there were, and what was answered. */
export const toldOf = (plugin: FakePlugin, rpc: string): string[] =>
  plugin.told().filter((line) => line.startsWith(rpc));

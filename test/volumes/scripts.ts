/** Helpers that script the calls of the fake plugin. */
import type { Call, FakePlugin, Step } from './fake-plugin.js';

/** Promise that resolves when the test opens it. */
interface Gate {
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

/** Scripts the calls of an RPC in order, one step each; all later calls succeed. */
export function inOrder(plugin: FakePlugin, rpc: Call['rpc'], steps: Step[]): void {
  const left = [...steps];
  plugin.script = (call) => (call.rpc === rpc ? left.shift() : undefined);
}

/** Scripts all calls of an RPC with one step. */
export function always(plugin: FakePlugin, rpc: Call['rpc'], step: Step): void {
  plugin.script = (call) => (call.rpc === rpc ? step : undefined);
}

export const toldOf = (plugin: FakePlugin, rpc: string): string[] =>
  plugin.told().filter((line) => line.startsWith(rpc));

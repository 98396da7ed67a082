/** What is asked of a runtime that will die: instances of every shape that come, change and go. */
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { Plugins } from '../../src/runtime/runtime.js';
import { device } from './house.js';

interface Step {
  ask(plugins: Plugins): Promise<void>;
  /** What it leads to, newest first. */
  list: PluginInfo[];
  /** The events of this step, in short. */
  told: string[];
}

/** As long as an allocId may be, and longer once it is percent-encoded. */
const long = 'ä/%2F 日本 🚀'.padEnd(118, 'x');

export const odd: Record<string, string> = JSON.parse(
  '{"__proto__":"p","constructor":"c","":"no name","z":"","a":"ä\\"\\\\\\n\\u0000","🚀":"日本","toString":"s","1":"n"}',
);

const out = (allocId: string) => (plugins: Plugins) => plugins.deregister('device', 'gpu', allocId);
const put = (info: PluginInfo) => (plugins: Plugins) => plugins.register(info);

const plain = device('a1');
const changed = device('a1', { version: '2', options: odd, connection: { socketPath: '/nowhere/ü 日本.sock' } });
const lengthy = device(long, { version: '', options: {}, connection: { socketPath: '/nowhere/long.sock' } });
const third = device('a3', { options: odd });

/** One after the other. */
export const steps: Step[] = [
  { ask: put(plain), list: [plain], told: ['registered a1'] },
  { ask: put(lengthy), list: [lengthy, plain], told: [`registered ${long}`] },
  { ask: put(changed), list: [lengthy, changed], told: ['updated a1'] },
  { ask: put(third), list: [third, lengthy, changed], told: ['registered a3'] },
  { ask: out('a3'), list: [lengthy, changed], told: ['deregistered a3', `promoted ${long} for a3`] },
  { ask: out('a1'), list: [lengthy], told: ['deregistered a1'] },
  { ask: put(third), list: [third, lengthy], told: ['registered a3'] },
  { ask: out(long), list: [third], told: [`deregistered ${long}`] },
  { ask: out('a3'), list: [], told: ['deregistered a3'] },
  { ask: put(changed), list: [changed], told: ['registered a1'] },
];

/**
 * Contenders in processes of their own, which take turns: what one makes V8 learn of the functions that they share
 * does neither good nor harm to the others. A module hands out its contenders by name with `lendContenders`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Contender } from './measure.js';

/** For a module that `apart` starts: runs what it is asked for. */
export function lendContenders(contenders: Contender[]): void {
  process.on('message', async (name) => {
    const contender = contenders.find((candidate) => candidate.name === name);
    globalThis.gc?.();
    const start = performance.now();
    const done = await contender?.run();
    process.send?.(typeof done === 'object' ? done : { units: done, ms: performance.now() - start });
  });
}

/**
 * @param module that lends a contender of this name; the process ends with `stop`
 * @param args what it is started with
 */
export function apart(name: string, module: URL, args: string[] = []): Contender & { stop(): void } {
  const child = fork(fileURLToPath(module), args, { execArgv: ['--expose-gc', '--import=tsx'] });
  return {
    name,
    async run() {
      child.send(name);
      const [{ units, ms }] = await once(child, 'message');
      return { units, ms };
    },
    stop: () => child.disconnect(),
  };
}

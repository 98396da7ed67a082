/** The inspector page in a real browser: its first view, and a minute of many changes with the log open. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TestBrowser } from '../support/browser.js';

const actors = 10_000;
const perSecond = 1_000;
const watchedMs = 60_000;

export async function reportPage(): Promise<void> {
  const module = fileURLToPath(new URL('page-process.ts', import.meta.url));
  const child = fork(module, [String(actors), String(perSecond)], { execArgv: ['--import=tsx'] });
  const browser = new TestBrowser();
  try {
    const [{ url }] = await once(child, 'message');
    await browser.start();
    const begun = performance.now();
    const { page } = await browser.open(url);
    await page.getByText('Live').waitFor();
    console.log(`\nthe inspector page, ${actors.toLocaleString('en')} volumes`);
    console.log(`  first view, all of them counted        ${Math.round(performance.now() - begun)} ms`);
    for (const hash of ['#/', '#/list/volume', '#/log']) {
      await page.goto(`${new URL(url).origin}/${hash}`);
      // The compiler names functions by a helper that the page does not have.
      await page.evaluate('globalThis.__name = (named) => named');
      const frames = await page.evaluate(measured, watchedMs / 3);
      console.log(
        `  ${hash.padEnd(16)} ${frames.perSecond.toFixed(0).padStart(4)} frames/s, slowest ${Math.round(frames.slowestMs)} ms, heap ${Math.round(frames.heapBytes / 2 ** 20)} MiB`,
      );
    }
    const dropped = await page.getByText(/records were dropped/).count();
    console.log(`  records dropped: ${dropped === 0 ? 'none' : 'some'}`);
  } finally {
    await browser.stop();
    child.send('end');
    await once(child, 'exit');
  }
}

interface Frames {
  perSecond: number;
  slowestMs: number;
  heapBytes: number;
}

/** Runs in the page: counts the frames for a while. */
function measured(ms: number): Promise<Frames> {
  return new Promise((resolve) => {
    const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(call: () => void): void };
    const begun = performance.now();
    let frames = 0;
    let last = begun;
    let slowestMs = 0;
    const frame = (): void => {
      const now = performance.now();
      frames += 1;
      slowestMs = Math.max(slowestMs, now - last);
      last = now;
      if (now - begun < ms) {
        requestAnimationFrame(frame);
        return;
      }
      const { memory } = performance as unknown as { memory: { usedJSHeapSize: number } };
      resolve({ perSecond: (frames * 1_000) / (now - begun), slowestMs, heapBytes: memory.usedJSHeapSize });
    };
    requestAnimationFrame(frame);
  });
}

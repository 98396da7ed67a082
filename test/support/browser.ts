/** A real browser for tests of the page: one for a whole file, with a window of its own for each test. */
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-quic'],
];

/** A window, and what went wrong in it. */
interface Window {
  page: Page;
  /** Errors of scripts, and resources that could not be had. */
  errors: string[];
}

/** The page, as it was built. */
export const builtPage = fileURLToPath(new URL('../../dist/page', import.meta.url));

export class TestBrowser {
  #browser: Browser | undefined;

  async start(): Promise<void> {
    this.#browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<Window> {
    if (!this.#browser) throw new Error('the browser is not started');
    const context = await this.#browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(url);
    return { page, errors };
  }

  /** Closes all windows. */
  async closeAll(): Promise<void> {
    for (const context of this.#browser?.contexts() ?? []) await context.close();
  }
}

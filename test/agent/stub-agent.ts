/** Server that stands in for an agent, and helpers that run commands against it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mainPath } from '../scenarios/agent-process.js';

interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class StubAgent {
  readonly directory = mkdtempSync(join(tmpdir(), 'stagecraft-stub-'));
  /** Answers by `METHOD path?query`, as a value or made from the body. A value with a `code` is an error; others get 404. */
  readonly answers: Record<string, object | ((body: unknown) => object)> = { 'GET /v1/agent': {}, 'GET /v1/tasks': [] };
  /** Posted requests, in order. */
  readonly posted: { path: string; body: unknown }[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { method, url = '' } = request;
      const sent = await text(request);
      const body: unknown = sent === '' ? undefined : JSON.parse(sent);
      if (method === 'POST') this.posted.push({ path: url, body });
      const found = this.answers[`${method} ${url}`];
      const answer = typeof found === 'function' ? found(body) : found;
      if (!answer || 'code' in answer) response.statusCode = answer ? 400 : 404;
      response.end(JSON.stringify(answer ?? { code: 'NOT_FOUND', message: `there is no ${method} ${url}` }));
    });
  }

  async start(): Promise<this> {
    this.#server.listen(join(this.directory, 'agent.sock'));
    await once(this.#server, 'listening');
    return this;
  }

  /** Writes a file. @returns its path */
  write(name: string, content: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  run(args: string[], stdin?: string): Promise<Said> {
    const child = spawn(process.execPath, [mainPath, ...args], {
      cwd: this.directory,
      env: { ...process.env, STAGECRAFT_SOCKET: join(this.directory, 'agent.sock') },
    });
    child.stdin.end(stdin);
    const ended = once(child, 'exit');
    const said = [text(child.stdout), text(child.stderr), ended] as const;
    return Promise.all(said).then(([stdout, stderr, [code]]) => ({ code, stdout, stderr }));
  }

  remove(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.directory, { recursive: true });
  }
}

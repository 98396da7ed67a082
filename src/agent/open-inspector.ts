/** Opens the inspector of an agent, which runs on without it where it can't listen. */
import { messageOf } from '../errors.js';
import { type Inspector, type InspectorOptions, serveInspector } from '../inspector/serve-inspector.js';
import type { Runtime } from '../runtime/runtime.js';
import { keptToken } from './page-token.js';

export interface OpenOptions extends Omit<InspectorOptions, 'listen' | 'token'> {
  /** Address; false: none. */
  listen: string | false;
}

/** A port that is taken is left to whoever has it: another agent of this host, most likely. */
export async function openInspector(
  runtime: Runtime,
  { listen, ...options }: OpenOptions,
  print: (line: string) => void,
): Promise<Inspector | undefined> {
  if (listen === false) return undefined;
  const serve = (at: string): Promise<Inspector> =>
    serveInspector(runtime, { ...options, listen: at, token: keptToken(runtime.dataDir) });
  try {
    return await serve(listen);
  } catch (error) {
    if (!isTaken(error)) {
      print(`  no page: it can't be served at ${listen} (${messageOf(error)})`);
      return undefined;
    }
    print(`  another program listens at ${listen}: the page gets a free port, until inspector.listen names another`);
    return serve(listen.replace(/\d+$/, '0'));
  }
}

const isTaken = (error: unknown): boolean => error instanceof Object && Reflect.get(error, 'code') === 'EADDRINUSE';

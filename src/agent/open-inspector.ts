/** Opens the inspector of an agent, which runs on without it where it can't listen. */
import { messageOf } from '../errors.js';
import { type Inspector, type InspectorOptions, serveInspector } from '../inspector/serve-inspector.js';
import type { Runtime } from '../runtime/runtime.js';

export interface OpenOptions extends Omit<InspectorOptions, 'listen'> {
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
  try {
    return await serveInspector(runtime, { ...options, listen });
  } catch (error) {
    if (!isTaken(error)) {
      print(`  no page: it can't be served at ${listen} (${messageOf(error)})`);
      return undefined;
    }
    return serveInspector(runtime, { ...options, listen: listen.replace(/\d+$/, '0') });
  }
}

const isTaken = (error: unknown): boolean => error instanceof Object && Reflect.get(error, 'code') === 'EADDRINUSE';

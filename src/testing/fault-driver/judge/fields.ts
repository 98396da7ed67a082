/** Fields of requests and answers, read without knowing of which RPC they are. Texts: `textIn` of ../subjects.ts */
import { textIn } from '../subjects.js';

/** A message in a message; one without fields where it is absent. */
export function objectIn(message: object, field: string): object {
  const value: unknown = Reflect.get(message, field);
  return typeof value === 'object' && value !== null ? value : {};
}

/** The access mode of a volume capability; empty where it has none. */
export const modeIn = (capability: object): string => textIn(objectIn(capability, 'accessMode'), 'mode');

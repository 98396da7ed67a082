/** Reads fields of requests and answers of any RPC. Text fields: `textIn` of ../subjects.ts */
import { textIn } from '../subjects.js';

/** Reads a message within a message; an empty one if it is absent. */
export function objectIn(message: object, field: string): object {
  const value: unknown = Reflect.get(message, field);
  return typeof value === 'object' && value !== null ? value : {};
}

/** Reads the access mode of a volume capability; empty if there is none. */
export const modeIn = (capability: object): string => textIn(objectIn(capability, 'accessMode'), 'mode');

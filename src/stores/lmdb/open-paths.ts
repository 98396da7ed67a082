/** Directories of the embedded stores that are open in this process. */
import { resolve } from 'node:path';

const open = new Set<string>();

export const noteOpen = (path: string): void => {
  open.add(resolve(path));
};

export const noteNotOpen = (path: string): void => {
  open.delete(resolve(path));
};

export const isOpenHere = (path: string): boolean => open.has(resolve(path));

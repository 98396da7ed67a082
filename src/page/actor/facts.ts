/** Makes a tree of an actor's context, with the difference to another moment. Pure. */

import { datedMomentOf } from '../data/time.js';

export interface FactChange {
  was?: unknown;
  is?: unknown;
}

type Branch = Record<string, unknown>;

const isBranch = (value: unknown): value is Branch => typeof value === 'object' && value !== null;

const isBranchPair = (was: unknown, is: unknown): boolean =>
  isBranch(was) && isBranch(is) && Array.isArray(was) === Array.isArray(is);

/** Path of a value below another, as a JSON pointer: keys may hold dots. */
const below = (path: string, key: string): string => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Smallest values that differ, by path. A branch that came or went is one change. */
export function differences(
  was: unknown,
  is: unknown,
  path = '',
  found = new Map<string, FactChange>(),
): Map<string, FactChange> {
  if (Object.is(was, is)) return found;
  if (isBranchPair(was, is)) {
    const [before, after] = [was as Branch, is as Branch];
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      differences(before[key], after[key], below(path, key), found);
    return found;
  }
  found.set(path, { ...(was !== undefined && { was }), ...(is !== undefined && { is }) });
  return found;
}

export interface FactRow {
  path: string;
  key: string;
  depth: number;
  /** The value, or how much a branch holds: `{4}`. */
  text: string;
  /** The value before, if it changed or went. */
  was?: string;
  mark?: 'added' | 'changed' | 'removed';
  /** Only of branches that hold something. */
  branch?: { isOpen: boolean; changes: number };
}

/**
 * Rows of the tree, from the top.
 * @param opened branches that somebody has opened (true) or folded (false). Others are open if something in them has changed
 */
export function factRows(
  value: unknown,
  changes: ReadonlyMap<string, FactChange>,
  opened: ReadonlyMap<string, boolean> = new Map(),
): FactRow[] {
  const rows: FactRow[] = [];
  const add = (branch: Branch, path: string, depth: number): void => {
    for (const [key, item] of Object.entries(branch)) {
      if (item === undefined) continue;
      const at = below(path, key);
      const change = changes.get(at);
      const row: FactRow = { path: at, key, depth, text: valueText(key, item), ...(change && markOf(key, change)) };
      rows.push(row);
      if (!isBranch(item) || Object.keys(item).length === 0) continue;
      const inside = [...changes.keys()].filter((changed) => changed.startsWith(`${at}/`)).length;
      const isOpen = opened.get(at) ?? inside > 0;
      row.branch = { isOpen, changes: inside };
      if (isOpen) add(item, at, depth + 1);
    }
    for (const [changed, change] of changes) {
      if (change.is !== undefined || parentOf(changed) !== path) continue;
      const key = keyOf(changed);
      rows.push({ path: changed, key, depth, text: '', was: valueText(key, change.was), mark: 'removed' });
    }
  };
  if (isBranch(value)) add(value, '', 0);
  return rows;
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const keyOf = (path: string): string =>
  path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

function markOf(key: string, { was }: FactChange): Pick<FactRow, 'mark' | 'was'> {
  return was === undefined ? { mark: 'added' } : { mark: 'changed', was: valueText(key, was) };
}

/** First millisecond that is taken for a moment, not for a duration: the year 2001. */
const firstMoment = 1e12;

/** A value for people: sizes and moments as such. */
export function valueText(key: string, value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number' && /Bytes$/.test(key)) return bytesText(value);
  if (typeof value === 'number' && /(Ms|At|^at)$/.test(key) && value >= firstMoment) return datedMomentOf(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length > 0 ? `[${value.length}]` : '[]';
  if (isBranch(value)) return Object.keys(value).length > 0 ? `{${Object.keys(value).length}}` : '{}';
  return String(value);
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytesText(count: number): string {
  const unit = count > 0 ? Math.min(Math.floor(Math.log2(count) / 10), units.length - 1) : 0;
  return `${Number((count / 1024 ** unit).toFixed(1))} ${units[unit]}`;
}

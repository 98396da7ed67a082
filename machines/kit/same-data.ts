/** Comparison of plain data, and the differences of two specs in words. Pure. */

/** Whether two values of plain data say the same, whatever the order of their keys. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) return isSameList(one, other);
  return isObject(one) && isObject(other) && hasSame(one, other) && hasNoMore(one, other);
}

/** Whether these are all among those, each with the same value. */
export const isAmong = (these: Record<string, string>, those: Record<string, string>): boolean =>
  Object.entries(these).every(([key, value]) => those[key] === value);

const isSameList = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) &&
  Array.isArray(other) &&
  one.length === other.length &&
  one.every((item, at) => isSameData(item, other[at]));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Treats an undefined property as absent. */
function hasSame(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const key in one) if (!isSameData(one[key], Object.hasOwn(other, key) ? other[key] : undefined)) return false;
  return true;
}

function hasNoMore(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}

const maxShown = 8;
const maxValueLength = 120;

/** Why a volume or a snapshot can't be created with `asked`: it is there, with another spec. */
export const otherSpec = (had: object | null, asked: object): string =>
  `there is one with another spec (${describeDifferences(had ?? {}, asked)}): take another id, or delete that first`;

/** E.g. `capacity.requiredBytes is 1024, asked for 2048; secrets.key differs`: never shows a reference to a secret. */
function describeDifferences(had: object, asked: object): string {
  const all = differencesAt('', had, asked);
  const more = all.length > maxShown ? [`${all.length - maxShown} more`] : [];
  return [...all.slice(0, maxShown), ...more].join('; ');
}

function differencesAt(path: string, had: unknown, asked: unknown): string[] {
  if (isSameData(had, asked)) return [];
  if (isMap(had) && isMap(asked)) {
    return [...new Set([...Object.keys(had), ...Object.keys(asked)])].flatMap((key) =>
      differencesAt(path === '' ? key : `${path}.${key}`, own(had, key), own(asked, key)),
    );
  }
  if (Array.isArray(had) && Array.isArray(asked) && had.length === asked.length)
    return had.flatMap((one, at) => differencesAt(`${path}[${at}]`, one, asked[at]));
  if (path.split('.')[0] === 'secrets') return [`${path} differs`];
  return [`${path} is ${shown(had)}, asked for ${shown(asked)}`];
}

const isMap = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);

const own = (map: Record<string, unknown>, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined);

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}

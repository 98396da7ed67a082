/** Which fields of a spec differ from what is there, in words. The references to secrets are never shown. Pure. */
import { isSameData } from './same-data.js';

const maxShown = 8;
const maxValueLength = 120;

/** Why a volume or a snapshot can't be created with `asked`: it is there, with another spec. */
export const otherSpec = (had: object | null, asked: object): string =>
  `there is one with another spec (${describeDifferences(had ?? {}, asked)}): take another id, or delete that first`;

/** E.g. `capacity.requiredBytes is 1024, asked for 2048; secrets.key differs`. */
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

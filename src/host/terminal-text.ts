/** Text for a terminal. Texts of drivers, files and other programs must not steer it, nor turn the order of its letters around. Also words of a shell. */

/** Removes format characters, such as U+202E, and replaces line breaks and control characters by spaces. */
export const oneLine = (text: string): string => text.replace(/\p{Cf}+/gu, '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** First line of a text, for one line of many: drivers give messages of many lines. Their details have the whole text. */
export function firstLine(text: string): string {
  const [first = '', ...others] = text.split(/[\n\r\p{Zl}\p{Zp}]+/u).filter((line) => line.trim() !== '');
  return oneLine(others.length > 0 ? `${first} …` : first);
}

/** Removes control and format characters, but keeps line breaks and tabs. */
export const plainLines = (text: string): string => text.replace(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/gu, '');

/** Escapes those characters in JSON, which stays the same data. */
export const plainJson = (json: string): string =>
  json.replace(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/gu, (characters) =>
    Array.from({ length: characters.length }, (_, at) => escapeOf(characters.charCodeAt(at))).join(''),
  );

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** Writes a text as one word of a command that a person is told to run in a shell. */
export const shellWord = (text: string): string =>
  /^[\w.@:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

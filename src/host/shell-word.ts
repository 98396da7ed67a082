/** Writes a text as one word of a command that a person is told to run in a shell. */
export const shellWord = (text: string): string =>
  /^[\w.@:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

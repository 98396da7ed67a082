/**
 * Drops warnings of XState's development build about what is meant to be: hosted machines have invokes without logic, one
 * machine of the tests has wildcards that match nothing, and one test sends to an actor that has ended. Load it with
 * `mocha --require`.
 */
const { warn } = console;
const meant = [
  /^Actor type '.*' not found in machine/,
  /^(Wildcards can only be|Infix wildcards in) .* "a\.\*\.\*" /,
  /^Event "plugin\.lost" was sent to stopped actor/,
];

console.warn = (...words: unknown[]) => {
  if (!meant.some((warning) => warning.test(String(words[0])))) warn(...words);
};

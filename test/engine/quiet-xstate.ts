/**
 * Silences a warning of XState's development build: it warns of invokes without logic, which hosted machines have on
 * purpose.
 */
const { warn } = console;

before(() => {
  console.warn = (...words: unknown[]) => {
    if (!/^Actor type '.*' not found in machine/.test(String(words[0]))) warn(...words);
  };
});

after(() => {
  console.warn = warn;
});

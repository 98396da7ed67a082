/** Output of commands on stdout. */

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** Prints what was done by a request that returns nothing to show. */
export const tell = ({ json }: { json?: boolean }, done: string): void => (json ? printJson({ done }) : print(done));

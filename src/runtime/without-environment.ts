/** Masks what may be secret in the records of tasks: the values of `env`. All other secrets are references in any record. */
export const withoutEnvironment = <T extends object>(value: T): T =>
  JSON.parse(JSON.stringify(value), (key, inner) =>
    key === 'env' && inner instanceof Object
      ? Object.fromEntries(Object.keys(inner).map((name) => [name, '***']))
      : inner,
  );

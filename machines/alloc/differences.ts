/** What an alloc is asked for otherwise than it has it, in words. Pure. */
import type { AllocVolume } from './types.js';

/** @param had what it has @param asked what is asked for */
export function differencesOf(had: readonly AllocVolume[], asked: readonly AllocVolume[]): string[] {
  const namedIn = (volumes: readonly AllocVolume[], name: string): AllocVolume | undefined =>
    volumes.find((one) => one.name === name);
  const differences = [
    ...had.filter(({ name }) => !namedIn(asked, name)).map(({ name }) => `'${name}' is not asked for`),
    ...asked.flatMap((one) => {
      const own = namedIn(had, one.name);
      if (!own) return [`it has no '${one.name}'`];
      const fields = fieldsApart(own, one);
      return fields.length > 0 ? [`'${one.name}' has ${fields.join('; ')}`] : [];
    }),
  ];
  return differences.length > 0 ? differences : ['they are asked for in another order'];
}

function fieldsApart(own: AllocVolume, asked: AllocVolume): string[] {
  const [has, wants] = [textsOf(own), textsOf(asked)];
  return Object.keys({ ...has, ...wants })
    .filter((field) => has[field] !== wants[field])
    .map((field) => `${field} ${has[field] ?? 'none'}, asked for ${wants[field] ?? 'none'}`);
}

/** By the names of its fields. */
const textsOf = ({ volume: { namespace, id }, ...fields }: AllocVolume): Record<string, string> => ({
  volume: `${namespace}/${id}`,
  ...Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
  ),
});

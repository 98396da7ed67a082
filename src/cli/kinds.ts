/** What commands of volumes and of snapshots do alike: they list and show them, make one, and delete one. */
import { type LookOptions, look, print, printJson, socketOf, tell } from './reach.js';
import { type Awaited, type InNamespace, listAll, nameOf, pathBelow, within } from './requests.js';
import { specIn } from './spec-file.js';
import { askAndWait, type Waited } from './waiting.js';

/** What is told of one. */
interface Report {
  key: { namespace: string; id: string };
  csiId?: string;
}

export interface Kind<TReport extends Report> {
  /** What one is called. */
  name: string;
  /** Where the API has them. */
  base: string;
  /** What one is that was made. */
  made: string;
  table(all: TReport[]): string;
  details(one: TReport): string;
}

type Named = Pick<Kind<never>, 'name' | 'base'>;

/** One that is waited for. */
export const waitedOf = ({ base, name }: Named, id: string, of: InNamespace): Waited => ({
  path: pathBelow(base, id, of),
  name: `${name} ${nameOf(id, of)}`,
});

/** @param filters those that are absent don't count */
export async function list<TReport extends Report>(
  { base, name, table }: Kind<TReport>,
  filters: Record<string, string | undefined>,
  options: LookOptions,
): Promise<void> {
  const all = await listAll<TReport>(socketOf(options), base, filters);
  if (options.json) printJson(all);
  else print(all.length === 0 ? `there are no such ${name}s` : table(all));
}

export async function show<TReport extends Report>(
  { base, details }: Kind<TReport>,
  id: string,
  options: LookOptions & InNamespace,
): Promise<void> {
  const one = await look<TReport>(socketOf(options), pathBelow(base, id, options));
  if (options.json) printJson(one);
  else print(details(one));
}

/**
 * Makes one and waits until it is there.
 * @param specOf by the arguments, where there is no file
 */
export async function make<TReport extends Report>(
  kind: Kind<TReport>,
  specOf: () => object,
  options: LookOptions & Awaited & { file?: string },
): Promise<void> {
  const { base, name, made } = kind;
  const file = options.file === undefined ? undefined : specIn(options.file);
  const body = file ? file.body : specOf();
  const { namespace = 'default', id = '' } = body as { namespace?: string; id?: string };
  const waited = waitedOf(kind, String(id), { namespace });
  const one = (await askAndWait({ path: `${base}${within(options)}`, body }, waited, options).catch(
    (error: unknown) => {
      throw file ? file.placed(error) : error;
    },
  )) as TReport;
  if (options.json) printJson(one);
  else print(`${name} ${nameOf(one.key.id, one.key)} is ${made}: the plugin knows it as ${one.csiId}`);
}

/** Deletes one and waits until it is gone. */
export async function remove(
  kind: Named,
  id: string,
  { force = false, ...options }: LookOptions & InNamespace & Awaited & { force?: boolean },
): Promise<void> {
  const waited = waitedOf(kind, id, options);
  await askAndWait({ path: `${waited.path}/delete${within(options)}`, body: { force } }, waited, options);
  tell(options, `${waited.name} is deleted`);
}

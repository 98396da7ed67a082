/** A request of the API as data: what it takes and what it answers. */
import { z } from 'zod';

/** Names in a path: `namespace` and `id` of `GET /v1/volumes/:namespace/:id`. */
type NamesIn<TPath extends string> = TPath extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : TPath extends `${string}/:${infer Name}`
    ? Name
    : never;

/** Values of the names in a path. */
export type ParamsOf<TPath extends string> = { [Name in NamesIn<TPath>]: string };

/** Schemas of a request and of its answer. */
interface RouteParts<
  TQuery extends z.ZodType = z.ZodType,
  TBody extends z.ZodType = z.ZodType,
  TAnswer extends z.ZodType = z.ZodType,
> {
  /** A line for the document. */
  summary: string;
  /** Fields of the query. */
  query: TQuery;
  body: TBody;
  /** Names the body in the errors about it. Default: `the body`. */
  bodyName?: string;
  answer: TAnswer;
  /** Type of an answer that is not JSON. */
  contentType?: string;
}

/** A request of the API. `path` is its method and its path. */
export interface Route<
  TPath extends string = string,
  TQuery extends z.ZodType = z.ZodType,
  TBody extends z.ZodType = z.ZodType,
  TAnswer extends z.ZodType = z.ZodType,
> extends RouteParts<TQuery, TBody, TAnswer> {
  path: TPath;
}

/** A query or body without fields. */
export const nothing = z.strictObject({});

/** Answers of requests that have nothing to tell. */
const done = z.void();

/** Describes a request. A query or body that is left out is empty; an answer that is left out is 204. */
export function route<
  const TPath extends string,
  TQuery extends z.ZodType = typeof nothing,
  TBody extends z.ZodType = typeof nothing,
  TAnswer extends z.ZodType = typeof done,
>(
  path: TPath,
  parts: Pick<RouteParts, 'summary' | 'bodyName' | 'contentType'> & Partial<RouteParts<TQuery, TBody, TAnswer>>,
): Route<TPath, TQuery, TBody, TAnswer>;
export function route(path: string, parts: Partial<RouteParts> & Pick<RouteParts, 'summary'>): Route {
  return { path, query: nothing, body: nothing, answer: done, ...parts };
}

/** A whole number above 0. */
export const count = z.coerce.number<number>().int().positive();

export const flag = z.preprocess(
  (given: boolean) => ({ true: true, false: false })[String(given)] ?? given,
  z.boolean(),
);

export const timeoutQuery = z.strictObject({
  timeoutMs: count
    .exactOptional()
    .describe('Milliseconds to wait for the end of the work. The work goes on after that.'),
});

export const waitQuery = timeoutQuery.extend({
  wait: flag
    .exactOptional()
    .describe('Wait also for what a person has to mend first, as secrets that can not be resolved.'),
});

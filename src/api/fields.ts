/** Schemas that the answers of several requests share. */
import { z } from 'zod';
import type { Capability } from '../../machines/kit/csi-types.js';
import type { PartView } from '../../machines/kit/parts.js';
import { accessModeSchema, attachmentModeSchema, plainBytes } from '../requests/fields.js';

/** A schema for each field of a type of the library: the compiler refuses one too few or too many. */
export type FieldsOf<T> = Record<keyof T, z.ZodType>;

/** A size: a number of bytes; above 2⁵³−1 a decimal text. */
export const bytes = z
  .union([z.number(), z.bigint(), z.string()])
  .transform((size) => plainBytes(size))
  .pipe(z.union([z.int().nonnegative(), z.string().regex(/^\d+$/)]))
  .meta({ id: 'Bytes', description: 'Bytes; above 2^53-1 as decimal text.' });

/** A moment: milliseconds since 1970. */
export const moment = z.number().meta({ description: 'Milliseconds since 1970.' });

export const texts = z.record(z.string(), z.string());

/** Data that only its owner knows: of a machine, or of a plugin. */
export const anyObject = z.custom<object>().meta({ type: 'object' });

export const volumeKey = z.object({ namespace: z.string(), id: z.string() }).meta({ id: 'Key' });

/** Why something failed, or does not go on. */
export const failure = z
  .object({
    code: z.string().describe('One of docs/errors.md.'),
    message: z.string(),
    final: z.boolean().describe('A repeat of the same request is known to fail again.'),
    originalCode: z.string().exactOptional(),
    rpc: z.string().exactOptional(),
    grpcCode: z.string().exactOptional(),
    answerClass: z.string().exactOptional().describe('What the answer of the plugin means: docs/csi.md.'),
  })
  .meta({ id: 'Failure' });

/** An answer with an error. */
export const errorAnswer = failure
  .partial({ final: true })
  .extend({ address: z.string().exactOptional().describe('The actor that is concerned.') })
  .meta({ id: 'Error' });

export const capability = z
  .object({
    accessMode: accessModeSchema,
    attachmentMode: attachmentModeSchema,
    fsType: z.string().exactOptional(),
    mountFlags: z.array(z.string()).exactOptional(),
  } satisfies FieldsOf<Capability>)
  .meta({ id: 'Capability' });

export const part = z
  .object({
    id: z.string().describe('Name within its owner: publication/worker-1.'),
    chart: z.string().describe('docs/machines has a page with this name; alloc-volume: docs/mounts.md.'),
    at: z.string().describe('Path of its state: in-doubt.backing-off.'),
    words: z.string().exactOptional().describe('That state in a few words. Absent: its name says enough.'),
    why: z.string().exactOptional().describe('Last failure, or what it waits for.'),
    nextAttemptAtMs: moment.exactOptional(),
  } satisfies FieldsOf<PartView>)
  .meta({ id: 'Part' });

export const condition = z.object({ abnormal: z.boolean(), message: z.string() }).meta({ id: 'Condition' });

export const forceBody = z.strictObject({ force: z.boolean().default(false) });

/** A page of a list. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().exactOptional().describe('Give it as `after` to get the next page.'),
    skipped: z.int().exactOptional().describe('Records left out, as they can not be read. Absent: none.'),
  });

/** Settings that `createRuntime` and the agent's configuration share: allowed values and defaults. */
import { z } from 'zod';
import { defaultBackoff } from '../../machines/kit/backoff.js';

const ms = z.int().positive();
const count = z.int().positive();
/** Default times of plugin probes. */
export const defaultTimes = { intervalMs: 30_000, timeoutMs: 30_000 };

/** Size of the key that signs messages between agents: a shorter one could be guessed. */
export const shortestKeyBytes = 32;

const everyMs = z.strictObject({ intervalMs: ms.optional() }).prefault({});

/** Whether an agent may work on the volumes of all agents on its store. */
export const ownSchema = z.enum(['auto', 'never']);

const groupSchema = z.union(
  [z.string().regex(/^[^\s:]+$/), z.int().nonnegative()],
  'must be the name of a group, or its number',
);

export const settingsShape = {
  dataDirAccess: z
    .union(
      [z.enum(['owner', 'everyone']), z.strictObject({ group: groupSchema })],
      'must be owner, everyone, or { group: NAME }',
    )
    .optional(),
  retention: z.strictObject({ journalEntries: count.optional(), topicEvents: count.optional() }).prefault({}),
  logs: z.strictObject({ maxBytes: count.optional() }).prefault({}),
  fingerprint: z
    .strictObject({ intervalMs: ms.default(defaultTimes.intervalMs), timeoutMs: ms.default(defaultTimes.timeoutMs) })
    .prefault({}),
  calls: z
    .strictObject({ timeoutMs: ms.optional(), nodeTimeoutMs: ms.optional(), maxInFlightPerPlugin: count.optional() })
    .prefault({}),
  retry: z
    .strictObject({ initialMs: ms.default(defaultBackoff.initialMs), maxMs: ms.default(defaultBackoff.maxMs) })
    .refine(({ initialMs, maxMs }) => initialMs <= maxMs, {
      path: ['initialMs'],
      message: 'must not be more than maxMs',
    })
    .prefault({}),
  fencing: z.strictObject({ afterMs: ms.optional() }).prefault({}),
  reconcile: everyMs,
  stats: everyMs,
  onPluginLoss: z.enum(['remount', 'report']).default('remount'),
  /** Plugins accept names up to 128 bytes, and some backends accept no other characters. */
  volumeNamePrefix: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/i, 'must be 1 to 64 letters and digits, with hyphens between them')
    .default('sc'),
};

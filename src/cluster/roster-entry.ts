/** Entry of an agent in the roster: where it reads, and what it says of its plugins. */
import { z } from 'zod';
import type { PluginObservation } from '../calls/plugin-port.js';

/** Raised with each change that older agents can't read. */
const format = 1;

const pluginSchema = z.object({
  /** Types under which it is registered, e.g. `csi-controller`. */
  types: z.array(z.string()),
  trouble: z.string().optional(),
  /** Trouble of its node side, if that is registered. */
  nodeTrouble: z.string().optional(),
  troubleKind: z.enum(['absent', 'unseen']).optional(),
  capabilities: z.array(z.string()).optional(),
  pluginCapabilities: z.array(z.string()),
  hasService: z.boolean(),
  wellAtMs: z.number(),
  driver: z.string().optional(),
  scope: z.enum(['host', 'shared']).optional(),
  isSole: z.boolean().optional(),
  instance: z.string().optional(),
  offeredBy: z.record(z.string(), z.string()).optional(),
});

const entrySchema = z.object({
  format: z.literal(format),
  inbox: z.string(),
  /** Name of its host. */
  host: z.string(),
  /** Version of Stagecraft. */
  version: z.string(),
  /** Level of what is stored that it reads (engine/store-level.ts). Absent: it is older than levels. */
  level: z.int().optional(),
  /** Start of this run, milliseconds since the epoch. */
  startedAtMs: z.number(),
  /** By registered name; seen from the controller side. */
  plugins: z.record(z.string(), pluginSchema),
});

export type RosterPlugin = z.output<typeof pluginSchema>;
export type RosterEntry = Omit<z.output<typeof entrySchema>, 'format'>;

export const encodeEntry = (entry: RosterEntry): string => JSON.stringify({ format, ...entry });

/** Returns undefined for an entry of another format. */
export function decodeRosterEntry(text: string): RosterEntry | undefined {
  try {
    return entrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // No JSON: that agent is not known here.
  }
}

/** @param nodeTrouble trouble of its node side, if that is registered */
export function rosterPluginOf(observation: PluginObservation, types: string[], nodeTrouble?: string): RosterPlugin {
  const { capabilities, pluginCapabilities, ...rest } = observation;
  return {
    ...rest,
    types,
    ...(nodeTrouble !== undefined && { nodeTrouble }),
    pluginCapabilities: [...pluginCapabilities],
    ...(capabilities && { capabilities: [...capabilities] }),
  };
}

export function observationIn({
  types: _,
  capabilities,
  pluginCapabilities,
  ...rest
}: RosterPlugin): PluginObservation {
  const { trouble, troubleKind, driver, scope, isSole, instance, offeredBy, hasService, wellAtMs } = rest;
  return {
    hasService,
    wellAtMs,
    pluginCapabilities: new Set(pluginCapabilities),
    ...(capabilities && { capabilities: new Set(capabilities) }),
    ...(trouble !== undefined && { trouble }),
    ...(troubleKind && { troubleKind }),
    ...(driver !== undefined && { driver }),
    ...(scope && { scope }),
    ...(isSole && { isSole }),
    ...(instance !== undefined && { instance }),
    ...(offeredBy && { offeredBy }),
  };
}

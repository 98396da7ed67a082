/** Checks what nodes report: their plugins, and volumes that they have unstaged. */
import { z } from 'zod';
import type { NodePlugin } from '../../machines/node/node.js';
import { messageOf } from '../errors.js';
import { csiNodeIdSchema, nameSchema, nodeIdSchema } from '../host/names.js';
import { checked, segmentsSchema } from '../requests/fields.js';

const pluginSchema = z.strictObject({
  name: nameSchema,
  nodeId: csiNodeIdSchema,
  topology: segmentsSchema.optional(),
  maxVolumes: z.int().positive().optional(),
});

export const nodePluginsSchema = z.array(pluginSchema).superRefine((plugins, context) => {
  const names = plugins.map(({ name }) => name);
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at)
      context.addIssue({ code: 'custom', path: [at, 'name'], message: `names '${name}' a second time` });
  }
});

export const reportSchema = z.strictObject({ id: nodeIdSchema, plugins: nodePluginsSchema });

/** A report that a volume is unmounted and unstaged. */
export const unstagedSchema = z.strictObject({
  claimGeneration: z.int().nonnegative(),
  allocId: nameSchema.optional().describe('Only the claim of this alloc.'),
});

/** Describes what is wrong with a plugin in a report; undefined if nothing is. */
export const faultsOf = (plugin: NodePlugin): string | undefined => {
  try {
    checked(pluginSchema, plugin, `plugin '${plugin.name}'`);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

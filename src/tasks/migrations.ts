/** Migrates records of the task machine from each older version to the next. */
import type { TaskSpec } from '../../machines/task/task-types.js';
import type { Migration } from '../engine/effects/effects.js';
import { digestOf, variableOf } from './environments.js';

/** Spec of version 2: the plugin had the name of the task, and the record had the values of `env`. */
type OldSpec = Omit<TaskSpec, 'plugin' | 'env' | 'envDigest'> & { env: Record<string, string> };

/** Every runtime must come to the same digest, so the salt is not random. */
function specOf(old: OldSpec): TaskSpec {
  const { env, ...spec } = old;
  const names = Object.keys(env);
  const variables = Object.fromEntries(names.map((name) => [name, variableOf(name, env[name] ?? '')]));
  return {
    ...spec,
    plugin: spec.id,
    env: variables,
    ...(names.length > 0 && { envDigest: digestOf(env, `task ${spec.id}`) }),
  };
}

interface OldContext {
  spec: OldSpec | null;
}

/** Inputs of the effects of a task: all but that of `watchHealth` have the spec. */
interface OldInput {
  spec?: OldSpec;
}

/** Version 3 has no values of `env`, and the name of the plugin beside that of the task. */
const valuesForgotten: Migration = {
  name: 'values of env are forgotten',
  from: '2',
  to: '3',
  migrate: ({ context, ...snapshot }) => {
    const { spec } = context as OldContext;
    return { ...snapshot, context: { ...context, spec: spec && specOf(spec) } };
  },
  migrateInput: (input) => {
    const { spec } = input as OldInput;
    return spec ? Object.assign({}, input, { spec: specOf(spec) }) : input;
  },
};

export const taskMigrations: Migration[] = [valuesForgotten];

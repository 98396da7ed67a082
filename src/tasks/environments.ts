/**
 * Values of the environments of tasks. A value that is given at a start stays in memory: the record of the task has its name, and a
 * digest of all values, so that other values make another spec. References to secrets are resolved when a process starts.
 */
import { randomBytes, scryptSync } from 'node:crypto';
import type { SecretRef } from '../../machines/kit/csi-types.js';
import type { TaskSpec, TaskVariable, ValuesDigest } from '../../machines/task/task-types.js';
import type { Clock } from '../engine/clock.js';
import { Waiters } from '../engine/waiters.js';

/** Variable as users give it: a value that is never stored, a reference to a secret, or a value that may be stored. */
export type GivenVariable = string | { secret: SecretRef } | { stored: string };

/** Spec as users give it, complete and checked. */
export type GivenTask = Omit<TaskSpec, 'env' | 'envDigest'> & { env: Record<string, GivenVariable> };

type Values = Record<string, string>;

/** Variable that tells a path, which is no secret. */
export const endpointVariable = 'CSI_ENDPOINT';

/** Variables whose values replace `${NAME}` in arguments. */
export const placeVariables = [endpointVariable, 'STAGECRAFT_SOCKET_DIR', 'STAGECRAFT_TASK_DIR'];

interface EnvironmentsOptions {
  clock: Clock;
  /** Resolves references to secrets; rejects with the reason, without a value in it. */
  resolve(refs: Record<string, SecretRef>, signal: AbortSignal): Promise<Values>;
}

/** Longest wait for values: after a restart of the runtime, the agent gives them within moments. */
const waitMs = 30_000;

export class TaskEnvironments {
  readonly #options: EnvironmentsOptions;
  /** Values that were given, by their digest. */
  readonly #given = new Map<string, { id: string; values: Values }>();
  readonly #waiters = new Waiters();

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
  }

  /**
   * Makes the spec for the record, and keeps the values for the runs of the task.
   * @param present spec in the record: the same values keep their digest
   */
  recorded(task: GivenTask, present: TaskSpec | undefined): TaskSpec {
    const { env, ...spec } = task;
    const values = valuesIn(env);
    const variables = mapped(env, (variable, name) => variableOf(name, variable));
    if (Object.keys(values).length === 0) return { ...spec, env: variables };
    const before = present?.envDigest;
    const isSame = before !== undefined && digestOf(values, before.salt).digest === before.digest;
    const envDigest = isSame ? before : digestOf(values, randomBytes(16).toString('hex'));
    this.#given.set(keyOf(envDigest), { id: spec.id, values });
    this.#waiters.wake(keyOf(envDigest));
    return { ...spec, env: variables, envDigest };
  }

  /** Forgets values of the task that no record has any more. @param spec undefined: the task was removed */
  keepOnly(id: string, spec: TaskSpec | undefined): void {
    const kept = spec?.envDigest && keyOf(spec.envDigest);
    for (const [key, given] of this.#given) if (given.id === id && key !== kept) this.#given.delete(key);
  }

  /**
   * Values for a process that starts now.
   * @throws Error naming the variables whose values are not known, or secrets that can't be had
   */
  async valuesOf(spec: TaskSpec, signal: AbortSignal): Promise<Values> {
    const [values, secrets] = await Promise.all([this.#plainValues(spec, signal), this.#secrets(spec, signal)]);
    return { ...values, ...secrets };
  }

  /** Values to be masked in texts of the process; undefined: some are not known now. */
  async knownValues(spec: TaskSpec, signal: AbortSignal): Promise<Values | undefined> {
    const values = this.#known(spec);
    return values && this.#secrets(spec, signal).then((secrets) => ({ ...values, ...secrets }), noValues);
  }

  #plainValues(spec: TaskSpec, signal: AbortSignal): Promise<Values> {
    const names = Object.keys(spec.env).filter((name) => isGiven(spec.env[name]));
    const failed = (): Error =>
      new Error(
        `the values of ${names.join(', ')} are not known: no record has them, and this runtime was not given them; ` +
          'start the task with its whole spec, as the agent does from its configuration',
      );
    const limits = { clock: this.#options.clock, timeoutMs: waitMs, signal, failed };
    return this.#waiters.until(spec.envDigest ? keyOf(spec.envDigest) : '', () => this.#known(spec), limits);
  }

  #known({ env, envDigest }: TaskSpec): Values | undefined {
    const given = envDigest && this.#given.get(keyOf(envDigest))?.values;
    if (given) return given;
    return Object.values(env).some(isGiven) ? undefined : storedIn(env);
  }

  async #secrets({ env }: TaskSpec, signal: AbortSignal): Promise<Values> {
    const refs = Object.entries(env).flatMap(([name, variable]): [string, SecretRef][] =>
      'secret' in variable ? [[name, variable.secret]] : [],
    );
    return refs.length === 0 ? {} : this.#options.resolve(Object.fromEntries(refs), signal);
  }
}

/** Path of the socket that the user has named; undefined: the runtime names it. */
export function namedEndpoint({ env }: TaskSpec): string | undefined {
  const variable = env[endpointVariable];
  return variable && 'stored' in variable ? variable.stored : undefined;
}

/** Slow on purpose: a digest in a copy of the store must not lead to its values by trying. */
export const digestOf = (values: Values, salt: string): ValuesDigest => ({
  salt,
  digest: scryptSync(JSON.stringify(Object.entries(values).sort(byName)), salt, 32).toString('hex'),
});

const byName = ([one]: [string, string], [other]: [string, string]): number => (one < other ? -1 : 1);

const keyOf = ({ salt, digest }: ValuesDigest): string => `${salt} ${digest}`;

const noValues = (): undefined => undefined;

const isGiven = (variable: TaskVariable | undefined): boolean => variable !== undefined && 'given' in variable;

export function variableOf(name: string, variable: GivenVariable): TaskVariable {
  if (typeof variable !== 'string') return variable;
  return name === endpointVariable ? { stored: variable } : { given: true };
}

function valuesIn(env: Record<string, GivenVariable>): Values {
  const plain = Object.entries(env).flatMap(([name, variable]): [string, string][] => {
    if (typeof variable === 'string') return [[name, variable]];
    return 'stored' in variable ? [[name, variable.stored]] : [];
  });
  return Object.fromEntries(plain);
}

const storedIn = (env: Record<string, TaskVariable>): Values =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, variable]): [string, string][] =>
      'stored' in variable ? [[name, variable.stored]] : [],
    ),
  );

const mapped = <From, To>(record: Record<string, From>, change: (value: From, key: string) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

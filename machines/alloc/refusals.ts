/** Reasons why an alloc refuses a request, or is undone, in words. Pure. */
import type { ErrorCode } from '../kit/error-table.js';
import type { Failure } from '../kit/host.js';
import { volumeName } from '../volume/requests.js';
import type { AllocContext, AllocVolume } from './types.js';

/** Why an alloc refuses volumes other than its own. */
export const conflictIn = ({ allocId, single, volumes }: AllocContext, asked: AllocVolume[]): Failure => {
  const how = volumeDifferences(volumes, asked).join('; ');
  const message = single
    ? `${volumeName(single)} is mounted for alloc ${allocId} otherwise (${how}): unmount it first, or ask for what it has`
    : `alloc ${allocId} has other volumes, or has them otherwise (${how}): release it first, or give it what it has`;
  return { code: 'CLAIM_CONFLICT', message, final: true };
};

/** Why an alloc that is being released takes no request. */
export const leavingIn = ({ allocId, single }: AllocContext): Failure => ({
  code: 'ABORTED',
  message: single
    ? `${volumeName(single)} is being unmounted for alloc ${allocId}: mount it again once that is done`
    : `alloc ${allocId} is being released: prepare it again once that is done`,
  final: false,
});

interface Waiting {
  allocId: string;
  /** Reasons why volumes wait, by the volume's name. */
  waits: Record<string, string>;
}

const undoneFor =
  (code: ErrorCode, why: string) =>
  ({ allocId, waits }: Waiting): Failure => {
    const reasons = Object.entries(waits).map(([name, reason]) => `${name}: ${reason}`);
    const still = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
    return { code, message: `alloc ${allocId} ${why}${still}: what was begun is undone`, final: false };
  };

/** Reason for an alloc whose time is over. */
export const lateIn = undoneFor('TIMEOUT', 'was not prepared in time');

/** Failure of an alloc that its caller gave up before it was prepared. */
export const givenUpIn = undoneFor('ABORTED', 'was given up before it was prepared');

/** Names the differences between the volumes of an alloc and those of a request. */
export function volumeDifferences(had: readonly AllocVolume[], asked: readonly AllocVolume[]): string[] {
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

/** Texts of the fields, by their names. */
const textsOf = ({ volume: { namespace, id }, ...fields }: AllocVolume): Record<string, string> => ({
  volume: `${namespace}/${id}`,
  ...Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
  ),
});
